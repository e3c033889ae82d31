"""The example of a tool in CONTRIBUTING.md works, and survives a broken graph."""

import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from plugin.assistant.tools.tool import Tool, ToolContext
from plugin.assistant.tools.toolset import Toolset
from plugin.assistant.workflow.snapshot import NO_WORKFLOW

CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
Context = Callable[[Any], ToolContext]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Tool:
    """The tool that the page's first two blocks make: the reader, and the tool that uses it."""
    recipe = CONTRIBUTING.read_text(encoding="utf-8").partition("## A new tool")[2]
    reader, tools = BLOCK.findall(recipe)[:2]
    for name, code in (("workflow.notes", reader), ("tools.example", tools)):
        module = ModuleType(f"plugin.assistant.{name}")
        module.__package__ = module.__name__.rpartition(".")[0]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(textwrap.dedent(code), module.__dict__)
    tool: Tool = module.__dict__["WORKFLOW_TOOLS"][-1]
    return tool


async def call(tool: Tool, context: ToolContext) -> Any:
    return await Toolset((tool,)).call(tool, {"word": "cat"}, context)


async def test_the_example_finds_notes(example: Tool, tool_context: Context) -> None:
    note = {"id": 1, "type": "Note", "widgets_values": ["Use a cat."]}
    inner = {"id": "a", "nodes": [{**note, "type": "MarkdownNote"}, {"id": 2, "type": "Cat"}]}
    graph = {"nodes": [note], "definitions": {"subgraphs": [inner]}}
    assert await call(example, tool_context(graph)) == {"notes": ["Use a cat.", "Use a cat."]}
    assert await call(example, tool_context(None)) == NO_WORKFLOW


async def test_the_example_survives_a_broken_graph(
    example: Tool, tool_context: Context, broken_graph: Any
) -> None:
    found = await call(example, tool_context(broken_graph))
    assert found == {"notes": []} or "no workflow" in found
