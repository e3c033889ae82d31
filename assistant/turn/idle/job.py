"""Work that is done for a chat between two turns. `TurnService` has a list of such jobs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from ...chats import ChatParams
from ...messages.parts import Message
from ..conversation import Conversation
from ..turn import NO_PARAMS


@dataclass(frozen=True, slots=True)
class IdleChat:
    """A chat whose turn has ended. `path` are its messages, the answer included; `keep` stores the
    conversation's projections."""

    chat_id: str
    conversation: Conversation
    path: tuple[Message, ...]
    keep: Callable[[], Awaitable[None]]
    params: ChatParams = NO_PARAMS


class IdleJob(Protocol):
    """One kind of work on idle chats."""

    def begin(self, chat: IdleChat) -> None:
        """The chat is idle from now on: schedule the work, if the chat needs any."""

    def stop(self, chat_id: str) -> None:
        """The chat is in use again, or deleted: nothing of the work may take effect after this."""

    async def close(self) -> None:
        """Stop all work."""
