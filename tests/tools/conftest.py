"""What a test of a tool needs: a context to run in, and a call by name.

assert await call_tool("getWorkflowInfo", {}, graph) == "…"
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.tools.ports import OneWorkflow
from plugin.assistant.tools.tool import ToolContext
from plugin.assistant.tools.toolset import standard_toolset
from plugin.assistant.tools.workflow_library import WorkflowLibrary
from plugin.assistant.user_context.skills import SkillLibrary
from plugin.assistant.user_context.sources import SourceCache
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.preview.catalog import Catalog, load_catalog
from plugin.preview.comfyui import PreviewComfyUI

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


@dataclass(frozen=True)
class KnownGraphs:
    """The turn's workflow, and the graphs of a chat by revision (`tools.ports.Workflows`)."""

    current: Snapshot
    graphs: Mapping[str, Any] = field(default_factory=dict)
    keeps: bool = True

    async def kept(self, revision: str) -> Any:
        found = self.graphs.get(revision)
        return None if found is None else parse_workflow(found)


@pytest.fixture(scope="session")
def definitions() -> NodeDefinitions:
    """The node definitions of the preview."""
    return NodeDefinitions(load_catalog().nodes)


@pytest.fixture
def tool_context(tmp_path: Path, definitions: NodeDefinitions) -> Callable[..., ToolContext]:
    """The context in which a workflow named "mine" is open, with the product's guides and the
    preview's nodes and templates, without skills of the user. Further fields of `ToolContext` may
    be given. All contexts of a test share the user's skills, and the saved workflows in the folder
    `workflows` of the test's own folder."""
    skills = SkillLibrary(SYSTEM, tmp_path, SourceCache())
    library = WorkflowLibrary(PreviewComfyUI(Catalog("", {}), tmp_path), "default")

    async def known() -> NodeDefinitions:
        return definitions

    def build(graph: Graph, **more: Any) -> ToolContext:
        one = OneWorkflow(Snapshot(name="mine", graph=graph))
        return ToolContext(
            skills, **{"workflows": one, "definitions": known, "library": library, **more}
        )

    return build


@pytest.fixture
def call_tool(tool_context: Callable[..., ToolContext]) -> Callable[..., Awaitable[Any]]:
    """The result of one of the product's tools, called by its name with arguments as JSON."""

    async def call(name: str, arguments: Any, graph: Graph = None, **more: Any) -> Any:
        toolset = standard_toolset()
        tool = toolset.get(name)
        assert tool is not None, f"standard_toolset has no tool {name!r}"
        return await toolset.call(tool, arguments, tool_context(graph, **more))

    return call
