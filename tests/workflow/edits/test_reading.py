"""Operations as models send them: what has one reading is read, all else refused with the form."""

import json
from typing import Any

import pytest
from plugin.assistant.workflow.edits.forms import FORMS
from plugin.assistant.workflow.edits.operations import (
    LARGEST_BATCH,
    Add,
    Connect,
    Disconnect,
    End,
    Group,
    Insert,
    Move,
    Remove,
    SetMode,
    SetTitle,
    SetValues,
)
from plugin.assistant.workflow.edits.reading import read_operations
from plugin.assistant.workflow.edits.refused import EditRefused

STEPS = (SetValues(0, "3", {"steps": 30}),)
LINK = End("3.LATENT"), End("8.samples")


@pytest.mark.parametrize(
    "sent",
    [
        [{"op": "set", "node": "3", "values": {"steps": 30}}],
        {"op": "set", "node": 3, "values": {"steps": 30}},
        {"op": "set", "node": 3.0, "values": {"steps": 30}},
        {"op": "set", "node": "#3", "values": {"steps": 30}},
        {"op": "set", "node": {"id": 3}, "values": {"steps": 30}},
        {"op": "set", "node_id": 3, "value": {"steps": 30}},
        {"op": "set", "node": 3, "widget": "steps", "value": 30},
        {"op": "set", "node": 3, "steps": 30},
        {"op": "set", "node": 3, "values": {"widget": "steps", "value": 30}},
        {"op": "set", "node": 3, "values": [{"name": "steps", "value": 30}]},
        {"op": "set", "node": 3, "values": [["steps", 30]]},
        {"op": "set", "node": 3, "values": '{"steps": 30}'},
        {"op": "set_values", "node": 3, "inputs": {"steps": 30}},
        {"op": "SET", "Node": 3, "Values": {"steps": 30}},
        {"operation": "set", "node": 3, "values": {"steps": 30}, "note": "more detail"},
        {"action": "update", "params": {"node": 3, "values": {"steps": 30}}},
        {"set": {"node": 3, "values": {"steps": 30}}},
        {"operations": [{"op": "set", "node": 3, "values": {"steps": 30}}]},
        {"0": {"op": "set", "node": 3, "values": {"steps": 30}}},
        ['{"op": "set", "node": 3, "values": {"steps": 30}}'],
        '```json\n[{"op": "set", "node": 3, "values": {"steps": 30}},]\n```',
    ],
    ids=json.dumps,
)
def test_a_value_is_set_in_whatever_form(sent: Any) -> None:
    assert read_operations(sent) == STEPS


@pytest.mark.parametrize(
    "fields",
    [
        {"from": "3.LATENT", "to": "8.samples"},
        {"source": "3.LATENT", "target": "8.samples"},
        {"output": "3.LATENT", "input": "8.samples"},
        {"link": "3.LATENT -> 8.samples"},
    ],
    ids=json.dumps,
)
def test_a_link_is_named_in_whatever_form(fields: Any) -> None:
    assert read_operations({"op": "link", **fields}) == (Connect(0, *LINK),)


@pytest.mark.parametrize(
    "fields",
    [
        {"from": [3, "LATENT"], "to": ["8", "samples"]},
        {"from": {"node": 3, "output": "LATENT"}, "to": {"node": 8, "input": "samples"}},
        {"from_node": 3, "from_output": "LATENT", "to_node": 8, "to_input": "samples"},
        {"from": "3", "output": "LATENT", "to": 8, "input": "samples"},
    ],
    ids=json.dumps,
)
def test_node_and_slot_may_come_apart(fields: Any) -> None:
    ends = End("", "3", "LATENT"), End("", "8", "samples")
    assert read_operations({"op": "connect", **fields}) == (Connect(0, *ends),)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"op": "delete", "id": 3, "bridge": "true"}, Remove(0, "3", True)),
        ({"op": "bypass", "node": 3}, SetMode(0, "3", "bypass")),
        ({"op": "mode", "node": 3, "mode": 2}, SetMode(0, "3", "mute")),
        ({"op": "mode", "node": 3, "mode": "Enabled"}, SetMode(0, "3", "run")),
        ({"op": "rename", "node": 3, "name": "First"}, SetTitle(0, "3", "First")),
        ({"op": "disconnect", "node": 8, "input": "vae"}, Disconnect(0, End("", "8", "vae"))),
        ({"op": "move", "node": 3, "x": "10", "y": 2}, Move(0, "3", 10, 2)),
        ({"op": "move", "node": 3, "pos": [10, 2]}, Move(0, "3", 10, 2)),
        ({"op": "group", "title": "A", "nodes": "3, 8"}, Group(0, "A", ("3", "8"))),
        ({"op": "insert", "id": "l", "type": "L", "to": "3.m"}, Insert(0, "l", "L", End("3.m"))),
        (
            {"op": "add", "id": "up", "class_type": "Up", "links": {"samples": ["3", 0]}},
            Add(0, "up", "Up", inputs={"samples": End("", "3", "0")}),
        ),
        (
            {"op": "add", "id": "n", "type": "N", "inputs": [{"input": "a", "from": "3.A"}]},
            Add(0, "n", "N", inputs={"a": End("3.A")}),
        ),
    ],
    ids=str,
)
def test_other_names_of_operations_and_fields(sent: Any, read: Any) -> None:
    assert read_operations(sent) == (read,)


