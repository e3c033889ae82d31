"""/chats: the stored chats, what a chat sends, and commands to it.

GET  /api/chats?limit=&before=             {"chats": [...]}, newest first
GET  /api/chats/{id}?limit=&before=        one chat, its messages paged from the end
GET  /api/chats/{id}/context               {"report", "text"}: what its last request held (R32)
POST /api/chats/{id}/commands              {"type": "abort"}, ... -> 202
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aiohttp import web

from ..chats import ChatStore
from ..chats.entry import entry_json
from ..context.report_words import in_words
from ..errors import InvalidRequest, NotFound
from ..messages.ui import message_to_ui
from ..turn.decisions import command_from
from .answers import answer
from .body import optional_text, read_json
from .chat import LONGEST_ID, TurnsOf
from .guard import Gate, guarded

StoreOf = Callable[[web.Request], ChatStore]
DEFAULT_PAGE = 50


def chats_routes(gate: Gate, store_of: StoreOf, turns_of: TurnsOf) -> list[web.RouteDef]:
    async def list_chats(request: web.Request) -> web.Response:
        found = await store_of(request).list(limit_of(request), request.query.get("before") or None)
        return answer({"chats": [entry_json(chat) for chat in found]})

    async def show_chat(request: web.Request) -> web.Response:
        identity = request.match_info["id"]
        store = store_of(request)
        chat = await store.get(identity)
        if chat is None:
            raise NotFound(f"There is no chat {identity!r}.")
        before = request.query.get("before") or None
        messages, more = await store.page(identity, before, limit_of(request))
        body: dict[str, Any] = {
            "id": chat.id,
            "title": chat.title,
            "state": chat.state,
            "pinned": chat.pinned,
            "seq": 0,
            "messages": [message_to_ui(message) for message in messages],
            "has_more": more,
        }
        if chat.workflow is not None:
            body["workflow"] = {"id": chat.workflow.id, "name": chat.workflow.name}
        return answer(body)

    async def show_context(request: web.Request) -> web.Response:
        report = await turns_of(request).report(request.match_info["id"])
        return answer({"report": report and report.to_json(), "text": in_words(report)})

    async def command(request: web.Request) -> web.Response:
        body = await read_json(request)
        client_id = optional_text(body, "client_id", most=LONGEST_ID) or None
        asked = command_from(body)
        await turns_of(request).command(request.match_info["id"], asked, client_id)
        return answer({"accepted": True, "queued": 0}, status=202)

    return [
        web.get("/chats", guarded(list_chats, gate)),
        web.get("/chats/{id}", guarded(show_chat, gate)),
        web.get("/chats/{id}/context", guarded(show_context, gate)),
        web.post("/chats/{id}/commands", guarded(command, gate)),
    ]


def limit_of(request: web.Request, usual: int = DEFAULT_PAGE) -> int:
    """How many things the request wants, `usual` where it does not say; raises InvalidRequest."""
    text = request.query.get("limit") or str(usual)
    if not text.isascii() or not text.isdigit() or len(text) > 6 or int(text) < 1:
        raise InvalidRequest("expected a whole number from 1", where="limit")
    return int(text)
