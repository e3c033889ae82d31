"""A value of the database that every turn needs and that seldom changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")
SEEN_SECONDS: Final = 1.0
"""After this time a change by another process is seen."""


class FreshValue(Generic[Value]):
    """What `read` returns, which gets the value that is known: nothing where another file has taken
    the place of the one that it was read from (`Database.generation`). It is read again after a
    `changed` and after SEEN_SECONDS; those who ask meanwhile share one reading. For one event
    loop."""

    def __init__(
        self,
        read: Callable[[Value | None], Awaitable[Value]],
        seconds: Callable[[], float],
        generation: Callable[[], int],
    ) -> None:
        self._read = read
        self._seconds = seconds
        self._generation = generation
        self._known: Value | None = None
        self._read_from = 0
        self._fresh_until = 0.0
        self._reading: asyncio.Task[Value] | None = None

    async def get(self) -> Value:
        """Raises what `read` raises."""
        if self._known is not None and self._seconds() < self._fresh_until:
            return self._known
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read_now())
            self._reading.add_done_callback(self._keep)
        return await asyncio.shield(self._reading)

    def changed(self) -> None:
        """A reading that has begun may not see the change: nobody else gets it."""
        self._reading = None
        self._fresh_until = 0.0

    async def _read_now(self) -> Value:
        # The file may be replaced by this very reading.
        before, self._read_from = self._read_from, self._generation()
        return await self._read(self._known if before == self._read_from else None)

    def _keep(self, reading: asyncio.Task[Value]) -> None:
        failed = reading.cancelled() or reading.exception() is not None
        if reading is self._reading:
            self._reading = None
            if not failed:
                self._known = reading.result()
                self._fresh_until = self._seconds() + SEEN_SECONDS
