"""Which chats are temporary, and when they end: when they are deleted, after ten minutes without a
reader and without a request, or with this process."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from ..errors import AssistantError
from .sessions import Sessions

logger = logging.getLogger("comfyui_assistant")

LOOK_SECONDS: Final = 60.0
UNREAD_SECONDS: Final = 600.0


class TemporaryChats:
    """For one event loop. `delete` ends the chat with this id; `clock` gives seconds."""

    def __init__(
        self,
        sessions: Sessions,
        delete: Callable[[str], Awaitable[None]],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sessions = sessions
        self._delete = delete
        self._clock = clock
        self._sleep = sleep
        self._seen: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def __contains__(self, chat_id: object) -> bool:
        return chat_id in self._seen

    def add(self, chat_id: str) -> None:
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
            now = self._clock()
            for chat_id, seen in tuple(self._seen.items()):
                session = self._sessions.known(chat_id)
                is_read = session is not None and not session.quiet
                seen = now if is_read else max(seen, self._sessions.used(chat_id) or seen)
                self._seen[chat_id] = seen
                # The reader that was seen may have left just before the next look.
                if now - seen >= UNREAD_SECONDS + LOOK_SECONDS:
                    self.forget(chat_id)
                    try:
                        await self._delete(chat_id)
                    except AssistantError as error:
                        reason = ascii(error.message)[1:-1]
                        logger.info("A temporary chat could not be ended: %s", reason)
