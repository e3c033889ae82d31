"""The numbered events of one chat, or of the list of chats, for any number of readers (R37).

    log = EventLog(new_epoch(), {"chat_id": "c1"})
    log.add("stream_delta", {"message_id": "m1", "chunk": chunk})
    async for bytes in log.follow(17, silence=15): ...

An event is encoded once and kept in one list that all readers share, a large event in a thread. A
slow reader neither delays the others nor costs memory: when events that it has not read fall out of
the list, its stream is closed with the reason `too_slow`. What all readers have is kept up to
MOST_BYTES, for clients that reconnect; `sessions` lets go of it a while after the last reader left.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal

from ..messages.json_pieces import PIECE, large, pieces_in_thread, weight, whole
from .serialization import Json

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
MOST_BYTES: Final = 2 * 1024 * 1024
"""About the memory of the kept events, without the newest `NEWEST` events."""
EVENT_BYTES: Final = 500
"""The memory of an event beside its characters: the objects that hold them."""
DELTA_BYTES: Final = 400
"""The same of a `stream_delta` of texts."""
BYTES_OBJECT: Final = 48
"""The same of an event that is encoded."""
NEWEST: Final = 32
"""The newest events, which are kept even beyond MOST_BYTES: they may come without a pause in which
a reader could read an event, and an image alone has megabytes."""
MOST_NEWEST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of the newest events while a reader has yet to get them; twice the largest request."""
BATCH_BYTES: Final = 256 * 1024
"""Bytes of events that a reader gets at a time, if these are more than one event."""
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
    return _head(kind, seq) + whole(data) + _TAIL


def snapshot_pieces(data: Mapping[str, Any], seq: int) -> AsyncIterator[bytes]:
    """A `snapshot` event for one reader, encoded in threads while it is sent."""
    return pieces_in_thread(data, _head("snapshot", seq), _TAIL)


def _head(kind: str, seq: int | None) -> bytes:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: ".encode()


_TAIL: Final = b"\n\n"


def closed(reason: str) -> bytes:
    """The last event of a stream that the server closes; it has no number."""
    return encoded("closed", {"type": "closed", "reason": reason})


class Reader:
    """A reader of a log; `seq` is the number of the last event that it got."""

    def __init__(self, seq: int) -> None:
        self.seq = seq


class _Event:
    """An event that is encoded when the first reader gets it: most events of a chat that nobody
    follows are never read. `size` is about its memory."""

    __slots__ = ("data", "kind", "size")

    def __init__(self, kind: EventType, data: Json, size: int) -> None:
        self.kind, self.data, self.size = kind, data, size


_Delta = tuple[Any, ...]
"""A `stream_delta` of texts that no reader has got yet: its size, its number, the message's id, the
names of the chunk's fields, their values. The collector of garbage does not walk through a tuple of
texts and numbers; thousands of objects that live for a while make it walk through everything in the
process, which takes a tenth of a second."""


