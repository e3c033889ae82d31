"""GET /api/chats/subscribe: the events of a chat, or of the list of chats, as they happen (R37).

?chat_id=&client_id=       the chat's events; without `chat_id` those of the list
Last-Event-ID: 17          (or ?last_event_id=) the events after 17, if &epoch= is still the epoch

An event is `id: <seq>`, `event: <type>`, `data: {"seq", "type", "epoch", ...}`. The stream begins
with a `snapshot`, unless the events that the client missed can be sent instead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from aiohttp import web
from pydantic import Field, WithJsonSchema

from ..errors import InvalidRequest
from ..messages.chunks import KEEP_ALIVE
from ..sessions.event_log import EventLog, snapshot_pieces
from ..validation import Query
from .route import Request, Route
from .sending import send
from .streams import KEEP_ALIVE_SECONDS
from .turns import LONGEST_ID

HEADERS: Final = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
}
LOOK_SECONDS: Final = 1.0
"""How often a silent stream checks that its client is still connected: ComfyUI's server does not
cancel a handler, and tool calls may wait for a panel that has left."""

Snapshot = Callable[[], Awaitable[dict[str, Any]]]


class SubscribeQuery(Query):
    chat_id: str | None = Field(None, description="Without it, the events of the list of chats.")
    client_id: Annotated[str, Field(max_length=LONGEST_ID)] | None = Field(
        None, description="The panel that reads; tool calls that are addressed to it wait for it."
    )
    canvas: Literal["0", "1"] = Field(
        "0", description="`1`: the panel carries out edits of the workflow on a canvas."
    )
    epoch: str | None = Field(
        None,
        description="The epoch of the last event; with another epoch the stream begins anew.",
    )
    last_event_id: Annotated[str, WithJsonSchema({"type": "integer", "minimum": 0})] | None = Field(
        None, description="For clients that cannot set the header Last-Event-ID."
    )


async def subscribe(request: Request[None, SubscribeQuery]) -> web.StreamResponse:
    """The events of a chat, or of the list of chats, as they happen.

    Server-sent events: `id: <seq>`, `event: <type>`, `data: <JSON>`; a comment every 15 seconds of
    silence. The first event is a `snapshot`, unless `Last-Event-ID` names an event after which all
    others are still at hand. `seq` grows by one within an `epoch`. A reader that falls behind gets
    `closed`, without a number, and the connection ends.
    """
    query = request.query
    seen = _seen(request.http.headers.get("Last-Event-ID") or query.last_event_id or "")
    reader = _Reader(request.http, seen, query.epoch)
    sessions = request.own_space.of_chat(query.chat_id).sessions
    gate = request.installation.gate
    if query.chat_id is None:
        with gate.stream_slot(request.http, query.client_id):
            return await _stream(reader, sessions.feed.events, sessions.feed.snapshot)
    session = await sessions.of(query.chat_id)
    with gate.stream_slot(request.http, query.client_id):
        async with session.watched(query.client_id, query.canvas == "1"):
            return await _stream(reader, session.events, session.snapshot)


ROUTES = (Route("GET", "/chats/subscribe", subscribe, {200: "EventStream"}, errors=(404, 503)),)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A client that follows events. `seen` is the number of the last event that it has, in the
    epoch `epoch`."""

    http: web.Request
    seen: int | None
    epoch: str | None


def _seen(text: str) -> int | None:
    """The number of the last event that the client has; raises InvalidRequest."""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InvalidRequest("expected the number of an event", where="last_event_id")
    return int(text)


async def _stream(reader: _Reader, log: EventLog, snapshot: Snapshot) -> web.StreamResponse:
    """Sends events until the client goes away or falls behind."""
    request, seen = reader.http, reader.seen
    same = reader.epoch in (None, log.epoch)
    # Without an event to send, a comment shows the client that the stream is open.
    first = _comment()
    if seen is None or not same or not log.holds(seen):
        data = await snapshot()
        seen = int(data["seq"])
        first = snapshot_pieces(data, seen)
    with log.reader(seen) as position:
        response = web.StreamResponse(headers=HEADERS)
        await response.prepare(request)
        async for piece in first:
            await send(response, piece)
        silence = 0.0
        async for events in log.follow(position, LOOK_SECONDS):
            if events is not None:
                silence = 0.0
                await send(response, events)
                continue
            if request.transport is None or request.transport.is_closing():
                return response  # No client is left to read an end.
            silence += LOOK_SECONDS
            if silence >= KEEP_ALIVE_SECONDS:
                silence = 0.0
                await send(response, KEEP_ALIVE)
    with suppress(ConnectionError):  # The client may have left just now.
        await response.write_eof()
    return response


async def _comment() -> AsyncIterator[bytes]:
    yield KEEP_ALIVE
