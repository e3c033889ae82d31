"""Sends content to a client as fast as the client takes it, and no faster.

A slow client makes this process keep what is sent to it. Content goes out in slices, and the next
slice waits until the client has taken enough of those before: at most a few slices wait for a
client, whatever the size of an event or a page. `places` lets a client go that takes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final

from aiohttp import web

SLICE: Final = 64 * 1024
"""Bytes that are handed over at a time; aiohttp waits for the client after as many."""


async def send(response: web.StreamResponse, content: bytes) -> None:
    """Sends `content`. Raises ConnectionError when the client has gone away."""
    if len(content) <= SLICE:
        await response.write(content)
        return
    view = memoryview(content)
    for start in range(0, len(content), SLICE):
        await response.write(view[start : start + SLICE])


class LargeAnswer(web.Response):
    """An answer that is made in pieces while it is sent; the guard calls `sent`."""

    def __init__(
        self, pieces: AsyncGenerator[bytes, None], *, status: int = 200, headers: Mapping[str, str]
    ) -> None:
        super().__init__(status=status, headers=headers)
        self._pieces = pieces

    async def sent(self, request: web.Request) -> web.StreamResponse:
        """Sends the whole answer and returns what was sent. Raises ConnectionError when the client
        has gone away."""
        response = web.StreamResponse(status=self.status, headers=self.headers)
        await response.prepare(request)
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                await send(response, piece)
        await response.write_eof()
        return response
