"""/chats as a library: what is done with stored chats when nobody is chatting.

PATCH  /api/chats/{id}                 {"title"?, "pinned"?} -> the chat as in the list
DELETE /api/chats/{id}                 -> 204; hidden at once, gone for good in a minute
POST   /api/chats/{id}/restore         -> the chat as in the list, within that minute
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from aiohttp import web

from ..chats import ChatStore
from ..chats.trash import Trash
from ..errors import InvalidRequest, NotFound
from ..turn.turns import Turns
from .answers import answer, nothing
from .body import only, read_json, refuse_fields, text
from .chats import summary_json
from .guard import Gate, guarded

LONGEST_TITLE = 200
"""Characters of a title, as the store keeps it."""


class Library(Protocol):
    """One user's chats."""

    @property
    def chats(self) -> ChatStore: ...

    @property
    def trash(self) -> Trash: ...

    @property
    def turns(self) -> Turns: ...


LibraryOf = Callable[[web.Request], Library]
"""The library of the user who asks."""


def library_routes(gate: Gate, library_of: LibraryOf) -> list[web.RouteDef]:
    """To be registered before `chats_routes`: a word such as `search` is no chat's id."""

    async def change(request: web.Request) -> web.Response:
        title, pinned = _changes(await read_json(request))
        identity = request.match_info["id"]
        return answer(summary_json(await library_of(request).chats.change(identity, title, pinned)))

    async def delete(request: web.Request) -> web.Response:
        library = library_of(request)
        identity = request.match_info["id"]
        if await library.chats.get(identity) is None:
            raise NotFound(f"There is no chat {identity!r}.")
        await library.turns.forget(identity)
        await library.trash.delete(identity)
        return nothing()

    async def restore(request: web.Request) -> web.Response:
        await refuse_fields(request)
        trash = library_of(request).trash
        return answer(summary_json(await trash.restore(request.match_info["id"])))

    return [
        web.patch("/chats/{id}", guarded(change, gate)),
        web.delete("/chats/{id}", guarded(delete, gate)),
        web.post("/chats/{id}/restore", guarded(restore, gate)),
    ]


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
