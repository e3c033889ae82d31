"""/chats as a library: what is done with stored chats when nobody is chatting.

GET    /api/chats/search?q=&limit=     {"results": [...]}: messages of all chats, the best first
PATCH  /api/chats/{id}                 {"title"?, "pinned"?} -> the chat as in the list
DELETE /api/chats/{id}                 -> 204; hidden at once, gone for good in a minute
POST   /api/chats/{id}/restore         -> the chat as in the list, within that minute
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from aiohttp import web

from ..chats import ChatStore
from ..chats.entry import entry_json
from ..chats.hits import Hit
from ..chats.search import HistorySearch
from ..chats.trash import Trash
from ..errors import InvalidRequest, NotFound
from ..turn.turns import Turns
from .answers import answer, nothing
from .body import only, read_json, refuse_fields, text
from .chats import limit_of
from .guard import Gate, guarded

LONGEST_TITLE = 200
"""Characters of a title, as the store keeps it."""
LONGEST_QUERY = 1_000
"""Characters; of a question as long as this, the words that count are looked for."""
RESULTS = 20
"""Results of a search that does not say how many it wants."""


class Library(Protocol):
    """One user's chats."""

    @property
    def chats(self) -> ChatStore: ...

    @property
    def search(self) -> HistorySearch: ...

    @property
    def trash(self) -> Trash: ...

    @property
    def turns(self) -> Turns: ...


LibraryOf = Callable[[web.Request], Library]
"""The library of the user who asks."""


def library_routes(gate: Gate, library_of: LibraryOf) -> list[web.RouteDef]:
    """To be registered before `chats_routes`: a word such as `search` is no chat's id."""

    async def search(request: web.Request) -> web.Response:
        library = library_of(request)
        query = _query(request)
        hits = await library.search.search(None, query, limit_of(request, RESULTS))
        titles = {}
        for identity in {hit.chat_id for hit in hits}:
            if (chat := await library.chats.get(identity)) is not None:
                titles[identity] = chat.title
        # A chat that was deleted since the search has no title any more.
        found = [hit for hit in hits if hit.chat_id in titles]
        return answer({"results": [_result(hit, titles[hit.chat_id]) for hit in found]})

    async def change(request: web.Request) -> web.Response:
        title, pinned = _changes(await read_json(request))
        identity = request.match_info["id"]
        return answer(entry_json(await library_of(request).chats.change(identity, title, pinned)))

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
        return answer(entry_json(await trash.restore(request.match_info["id"])))

    return [
        web.get("/chats/search", guarded(search, gate)),
        web.patch("/chats/{id}", guarded(change, gate)),
        web.delete("/chats/{id}", guarded(delete, gate)),
        web.post("/chats/{id}/restore", guarded(restore, gate)),
    ]


def _query(request: web.Request) -> str:
    """What is searched for; raises InvalidRequest."""
    query = request.query.get("q", "").strip()
    if not 1 <= len(query) <= LONGEST_QUERY:
        raise InvalidRequest(f"expected 1 to {LONGEST_QUERY} characters", where="q")
    return query


def _result(hit: Hit, title: str) -> dict[str, Any]:
    return {
        "chat_id": hit.chat_id,
        "message_id": hit.message_id,
        "title": title,
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
    }


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
