"""Tools that look at the workflow on the canvas."""

from __future__ import annotations

import asyncio

from ..workflow.view import view
from .tool import EVERY_WINDOW, Tool, ToolContext


async def _get_workflow_info(_: object, context: ToolContext) -> str:
    # In a thread: a workflow may have megabytes, and the time to read it grows with that.
    return await asyncio.to_thread(view, context.workflow)


WORKFLOW_TOOLS = (
    Tool(
        name="getWorkflowInfo",
        title="Read the workflow",
        description=(
            "The workflow open on the user's canvas: each node with id, type, title, values and "
            "links. Call it before you say anything about the workflow."
        ),
        kind="reads",
        run=_get_workflow_info,
        parallel=True,
        window=EVERY_WINDOW,
        group="lookup",
    ),
)
