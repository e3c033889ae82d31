"""Work that is done for a chat between two turns. `TurnService` has a list of such jobs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...chats import ChatParams
from ...context.report import Report
from ...messages.parts import Message
from ..compaction import Show, unseen
from ..conversation import Conversation
from ..turn import NO_PARAMS

if TYPE_CHECKING:
    from ..preparation import Preparation


async def _no_maker(_: tuple[Message, ...]) -> Callable[[], Preparation] | None:
    return None


def _untold(report: Report) -> None: ...


@dataclass(frozen=True, slots=True)
class IdleChat:
    """A chat whose turn has ended. `history` are its messages, `answer` the one after them, if it
    is not among them; `keep` stores the conversation's projections. `maker` gives, for the path, a
    function that prepares the chat's next request, to be called in a thread (None: there is none).
    `compacting` shows a compaction that goes on, and `compacted` takes the report of the next
    request after a cut. `stopped` says that the turn was stopped."""

    chat_id: str
    conversation: Conversation
    history: tuple[Message, ...]
    keep: Callable[[], Awaitable[None]]
    params: ChatParams = NO_PARAMS
    maker: Callable[[tuple[Message, ...]], Awaitable[Callable[[], Preparation] | None]] = _no_maker
    compacting: Show = unseen
    compacted: Callable[[Report], None] = _untold
    stopped: bool = False
    answer: Message | None = None

    @property
    def path(self) -> tuple[Message, ...]:
        """All messages of the chat. Not kept: in a long chat it is large, and rarely needed."""
        return self.history if self.answer is None else (*self.history, self.answer)


class IdleJob(Protocol):
    """One kind of work on idle chats."""

    def begin(self, chat: IdleChat) -> None:
        """The chat is idle from now on: schedule the work, if the chat needs any."""

    def stop(self, chat_id: str) -> None:
        """The chat is in use again, or deleted: nothing of the work may take effect after this."""

    async def close(self) -> None:
        """Stop all work."""
