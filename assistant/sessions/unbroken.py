"""Work that runs to its end, also when its caller is cancelled: a turn is stopped, a client leaves.

await unbroken.run(work)       the caller may be cancelled meanwhile
unbroken.start(work)           nobody waits for it
await unbroken.ended()         waits for all work
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Unbroken:
    """For one event loop. `tasks` are those that are not done."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs `work`; returns its result or raises its exception, if the caller still waits."""
        return await asyncio.shield(self.start(work))

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def ended(self) -> None:
        """Waits until no work is left."""
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            task.exception()  # The caller has it; without a caller it is not to be logged.
