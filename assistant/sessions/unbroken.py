"""Work that runs to its end, also when its caller is cancelled: a turn is stopped, a client leaves.

await unbroken.run(work)       the caller may be cancelled meanwhile
await unbroken.ended()         waits for all work
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Unbroken:
    """For one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs `work`; returns its result or raises its exception, if the caller still waits."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def ended(self) -> None:
        """Waits until no work is left."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # The caller has it; without a caller it is not to be logged.
