"""The line of requests before a server that answers one at a time.

place = line.join()
async for before in place.wait(): ...     how many are before it, each time the number changes
place.leave()                             also while it waits; the next one's turn comes
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator


class Line:
    """For one event loop; first come, first served."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._moved: asyncio.Future[None] | None = None

    def join(self) -> Place:
        """A place at the end."""
        place = Place(self)
        self._places.append(place)
        return place

    def before(self, place: Place) -> int:
        """How many places are before `place`."""
        return self._places.index(place)

    def remove(self, place: Place) -> None:
        """Takes `place` out of the line, if it is still there."""
        if place in self._places:
            self._places.remove(place)
            if self._moved is not None:
                self._moved.set_result(None)
                self._moved = None

    async def moved(self) -> None:
        """Waits until a place has left the line."""
        if self._moved is None:
            self._moved = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._moved)


class Place:
    """A place in a line; it must be left."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def wait(self) -> AsyncGenerator[int, None]:
        """The number of places before this one, now and after each change, until it is the
        first."""
        shown = 0
        while before := self._line.before(self):
            if before != shown:
                yield before
            shown = before
            await self._line.moved()

    def leave(self) -> None:
        self._line.remove(self)
