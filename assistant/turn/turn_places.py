"""The places for turns that run at the same time (`ASSISTANT_MAX_TURNS`).

    places.check()                      before a turn begins: raises when too many wait
    async with places.taken(): ...      while a turn runs; waits, first come first served

One for all users of an installation. A turn that waits for a place has begun: its question is
stored, its readers follow it, and a stop ends it. A turn that waits for a person has no place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from ..errors import Refused

MOST_WAITING: Final = 200
"""Turns that wait for a place."""
RETRY_SECONDS: Final = 10
"""About one short turn."""


class Places:
    """For one event loop. `most` turns run at a time."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self.waiting = 0

    def check(self) -> None:
        """Raises Refused (`busy`, 429) while MOST_WAITING turns wait."""
        if self.waiting >= MOST_WAITING:
            raise Refused(
                f"{MOST_WAITING} answers wait already; try again in a moment.",
                code="busy",
                status=429,
                retry_after=RETRY_SECONDS,
            )

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """A place for one turn; may be cancelled while it waits."""
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self._free.release()
