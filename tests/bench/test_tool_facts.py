"""Edits are found in benchmark sessions and public logs, in every spelling of their tools."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from plugin.assistant.messages.changes import Change, NodeAdded, NodeRemoved, ValueSet
from plugin.assistant.messages.prompt import ToolCall
from plugin.bench.tool_facts import bench_facts, changes_of

Arguments = Mapping[str, Any]


def changes(name: str, arguments: Arguments, value: Any = "ok") -> list[Change]:
    return list(changes_of(ToolCall("c", name, json.dumps(arguments)), value))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("setWidget", {"nodeId": 3, "widget": "steps", "value": 30}),
        ("set_node_widget", {"node_id": "3", "name": "steps", "value": 30}),
        ("updateNode", {"id": 3, "widgets": {"steps": 30}}),
        (
            "editWorkflow",
            {"operations": [{"op": "set", "node": "#3", "widget": "steps", "to": 30}]},
        ),
        ("apply", {"node": {"id": 3}, "changes": [{"input": "steps", "new_value": 30}]}),
    ],
)
def test_an_edit_is_known_however_a_tool_spells_it(name: str, arguments: Arguments) -> None:
    assert changes(name, arguments) == [ValueSet("3", "steps", 30)]


def test_the_answer_of_a_batch_says_what_was_made_and_what_was_before() -> None:
    operations = [
        {"op": "setWidget", "node": 80, "widget": "width", "value": 1020},
        {"op": "addNode", "type": "VAEDecode", "ref": "n1"},
    ]
    answer = {"ok": True, "changes": ["#80.width: 1024 -> 1020", "added #81 VAEDecode"]}
    assert changes("editWorkflow", {"operations": operations}, answer) == [
        ValueSet("80", "width", 1020, 1024, known=True),
        NodeAdded("81", "VAEDecode"),
    ]


def test_the_answer_of_one_edit_says_what_was_before() -> None:
    found = changes("setWidget", {"node": 3, "widget": "cfg", "value": 7}, {"ok": True, "old": 8})
    assert found == [ValueSet("3", "cfg", 7, 8, known=True)]


def test_reading_changes_nothing() -> None:
    assert changes("getNode", {"node": 3, "name": "cfg", "value": 7}) == []


def test_a_node_that_is_removed_is_told_with_its_type() -> None:
    assert changes("deleteNode", {"id": 4, "type": "LoadImage"}) == [NodeRemoved("4", "LoadImage")]
    assert changes("removeNode", {"nodeId": 9}) == [NodeRemoved("9")]


def test_the_products_own_tools_hand_in_their_own_facts() -> None:
    facts = bench_facts()
    assert (facts.recall, facts.search) == ("recall_result", "history_search")
