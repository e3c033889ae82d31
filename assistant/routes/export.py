"""Chats as files: out of the assistant, and back into it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated, Final, Literal, cast

from aiohttp import web
from pydantic import Field

from ..chats.export.file_names import safe_title
from ..chats.export.markdown import to_markdown
from ..chats.export.trajectory import (
    FileFormat,
    Format,
    Trajectory,
    from_text,
    to_text,
    without,
)
from ..validation import Body, Query
from .answers import answer
from .route import Request, Route
from .sending import LargeAnswer

MARKDOWN: Final = "markdown"
FILES: Final = {
    MARKDOWN: ("text/markdown", "md"),
    "jsonl": ("application/jsonl", "jsonl"),
    "trajectory": ("application/json", "json"),
}
"""Media type and ending of each format."""


class ExportQuery(Query):
    format: Literal["markdown", "jsonl", "trajectory"]


class ImportBody(Body):
    format: FileFormat
    content: Annotated[str, Field(min_length=1)]


async def export_chat(request: Request[None, ExportQuery]) -> web.Response:
    """The chat as a file, without any key that the assistant knows."""
    form = request.query.format
    stored = await request.space.archive.read(request.variable("id"))
    # In threads: a long chat has megabytes.
    secrets = await asyncio.to_thread(request.installation.secrets)
    trajectory = await asyncio.to_thread(without, stored, secrets)
    content = await asyncio.to_thread(_content, trajectory, form)
    media_type, ending = FILES[form]
    headers = {
        "Content-Type": f"{media_type}; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{file_name(trajectory)}.{ending}"',
        "X-Content-Type-Options": "nosniff",
    }
    return LargeAnswer(_once(content), headers=headers)


async def import_chat(request: Request[ImportBody, None]) -> web.Response:
    """A new chat from a file that an export or a share made."""
    body, space = request.body, request.space
    trajectory = await asyncio.to_thread(from_text, body.content, body.format)
    chat = await space.archive.add(trajectory)
    space.sessions.created(chat)
    return answer({"id": chat.id}, status=201)


ROUTES = (
    Route("GET", "/chats/{id}/export", export_chat, {200: "ExportedFile"}, errors=(404,)),
    Route("POST", "/chats/import", import_chat, {201: "NewChatId"}),
)


def file_name(trajectory: Trajectory) -> str:
    """The title in letters that every system takes, else the id; without an ending."""
    # `chat-` in front: a name such as CON is a device for Windows.
    return f"chat-{safe_title(trajectory.title) or trajectory.id}"


async def _once(content: bytes) -> AsyncGenerator[bytes, None]:
    yield content


def _content(trajectory: Trajectory, form: str) -> bytes:
    if form == MARKDOWN:
        return to_markdown(trajectory).encode("utf-8")
    return to_text(trajectory, cast(Format, form)).encode("utf-8")
