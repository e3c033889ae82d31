"""The parts that every turn uses: providers, the model's client, prompts, tools and settings."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ...agent_prompts import SystemPrompt
from ..chats import ChatParams
from ..comfy_port import ComfyPort
from ..config import Settings
from ..context.calibration import Calibration
from ..llm.models import ModelInfo
from ..llm.provider import Provider
from ..llm.request import LLMRequest
from ..llm.stream_events import Event
from ..memory.draft import Kept
from ..memory.known import Known
from ..memory.memory import Statement
from ..messages.parts import Message
from ..tools.ports import Definitions
from ..tools.toolset import Toolset
from ..tools.workflow_library import WorkflowLibrary
from ..user_context.skills import Skill, SkillSummary
from .compaction import Compaction, Progress
from .slash.slash_commands import Slash
from .turn_places import Places

if TYPE_CHECKING:
    from .preparation import Preparation


class Providers(Protocol):
    """Finds the provider of a chat: the active provider, or a provider by name (`llm.resolver`)."""

    async def current(self) -> Provider: ...
    async def named(self, name: str) -> Provider: ...
    async def window(self, provider: Provider) -> int | None: ...
    async def models(self, provider: Provider) -> Sequence[ModelInfo]: ...


class Model(Protocol):
    """Sends a request to a provider (`llm.client`)."""

    def stream(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]: ...


class Prompts(Protocol):
    """Makes the system message (`prompts.composition`): `system_prompt`, in a thread, from the
    user's `statements`. `memories` end what it says about the user."""

    async def statements(self) -> Any: ...
    def system_prompt(
        self,
        statements: Any,
        *,
        first_turn: bool,
        window_tokens: int,
        compact: bool,
        tools: bool,
        max_steps: int,
        pinned_skills: Sequence[Skill | SkillSummary],
        memories: str,
    ) -> SystemPrompt: ...


class Summaries(Protocol):
    """Summaries of what is cut (`turn.idle.summariser`). `compact` compacts a chat now; `focus` is
    what the user wants the summary to keep; it raises Conflict. `before_request` waits for a
    model's summary of what was cut, where the settings want that, and returns whether the next
    request is to be planned with it."""

    async def compact(
        self, preparation: Preparation, focus: str, progress: Progress
    ) -> Compaction: ...
    async def before_request(
        self, preparation: Preparation, progress: Progress, overflow: bool
    ) -> bool: ...


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a slash command, and what the client does on its screen, if anything:
    `{"action": "new_chat" | "open_chat" | "delete_chat" | "export_chat" | "show_tokens" |
    "hide_tokens", "chat_id"?, "format"?, "name"?}`."""

    text: str
    action: Mapping[str, Any] | None = None


class Memories(Protocol):
    """Reads and keeps memories, and counts their uses (`memory.store.MemoryStore`). Raises
    StoreError."""

    async def read(self) -> Known: ...
    async def used(self, memory_ids: Iterable[str]) -> None: ...
    async def keep(self, statement: Statement) -> Kept: ...


Answer = Callable[[Slash, str | None, Sequence[Message]], Awaitable[Reply]]
"""Answers a slash command of a chat (None: of no chat) with these messages, the command last."""


UNBOUNDED = 1_000_000
"""Turns at a time where nobody sets a limit."""


@dataclass(frozen=True, slots=True)
class Services:
    """Built once for each ComfyUI user; `places` are those of all users. `clock` gives seconds.
    `calibrations` holds by model how far token estimates were off, `alternating` the models that
    refuse two messages of one role in a row; both are learned from answers. `definitions` are those
    of ComfyUI's nodes, `library` has the user's saved workflows and the templates.
    `memories` are the user's; a chat may add to them where it
    `remembers`."""

    providers: Providers
    model: Model
    prompts: Prompts
    toolset: Toolset
    settings: Settings
    summaries: Summaries
    answer_slash: Answer | None = None
    clock: Callable[[], float] = time.monotonic
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    alternating: set[str] = field(default_factory=set)
    comfyui: ComfyPort | None = None
    places: Places = field(default_factory=lambda: Places(UNBOUNDED))
    definitions: Definitions | None = None
    library: WorkflowLibrary | None = None
    memories: Memories | None = None
    remembers: bool = True


async def provider_for(providers: Providers, params: ChatParams) -> Provider:
    """The provider that answers in a chat with these parameters. Raises ProviderError when there is
    no provider, or not the chosen provider (`no_provider`)."""
    named = params.provider
    provider = await (providers.current() if named is None else providers.named(named))
    return provider if params.model is None else replace(provider, model=params.model)


def settings_for(settings: Settings, params: ChatParams) -> Settings:
    """The settings, with the chat's own parameters in their place."""
    own: dict[str, Any] = {
        "temperature": params.temperature,
        "reasoning_effort": params.reasoning,
    }
    return replace(settings, **{name: value for name, value in own.items() if value is not None})
