"""/chat: a message starts a turn, and the response is the stream of the turn's chunks.

POST /api/chat?debug=context          {id?, messages | message, trigger?, messageId?, workflow?,
                                       client_id?} -> UI message stream v1
POST /api/chat, Prefer: respond-async {id, ..., priority?} -> 202; the answer comes as events
GET  /api/chat/{id}/stream            joins the running turn; 204 when none runs
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import BeforeValidator, Field, PlainValidator

from ..chats import chat_id
from ..chats.reconcile import REGENERATE, SUBMIT
from ..errors import InvalidRequest
from ..messages.outside import from_outside
from ..messages.parts import Message
from ..messages.ui import message_from_ui, messages_from_ui
from ..turn.turn_request import TurnRequest
from ..validation import Flag, OpenBody, Query, Whole, schema_named
from ..workflow.snapshot import Snapshot
from .answers import answer, nothing
from .route import Request, Route
from .streams import stream_turn

RESPOND_ASYNC = "respond-async"
LONGEST_ID = 128
"""Characters of the ids of messages, panels and workflows."""
LONGEST_NAME = 200
"""Characters kept of a workflow's name, which is a path."""
MOST_SELECTED = 1_000
"""Nodes of a selection that are kept."""

ClientId = Annotated[str, Field(max_length=LONGEST_ID)] | None
Trigger = Annotated[
    Literal["submit-message", "regenerate-message", ""] | None,
    BeforeValidator(lambda value: value or None),
]
"""`false`, 0 and other empty values count as missing."""
Messages = Annotated[
    tuple[Message, ...] | None,
    PlainValidator(lambda value: None if value is None else messages_from_ui(value)),
    schema_named("NewMessages", null=True),
]
OneMessage = Annotated[
    Message | None,
    PlainValidator(lambda value: None if value is None else from_outside(message_from_ui(value))),
    schema_named("NewMessage", null=True),
]


class Workflow(OpenBody):
    """The workflow that is open in the panel. Tools read it."""

    id: str | None = Field(None, description="The same as long as the workflow is open.")
    name: str | None = None
    graph: dict[str, Any] | None = Field(None, description="ComfyUI's own JSON of the canvas.")
    selection: list[Any] | None = Field(None, description="Ids of nodes.")
    too_large: Annotated[Whole, Field(ge=0)] | None = Field(
        None, description="The bytes of a graph that is over 20 MB; `graph` is null then."
    )


class DebugQuery(Query):
    debug: str | None = Field(
        None, description="`context` adds the header X-Assistant-Context and `data-context` chunks."
    )

    @property
    def context(self) -> bool:
        return self.debug == "context"


class TurnBody(OpenBody):
    """A message, or the whole list of messages as the client sees it. Other fields are passed over,
    because clients of the AI SDK send their own."""

    id: Annotated[str | None, schema_named("ChatId", null=True)] = None
    messages: Messages = None
    message: OneMessage = None
    messageId: Annotated[str, Field(max_length=LONGEST_ID)] | None = Field(  # noqa: N815
        None, description="The user message that `message` replaces, or the answer to give again."
    )
    trigger: Trigger = None
    client_id: ClientId = None
    workflow: Workflow | None = None
    temporary: Flag = Field(
        False, description="A new chat is kept in memory only, in no list, search or memory."
    )
    priority: Flag = Field(
        False, description="With `Prefer: respond-async`: ahead of the other messages that wait."
    )

    def turn_request(self) -> TurnRequest:
        """Raises InvalidRequest for fields that do not go together."""
        trigger = self.trigger or SUBMIT
        if self.message is not None and self.messages is not None:
            raise InvalidRequest("expected messages or message, got both", where="messages")
        stored_answer = trigger == REGENERATE and self.id is not None
        if self.message is None and self.messages is None and not stored_answer:
            raise InvalidRequest("expected messages or message, got neither", where="messages")
        return TurnRequest(
            messages=self.messages or (),
            message=self.message,
            chat_id=chat_id(self.id) if self.id is not None else None,
            trigger=trigger,
            message_id=self.messageId or None,
            workflow=snapshot_of(self.workflow),
            client_id=self.client_id or None,
        )


async def start_turn(request: Request[TurnBody, DebugQuery]) -> web.StreamResponse:
    """Start a turn and stream its answer.

    With `id` the turn outlives the request and is kept; without it nothing is stored, and the turn
    ends when the client goes away. With the header `Prefer: respond-async` the response is 202 at
    once, the message waits in a busy or waiting chat, and the answer comes as the chat's events.
    """
    asked = request.body.turn_request()
    if request.body.temporary and asked.chat_id is not None:
        await request.own_space.begin_temporary(asked.chat_id)
    sessions = request.space.sessions
    if _prefers_async(request.http):
        if asked.chat_id is None:
            raise InvalidRequest("expected the chat's id", where="id")
        submitted = asdict(await sessions.submit(asked, request.body.priority))
        if not submitted["answered"]:
            del submitted["answered"]
        return answer(submitted, 202, headers={"Preference-Applied": RESPOND_ASYNC})
    with request.installation.gate.stream_slot(request.http, asked.client_id):
        turn = await sessions.start(asked)
        try:
            return await stream_turn(request.http, turn, debug=request.query.context)
        finally:
            if turn.chat_id is None:
                # Nobody else can read a turn without a chat: when its client is gone, it ends.
                await turn.stop()


async def join_turn(request: Request[None, DebugQuery]) -> web.StreamResponse:
    """Join the turn that runs, from its beginning. 204 when none runs."""
    turn = request.space.sessions.running(request.variable("id"))
    if turn is None:
        return nothing()
    with request.installation.gate.stream_slot(request.http):
        return await stream_turn(request.http, turn, debug=request.query.context)


ROUTES = (
    Route(
        "POST",
        "/chat",
        start_turn,
        {200: "ChunkStream", 202: "Submitted"},
        errors=(404, 409, 429),
    ),
    Route("GET", "/chat/{id}/stream", join_turn, {200: "ChunkStream", 204: "Nothing"}),
)


def _prefers_async(http: web.Request) -> bool:
    """Whether the header `Prefer` (RFC 7240) asks for a response before the answer."""
    asked = ",".join(http.headers.getall("Prefer", ())).split(",")
    return any(one.partition(";")[0].strip().lower() == RESPOND_ASYNC for one in asked)


def snapshot_of(workflow: Workflow | None) -> Snapshot:
    """The workflow for the tools. A long id or name is cut, since nothing depends on it."""
    if workflow is None:
        return Snapshot()
    selected = (workflow.selection or [])[:MOST_SELECTED]
    return Snapshot(
        id=(workflow.id or "")[:LONGEST_ID],
        name=(workflow.name or "")[:LONGEST_NAME],
        graph=workflow.graph,
        selection=tuple(str(node) for node in selected if isinstance(node, (str, int))),
        too_large=(workflow.too_large or 0) if workflow.graph is None else 0,
    )
