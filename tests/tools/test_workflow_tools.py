"""The workflow tool: it shows the turn's workflow as data, whole or in parts."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.workflow.snapshot import NO_WORKFLOW

Call = Callable[..., Awaitable[Any]]
SAMPLER = {"id": 3, "type": "KSampler", "title": "First pass"}
LONG: dict[str, Any] = {"id": 6, "type": "Text", "inputs": [], "widgets_values": ["cat " * 200]}
GRAPH: dict[str, Any] = {"nodes": [SAMPLER, LONG], "links": []}


def inside(answer: str) -> list[str]:
    """The lines between the marks, of which the first line speaks."""
    about, mark, *lines = answer.splitlines()
    assert mark in about and "data" in about
    assert lines.pop() == mark
    return lines


async def test_the_open_workflow_is_described(call_tool: Call) -> None:
    lines = inside(await call_tool("getWorkflowInfo", {}, GRAPH))
    assert re.fullmatch(r'workflow "mine", revision [0-9a-f]{8}: 2 nodes', lines[0])
    assert lines[1] == '3 KSampler "First pass"'
    assert lines[2].startswith("6 Text value_0=") and "…+" in lines[2]


async def test_levels_nodes_and_words_choose_what_is_shown(call_tool: Call) -> None:
    outline = inside(await call_tool("getWorkflowInfo", {"level": "outline"}, GRAPH))
    assert outline[1:] == ["KSampler 3; Text 6"]
    full = inside(await call_tool("getWorkflowInfo", {"level": "full"}, GRAPH))
    assert LONG["widgets_values"][0] in full[2]
    whole = inside(await call_tool("getWorkflowInfo", {"nodes": ["6", "9"]}, GRAPH))
    assert whole == [f'6 Text value_0="{"cat " * 200}"', "There is no node 9."]
    found = inside(await call_tool("getWorkflowInfo", {"query": "first PASS"}, GRAPH))
    assert found == ['3 KSampler "First pass"']


async def test_a_known_revision_gives_what_changed_and_an_unknown_one_the_view(
    call_tool: Call,
) -> None:
    first = inside(await call_tool("getWorkflowInfo", {}, GRAPH))
    current = re.findall("revision ([0-9a-f]{8})", first[0])[0]
    same = inside(await call_tool("getWorkflowInfo", {"since": current}, GRAPH))
    assert same == [f"Nothing has changed since {current}."]
    unknown = inside(await call_tool("getWorkflowInfo", {"since": "00000000"}, GRAPH))
    assert unknown == ['Revision "00000000" is not known; this is the whole workflow.', *first]


async def test_a_wrong_level_is_the_models_mistake(call_tool: Call) -> None:
    with pytest.raises(ToolError, match="level"):
        await call_tool("getWorkflowInfo", {"level": "everything"}, GRAPH)


async def test_without_a_workflow_the_model_is_told(call_tool: Call) -> None:
    assert await call_tool("getWorkflowInfo", {}, None) == NO_WORKFLOW


async def test_a_broken_graph_gives_text(call_tool: Call, broken_graph: Any) -> None:
    shown = await call_tool("getWorkflowInfo", {}, broken_graph)
    assert "no workflow" in shown or inside(shown)[0].startswith('workflow "mine"')
