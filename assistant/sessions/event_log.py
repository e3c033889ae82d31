"""The numbered events of one chat, or of the list of chats, for any number of readers (R37).

    log = EventLog(new_epoch(), {"chat_id": "c1"})
    log.add("stream_delta", {"message_id": "m1", "chunk": chunk})
    async for bytes in log.follow(17, silence=15): ...

An event is encoded once and kept in one list that all readers share. A slow reader neither delays
the others nor costs memory: when events that it has not read fall out of the list, its stream is
closed with the reason `too_slow`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, Literal

from ..messages.json_text import json_text

EventType = Literal[
    "snapshot",
    "stream_started",
    "stream_delta",
    "stream_finished",
    "message_added",
    "message_updated",
    "message_removed",
    "messages_truncated",
    "thread_updated",
    "queue_updated",
    "runtime_updated",
    "pause_required",
    "context_compacted",
    "chat_created",
    "chat_changed",
    "chat_deleted",
]
"""The types of all events. The list of chats sends the last three and `snapshot`."""
MOST_EVENTS: Final = 4_096
"""Events that are kept for readers that fell behind or reconnect: minutes of a fast answer."""
MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of the kept events, without the newest `NEWEST` events."""
NEWEST: Final = 32
"""The newest events, which are kept even beyond MOST_BYTES: they may come without a pause in which
a reader could read an event, and an image alone has megabytes."""
MOST_NEWEST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of the newest events; twice the largest request."""
EPOCH_CHARS: Final = 12
TOO_SLOW: Final = "too_slow"
DELETED: Final = "deleted"
"""Reasons for which the server closes a stream. A client may reconnect after an end without a
reason."""


def new_epoch() -> str:
    """A new name for a sequence of event numbers."""
    return uuid.uuid4().hex[:EPOCH_CHARS]


def first_seq() -> int:
    """A number larger than all numbers of earlier epochs, if these had less than one event a
    millisecond. A browser that reconnects by itself sends a number without its epoch, which must
    not be taken for a number of the new epoch."""
    return int(time.time() * 1000)


def encoded(
    kind: EventType | Literal["closed"], data: Mapping[str, Any], seq: int | None = None
) -> bytes:
    """One server-sent event."""
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json_text(data)}\n\n".encode()


def closed(reason: str) -> bytes:
    """The last event of a stream that the server closes; it has no number."""
    return encoded("closed", {"type": "closed", "reason": reason})


class EventLog:
    """For one event loop. `about` is part of each event's data; `seq` is the number before the
    first event's."""

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
        """None while events come; then the reason, empty where a reader may reconnect."""
        self._about = dict(about)
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._events: list[bytes] = []
        self._size = 0
        self._readers = 0
        self._news: asyncio.Future[None] | None = None

    @property
    def readers(self) -> int:
        """How many readers follow."""
        return self._readers

    def data(self, kind: EventType, body: Mapping[str, Any]) -> dict[str, Any]:
        """The data of an event with the present number, such as a first snapshot."""
        return {"seq": self.seq, "type": kind, **self._about, "epoch": self.epoch, **body}

    def add(self, kind: EventType, body: Mapping[str, Any]) -> None:
        """Adds an event for all readers."""
        self.seq += 1
        event = encoded(kind, self.data(kind, body), self.seq)
        self._events.append(event)
        self._size += len(event)
        self._forget()
        self._wake()

    def end(self, reason: str) -> None:
        """Ends the streams of all readers."""
        self.ended = reason
        self._wake()

    def holds(self, seq: int) -> bool:
        """Whether every event after `seq` is still kept."""
        return self.seq - len(self._events) <= seq <= self.seq

    async def follow(self, seq: int, silence: float | None = None) -> AsyncIterator[bytes | None]:
        """All events after `seq`, then live ones, as bytes to send; None after `silence` seconds
        without an event. Ends with a `closed` event for a reader that fell behind, and when the log
        has ended with a reason."""
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
        """Drops the oldest events, a quarter at once, since dropping moves all others."""
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
