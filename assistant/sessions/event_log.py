"""The events of one chat (or of the list of chats), numbered, for any number of readers (R37).

    log = EventLog(new_epoch(), {"chat_id": "c1"})
    log.add("stream_delta", {"message_id": "m1", "chunk": chunk})
    async for bytes in log.follow(17, silence=15): ...

An event is encoded once and kept in one list that all readers share; none holds up the others, and
memory does not grow with a slow one: what falls out of the list before it was read is lost to that
reader, which is told so.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from ..messages.json_text import json_text

MOST_EVENTS: Final = 4_096
"""Kept for readers that fell behind or come back: minutes of a fast answer."""
MOST_BYTES: Final = 4 * 1024 * 1024
"""Kept at most, but for the newest events."""
NEWEST: Final = 32
"""Events that follow each other without a pause: readers come to see none of them before the last.
They are kept even where one has an image of megabytes."""
MOST_NEWEST_BYTES: Final = 64 * 1024 * 1024
"""Kept of those; twice what a request may hold."""
EPOCH_CHARS: Final = 12
TOO_SLOW: Final = "too_slow"
DELETED: Final = "deleted"
"""Why a stream is closed by the server; one that simply ends may be taken up again."""


def new_epoch() -> str:
    """A name for a new sequence of numbers, unlike all before."""
    return uuid.uuid4().hex[:EPOCH_CHARS]


def first_seq() -> int:
    """A number beyond all of earlier epochs, if these had less than an event a millisecond: a
    browser that comes back by itself names a number only, which must not be one of this epoch."""
    return int(time.time() * 1000)


def encoded(kind: str, data: Mapping[str, Any], seq: int | None = None) -> bytes:
    """One server-sent event."""
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json_text(data)}\n\n".encode()


def closed(reason: str) -> bytes:
    """The last event of a stream that the server ends; it has no number."""
    return encoded("closed", {"type": "closed", "reason": reason})


class EventLog:
    """For one event loop. `about` stands in each event's data; `seq` is the number before that of
    the first event."""

    def __init__(
        self,
        epoch: str,
        about: Mapping[str, Any],
        *,
        seq: int = 0,
        most_events: int = MOST_EVENTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.epoch = epoch
        self.seq = seq
        self.ended: str | None = None
        """Why nothing more will come, once that is so; empty where a reader may come again."""
        self._about = dict(about)
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._events: list[bytes] = []
        self._size = 0
        self._readers = 0
        self._news: asyncio.Future[None] | None = None

    @property
    def readers(self) -> int:
        """How many follow."""
        return self._readers

    def data(self, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The data of an event of the present number: what a first snapshot is sent with."""
        return {"seq": self.seq, "type": kind, **self._about, "epoch": self.epoch, **body}

    def add(self, kind: str, body: Mapping[str, Any]) -> None:
        """One more event, for every reader."""
        self.seq += 1
        event = encoded(kind, self.data(kind, body), self.seq)
        self._events.append(event)
        self._size += len(event)
        self._forget()
        self._wake()

    def end(self, reason: str) -> None:
        """Sends every reader home."""
        self.ended = reason
        self._wake()

    def holds(self, seq: int) -> bool:
        """Whether every event after `seq` is still here."""
        return self.seq - len(self._events) <= seq <= self.seq

    async def follow(self, seq: int, silence: float | None = None) -> AsyncIterator[bytes | None]:
        """All events after `seq`, as many at once as there are, then live ones, each time as bytes
        to be sent; None stands for `silence` seconds without one. Ends with `closed` for a reader
        that fell behind, and when the log has ended."""
        self._readers += 1
        try:
            while True:
                if not self.holds(seq):
                    yield closed(TOO_SLOW)
                    return
                if waiting := self._events[len(self._events) - (self.seq - seq) :]:
                    seq = self.seq
                    yield b"".join(waiting)
                    continue
                if self.ended is not None:
                    if self.ended:
                        yield closed(self.ended)
                    return
                done, _ = await asyncio.wait([self._next()], timeout=silence)
                if not done:
                    yield None
        finally:
            self._readers -= 1

    def _next(self) -> asyncio.Future[None]:
        if self._news is None:
            self._news = asyncio.get_running_loop().create_future()
        return self._news

    def _wake(self) -> None:
        if self._news is not None:
            self._news.set_result(None)
            self._news = None

    def _forget(self) -> None:
        """Drops the oldest events; a few at a time, since that moves all others."""
        if len(self._events) <= self._most_events and self._size <= self._most_bytes:
            return
        keep_events, keep_bytes = self._most_events * 3 // 4, self._most_bytes * 3 // 4
        count, size = 0, 0
        for event in reversed(self._events):
            most_bytes = MOST_NEWEST_BYTES if count < NEWEST else keep_bytes
            if count and (count >= keep_events or size + len(event) > most_bytes):
                break
            count += 1
            size += len(event)
        del self._events[: len(self._events) - count]
        self._size = size
