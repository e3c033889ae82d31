"""What a test of a tool needs: a context to run in, and a call by name.

assert await call_tool("getWorkflowInfo", {}, graph) == "…"
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.tools.tool import ToolContext
from plugin.assistant.tools.toolset import standard_toolset
from plugin.assistant.user_context.skills import SkillLibrary
from plugin.assistant.user_context.sources import SourceCache
from plugin.assistant.workflow.snapshot import Snapshot

SYSTEM = Path(__file__).resolve().parent.parent.parent / "system_context"
Graph = Mapping[str, Any] | None
"""A workflow in UI format; None: no workflow is open."""


# Graphs that a client may send and that no editor makes.
BROKEN_GRAPHS: tuple[dict[str, Any], ...] = (
    {},
    {"nodes": None},
    {"nodes": "x"},
    {"nodes": ["x", None, 7]},
    {"nodes": [{}]},
    {"nodes": [{"id": {}, "type": ["Note"], "widgets_values": 7, "inputs": "x"}]},
    {"nodes": [], "links": 7, "definitions": {"subgraphs": [None, {"id": "a", "nodes": 7}]}},
)


@pytest.fixture(params=BROKEN_GRAPHS, ids=str)
def broken_graph(request: pytest.FixtureRequest) -> Any:
    """A graph that is broken, in each of several ways: a tool must not raise."""
    return request.param


@pytest.fixture
def tool_context(tmp_path: Path) -> Callable[[Graph], ToolContext]:
    """The context in which a workflow named "mine" is open, with the product's guides, without
    skills of the user, a chat or ComfyUI. All contexts of a test share the user's skills."""
    skills = SkillLibrary(SYSTEM, tmp_path, SourceCache())

    def build(graph: Graph) -> ToolContext:
        return ToolContext(skills, Snapshot(name="mine", graph=graph))

    return build


@pytest.fixture
def call_tool(tool_context: Callable[[Graph], ToolContext]) -> Callable[..., Awaitable[Any]]:
    """The result of one of the product's tools, called by its name with arguments as JSON."""

    async def call(name: str, arguments: Any, graph: Graph = None) -> Any:
        toolset = standard_toolset()
        tool = toolset.get(name)
        assert tool is not None, f"standard_toolset has no tool {name!r}"
        return await toolset.call(tool, arguments, tool_context(graph))

    return call
