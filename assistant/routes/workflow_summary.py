"""POST /assistant/workflow-summary: what a workflow makes, in one sentence, for an empty chat."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web
from pydantic import Field

from ..errors import NotAWorkflow
from ..validation import Body
from ..workflow.explanation import explain
from ..workflow.node_definitions import NodeDefinitions
from ..workflow.parse import parse_workflow
from .answers import answer
from .route import Request, Route

MOST_NODES = 5_000
"""Of larger graphs no sentence is made: it would take seconds, and nobody waits for it."""


class SummaryBody(Body):
    graph: dict[str, Any] = Field(description="ComfyUI's own JSON of the canvas, or an API prompt.")


async def summarise_workflow(request: Request[SummaryBody, None]) -> web.Response:
    """What a workflow makes, in one sentence.

    `summary` is "" where there is nothing to say: the graph is no workflow, no output is known, or
    it has more than 5,000 nodes. Nothing is kept.
    """
    definitions = await request.installation.node_definitions()
    summary = await asyncio.to_thread(_summary, request.body.graph, definitions)
    return answer({"summary": summary})


ROUTES = (
    Route("POST", "/assistant/workflow-summary", summarise_workflow, {200: "WorkflowSummary"}),
)


def _summary(graph: dict[str, Any], definitions: NodeDefinitions) -> str:
    try:
        parsed = parse_workflow(graph)
    except NotAWorkflow:
        return ""
    return explain(parsed, definitions).sentence if parsed.flat_size <= MOST_NODES else ""