class _LargeEvent:
    """An event that is being encoded in a thread; then `content` has its bytes."""

    def __init__(self, head: bytes, data: Json) -> None:
        self.content: bytes | None = None
        self.encoding = asyncio.get_running_loop().create_task(self._encode(head, data))

    async def _encode(self, head: bytes, data: Json) -> None:
        self.content = head + await large(data) + _TAIL


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
        self._about = {**about, "epoch": epoch}
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._events: list[bytes | _Delta | _Event | _LargeEvent] = []
        self._size = 0
        self._readers: set[Reader] = set()
        self._news: asyncio.Future[None] | None = None

    @property
    def readers(self) -> int:
        """How many readers follow."""
        return len(self._readers)

    def data(self, kind: EventType, body: Mapping[str, Any]) -> Json:
        """The data of an event with the present number, such as a first snapshot."""
        return self._data(kind, body, self.seq)

    def _data(self, kind: EventType, body: Mapping[str, Any], seq: int) -> Json:
        return {"seq": seq, "type": kind, **self._about, **body}

    def add(self, kind: EventType, body: Mapping[str, Any]) -> None:
        """Adds an event for all readers. `body` may hold messages, and must not change later."""
        self.seq += 1
        if kind == "stream_delta" and (delta := _delta_of(self.seq, body)):
            self._events.append(delta)
            self._size += _size(delta)
        else:
            self._add(kind, self.data(kind, body))
        self._forget()
        self._wake()

    def _add(self, kind: EventType, data: Json) -> None:
        size = weight(data, PIECE)
        if size <= PIECE:
            self._events.append(_Event(kind, data, EVENT_BYTES + size))
            self._size += EVENT_BYTES + size
        elif self._readers:
            large_event = _LargeEvent(_head(kind, self.seq), data)
            large_event.encoding.add_done_callback(self._encoded)
            self._events.append(large_event)
        else:
            # The snapshot for a client that comes later is no larger, and nobody may come.
            self.let_go()

    def let_go(self) -> None:
        """Drops the events if nobody reads them: a client that reconnects gets a snapshot."""
        if not self._readers:
            self._events.clear()
            self._size = 0

    def end(self, reason: str) -> None:
        """Ends the streams of all readers."""
        self.ended = reason
        self._wake()

    def holds(self, seq: int) -> bool:
        """Whether every event after `seq` is still kept."""
        return self.seq - len(self._events) <= seq <= self.seq

    @contextmanager
    def reader(self, seq: int) -> Iterator[Reader]:
        """A reader that has the events up to `seq`: later events are kept for it, within the log's
        limits."""
        reader = Reader(seq)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)
            self._forget()

    async def follow(
        self, after: int | Reader, silence: float | None = None
    ) -> AsyncIterator[bytes | None]:
        """All events after this number, or those that the reader has not, then live ones, as bytes
        to send; None after `silence` seconds without an event. Ends with a `closed` event for a
        reader that fell behind, and when the log has ended with a reason."""
        if isinstance(after, int):
            with self.reader(after) as reader:
                async for content in self._follow(reader, silence):
                    yield content
            return
        async for content in self._follow(after, silence):
            yield content

    async def _follow(self, reader: Reader, silence: float | None) -> AsyncIterator[bytes | None]:
        while True:
            if not self.holds(reader.seq):
                yield closed(TOO_SLOW)
                return
            if reader.seq < self.seq:
                if content := await self._after(reader):
                    yield content
                continue
            if self.ended is not None:
                if self.ended:
                    yield closed(self.ended)
                return
            done, _ = await asyncio.wait([self._next()], timeout=silence)
            if not done:
                yield None

    async def _after(self, reader: Reader) -> bytes:
        """The next events for a reader, after which it has them; empty where they fell out of the
        log while a large event was encoded."""
        batch: list[bytes] = []
        size = 0
        begin = len(self._events) - (self.seq - reader.seq)
        for index, event in enumerate(self._events[begin:], begin):
            if isinstance(event, _LargeEvent):
                if batch:
                    break
                await asyncio.shield(event.encoding)
                if event.content is None or not self.holds(reader.seq):
                    return b""
                reader.seq += 1
                return event.content
            content = self._encode(event)
            if content is not event:
                self._events[index] = content
                self._size += _size(content) - _size(event)
            batch.append(content)
            size += len(content)
            if size >= BATCH_BYTES:
                break
        reader.seq += len(batch)
        return b"".join(batch)

    def _encode(self, event: bytes | _Delta | _Event) -> bytes:
        if isinstance(event, bytes):
            return event
        if isinstance(event, _Event):
            return encoded(event.kind, event.data, event.data["seq"])
        _, seq, message_id, *chunk = event
        half = len(chunk) // 2
        fields = zip(chunk[:half], chunk[half:], strict=True)
        body = {"message_id": message_id, "chunk": dict(fields)}
        return encoded("stream_delta", self._data("stream_delta", body, seq), seq)

    def _next(self) -> asyncio.Future[None]:
        if self._news is None:
            self._news = asyncio.get_running_loop().create_future()
        return self._news

    def _wake(self) -> None:
        if self._news is not None:
            self._news.set_result(None)
            self._news = None

    def _encoded(self, encoding: asyncio.Task[None]) -> None:
        """A large event has its bytes, which count from now on."""
        if not encoding.cancelled():
            encoding.exception()  # Its readers raise it.
        self._size = sum(map(_size, self._events))
        self._forget()

    def _forget(self) -> None:
        """Drops the oldest events, a quarter at once, since dropping moves all others."""
        if len(self._events) <= self._most_events and self._size <= self._most_bytes:
            return
        keep_events, keep_bytes = self._most_events * 3 // 4, self._most_bytes * 3 // 4
        # The newest event stays in any case: somebody may have been told its number.
        waited_for = min((reader.seq for reader in self._readers), default=self.seq)
        count, size = 0, 0
        for event in reversed(self._events):
            awaited = count < NEWEST and self.seq - count > waited_for
            most_bytes = MOST_NEWEST_BYTES if awaited else keep_bytes
            if count and (count >= keep_events or size + _size(event) > most_bytes):
                break
            count += 1
            size += _size(event)
        del self._events[: len(self._events) - count]
        self._size = size


def _delta_of(seq: int, body: Mapping[str, Any]) -> _Delta | None:
    """None where the chunk holds more than texts, or is large."""
    chunk: Json = body["chunk"]
    size = DELTA_BYTES
    for value in chunk.values():
        if type(value) is not str:
            return None
        size += len(value)
    if size > PIECE:
        return None
    return (size, seq, body["message_id"], *chunk, *chunk.values())


def _size(event: bytes | _Delta | _Event | _LargeEvent) -> int:
    """About the memory of an event, in bytes; none of one that is being encoded."""
    if isinstance(event, tuple):
        size: int = event[0]
        return size
    if isinstance(event, _Event):
        return event.size
    content = event if isinstance(event, bytes) else event.content
    return BYTES_OBJECT + len(content) if content is not None else 0
