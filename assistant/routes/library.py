"""/chats as a library: what is done with stored chats when nobody is chatting.

PATCH  /api/chats/{id}                 {"title"?, "pinned"?} -> the chat as in the list
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from aiohttp import web

from ..chats import ChatStore
from ..errors import InvalidRequest
from .answers import answer
from .body import only, read_json, text
from .chats import summary_json
from .guard import Gate, guarded

LONGEST_TITLE = 200
"""Characters of a title, as the store keeps it."""


class Library(Protocol):
    """One user's chats."""

    @property
    def chats(self) -> ChatStore: ...


LibraryOf = Callable[[web.Request], Library]
"""The library of the user who asks."""


def library_routes(gate: Gate, library_of: LibraryOf) -> list[web.RouteDef]:
    """To be registered before `chats_routes`: a word such as `search` is no chat's id."""

    async def change(request: web.Request) -> web.Response:
        title, pinned = _changes(await read_json(request))
        identity = request.match_info["id"]
        return answer(summary_json(await library_of(request).chats.change(identity, title, pinned)))

    return [web.patch("/chats/{id}", guarded(change, gate))]


def _changes(body: dict[str, Any]) -> tuple[str | None, bool | None]:
    """Title and pin of a PATCH, None for what stays; raises InvalidRequest."""
    only(body, "title", "pinned")
    if not body:
        raise InvalidRequest("expected at least one of title, pinned", where="body")
    title = text(body, "title", most=LONGEST_TITLE) if "title" in body else None
    if title is not None and not title.strip():
        raise InvalidRequest("expected a title, got only spaces", where="title")
    pinned = body.get("pinned")
    if "pinned" in body and not isinstance(pinned, bool):
        raise InvalidRequest("expected true or false", where="pinned")
    return title, pinned
