"""Runs work for idle chats: after a pause, at most once per chat, for one chat at a time.

    scheduler = IdleScheduler("A summary by a model", 5.0)
    scheduler.begin("c1", lambda: summarise("c1"))     runs in five seconds
    scheduler.stop("c1")                               cancels it, also in the middle of a request

A failure is logged and goes no further, since no caller waits for the work.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ...errors import AssistantError

logger = logging.getLogger("comfyui_assistant")


class IdleScheduler:
    """For one event loop. `name` is for the log; work begins after `seconds`."""

    def __init__(
        self,
        name: str,
        seconds: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._name = name
        self._seconds = seconds
        self._sleep = sleep
        self._alone = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, chat_id: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` after the pause; work that the chat has already is cancelled."""
        self.stop(chat_id)
        run = self._run(chat_id, work)
        self._tasks[chat_id] = asyncio.get_running_loop().create_task(run)

    def stop(self, chat_id: str) -> None:
        """Cancel the chat's work; none of it takes effect after this."""
        task = self._tasks.pop(chat_id, None)
        if task is not None:
            task.cancel()

    def is_current(self, chat_id: str, task: asyncio.Task[None] | None) -> bool:
        """Whether `task` is still the chat's work. Safe in any thread."""
        return self._tasks.get(chat_id) is task

    async def close(self) -> None:
        """Cancel all work and wait until it has ended."""
        tasks = tuple(self._tasks.values())
        for chat_id in tuple(self._tasks):
            self.stop(chat_id)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, chat_id: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await self._sleep(self._seconds)
            async with self._alone:
                await work()
        except AssistantError as error:
            logger.info("%s failed: %s", self._name, ascii(error.message)[1:-1])
        except Exception:
            logger.exception("%s failed", self._name)
        finally:
            if self.is_current(chat_id, asyncio.current_task()):
                del self._tasks[chat_id]
