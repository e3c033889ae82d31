"""GET /api/chats/subscribe: what happens in a chat, or to the list of chats, as it happens (R37).

?chat_id=&client_id=       the chat's events; without `chat_id` those of the list
Last-Event-ID: 17          (or ?last_event_id=) what came after 17, with &epoch= if it is still that

An event is `id: <seq>`, `event: <type>`, `data: {"seq", "type", "epoch", ...}`. It begins with a
`snapshot`, unless what was missed can be sent instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

from ..errors import InvalidRequest
from ..messages.chunks import KEEP_ALIVE
from ..sessions.event_log import EventLog, encoded
from .guard import Gate, guarded
from .streams import KEEP_ALIVE_SECONDS
from .turns import LONGEST_ID, SessionsOf

HEADERS: Final = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
}
LOOK_SECONDS: Final = 1.0
"""How often a silent stream looks whether its client is still there: ComfyUI's server does not
cancel a handler, and calls may wait for a panel that has gone."""
STUCK_SECONDS: Final = 30.0
"""How long a client may leave what it was sent unread, before its connection is cut."""

Snapshot = Callable[[], Awaitable[dict[str, Any]]]


def events_routes(gate: Gate, sessions_of: SessionsOf) -> list[web.RouteDef]:
    """To be registered before `chats_routes`: the word `subscribe` is no chat's id."""

    async def subscribe(request: web.Request) -> web.StreamResponse:
        seen = _seen(request)
        identity = request.query.get("chat_id") or None
        client_id = request.query.get("client_id") or None
        if client_id is not None and len(client_id) > LONGEST_ID:
            raise InvalidRequest(f"expected at most {LONGEST_ID} characters", where="client_id")
        sessions = sessions_of(request)
        if identity is None:
            with gate.stream_slot():
                return await _stream(request, sessions.feed.log, sessions.feed.snapshot, seen)
        session = await sessions.of(identity)
        with gate.stream_slot():
            async with session.watched(client_id):
                return await _stream(request, session.log, session.snapshot, seen)

    return [web.get("/chats/subscribe", guarded(subscribe, gate))]


def _seen(request: web.Request) -> int | None:
    """The number of the last event that the client has; raises InvalidRequest."""
    text = request.headers.get("Last-Event-ID") or request.query.get("last_event_id") or ""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InvalidRequest("expected the number of an event", where="last_event_id")
    return int(text)


async def _stream(
    request: web.Request, log: EventLog, snapshot: Snapshot, seen: int | None
) -> web.StreamResponse:
    """Sends events until the client goes away or falls behind."""
    same = request.query.get("epoch") in (None, "", log.epoch)
    first = b""
    if seen is None or not same or not log.holds(seen):
        data = await snapshot()
        seen = int(data["seq"])
        first = encoded("snapshot", data, seen)
    response = web.StreamResponse(headers=HEADERS)
    await response.prepare(request)
    # Also where there is nothing to send yet: the client is to know that it is heard.
    await _write(request, response, first or KEEP_ALIVE)
    silence = 0.0
    async for events in log.follow(seen, LOOK_SECONDS):
        if events is not None:
            silence = 0.0
            await _write(request, response, events)
            continue
        if request.transport is None or request.transport.is_closing():
            return response  # There is nobody left to tell that it ends.
        silence += LOOK_SECONDS
        if silence >= KEEP_ALIVE_SECONDS:
            silence = 0.0
            await _write(request, response, KEEP_ALIVE)
    with suppress(ConnectionError):  # It may have gone in this moment.
        await response.write_eof()
    return response


async def _write(request: web.Request, response: web.StreamResponse, content: bytes) -> None:
    """Cuts the connection of a client that does not read."""
    transport = request.transport
    if transport is None:
        raise ConnectionResetError("The client has gone away.")
    stuck = asyncio.get_running_loop().call_later(STUCK_SECONDS, transport.abort)
    try:
        await response.write(content)
    finally:
        stuck.cancel()
