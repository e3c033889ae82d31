"""All data of the user who asks: how much there is, one archive with it, and its deletion (R62)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

from ..validation import Body, Whole
from .answers import answer
from .route import PlainRequest, Request, Route
from .sending import LargeAnswer

MOST_CHATS: Final = 10**9


class DeleteData(Body):
    chats: Annotated[
        Whole,
        Field(
            ge=0, le=MOST_CHATS, description="How many chats the person who decides was told of."
        ),
    ]


async def read_data(request: PlainRequest) -> web.Response:
    """How much data of the user there is, and how much room the files take."""
    return answer((await request.space.usage()).to_json())


async def export_data(request: PlainRequest) -> web.Response:
    """All data of the user as one zip, without any key that the assistant knows.

    The zip is made while it is sent, so its length is not known before.
    """
    space = request.space
    # The first error is an answer, and not half an archive.
    await space.usage()
    secrets = await asyncio.to_thread(request.installation.secrets)
    headers = {
        "Content-Type": "application/zip",
        "Content-Disposition": f'attachment; filename="{_file_name()}"',
        "X-Content-Type-Options": "nosniff",
    }
    return LargeAnswer(space.user_archive.pieces(secrets), headers=headers)


async def delete_data(request: Request[DeleteData, None]) -> web.Response:
    """Delete everything of the user: chats, attachments, skills, rules, preferences and texts.

    Running turns are stopped. Nothing can be brought back. `chats` has to be the number of chats,
    so that nobody deletes more than was asked about; else nothing is deleted (`data_changed`).
    Providers and their keys, which all users share, stay.
    """
    found = await request.installation.empty_data(request.http, request.body.chats)
    return answer({"deleted": found.to_json()})


_DATA: Final = "/assistant/data"
ROUTES = (
    Route("GET", _DATA, read_data, {200: "UserData"}),
    Route("GET", f"{_DATA}/archive", export_data, {200: "DataArchive"}),
    Route("POST", f"{_DATA}/delete", delete_data, {200: "DeletedData"}, errors=(409,)),
)


def _file_name() -> str:
    return f"comfyui-assistant-{datetime.now():%Y-%m-%d}.zip"
