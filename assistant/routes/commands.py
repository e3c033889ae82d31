"""POST /api/chats/{id}/commands: {"type": "abort"}, ... -> 202."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web
from pydantic import ConfigDict

from ..sessions.commands import command_from
from ..sessions.submissions import Sender
from ..validation import Body
from .answers import answer
from .route import Request, Route
from .turns import ClientId, Workflow, snapshot_of


class CommandBody(Body):
    """What every command may bring. The other fields are the command's own."""

    model_config = ConfigDict(extra="allow")

    client_id: ClientId = None
    workflow: Workflow | None = None

    @property
    def command(self) -> dict[str, Any]:
        return self.model_extra or {}


async def command_chat(request: Request[CommandBody, None]) -> web.Response:
    """Steer a chat.

    A message to a busy chat waits in its queue. 409 says which `state` refuses the command and for
    which `reason`.
    """
    body = request.body
    # In a thread: a trajectory may have megabytes.
    command = await asyncio.to_thread(command_from, body.command)
    sender = Sender(body.client_id or None, snapshot_of(body.workflow))
    queued, done = await request.space.sessions.command(request.variable("id"), command, sender)
    return answer({"accepted": True, "queued": queued, **done.to_json()}, status=202)


ROUTES = (
    Route("POST", "/chats/{id}/commands", command_chat, {202: "Accepted"}, errors=(404, 409, 429)),
)
