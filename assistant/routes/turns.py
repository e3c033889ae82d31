"""/chat: a turn in, its chunks out.

POST /api/chat?debug=context          {id?, messages | message, trigger?, messageId?, workflow?,
                                       client_id?} -> UI message stream v1
GET  /api/chat/{id}/stream            joins the running turn; 204 when none runs
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from ..chats import chat_id
from ..errors import InvalidRequest
from ..messages.ui import message_from_ui, messages_from_ui
from ..sessions.sessions import Sessions
from ..turn.request import REGENERATE, SUBMIT, TurnRequest
from ..workflow.view import Snapshot
from .answers import nothing
from .body import optional_text, read_json
from .guard import Gate, guarded
from .streams import stream_turn

LONGEST_ID = 128
"""Characters of the ids of messages, panels and workflows."""
LONGEST_NAME = 200
"""Characters kept of a workflow's name, which is a path."""
MOST_SELECTED = 1_000
"""Nodes of a selection that are kept."""

SessionsOf = Callable[[web.Request], Sessions]
"""The chats in use of the user who asks."""


def chat_routes(gate: Gate, sessions_of: SessionsOf) -> list[web.RouteDef]:
    async def chat(request: web.Request) -> web.StreamResponse:
        # In a thread: a list of messages may have megabytes.
        asked = await asyncio.to_thread(turn_request_from, await read_json(request))
        sessions = sessions_of(request)
        with gate.stream_slot():
            turn = await sessions.start(asked)
            try:
                return await stream_turn(request, turn, debug=_debug(request))
            finally:
                if turn.chat_id is None:
                    # Nobody else can read a turn without a chat: when its client is gone, it ends.
                    await turn.stop()

    async def join(request: web.Request) -> web.StreamResponse:
        turn = sessions_of(request).running(request.match_info["id"])
        if turn is None:
            return nothing()
        with gate.stream_slot():
            return await stream_turn(request, turn, debug=_debug(request))

    return [
        web.post("/chat", guarded(chat, gate)),
        web.get("/chat/{id}/stream", guarded(join, gate)),
    ]


def _debug(request: web.Request) -> bool:
    return request.query.get("debug") == "context"


def turn_request_from(body: Mapping[str, Any]) -> TurnRequest:
    """The request in a body; raises InvalidRequest. Fields that we do not know are passed over,
    because clients of the AI SDK send their own."""
    identity = body.get("id")
    if identity is not None and not isinstance(identity, str):
        raise InvalidRequest("expected a string", where="id")
    trigger = body.get("trigger") or SUBMIT
    if trigger not in (SUBMIT, REGENERATE):
        raise InvalidRequest(f"expected {SUBMIT} or {REGENERATE}", where="trigger")
    message = body.get("message")
    messages = body.get("messages")
    if message is not None and messages is not None:
        raise InvalidRequest("expected messages or message, got both", where="messages")
    stored_answer = trigger == REGENERATE and identity is not None and messages is None
    return TurnRequest(
        messages=() if message is not None or stored_answer else messages_from_ui(messages),
        message=message_from_ui(message) if message is not None else None,
        chat_id=chat_id(identity) if identity is not None else None,
        trigger=trigger,
        message_id=optional_text(body, "messageId", most=LONGEST_ID) or None,
        workflow=snapshot_from(body.get("workflow")),
        client_id=optional_text(body, "client_id", most=LONGEST_ID) or None,
    )


def snapshot_from(body: Any) -> Snapshot:
    """The panel's workflow; a wrong shape raises InvalidRequest, a missing one is an empty one."""
    if body is None:
        return Snapshot()
    if not isinstance(body, Mapping):
        raise InvalidRequest("expected an object", where="workflow")
    graph = body.get("graph")
    if graph is not None and not isinstance(graph, Mapping):
        raise InvalidRequest("expected an object", where="workflow.graph")
    revision = body.get("revision")
    selection = body.get("selection") or ()
    if not isinstance(selection, (list, tuple)):
        raise InvalidRequest("expected a list of node ids", where="workflow.selection")
    return Snapshot(
        id=_label(body, "id", LONGEST_ID),
        name=_label(body, "name", LONGEST_NAME),
        revision=revision if isinstance(revision, int) else 0,
        graph=graph,
        selection=tuple(
            str(node) for node in selection[:MOST_SELECTED] if isinstance(node, (str, int))
        ),
    )


def _label(body: Mapping[str, Any], name: str, most: int) -> str:
    """A short text about the workflow; a longer one is cut, since nothing depends on it."""
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequest("expected a string", where=f"workflow.{name}")
    return (value or "")[:most]
