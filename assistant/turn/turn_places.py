"""The places for turns that run at the same time (`ASSISTANT_MAX_TURNS`).

    places.check()                      before a turn begins: raises when too many wait
    begun = await places.begin()        before a turn is opened; begun() when its request is made
    await places.after_beginnings()     before an answer is ended
    async with places.taken(): ...      while a turn runs; waits, first come first served

One for all users of an installation. A turn that waits for a place has begun: its question is
stored, its readers follow it, and a stop ends it. A turn that waits for a person has no place.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from ..errors import Refused

MOST_WAITING: Final = 200
"""Turns that wait for a place."""
RETRY_SECONDS: Final = 10
"""About one short turn."""
BEGIN_AT_ONCE: Final = 8
"""Turns that are opened and planned at a time. Of many turns that begin together, the first get
their answers while the last begin; otherwise all would wait for all. This orders the work of one
processor, and is no limit: a turn waits LONGEST_WAIT at most, and keeps others waiting for
LONGEST_BEGIN, whatever it waits for itself."""
LONGEST_WAIT: Final = 0.5
LONGEST_BEGIN: Final = 0.2
"""Seconds."""


class Places:
    """For one event loop. `most` turns run at a time."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._beginning = 0
        self._line: deque[asyncio.Future[None]] = deque()
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

    async def begin(self) -> Callable[[], None]:
        """Waits until few others begin; returns what the caller calls when the turn has begun or
        has failed, once or more often."""
        loop = asyncio.get_running_loop()
        if self._beginning >= BEGIN_AT_ONCE:
            mine: asyncio.Future[None] = loop.create_future()
            self._line.append(mine)
            try:
                await asyncio.wait([mine], timeout=LONGEST_WAIT)
            finally:
                if not mine.done():
                    self._line.remove(mine)
                    mine.cancel()
        self._beginning += 1
        until: asyncio.TimerHandle | None = loop.call_later(LONGEST_BEGIN, lambda: begun())

        def begun() -> None:
            nonlocal until
            if until is None:
                return
            until.cancel()
            until = None
            self._beginning -= 1
            if self._line and self._beginning < BEGIN_AT_ONCE:
                self._line.popleft().set_result(None)

        return begun

    async def after_beginnings(self) -> None:
        """Waits for the turns that wait to begin, LONGEST_WAIT at most: the first words of an
        answer go before the end of another."""
        if self._line:
            await asyncio.wait([self._line[-1]], timeout=LONGEST_WAIT)

    @property
    def is_free(self) -> bool:
        """Whether a turn that runs now gets a place at once."""
        return not self._free.locked()

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
