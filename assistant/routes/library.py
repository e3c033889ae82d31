"""/chats as a library: what is done with stored chats when nobody is chatting.

POST   /api/chats                      {"id"?, "title"?, "workflow"?} -> 201, a new chat
POST   /api/chats/cleanup              {"older_than_days", "dry_run"?} -> what it deletes
GET    /api/chats/search?q=&limit=     {"results": [...]}: messages of all chats, the best first
PATCH  /api/chats/{id}                 {"title"?, "pinned"?} -> the chat as in the list
DELETE /api/chats/{id}                 -> 204; hidden at once, gone for good in a minute
POST   /api/chats/{id}/restore         -> the chat as in the list, within that minute
POST   /api/chats/{id}/branch          {"message_id"} -> 201 {"id"}: a new chat up to that message
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

from aiohttp import web

from ..chats import Branches, ChatStore, WorkflowName, titles
from ..chats.chat_json import chat_json, entry_json, time_json
from ..chats.export.trajectory import LONGEST_NAME
from ..chats.identity import new_chat_id
from ..chats.search.history_search import HistorySearch
from ..chats.search.hits import Hit
from ..chats.trash import Trash
from ..errors import Conflict, InvalidRequest, NotFound
from ..sessions.sessions import Sessions
from .answers import answer, nothing
from .body import only, optional_integer, optional_text, read_json, refuse_fields, text
from .chats import limit_of
from .guard import Gate, guarded
from .turns import LONGEST_ID

LONGEST_TITLE = 200
"""Characters of a title, as the store keeps it."""
LONGEST_QUERY = 1_000
"""Characters; of a question as long as this, the words that count are looked for."""
RESULTS = 20
"""Results of a search that does not say how many it wants."""
MOST_DAYS: Final = 36_500


class Library(Protocol):
    """One user's chats."""

    @property
    def chats(self) -> ChatStore: ...

    @property
    def search(self) -> HistorySearch: ...

    @property
    def trash(self) -> Trash: ...

    @property
    def sessions(self) -> Sessions: ...


LibraryOf = Callable[[web.Request], Library]
"""The library of the user who asks."""


def library_routes(gate: Gate, library_of: LibraryOf) -> list[web.RouteDef]:
    """To be registered before `chats_routes`: a word such as `search` is no chat's id."""

    async def create(request: web.Request) -> web.Response:
        body = await read_json(request)
        only(body, "id", "title", "workflow")
        identity = optional_text(body, "id", most=LONGEST_ID)
        title = _title(body) if body.get("title") is not None else None
        library = library_of(request)
        chat = await library.chats.create(
            new_chat_id() if identity is None else identity,
            titles.NEW_CHAT if title is None else title,
            _workflow(body),
            "rule" if title is None else "user",
        )
        library.sessions.created(chat)
        return answer(chat_json(chat), status=201)

    async def branch(request: web.Request) -> web.Response:
        body = await read_json(request)
        only(body, "message_id")
        message_id = text(body, "message_id", most=LONGEST_ID)
        library = library_of(request)
        branches = Branches(library.chats)
        chat = await branches.branch(request.match_info["id"], message_id, new_chat_id())
        library.sessions.created(chat)
        return answer({"id": chat.id}, status=201)

    async def clean_up(request: web.Request) -> web.Response:
        days, dry_run = _clean_up(await read_json(request))
        library = library_of(request)
        old = await library.trash.untouched(days)
        deleted: tuple[str, ...] = ()
        if not dry_run:
            deleted = await _delete_all(library, [chat.id for chat in old])
        found = [chat for chat in old if dry_run or chat.id in frozenset(deleted)]
        chats = [
            {"id": chat.id, "title": chat.title, "updated": time_json(chat.updated)}
            for chat in found
        ]
        return answer({"chats": chats, "deleted": len(deleted), "dry_run": dry_run})

    async def search(request: web.Request) -> web.Response:
        library = library_of(request)
        query = _query(request)
        hits = await library.search.search(None, query, limit_of(request, RESULTS))
        named = {}
        for identity in {hit.chat_id for hit in hits}:
            if (chat := await library.chats.get(identity)) is not None:
                named[identity] = chat.title
        # A chat that was deleted since the search has no title any more.
        found = [hit for hit in hits if hit.chat_id in named]
        return answer({"results": [_result(hit, named[hit.chat_id]) for hit in found]})

    async def change(request: web.Request) -> web.Response:
        title, pinned = _changes(await read_json(request))
        library = library_of(request)
        chat = await library.chats.change(request.match_info["id"], title, pinned)
        await library.sessions.changed(chat)
        return answer(entry_json(chat))

    async def delete(request: web.Request) -> web.Response:
        library = library_of(request)
        identity = request.match_info["id"]
        await library.sessions.delete(identity, partial(library.trash.delete, identity))
        return nothing()

    async def restore(request: web.Request) -> web.Response:
        await refuse_fields(request)
        library = library_of(request)
        chat = await library.trash.restore(request.match_info["id"])
        library.sessions.created(chat)
        return answer(entry_json(chat))

    return [
        web.post("/chats", guarded(create, gate)),
        web.post("/chats/cleanup", guarded(clean_up, gate)),
        web.get("/chats/search", guarded(search, gate)),
        web.patch("/chats/{id}", guarded(change, gate)),
        web.delete("/chats/{id}", guarded(delete, gate)),
        web.post("/chats/{id}/restore", guarded(restore, gate)),
        web.post("/chats/{id}/branch", guarded(branch, gate)),
    ]


async def _delete_all(library: Library, identities: Sequence[str]) -> tuple[str, ...]:
    """Deletes chats that nobody is at work in; says which."""
    sessions, trash = library.sessions, library.trash
    used = [identity for identity in identities if sessions.known(identity) is not None]
    deleted: list[str] = []
    for identity in used:
        if sessions.running(identity) is None:
            with suppress(NotFound, Conflict):
                await sessions.delete(identity, partial(trash.delete, identity))
                deleted.append(identity)
    unused = await trash.delete_all([one for one in identities if one not in used])
    for identity in unused:
        sessions.deleted(identity)
    return (*deleted, *unused)


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
    title = _title(body) if "title" in body else None
    pinned = body.get("pinned")
    if "pinned" in body and not isinstance(pinned, bool):
        raise InvalidRequest("expected true or false", where="pinned")
    return title, pinned


def _title(body: dict[str, Any]) -> str:
    title = text(body, "title", most=LONGEST_TITLE)
    if not title.strip():
        raise InvalidRequest("expected a title, got only spaces", where="title")
    return title


def _workflow(body: dict[str, Any]) -> WorkflowName | None:
    """Which workflow a new chat is about; raises InvalidRequest."""
    named = body.get("workflow")
    if named is None:
        return None
    if not isinstance(named, dict):
        raise InvalidRequest("expected an object with id and name", where="workflow")
    only(named, "id", "name")
    identity, name = (text(named, field, most=LONGEST_NAME) for field in ("id", "name"))
    return WorkflowName(identity, name)


def _clean_up(body: dict[str, Any]) -> tuple[int, bool]:
    """After how many days without a change a chat is deleted, and whether to say so only; raises
    InvalidRequest."""
    only(body, "older_than_days", "dry_run")
    days = optional_integer(body, "older_than_days", low=0, high=MOST_DAYS)
    if days is None:
        raise InvalidRequest("expected a whole number of days", where="older_than_days")
    dry_run = body.get("dry_run", True)
    if not isinstance(dry_run, bool):
        raise InvalidRequest("expected true or false", where="dry_run")
    return days, dry_run
