"""What one turn asks with: the provider, the system message, and each request's plan."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ...agent_prompts import SystemPrompt
from ..chats import ChatParams
from ..config import Settings
from ..context.calibration import Calibration
from ..context.chat_context import ChatContext
from ..context.exact import counter_of
from ..context.plan import Plan
from ..context.report import Report
from ..context.system import SystemText
from ..context.tail import EARLIER_SHARE
from ..context.tokens import TextTokens
from ..context.window import PRICES, Budget, Prices, Window, window_of
from ..errors import ContextOverflow, InvalidRequest
from ..llm.provider import Provider
from ..llm.request import LLMRequest
from ..llm.stream_events import Event
from ..messages.parts import Message
from ..tools.tool import ChatHistory
from ..tools.toolset import Toolset
from ..user_context.skills import SkillSummary
from .conversation import Conversation
from .recall import recall_into_tail
from .slash.commands import Slash

NO_PARAMS = ChatParams()
"""A chat that wants what the settings say."""


class Providers(Protocol):
    """Who answers; `llm.resolver` knows. `named` is for a chat that has chosen."""

    async def current(self) -> Provider: ...
    async def named(self, name: str) -> Provider: ...
    async def window(self, provider: Provider) -> int | None: ...


class Model(Protocol):
    """How it is asked; `llm.client` knows."""

    def stream(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]: ...


class Prompts(Protocol):
    """What the system message says; `agent_prompts` knows."""

    async def system_prompt(
        self,
        *,
        first_turn: bool,
        window_tokens: int,
        compact: bool,
        tools: bool,
        max_steps: int,
        pinned_skills: Sequence[SkillSummary],
    ) -> SystemPrompt: ...


@dataclass(frozen=True, slots=True)
class Reply:
    """What a slash command is answered, and what the client is to do on its screen, if anything:
    `{"action": "new_chat" | "open_chat" | "delete_chat", "chat_id"?}`."""

    text: str
    action: Mapping[str, Any] | None = None


class Replies(Protocol):
    """Who answers slash commands; `replies` does."""

    async def to(self, slash: Slash, chat_id: str | None, history: Sequence[Message]) -> Reply: ...


@dataclass(frozen=True, slots=True)
class Services:
    """What every turn needs, built once by `app`. `compact` carries out `/compact` with a focus,
    and says what it did; `replies` answers the other commands. `clock` gives seconds,
    `calibrations` holds what was learned of each model's tokens, and `alternating` the models that
    want user and assistant in turns.
    """

    providers: Providers
    model: Model
    prompts: Prompts
    toolset: Toolset
    settings: Settings
    compact: Callable[[Preparation, str], Awaitable[str]]
    replies: Replies | None = None
    clock: Callable[[], float] = time.monotonic
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    alternating: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Preparation:
    """Fixed for a turn. `window.known` is False where the window is only assumed; `count` counts
    tokens as the model does, where that is possible, and then there is no `factor` to learn."""

    provider: Provider
    window: Window
    system: SystemText | None
    tools: tuple[Mapping[str, Any], ...]
    settings: Settings
    history: tuple[Message, ...]
    conversation: Conversation
    factor: float = 1.0
    alternation: bool = False
    count: TextTokens | None = None

    async def plan(self, answer: Message, number: int) -> Plan:
        """The plan of the turn's request `number`, which goes on with `answer`. Made in a thread:
        a chat may be long when it is fed for the first time."""

        def work() -> Plan:
            with self.conversation.lock:
                self.conversation.feed((*self.history, answer))
                return self.ready().plan(self.conversation.tail)

        made = await asyncio.to_thread(work)
        return replace(made, report=replace(made.report, request=number))

    async def wrapped_up(self, answer: Message, number: int, made: Plan) -> Plan:
        """The plan with the note that it is time to finish, which stays for the rest of the turn;
        `made` itself where that would be too early, since a cut makes room (R30)."""
        conversation = self.conversation
        if made.earlier_tokens > EARLIER_SHARE * made.tokens:
            return made
        with conversation.lock:
            asked, row = conversation.context.asked_row, len(conversation.context)
            conversation.tail = conversation.tail.with_wrap_up(asked, row)
        return await self.plan(answer, number)

    async def outlook(self) -> Report | None:
        """The report of a request that would be sent now; None where there is nothing to send, or
        what there is does not fit."""

        def work() -> Plan:
            with self.conversation.lock:
                self.conversation.feed(self.history)
                return self.ready().plan()

        try:
            made = await asyncio.to_thread(work)
        except (ContextOverflow, InvalidRequest):
            return None
        return replace(made.report, request=0)

    def ready(self) -> ChatContext:
        """The conversation's context, prepared for this turn's requests."""
        prices = prices_of(self.provider)
        budget = Budget(self.window, self.alternation, prices, factor=self.factor, count=self.count)
        self.conversation.context.prepare(budget, self.system, self.tools)
        return self.conversation.context

    def request(self, made: Plan) -> LLMRequest:
        return LLMRequest(
            messages=made.messages,
            tools=made.tools,
            temperature=self.settings.temperature,
            max_output_tokens=self.settings.max_output_tokens,
            reasoning_effort=self.settings.reasoning_effort,
        )

    def without_tools(self) -> Preparation:
        return replace(self, tools=())

    def alternating(self) -> Preparation:
        """For a server that refuses two messages of one role in a row (R19)."""
        return replace(self, alternation=True)

    def within(self, tokens: int) -> Preparation:
        """For a server whose window turned out to be smaller (R29)."""
        return replace(self, window=Window(tokens, known=True))


def prices_of(provider: Provider) -> Prices:
    """What reading a prompt costs there: a guess by kind, since nobody says."""
    return PRICES["local" if provider.local else "automatic"]


async def provider_for(providers: Providers, params: ChatParams) -> Provider:
    """Who answers in a chat. Raises ProviderError when there is nobody, or not the one that the
    chat has chosen (`no_provider`)."""
    named = params.provider
    provider = await (providers.current() if named is None else providers.named(named))
    return provider if params.model is None else replace(provider, model=params.model)


def settings_for(settings: Settings, params: ChatParams) -> Settings:
    """The settings with what a chat has of its own."""
    own: dict[str, Any] = {
        "temperature": params.temperature,
        "reasoning_effort": params.reasoning,
    }
    return replace(settings, **{name: value for name, value in own.items() if value is not None})


async def prepare(
    services: Services,
    history: tuple[Message, ...],
    conversation: Conversation,
    params: ChatParams = NO_PARAMS,
    memory: ChatHistory | None = None,
) -> Preparation:
    """`params` are the chat's own. With a `memory`, what of the chat is relevant to its last
    message is recalled into the turn's tail.

    Raises ProviderError when no provider is configured or found."""
    settings = settings_for(services.settings, params)
    provider = await provider_for(services.providers, params)
    window = window_of(await services.providers.window(provider))
    tools = services.toolset.schemas if provider.tools else ()
    spoken = tuple(message for message in history if message.role != "system")

    def feed() -> None:
        with conversation.lock:
            conversation.feed(spoken)

    await asyncio.to_thread(feed)
    system = client_system(history)
    if system is None:
        made = await services.prompts.system_prompt(
            first_turn=conversation.context.first_turn,
            window_tokens=window.tokens,
            compact=window.compact,
            tools=bool(tools),
            max_steps=settings.max_steps,
            pinned_skills=_pinned(history),
        )
        system = SystemText(
            made.text, made.kind, made.user_context_chars, made.limits, made.left_out
        )
    if memory is not None:
        await recall_into_tail(conversation, memory, history, settings.recall_tokens)
    count = counter_of(provider.model)
    known = services.calibrations.get(provider.model, Calibration())
    return Preparation(
        provider,
        window,
        system,
        tools,
        settings,
        spoken,
        conversation,
        1.0 if count is not None else known.factor,
        provider.model in services.alternating,
        count,
    )


def client_system(history: Sequence[Message]) -> SystemText | None:
    """The system message that the client sent, which holds for this request (R3)."""
    texts = [m.text for m in history if m.role == "system" and m.text.strip()]
    return SystemText("\n\n".join(texts), "client") if texts else None


def _pinned(history: tuple[Message, ...]) -> tuple[SkillSummary, ...]:
    """The skill that the last user message activated (R12); its text stands in that message."""
    last = [message for message in history if message.role == "user"][-1]
    skill = last.data("skill")
    if not isinstance(skill, Mapping):
        return ()
    return (SkillSummary(str(skill.get("slug")), str(skill.get("name")), "", "user"),)
