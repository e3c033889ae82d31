"""A turn's chunks as server-sent events (`docs/contracts/ui-message-stream.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from aiohttp import web

from ..messages import chunks
from ..messages.json_pieces import is_large, pieces_in_thread
from ..turn.stream import TurnStream
from .sending import SLICE, send

KEEP_ALIVE_SECONDS = 15.0
"""Silence after which a comment is sent, so that proxies keep the connection."""
LOOK_SECONDS = 0.5
"""How often a silent stream checks that its client is still connected: a turn without a chat must
end within a second after its client has left, which aiohttp reports only when a handler writes."""
CONTEXT = "data-context"


async def stream_turn(request: web.Request, turn: TurnStream, *, debug: bool) -> web.StreamResponse:
    """Sends the turn from its beginning until it ends, then `[DONE]`.

    With `debug` the first request's report goes into the header `X-Assistant-Context`, and the
    `data-context` chunks are sent (R32). A client that leaves ends this stream only:
    ConnectionError or CancelledError is raised, and the caller decides whether the turn goes on.
    """
    headers = dict(chunks.HEADERS)
    if debug and (report := await turn.first_report()) is not None:
        headers["X-Assistant-Context"] = json.dumps(report.to_header(), separators=(",", ":"))
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    silence = 0.0
    async for some in turn.follow(LOOK_SECONDS):
        if some:
            if shown := [chunk for chunk in some if debug or chunk["type"] != CONTEXT]:
                silence = 0.0
                await _send_chunks(response, shown)
            continue
        if request.transport is None or request.transport.is_closing():
            raise ConnectionResetError("The client has gone away.")
        silence += LOOK_SECONDS
        if silence >= KEEP_ALIVE_SECONDS:
            silence = 0.0
            await response.write(chunks.KEEP_ALIVE)
    await response.write_eof(chunks.DONE)
    return response


async def _send_chunks(response: web.StreamResponse, some: Iterable[chunks.Chunk]) -> None:
    """Sends chunks that came together in one piece, where they are short: to hand a piece to the
    system costs more than to make it."""
    waiting = bytearray()
    for chunk in some:
        large = is_large(chunk)
        if not large:
            waiting += chunks.encode(chunk)
        if waiting and (large or len(waiting) >= SLICE):
            await send(response, bytes(waiting))
            waiting.clear()
        if large:
            async for piece in pieces_in_thread(chunk, b"data: ", b"\n\n"):
                await send(response, piece)
    if waiting:
        await send(response, bytes(waiting))
