"""/chats: the stored chats, what a chat sends, and commands to it.

GET  /api/chats?limit=&before=             {"chats": [...]}, newest first
GET  /api/chats/{id}?limit=&before=        one chat, its messages paged from the end; with `around=`
                                           or `after=` a page there
GET  /api/chats/{id}/context               {"report", "text"}: what its last request held (R32)
POST /api/chats/{id}/commands              {"type": "abort"}, ... -> 202 (R36)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web

from ..chats import Branches, ChatStore
from ..chats.chat_json import chat_json, entry_json
from ..chats.log import pages
from ..context.report_words import in_words
from ..errors import InvalidRequest, NotFound
from ..messages.parts import Message
from ..sessions.chat_session import Sender
from ..sessions.parsing import command_from
from ..sessions.serialization import messages_json, versions_json
from .answers import answer
from .body import optional_text, read_json
from .guard import Gate, guarded
from .turns import LONGEST_ID, SessionsOf, snapshot_from

StoreOf = Callable[[web.Request], ChatStore]
DEFAULT_PAGE = 50
PLACES = ("before", "around", "after")
"""Where a page of a chat may be, other than at its end; each names a message."""


def chats_routes(gate: Gate, store_of: StoreOf, sessions_of: SessionsOf) -> list[web.RouteDef]:
    async def list_chats(request: web.Request) -> web.Response:
        found = await store_of(request).list(limit_of(request), request.query.get("before") or None)
        return answer({"chats": [entry_json(chat) for chat in found]})

    async def show_chat(request: web.Request) -> web.Response:
        identity = request.match_info["id"]
        store = store_of(request)
        chat = await store.get(identity)
        if chat is None:
            raise NotFound(f"There is no chat {identity!r}.")
        # Read before the messages: what happens meanwhile comes again, and is not missed.
        session = sessions_of(request).known(identity)
        seq = session.log.seq if session is not None else 0
        messages, paging = await _page(request, store)
        versions = await Branches(store).versions(identity, [message.id for message in messages])
        body: dict[str, Any] = {
            **chat_json(chat),
            "draft": chat.draft,
            "seq": seq,
            "messages": messages_json(messages),
            "versions": versions_json(versions),
            **paging,
        }
        return answer(body)

    async def show_context(request: web.Request) -> web.Response:
        report = await sessions_of(request).report(request.match_info["id"])
        return answer({"report": report and report.to_json(), "text": in_words(report)})

    async def command(request: web.Request) -> web.Response:
        body = await read_json(request)
        client_id = optional_text(body, "client_id", most=LONGEST_ID) or None
        asker = Sender(client_id, snapshot_from(body.get("workflow")))
        rest = {name: body[name] for name in body if name not in ("client_id", "workflow")}
        # In a thread: a trajectory may have megabytes.
        asked = await asyncio.to_thread(command_from, rest)
        sessions = sessions_of(request)
        queued, made = await sessions.command(request.match_info["id"], asked, asker)
        accepted = {"accepted": True, "queued": queued}
        return answer(accepted if made is None else {**accepted, "chat_id": made}, status=202)

    return [
        web.get("/chats", guarded(list_chats, gate)),
        web.get("/chats/{id}", guarded(show_chat, gate)),
        web.get("/chats/{id}/context", guarded(show_context, gate)),
        web.post("/chats/{id}/commands", guarded(command, gate)),
    ]


async def _page(
    request: web.Request, store: ChatStore
) -> tuple[tuple[Message, ...], dict[str, bool]]:
    """The messages that a request wants, and whether there are others before and after them."""
    identity, limit = request.match_info["id"], limit_of(request)
    asked = {name: request.query[name] for name in PLACES if request.query.get(name)}
    if len(asked) > 1:
        raise InvalidRequest(f"expected at most one of {', '.join(PLACES)}", where="before")
    if "around" in asked or "after" in asked:
        [(place, message_id)] = asked.items()
        read = pages.around if place == "around" else pages.after
        found = await read(store, identity, message_id, limit)
        return found.messages, {"has_more": found.has_more, "has_later": found.has_later}
    messages, more = await store.page(identity, asked.get("before"), limit)
    return messages, {"has_more": more}


def limit_of(request: web.Request, usual: int = DEFAULT_PAGE) -> int:
    """How many things the request wants, `usual` where it does not say; raises InvalidRequest."""
    text = request.query.get("limit") or str(usual)
    if not text.isascii() or not text.isdigit() or len(text) > 6 or int(text) < 1:
        raise InvalidRequest("expected a whole number from 1", where="limit")
    return int(text)
