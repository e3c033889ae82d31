"""Who is being sent something: the places of open streams, and clients that stopped reading.

    with places.taken(request, client):      a stream, or a large answer; 503 when all are taken
        await send(...)

A client that takes none of the data that waits for it for `stalled_seconds` is let go: its
connection is closed, so the handler that writes to it ends. A turn needs no reader and goes on.

Places are shared by clients. A client that asks while all places are taken, and that has fewer than
another client would keep, gets a place of the client with the most: that client's stream that took
data the longest ago is let go. Otherwise the request is refused.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from aiohttp import web

from ..errors import Refused
from .memory import Memory

RETRY_SECONDS: Final = 5
"""Seconds until a client that found no place may try again."""
SYSTEM_BUFFER_BYTES: Final = 256 * 1024
"""Bytes that the operating system keeps for the client of a stream; without a limit it is several
megabytes, and a client that reads nothing is noticed when they are full."""
LOOKS: Final = 6
"""How often in `stalled_seconds` it is looked at what the clients took."""


class _Connection:
    """An answer on its way. `taken` are the bytes that have left this process, `since` the time
    when they last became more or nothing waited."""

    def __init__(self, request: web.Request, client: Hashable, now: float) -> None:
        self.client = client
        self._request = request
        self._taken = 0
        self.since = now

    def look(self, now: float) -> None:
        transport = self._request.transport
        waiting = transport.get_write_buffer_size() if transport is not None else 0
        taken = self._request.writer.output_size - waiting
        if not waiting or taken != self._taken:
            self._taken, self.since = taken, now

    def let_go(self) -> None:
        """Closes the connection at once, with what the client did not take."""
        if self._request.transport is not None:
            self._request.transport.abort()


class Places:
    """For one event loop. `most` is the number of streams, `stalled_seconds` how long a client may
    leave sent data unread; `memory` gets the bytes that were sent."""

    def __init__(self, most: int, stalled_seconds: float, memory: Memory | None = None) -> None:
        self._most = most
        self._memory = memory
        self._stalled_seconds = stalled_seconds
        self._taken: dict[_Connection, None] = {}
        self._looking: asyncio.TimerHandle | None = None

    @contextmanager
    def taken(self, request: web.Request, client: Hashable) -> Iterator[None]:
        """Takes a place. Raises `Refused` (503) when there is none for this client."""
        if len(self._taken) >= self._most:
            self._make_room(client)
        _limit_buffer(request)
        connection = _Connection(request, client, asyncio.get_running_loop().time())
        self._taken[connection] = None
        self._look_later()
        try:
            yield
        finally:
            self._taken.pop(connection, None)
            if self._memory is not None:
                self._memory.used(request.writer.output_size)

    def _make_room(self, client: Hashable) -> None:
        self._look_at_all()
        held = Counter(connection.client for connection in self._taken)
        if held and held[client] + 1 < max(held.values()):
            most = max(held.values())
            crowded = [one for one in self._taken if held[one.client] == most]
            stalest = min(crowded, key=lambda one: one.since)
            # Its handler ends a little later; the place is free now.
            del self._taken[stalest]
            stalest.let_go()
            return
        raise Refused(
            f"{len(self._taken)} streams are open already, which is the limit."
            " Close another tab of ComfyUI or try again.",
            code="too_many_streams",
            status=503,
            retry_after=RETRY_SECONDS,
        )

    def _look_at_all(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in tuple(self._taken):
            connection.look(now)
            if now - connection.since >= self._stalled_seconds:
                connection.let_go()

    def _look_later(self) -> None:
        if self._looking is None:
            pause = self._stalled_seconds / LOOKS
            self._looking = asyncio.get_running_loop().call_later(pause, self._look)

    def _look(self) -> None:
        self._looking = None
        self._look_at_all()
        if self._taken:
            self._look_later()


def _limit_buffer(request: web.Request) -> None:
    transport = request.transport
    connection = transport.get_extra_info("socket") if transport is not None else None
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SYSTEM_BUFFER_BYTES)
