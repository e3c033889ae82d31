"""All routes of the assistant, in the order in which aiohttp tries them.

Routes with a word in the path come before routes with a variable in its place: `/chats/search`
before `/chats/{id}`.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Final

from aiohttp import web

from . import (
    chats,
    commands,
    export,
    health,
    library,
    memories,
    session,
    settings,
    share,
    skills,
    slash,
    statements,
    subscribe,
    turns,
    user_data,
    workflow_summary,
    workflows,
)
from .openapi import document
from .route import PlainRequest, Route


async def read_open_api(request: PlainRequest) -> web.Response:
    """This document."""
    # In a thread: the first request makes the document, from a few thousand lines of YAML.
    content = await asyncio.to_thread(_document)
    return web.Response(body=content, content_type="application/json", charset="utf-8")


ROUTES: Final[tuple[Route, ...]] = (
    *health.ROUTES,
    *turns.ROUTES,
    *library.ROUTES,
    *export.ROUTES,
    *share.ROUTES,
    *subscribe.ROUTES,
    *chats.ROUTES,
    *workflows.ROUTES,
    *commands.ROUTES,
    *skills.ROUTES,
    *statements.ROUTES,
    *memories.ROUTES,
    *settings.ROUTES,
    *user_data.ROUTES,
    *session.ROUTES,
    *slash.ROUTES,
    *workflow_summary.ROUTES,
    Route("GET", "/assistant/openapi.json", read_open_api, {200: "AnyObject"}),
)


@cache
def _document() -> bytes:
    return json.dumps(document(ROUTES), ensure_ascii=False).encode()
