"""Lets other tasks run while one task works through much that came at once."""

from __future__ import annotations

import asyncio
import time

SLICE_SECONDS = 0.01


class TimeSlice:
    """Measures how long a task has run since it last gave way."""

    def __init__(self) -> None:
        self._until = time.perf_counter() + SLICE_SECONDS

    @property
    def over(self) -> bool:
        return time.perf_counter() >= self._until

    async def give_way(self) -> None:
        """Lets each task that is ready run once."""
        await asyncio.sleep(0)
        self._until = time.perf_counter() + SLICE_SECONDS
