"""What is done for a chat while nobody uses it: begun after a turn, stopped when the next begins.

    work = IdleJob("A summary by a model", 5.0)
    work.begin("c1", lambda: summarise("c1"))     in five seconds, if nothing happens
    work.stop("c1")                               not now: hangs up at once

One piece of work for each chat, and one at a time of all chats. Whatever fails is only logged:
nobody waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ...errors import AssistantError

logger = logging.getLogger("comfyui_assistant")


class IdleJob:
    """For one event loop. `name` is for the log; `seconds` pass before work begins."""

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
        """`work` soon, in the place of what is under way for the chat."""
        self.stop(chat_id)
        run = self._run(chat_id, work)
        self._tasks[chat_id] = asyncio.get_running_loop().create_task(run)

    def stop(self, chat_id: str) -> None:
        """Stops what is under way for the chat; nothing of it is seen after this."""
        task = self._tasks.pop(chat_id, None)
        if task is not None:
            task.cancel()

    def goes_on(self, chat_id: str, task: asyncio.Task[None] | None) -> bool:
        """Whether this is still the chat's work; may be asked in any thread."""
        return self._tasks.get(chat_id) is task

    async def close(self) -> None:
        """Stops everything."""
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
            if self.goes_on(chat_id, asyncio.current_task()):
                del self._tasks[chat_id]
