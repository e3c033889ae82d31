"""The words of a chat's new messages, indexed when a turn has ended.

So the search for a question (`turn/turn_notes.py`) finds its index up to date, and the question
waits for no other message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from .job import IdleChat
from .scheduler import IdleScheduler

SECONDS: Final = 1.0
"""The pause after a turn: a chat whose turns follow each other is indexed once, after the last."""


class Indexing:
    """For one event loop. `index_soon` begins to index a chat in the background."""

    def __init__(
        self,
        index_soon: Callable[[str], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._index_soon = index_soon
        self._scheduler = IdleScheduler("The indexing of a chat", SECONDS, sleep)

    def begin(self, chat: IdleChat) -> None:
        self._scheduler.begin(chat.chat_id, partial(self._index, chat.chat_id))

    def stop(self, chat_id: str) -> None:
        self._scheduler.stop(chat_id)

    async def close(self) -> None:
        await self._scheduler.close()

    async def _index(self, chat_id: str) -> None:
        self._index_soon(chat_id)
