"""One turn as a value, and the observer that follows it.

`service` makes a `Turn` once; the runner, the tools and the recorder read it and change nothing in
it. What happens in the turn leaves this room through the `TurnObserver` alone.
"""

from __future__ import annotations

from asyncio import Task
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..chats import Begun, Chat, ChatParams, ChatState
from ..messages.chunks import Chunk
from ..messages.parts import ToolPart
from ..tools.tool import ToolContext
from .compaction import Show, unseen
from .conversation import Conversation
from .opening import Opening
from .permission import Permits
from .preparation import First
from .stream import TurnStream

NO_PARAMS = ChatParams()
"""Parameters of a chat that uses the settings as they are."""


class TurnObserver:
    """Follows one turn, in the order of these methods. Here each method does nothing, which is
    enough for a turn without a chat."""

    async def began(self, opening: Opening, begun: Begun) -> None:
        """The store has the request's messages and an answer in progress, which must come to its
        end: this method raises nothing."""

    def chunk(self, chunk: Chunk) -> None:
        """A chunk was added to the answer."""

    def entered(self, state: ChatState) -> None:
        """The chat enters `state` while the turn goes on; it is stored after this call."""

    @property
    def watching(self) -> bool:
        """Whether a reader follows the answer; if not, it is stored as unread."""
        return True

    def away(self, client_id: str) -> float | None:
        """How many seconds ago the panel left that carries out edits on its canvas; 0.0 while it is
        there, None where there is none."""
        return None

    def handed(self, call: Mapping[str, Any] | None, client_id: str | None) -> None:
        """A call waits for this panel, which gets it so; None: no call waits for one any more."""

    async def ended(self, turn: Turn, state: ChatState, chat: Chat | None) -> None:
        """The answer is stored and its last chunk was emitted; the chat is to enter `state`.
        `chat` is the chat as it was stored; None where it could not be stored."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """All that one turn works with.

    `opening` is what the turn begins with, `stream` the answer as readers get it, `conversation`
    the chat's messages as rows of its context. `tools` is the context that each tool gets, and
    `permits` say which calls need no approval. `chat_id` is None for a turn that is not stored.
    `question_id` gives the question about a call its id. `compacting` shows readers a compaction in
    the middle of the turn. `first` is the turn's first request, where it was begun before the turn.
    `failure` is why nothing can be done but to end the answer.
    """

    opening: Opening
    stream: TurnStream
    conversation: Conversation
    tools: ToolContext
    observer: TurnObserver
    question_id: Callable[[ToolPart], str]
    permits: Permits
    chat_id: str | None = None
    params: ChatParams = NO_PARAMS
    compacting: Show = unseen
    first: Task[First] | None = None
    failure: Exception | None = None
