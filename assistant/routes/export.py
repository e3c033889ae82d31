"""Chats as files: out of the assistant, and back into it.

GET  /api/chats/{id}/export?format=    markdown, jsonl or trajectory, as a download
POST /api/chats/import                 {"format", "content"} -> 201 {"id"}
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Final, Protocol, cast

from aiohttp import web

from ..chats.export.archive import Archive
from ..chats.export.markdown import to_markdown
from ..chats.export.trajectory import FORMATS, Format, Trajectory, from_text, to_text, without
from ..errors import InvalidRequest
from ..sessions.sessions import Sessions
from .answers import answer
from .body import MAX_BODY_BYTES, only, read_json, text
from .guard import Gate, guarded

MARKDOWN: Final = "markdown"
FILES: Final = {
    MARKDOWN: ("text/markdown", "md"),
    "jsonl": ("application/jsonl", "jsonl"),
    "trajectory": ("application/json", "json"),
}
"""Media type and ending of each format."""
LONGEST_FILE_NAME: Final = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


class Shelf(Protocol):
    """One user's chats, as files see them."""

    @property
    def archive(self) -> Archive: ...

    @property
    def sessions(self) -> Sessions: ...


ShelfOf = Callable[[web.Request], Shelf]
"""The chats of the user who asks."""
Secrets = Callable[[], frozenset[str]]
"""The keys that no export may hold."""


def archive_routes(gate: Gate, shelf_of: ShelfOf, secrets: Secrets) -> list[web.RouteDef]:
    async def export(request: web.Request) -> web.Response:
        form = request.query.get("format", "")
        if form not in FILES:
            raise InvalidRequest(f"expected one of {', '.join(FILES)}", where="format")
        stored = await shelf_of(request).archive.read(request.match_info["id"])
        # In threads: a long chat has megabytes.
        trajectory = await asyncio.to_thread(without, stored, secrets())
        content = await asyncio.to_thread(_content, trajectory, form)
        media_type, ending = FILES[form]
        headers = {
            "Content-Disposition": f'attachment; filename="{file_name(trajectory)}.{ending}"',
            "X-Content-Type-Options": "nosniff",
        }
        return web.Response(body=content, content_type=media_type, charset="utf-8", headers=headers)

    async def import_chat(request: web.Request) -> web.Response:
        body = await read_json(request)
        only(body, "format", "content")
        if body.get("format") not in FORMATS:
            raise InvalidRequest(f"expected one of {', '.join(FORMATS)}", where="format")
        content = text(body, "content", most=MAX_BODY_BYTES)
        form = cast(Format, body["format"])
        trajectory = await asyncio.to_thread(from_text, content, form)
        shelf = shelf_of(request)
        chat = await shelf.archive.add(trajectory)
        shelf.sessions.created(chat)
        return answer({"id": chat.id}, status=201)

    return [
        web.get("/chats/{id}/export", guarded(export, gate)),
        web.post("/chats/import", guarded(import_chat, gate)),
    ]


def file_name(trajectory: Trajectory) -> str:
    """The title in letters that every system takes, else the id; without an ending."""
    title = _UNSAFE.sub("-", trajectory.title)[:LONGEST_FILE_NAME].strip("-")
    # `chat-` in front: a name such as CON is a device for Windows.
    return f"chat-{title or trajectory.id}"


def _content(trajectory: Trajectory, form: str) -> bytes:
    if form == MARKDOWN:
        return to_markdown(trajectory).encode("utf-8")
    return to_text(trajectory, cast(Format, form)).encode("utf-8")
