"""The graphs that the workflows of a chat had: the list, and each as ComfyUI's own JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from aiohttp import web
from pydantic import Field

from ..chats import ChatGraphs, KeptGraph
from ..chats.chat_json import time_json
from ..validation import Query
from .answers import JSON, answer
from .chats import DEFAULT_PAGE, Limit
from .route import PlainRequest, Request, Route
from .sending import LargeAnswer

PIECE: Final = 65_536
"""Bytes that are sent at a time: a client that stops reading is let go in between."""


class GraphsQuery(Query):
    limit: Limit = DEFAULT_PAGE
    before: str | None = Field(None, description="The last revision of the page before.")
    message_id: str | None = Field(
        None, description="Only the graph that the workflow had at this message of the path."
    )


async def list_workflows(request: Request[None, GraphsQuery]) -> web.Response:
    """The graphs that the chat's workflows had, the one that came last first."""
    query = request.query
    graphs, chat_id = ChatGraphs(request.space.chats), request.variable("id")
    if query.message_id is not None:
        kept = await graphs.at(chat_id, query.message_id)
        if kept is None:
            return answer({"workflows": []})
        current = await graphs.is_newest(chat_id, kept)
        return answer({"workflows": [{**_entry(kept), "current": current}]})
    found = await graphs.list(chat_id, query.limit, query.before)
    return answer({"workflows": [_entry(one) for one in found]})


async def read_workflow(request: PlainRequest) -> web.Response:
    """A graph that a workflow of the chat had, as the client sent it."""
    graphs = ChatGraphs(request.space.chats)
    graph = await graphs.read(request.variable("id"), request.variable("revision"))
    content = await asyncio.to_thread(_written, graph)
    return LargeAnswer(_pieces(content), headers={"Content-Type": JSON})


ROUTES = (
    Route("GET", "/chats/{id}/workflows", list_workflows, {200: "WorkflowList"}, errors=(404,)),
    Route(
        "GET",
        "/chats/{id}/workflows/{revision}",
        read_workflow,
        {200: "WorkflowGraph"},
        errors=(404,),
    ),
)


def _written(graph: Mapping[str, Any]) -> bytes:
    return json.dumps(graph, separators=(",", ":")).encode("ascii")


async def _pieces(content: bytes) -> AsyncGenerator[bytes, None]:
    for start in range(0, len(content), PIECE):
        yield content[start : start + PIECE]


def _entry(kept: KeptGraph) -> dict[str, Any]:
    return {
        "revision": kept.revision,
        "workflow_id": kept.workflow_id,
        "name": kept.name,
        "message_id": kept.message_id,
        "created": time_json(kept.created),
        "nodes": kept.nodes,
    }
