"""Protocols of the parts of other rooms that tools use: the user's skills, a chat's log and its
workflows.

What tools need of ComfyUI is `comfy_port.ComfyPort`; `comfyui.py` and `preview/comfyui.py`
implement it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
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


class ChatMemories(Protocol):
    """What the user said in all chats; `turn.chat_memories.TurnMemories` implements it. All methods
    but the second and third raise ToolError, also while memory is off.

    `said` is whether a person wrote the quote in this chat, `text_of` the text that would be kept.
    `search` and `recall` return texts for a model.
    """

    async def check_on(self) -> None: ...
    def said(self, quote: str) -> bool: ...
    def text_of(self, text: str, quote: str | None) -> str: ...
    async def write(
        self, text: str, quote: str | None, kind: str, entities: Iterable[str], *, pinned: bool
    ) -> dict[str, Any]: ...
    async def search(self, query: str, most: int) -> str: ...
    async def recall(self, entity: str) -> str: ...


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
class Outlook:
    """How many nodes an edit would add and remove, and how many of the user's nodes would be gone
    with it since the answer began; 0 where this edit takes away none of them. `answer` is what the
    call would answer."""

    added: int
    removed: int
    gone_in_turn: int
    answer: Mapping[str, Any] = field(default_factory=dict)


class Edits(Protocol):
    """Makes the edits of a turn; `turn.edits.turn_edits.TurnEdits` implements it. All methods raise
    ToolError for what cannot be done, and then nothing was changed. `call_id` is that of the call;
    `is_taken` says in a thread whether a name is that of a saved workflow.
    """

    async def outlook(self, operations: object) -> Outlook: ...
    async def outlook_back(self, turn: int) -> Outlook: ...
    async def edit(self, call_id: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]: ...
    async def take_back(self, call_id: str, turn: int) -> Mapping[str, Any]: ...
    async def open(
        self,
        call_id: str,
        arguments: Mapping[str, Any],
        graph: Graph,
        name: str,
        is_taken: Callable[[str], bool],
    ) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class OneWorkflow:
    """The workflow of a turn without a chat."""

    current: Snapshot = field(default_factory=Snapshot)
    keeps: bool = False

    async def kept(self, revision: str) -> Graph | None:
        return None
