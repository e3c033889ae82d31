"""A chat as a file for somebody who is asked for help."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiohttp import web
from pydantic import Field

from ..chats.export.file_names import safe_title
from ..chats.export.share import share
from ..messages.private_text import PrivateText
from ..validation import Body
from .answers import answer
from .route import Request, Route


class ShareBody(Body):
    workflow: dict[str, Any] | None = Field(
        None, description="ComfyUI's own JSON of a workflow that becomes part of the file."
    )


async def share_chat(request: Request[ShareBody, None]) -> web.Response:
    """The chat as a file to ask for help with, and how much was taken out.

    The file has what was said, the names and outcomes of steps, and the given workflow: no results
    of tools, no pictures, no slash commands, no memories. Keys, paths and user names are taken out.
    An import with the format `share` reads it.
    """
    space = request.space
    stored = await space.archive.read(request.variable("id"))
    # In threads: a long chat has megabytes.
    secrets = await asyncio.to_thread(request.installation.secrets)
    private = PrivateText(secrets, (*_names_here(), space.folder.name))
    shared = await asyncio.to_thread(share, stored, private, request.body.workflow)
    return answer(
        {
            "name": f"shared-{safe_title(shared.title) or stored.id}.md",
            "content": shared.content,
            "taken_out": {kind: private.found[kind] for kind in ("keys", "paths", "names")},
        }
    )


ROUTES = (Route("POST", "/chats/{id}/share", share_chat, {200: "SharedChat"}, errors=(404,)),)


def _names_here() -> Iterator[str]:
    """The names of the account that ComfyUI runs in."""
    # An account has no name in some containers, and may have no home folder.
    with contextlib.suppress(OSError, KeyError, ImportError):
        yield getpass.getuser()
    with contextlib.suppress(RuntimeError):
        yield Path.home().name
