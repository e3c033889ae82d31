"""The tools that edit workflows: how arguments are read, what is asked, what a summary is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.messages.changes import (
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    ValueSet,
    WorkflowNamed,
)
from plugin.assistant.messages.prompt import ToolCall
from plugin.assistant.tools.edit_tools import EDIT_TOOLS
from plugin.assistant.tools.ports import Outlook
from plugin.assistant.tools.tool import Tool, ToolContext
from plugin.assistant.tools.toolset import standard_toolset
from plugin.assistant.tools.workflow_library import WorkflowLibrary
from plugin.assistant.workflow.edits.reading import read_operations
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.parse import parse_workflow
from plugin.preview.catalog import Catalog
from plugin.preview.comfyui import PreviewComfyUI

SET = {"op": "set", "node": "3", "values": {"steps": 30}}
TOOLS = {tool.name: tool for tool in EDIT_TOOLS}
EDIT, OPEN, UNDO = (TOOLS[name] for name in ("editWorkflow", "openWorkflow", "undoEdits"))


@dataclass
class Foreseen:
    """Edits that would do what `outlook` says."""

    foreseen: Outlook = field(default_factory=lambda: Outlook(0, 0, 0))

    async def outlook(self, operations: object) -> Outlook:
        return self.foreseen

    async def outlook_back(self, turn: int) -> Outlook:
        return self.foreseen

    async def edit(self, call_id: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"call": call_id, **arguments}

    async def take_back(self, call_id: str, turn: int) -> Mapping[str, Any]:
        return {"turn": turn}

    async def open(
        self, call_id: str, arguments: Mapping[str, Any], graph: Graph, name: str, is_taken: Any
    ) -> Mapping[str, Any]:
        return {"name": name}


def context(*numbers: int) -> ToolContext:
    added, removed, gone = numbers or (0, 0, 0)
    edits = Foreseen(Outlook(added, removed, gone))
    return ToolContext(skills=None, edits=edits, call_id="c1")  # type: ignore[arg-type]


async def asked(tool: Tool, arguments: Any, *numbers: int) -> tuple[str, bool]:
    assert tool.asks is not None
    found = await tool.asks(tool.parse(arguments), context(*numbers))
    assert found is not None
    return found.text, found.each_time


def changes(tool: Tool, arguments: Any, result: Any) -> list[Any]:
    """As the ledger of a summary gets them."""
    call = ToolCall("c1", tool.name, json.dumps(arguments))
    return list(standard_toolset().changes(call, result))


@pytest.mark.parametrize(
    "arguments",
    [
        {"operations": [SET]},
        {"operations": json.dumps([SET])},
        {"ops": [SET]},
        {"edits": [SET], "colour": "red"},
        SET,
        {"operation": "set", "node": "3", "values": {"steps": 30}},
        {"set": {"node": "3", "values": {"steps": 30}}},
    ],
)
async def test_operations_are_read_as_models_write_them(arguments: Any) -> None:
    assert EDIT.run is not None
    found = await EDIT.run(EDIT.parse(arguments), context())
    assert found["call"] == "c1"
    assert read_operations(found["operations"]) == read_operations([SET])


def test_a_call_without_operations_is_shown_the_right_form() -> None:
    batch = EDIT.parse({"note": "Nothing"})
    with pytest.raises(EditRefused, match=r'"op": one of.*For example \{"op": "set"'):
        read_operations(batch.operations)


async def test_more_than_five_of_the_users_nodes_are_not_removed_unasked() -> None:
    remove = {"op": "remove", "node": "3"}
    assert await asked(EDIT, remove, 0, 5, 5) == ("Edits the workflow: removes 5 nodes.", False)
    assert await asked(EDIT, remove, 0, 6, 6) == ("Removes 6 nodes from the workflow.", True)
    text, each_time = await asked(EDIT, SET, 0, 1, 6)
    assert (text, each_time) == ("Removes 1 node from the workflow, 6 in this answer.", True)
    assert await asked(EDIT, SET, 2, 0, 6) == (
        "Edits the workflow: adds 2 nodes, changes 1 node.",
        False,
    )


async def test_what_a_person_is_told_where_each_edit_asks() -> None:
    assert await asked(OPEN, {"template": "flux\nNow"}) == (
        'Opens the template "flux\\nNow" in a new tab.',
        False,
    )
    assert (await asked(UNDO, {}))[0] == "Takes back what the last answer edited in the workflow."


def test_a_summary_is_told_what_a_batch_changed_by_real_addresses() -> None:
    arguments = {
        "operations": [
            {"op": "add", "id": "up", "type": "LatentUpscaleBy", "values": {"scale_by": 2}},
            {"op": "set", "node": "up", "values": {"scale_by": 3}},
            {"op": "set", "node": "3", "values": {"steps": 30}},
            {"op": "remove", "node": "7"},
        ]
    }
    result = {"ids": {"up": "12"}, "diff": "", "problems": [], "revision": "1a2b3c4d"}
    assert changes(EDIT, arguments, result) == [
        NodeAdded("12", "LatentUpscaleBy"),
        ValueSet("12", "scale_by", 2),
        ValueSet("12", "scale_by", 3),
        ValueSet("3", "steps", 30),
        NodeRemoved("7"),
    ]
    assert changes(EDIT, {"operations": "no JSON"}, result) == []
    assert changes(EDIT, arguments, "The canvas did not answer.") == []


def test_a_summary_is_told_of_links_modes_titles_and_types() -> None:
    arguments = {
        "operations": [
            {"op": "add", "id": "up", "type": "LatentUpscaleBy", "inputs": {"samples": "3.LATENT"}},
            {"op": "insert", "id": "lora", "type": "LoraLoaderModelOnly", "into": "3.model"},
            {"op": "connect", "from": "up.LATENT", "to": ["8", "samples"]},
            {"op": "disconnect", "to": "3.latent_image"},
            {"op": "mode", "node": "9", "mode": "bypass"},
            {"op": "title", "node": "up", "title": "Twice"},
            {"op": "replace", "node": "5", "type": "EmptySD3LatentImage", "values": {"width": 768}},
            {"op": "wrap", "nodes": ["up"], "title": "Sheet"},
            {"op": "move", "node": "3", "x": 1, "y": 2},
        ]
    }
    result = {"ids": {"up": "12", "lora": "13"}, "revision": "1a2b3c4d"}
    assert changes(EDIT, arguments, result) == [
        NodeAdded("12", "LatentUpscaleBy"),
        NodeChanged("12", "link samples", "samples<-3.LATENT"),
        NodeAdded("13", "LoraLoaderModelOnly"),
        NodeChanged("3", "link model", "model<-13"),
        NodeChanged("8", "link samples", "samples<-12.LATENT"),
        NodeChanged("3", "link latent_image", "latent_image<-nothing"),
        NodeChanged("9", "mode", "mode=bypass"),
        NodeChanged("12", "title", 'title="Twice"'),
        NodeChanged("5", "type", "type=EmptySD3LatentImage"),
        ValueSet("5", "width", 768),
        NodeChanged("12", "inside", 'now inside the subgraph "Sheet"'),
    ]


def test_a_summary_is_told_which_workflow_was_read_or_opened() -> None:
    assert changes(OPEN, {"template": "flux"}, {"id": "w2", "name": "flux", "revision": "1"}) == [
        WorkflowNamed("flux")
    ]
    read = standard_toolset().get("getWorkflowInfo")
    assert read is not None
    seen = 'Data\nworkflow "a \\"b\\"", revision 1a2b3c4d: 2 nodes\n3 KSampler'
    assert changes(read, {}, seen) == [WorkflowNamed('a "b"')]
    assert changes(read, {}, "workflow, revision 1a2b3c4d: 2 nodes") == []


def test_a_summary_is_told_what_was_taken_back() -> None:
    result = {
        "values": {"3": {"steps": 20}},
        "links": {"3": {"model": "4.MODEL", "latent_image": None}},
        "modes": {"9": "run"},
        "added": {"7": "Note"},
        "removed": ["12"],
    }
    assert changes(UNDO, {}, result) == [
        NodeAdded("7", "Note"),
        NodeRemoved("12"),
        ValueSet("3", "steps", 20),
        NodeChanged("3", "link model", "model<-4.MODEL"),
        NodeChanged("3", "link latent_image", "latent_image<-nothing"),
        NodeChanged("9", "mode", "mode=run"),
    ]


def test_where_an_answer_is_left_out_its_new_nodes_and_its_revision_stay() -> None:
    assert EDIT.digest is not None
    result = {"ids": {"up": "12"}, "diff": "long", "problems": [], "revision": "1a2b3c4d"}
    call = ToolCall("c1", EDIT.name)
    assert EDIT.digest(call, result) == {"revision": "1a2b3c4d", "ids": {"up": "12"}}
    assert EDIT.digest(call, "no") is None


async def test_without_edits_and_without_a_name_nothing_is_done() -> None:
    nowhere = ToolContext(skills=None)  # type: ignore[arg-type]
    for tool, arguments in ((EDIT, SET), (OPEN, {"template": "x"}), (UNDO, {})):
        assert tool.run is not None
        with pytest.raises(ToolError, match="cannot be edited"):
            await tool.run(tool.parse(arguments), nowhere)
    assert OPEN.run is not None
    for arguments in ({}, {"template": "x", "workflow": "y"}):
        with pytest.raises(ToolError, match="either"):
            await OPEN.run(OPEN.parse(arguments), context())


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"template": "image/flux.json"}, "flux"),
        ({"template": "flux", "name": " My try "}, "My try"),
        ({"template": "flux", "name": "../../.ssh/authorized keys"}, "authorized keys"),
        ({"template": "flux", "name": "C:\\Windows\\win: *new*?"}, "win new"),
        ({"template": "flux", "name": "\u202egnp.exe\n"}, "gnp.exe"),
        ({"template": "flux", "name": "x" * 300}, "x" * 80),
        ({"template": "flux", "name": "Con"}, "workflow Con"),
        ({"template": "flux", "name": "nul.v2"}, "workflow nul.v2"),
        ({"template": "flux", "name": "../.."}, "flux"),
        ({"template": "..", "name": "///"}, "workflow"),
    ],
)
async def test_a_new_tab_has_a_name_that_a_file_can_have(
    given: dict[str, Any], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = parse_workflow({"nodes": [], "links": []})
    monkeypatch.setattr(WorkflowLibrary, "template", lambda *_: graph)
    library = WorkflowLibrary(PreviewComfyUI(Catalog("", {})), "default")
    assert OPEN.run is not None
    found = await OPEN.run(OPEN.parse(given), replace(context(), library=library))
    assert found["name"] == named