def test_an_operation_for_several_nodes_is_one_for_each() -> None:
    sent = [{"op": "arrange"}, {"op": "mode", "nodes": [3, 4], "mode": "mute"}]
    assert read_operations(sent)[1:] == (SetMode(1, "3", "mute"), SetMode(1, "4", "mute"))


@pytest.mark.parametrize(
    ("sent", "number", "words"),
    [
        ([], 0, "one of add, remove"),
        ("do it", 0, "one of add, remove"),
        (None, 0, "one of add, remove"),
        ([{"op": "arrange"}, 5], 1, "5 is no operation"),
        ([{"op": "fly", "node": 3}], 0, 'no operation "fly"'),
        ([{"op": "set", "node": 3}], 0, '"values" is missing'),
        ([{"op": "set", "node": 3, "values": ["steps=3"]}], 0, '"values": {"steps": 30'),
        ([{"op": "arrange"}, {"op": "remove"}], 1, '"node" is missing'),
        ([{"op": "remove", "node": 3, "all": True}], 0, 'no field "all"'),
        ([{"op": "remove", "node": True}], 0, "names no node"),
        ([{"op": "remove", "node": 3, "bridge": "perhaps"}], 0, "neither true nor false"),
        ([{"op": "mode", "node": 3, "mode": "sleep"}], 0, "run, mute, bypass"),
        ([{"op": "connect", "from": "3.LATENT"}], 0, '"to": "3.latent_image"'),
        ([{"op": "move", "node": 3, "x": 1}], 0, "x and y, or near"),
        ([{"op": "move", "node": 3, "x": 1, "y": "far"}], 0, "no place"),
        ([{"op": "arrange"}] * (LARGEST_BATCH + 1), 0, "at most 100"),
    ],
    ids=str,
)
def test_what_has_no_reading_is_refused_with_the_right_form(
    sent: Any, number: int, words: str
) -> None:
    with pytest.raises(EditRefused) as refused:
        read_operations(sent)
    assert (refused.value.operation, refused.value.code) == (number, "bad_operation")
    assert words in refused.value.message


@pytest.mark.parametrize("kind", [name for name in FORMS if name not in ("", "arrange")])
def test_an_operation_without_fields_is_shown_its_form_and_the_form_is_right(kind: str) -> None:
    with pytest.raises(EditRefused) as refused:
        read_operations([{"op": kind}])
    assert refused.value.message.endswith(FORMS[kind])
    example, _ = json.JSONDecoder().raw_decode(FORMS[kind])
    [read] = read_operations([example])
    assert read.number == 0 and example["op"] == kind


def test_the_form_of_operations_has_an_example() -> None:
    _, _, example = FORMS[""].partition("{")
    assert read_operations(["{" + example]) == read_operations([FORMS["set"]])


@pytest.mark.parametrize(
    "values",
    [
        {"width": 960, "value": 81},
        {"value": "81", "height": 544},
        {"inputs": "3", "inputs.text1": "Bye!"},
        {"inputs": 1},
        {"settings": "fine", "value": 2},
    ],
)
def test_widgets_beside_the_node_may_be_called_as_other_fields_are(values: dict[str, Any]) -> None:
    [read] = read_operations([{"op": "set", "node": "92", **values}])
    assert read == SetValues(0, "92", values)


@pytest.mark.parametrize("value", [1280, "a fox", True])
def test_a_value_beside_the_node_is_that_of_the_widget_of_this_name(value: Any) -> None:
    [read] = read_operations([{"op": "set", "node": "34", "value": value}])
    assert read == SetValues(0, "34", {"value": value})
