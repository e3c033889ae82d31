"""Protocols of the parts of other rooms that tools use: the user's skills, a chat's log and its
workflows.

What tools need of ComfyUI is `comfy_port.ComfyPort`; `comfyui.py` and `preview/comfyui.py`
implement it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..workflow.graph import Graph
from ..workflow.node_definitions import NodeDefinitions
from ..workflow.snapshot import Snapshot

Definitions = Callable[[], Awaitable[NodeDefinitions]]
"""Gives ComfyUI's node definitions as they are now. Raises what ComfyUI raises."""


class Skills(Protocol):
    """Lists, reads and writes skills; `user_context.skills.SkillLibrary` implements it. All methods
    read files and raise AssistantError."""

    def list_user(self) -> Any: ...
    def get_user(self, slug: str) -> Any: ...
    def list_system(self) -> Any: ...
    def get_system(self, slug: str) -> Any: ...
    def create(self, name: str, description: str, instructions: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in the chat's log that a search found: its handle, who spoke, and an excerpt."""

    handle: str
    role: str
    text: str


class ChatHistory(Protocol):
    """The chat's whole log; `turn.history.ConversationHistory` implements it.

    `page_chars` is how many characters of a recalled text one result may hold. `recall` returns the
    content of a handle, or the part of it that a JSON path leads to, and raises NotFound. `search`
    returns at most `k` passages, best first.
    """

    @property
    def page_chars(self) -> int: ...
    def recall(self, handle: str, path: str | None = None) -> str: ...
    async def search(self, query: str, k: int) -> Sequence[Passage]: ...


class Workflows(Protocol):
    """The workflow that a turn's tools read, and the graphs that its chat has kept;
    `turn.chat_workflows.TurnWorkflow` implements it.

    `current` is the newest state: it may change while a turn runs, so a tool reads it once. `keeps`
    is False without a chat: then no revision is known. `kept` is the graph of a revision, None
    where it is not known (any more).
    """

    @property
    def current(self) -> Snapshot: ...
    @property
    def keeps(self) -> bool: ...
    async def kept(self, revision: str) -> Graph | None: ...


@dataclass(frozen=True, slots=True)
class OneWorkflow:
    """The workflow of a turn without a chat."""

    current: Snapshot = field(default_factory=Snapshot)
    keeps: bool = False

    async def kept(self, revision: str) -> Graph | None:
        return None
