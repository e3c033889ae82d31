"""The workflow tool: it shows the turn's workflow, and takes no arguments."""

from collections.abc import Awaitable, Callable
from typing import Any

from plugin.assistant.workflow.snapshot import NO_WORKFLOW

Call = Callable[..., Awaitable[Any]]


async def test_the_open_workflow_is_described(call_tool: Call) -> None:
    graph = {"nodes": [{"id": 3, "type": "KSampler"}], "links": []}
    shown = await call_tool("getWorkflowInfo", {}, graph)
    assert shown.splitlines() == ['workflow "mine": 1 nodes, 0 links', "#3 KSampler"]


async def test_without_a_workflow_the_model_is_told(call_tool: Call) -> None:
    assert await call_tool("getWorkflowInfo", {}, None) == NO_WORKFLOW


async def test_a_broken_graph_gives_text(call_tool: Call, broken_graph: Any) -> None:
    shown = await call_tool("getWorkflowInfo", {}, broken_graph)
    assert shown.startswith((NO_WORKFLOW, 'workflow "mine"'))
