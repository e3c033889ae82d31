"""Tools that look at the workflow on the canvas."""

from __future__ import annotations

import asyncio

from ..workflow.view import view
from .tool import NoArguments, Tool, ToolContext


async def _get_workflow_info(_: NoArguments, scene: ToolContext) -> str:
    # In a thread: a workflow may have megabytes, and the view is work in proportion.
    return await asyncio.to_thread(view, scene.workflow)


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
    ),
)
