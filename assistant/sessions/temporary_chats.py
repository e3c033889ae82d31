"""Which chats are temporary, and when they end: when they are deleted, after ten minutes without a
reader and without a request, when there are too many, or with this process."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from ..errors import AssistantError, Refused
from .sessions import Sessions

logger = logging.getLogger("comfyui_assistant")

LOOK_SECONDS: Final = 60.0
UNREAD_SECONDS: Final = 600.0


class TemporaryChats:
    """For one event loop. `delete` ends the chat with this id, and `most` are kept: beyond it the
    one that was used the longest ago ends, of those that nobody reads. `clock` gives seconds."""

    def __init__(
        self,
        sessions: Sessions,
        delete: Callable[[str], Awaitable[None]],
        most: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sessions = sessions
        self._delete = delete
        self._most = most
        self._clock = clock
        self._sleep = sleep
        self._seen: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def __contains__(self, chat_id: object) -> bool:
        return chat_id in self._seen

    async def begin(self, chat_id: str) -> None:
        """Adds a chat. Raises Refused (`busy`, 429) while so many are read that none can end."""
        while chat_id not in self._seen and len(self._seen) >= self._most:
            unread = self._longest_unused()
            if unread is None:
                raise Refused(
                    f"{self._most} temporary chats are open; leave one of them first, or take a "
                    "chat that is kept.",
                    code="busy",
                    status=429,
                )
            await self._end(unread)
        self.add(chat_id)

    def add(self, chat_id: str) -> None:
        """Adds a chat that is there already; the next look ends what is too many."""
        self._seen[chat_id] = self._clock()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._end_unread())

    def forget(self, chat_id: str) -> None:
        """The chat was deleted."""
        self._seen.pop(chat_id, None)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _end_unread(self) -> None:
        while self._seen:
            await self._sleep(LOOK_SECONDS)
            for chat_id in tuple(self._seen):
                # The reader that was seen may have left just before the next look.
                if self._clock() - self._used(chat_id) >= UNREAD_SECONDS + LOOK_SECONDS:
                    await self._end(chat_id)
            while len(self._seen) > self._most and (unread := self._longest_unused()) is not None:
                await self._end(unread)

    def _used(self, chat_id: str) -> float:
        """When the chat was used last as far as known; now for one that is read or gone."""
        if chat_id not in self._seen:
            return self._clock()
        seen = self._seen[chat_id]
        last = max(seen, self._sessions.used(chat_id) or seen)
        self._seen[chat_id] = self._clock() if self._is_read(chat_id) else last
        return self._seen[chat_id]

    def _is_read(self, chat_id: str) -> bool:
        session = self._sessions.known(chat_id)
        return session is not None and not session.quiet

    def _longest_unused(self) -> str | None:
        """The chat that was used the longest ago, of those that nobody reads."""
        unread = [chat_id for chat_id in self._seen if not self._is_read(chat_id)]
        return min(unread, key=self._used, default=None)

    async def _end(self, chat_id: str) -> None:
        self.forget(chat_id)
        try:
            await self._delete(chat_id)
        except AssistantError as error:
            reason = ascii(error.message)[1:-1]
            logger.info("A temporary chat could not be ended: %s", reason)
