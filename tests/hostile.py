"""A provider that sends any bytes at full speed, and a measure of how long the event loop stood
still meanwhile.

async with hostile(head(), flood(...)) as server, chatting(tmp_path, server.environ) as chat:
    async with Ticks() as ticks:
        stream = await chat.say("Hi")
    assert ticks.longest < LONGEST_STALL

The server runs in threads of its own, so that making and sending its bytes is no work of the loop
that is measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

Answer = Callable[[], Iterable[bytes]]
"""The pieces of one HTTP answer, head and body; it is called anew for each request."""

LONGEST_STALL = 1.0
"""Seconds. The law is 50 ms, and 300 ms for a line over 1 MB; the rest is for a busy machine. What
these tests guard against takes many seconds."""
TICK = 0.002
"""Seconds between two ticks."""


def head(content_type: str = "text/event-stream", status: str = "200 OK", more: str = "") -> bytes:
    """The head of an answer whose body ends with its connection."""
    text = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{more}Connection: close\r\n\r\n"
    return text.encode()


def event(value: Any) -> bytes:
    """`value` as one server-sent event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(**fields: Any) -> dict[str, Any]:
    """A chunk with the fields of a delta."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


END = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n"


def endless(piece: bytes, size: int = 65_536) -> Iterator[bytes]:
    """`piece` for ever, in writes of about `size` bytes."""
    block = piece * max(1, size // len(piece))
    while True:
        yield block


class HostileServer:
    """Answers each request with the next of `answers`, the last one again and again."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = list(answers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._stopping = False
        self.requests = 0
        self.sent = 0
        """Bytes that clients took, or that wait in the buffers between."""
        self.left = threading.Event()
        """Set when a client has closed its connection before the end of an answer."""
        port = self._socket.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def environ(self) -> dict[str, str]:
        return {"OPENAI_BASE_URL": self.base_url}

    def close(self) -> None:
        self._stopping = True
        self._socket.close()

    async def client_left(self, seconds: float = 10) -> bool:
        """Waits until a client has closed its connection before the end of an answer."""
        return await asyncio.to_thread(self.left.wait, seconds)

    async def has_sent(self, size: int, seconds: float = 20) -> bool:
        """Waits until `size` bytes were sent."""

        def wait() -> bool:
            until = time.monotonic() + seconds
            while self.sent < size and time.monotonic() < until:
                time.sleep(TICK)
            return self.sent >= size

        return await asyncio.to_thread(wait)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                if not _read_request(connection):
                    return
                self.requests += 1
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                for piece in answer():
                    if self._stopping:
                        return
                    connection.sendall(piece)
                    self.sent += len(piece)
            except OSError:
                self.left.set()


def _read_request(connection: socket.socket) -> bool:
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(65_536)
        if not piece:
            return False
        text += piece
    top, _, body = text.partition(b"\r\n\r\n")
    length = int(top.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    missing = length - len(body)
    while missing > 0:
        missing -= len(connection.recv(65_536))
    return True


@contextlib.asynccontextmanager
async def hostile(*pieces: bytes | Callable[[], Iterable[bytes]]) -> AsyncIterator[HostileServer]:
    """A server whose one answer is made of `pieces`: bytes, or functions that make more bytes."""

    def answer() -> Iterator[bytes]:
        for piece in pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                yield from piece()

    server = HostileServer((answer,))
    try:
        yield server
    finally:
        server.close()


class Ticks:
    """Measures `longest`: the longest time, in seconds, in which the event loop ran nothing else
    than one step of one task. Of the time on the clock and the processor time of this process the
    shorter counts, since other processes take their part of a busy machine."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Ticks:
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        # Two more steps, so that a stall that lasts until now is seen.
        await asyncio.sleep(TICK * 2)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _tick(self) -> None:
        before, worked = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(TICK)
            now, work = time.perf_counter(), time.process_time()
            self.longest = max(self.longest, min(now - before, work - worked) - TICK)
            before, worked = now, work
