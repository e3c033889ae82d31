"""The same operations on an API prompt, which has no layout, no modes and no subgraphs."""

from typing import Any

import pytest
from plugin.assistant.workflow.edits.forecast import forecast
from plugin.tests.workflow.edits.drawn import (
    DECODE,
    MODEL,
    SAMPLER,
    edited,
    made,
    prompt,
    refusal,
    text_to_image,
)
from plugin.tests.workflow.workflows import definitions

Json = dict[str, Any]


def drawn() -> Json:
    return prompt(text_to_image())


def test_a_value_is_set_and_nothing_else() -> None:
    document = edited(drawn(), {"op": "set", "node": SAMPLER, "values": {"steps": "30"}})
    expected = drawn()
    expected[SAMPLER]["inputs"]["steps"] = 30
    assert document == expected


def test_a_node_is_added_with_its_defaults_and_inserted() -> None:
    result = made(
        drawn(),
        {
            "op": "insert",
            "id": "l",
            "type": "LoraLoaderModelOnly",
            "into": f"{SAMPLER}.model",
            "values": {"lora_name": "a.safetensors"},
        },
    )
    assert result.ids == {"l": "8"}
    assert result.content["8"] == {
        "inputs": {"lora_name": "a.safetensors", "strength_model": 1, "model": [MODEL, 0]},
        "class_type": "LoraLoaderModelOnly",
        "_meta": {"title": definitions()["LoraLoaderModelOnly"].title},
    }
    assert result.content[SAMPLER]["inputs"]["model"] == ["8", 0]


def test_a_removed_node_leaves_no_link() -> None:
    document = edited(drawn(), {"op": "remove", "node": SAMPLER})
    assert SAMPLER not in document
    assert "samples" not in document[DECODE]["inputs"]


def test_an_input_without_its_link_has_its_value() -> None:
    document = drawn()
    document["8"] = {"class_type": "PrimitiveInt", "inputs": {"value": 7}}
    document[SAMPLER]["inputs"]["steps"] = ["8", 0]
    freed = edited(document, {"op": "disconnect", "to": f"{SAMPLER}.steps"})
    assert freed[SAMPLER]["inputs"]["steps"] == 20
    held = edited(document, {"op": "set", "node": SAMPLER, "values": {"steps": 9}})
    assert held["8"]["inputs"]["value"] == 9


def test_a_title_and_another_type() -> None:
    document = edited(
        drawn(),
        {"op": "title", "node": DECODE, "title": "To pixels"},
        {"op": "replace", "node": SAMPLER, "type": "KSamplerAdvanced"},
    )
    assert document[DECODE]["_meta"]["title"] == "To pixels"
    assert document[SAMPLER]["class_type"] == "KSamplerAdvanced"
    assert document[SAMPLER]["inputs"]["model"] == [MODEL, 0]
    assert document[SAMPLER]["inputs"]["start_at_step"] == 0


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "mode", "node": SAMPLER, "mode": "mute"},
        {"op": "move", "node": SAMPLER, "x": 1, "y": 2},
        {"op": "arrange"},
        {"op": "wrap", "nodes": [SAMPLER], "title": "Inner"},
    ],
)
def test_what_a_prompt_does_not_have_is_refused(operation: Json) -> None:
    assert refusal(drawn(), operation).code == "not_possible"


def test_a_forecast_of_a_prompt() -> None:
    made = forecast(drawn(), {"op": "remove", "node": SAMPLER}, definitions())
    assert [(one.node, one.code) for one in made.problems] == [(DECODE, "missing_input")]
