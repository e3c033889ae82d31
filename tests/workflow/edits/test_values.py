"""Values: read as they are meant, checked, and set where the next prompt takes them from."""

from typing import Any

import pytest
from plugin.assistant.workflow.edits.apply import apply
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.tests.workflow.edits.drawn import (
    BAD,
    EMPTY,
    GOOD,
    MODEL,
    SAMPLER,
    SAVE,
    edited,
    inputs,
    made,
    refusal,
    text_to_image,
    value,
    wrapped,
)
from plugin.tests.workflow.workflows import workflow

Json = dict[str, Any]


def put(node: str, **values: Any) -> Json:
    return {"op": "set", "node": node, "values": values}


@pytest.mark.parametrize(
    ("widget", "given", "kept"),
    [
        ("steps", 30, 30),
        ("steps", "30", 30),
        ("steps", 20.6, 21),
        ("cfg", "4.5", 4.5),
        ("cfg", 4.123, 4.1),
        ("sampler_name", "Euler Ancestral", "euler_ancestral"),
        ("Sampler_Name", "euler", "euler"),
        ("control_after_generate", "fixed", "fixed"),
    ],
)
def test_a_value_is_kept_as_the_canvas_keeps_it(widget: str, given: Any, kept: Any) -> None:
    document = edited(text_to_image(), put(SAMPLER, **{widget: given}))
    assert value(document, SAMPLER, widget.lower()) == kept


@pytest.mark.parametrize(
    ("node", "values", "code", "words"),
    [
        (SAMPLER, {"steps": 0}, "out_of_range", "at least 1"),
        (SAMPLER, {"steps": 20000}, "out_of_range", "at most 10000"),
        (SAMPLER, {"steps": "many"}, "wrong_type", "whole number"),
        (SAMPLER, {"sampler_name": "eulr"}, "not_a_choice", '"euler"'),
        (SAMPLER, {"stepz": 3}, "unknown_widget", '"steps"'),
        (SAMPLER, {"model": "x"}, "unknown_widget", "connect"),
        (SAMPLER, {"steps": [MODEL, 0]}, "wrong_type", "connect"),
        ("99", {"steps": 3}, "unknown_node", '"5"'),
    ],
)
def test_a_wrong_value_is_refused_with_what_would_be_right(
    node: str, values: Json, code: str, words: str
) -> None:
    refused = refusal(text_to_image(), put(SAMPLER, cfg=2), put(node, **values))
    assert (refused.operation, refused.code) == (1, code)
    assert words in refused.message


def test_a_model_that_is_not_installed_is_no_error() -> None:
    document = edited(text_to_image(), put(MODEL, ckpt_name="not_here.safetensors"))
    assert value(document, MODEL, "ckpt_name") == "not_here.safetensors"


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("SDXL/base.safetensors", "SDXL\\base.safetensors"),
        ("SDXL\\\\base.safetensors", "SDXL\\base.safetensors"),
        ("FLUX\flux1-dev.safetensors", "FLUX\\flux1-dev.safetensors"),
        ("SDXL\nova.safetensors", "SDXL\\nova.safetensors"),
        ("Caf\u00e9.safetensors", "Cafe\u0301.safetensors"),
    ],
    ids=["slash", "two", "form feed", "line end", "accent"],
)
def test_a_file_is_found_as_windows_and_macos_list_it(written: str, listed: str) -> None:
    """Windows lists folders with a backslash, of which JSON makes one sign with the next letter
    where a model writes it once. macOS may list an accent as a character of its own."""
    files = ["SDXL\\base.safetensors", "FLUX\\flux1-dev.safetensors", "SDXL\\nova.safetensors"]
    inputs = {"required": {"ckpt_name": [[*files, "Cafe\u0301.safetensors"], {}]}}
    known = NodeDefinitions({"CheckpointLoaderSimple": {"input": inputs, "output": ["MODEL"]}})
    add = {"op": "add", "id": "m", "type": "CheckpointLoaderSimple"}
    document = apply(workflow(), [{**add, "values": {"ckpt_name": written}}], known).content
    assert document["nodes"][0]["widgets_values"] == [listed]


def test_a_node_is_found_by_its_type_or_title_where_one_has_it() -> None:
    assert inputs(edited(text_to_image(), put("KSampler", steps=7)), SAMPLER)["steps"] == 7
    titled = edited(text_to_image(), {"op": "title", "node": GOOD, "title": "What to see"})
    assert inputs(edited(titled, put("what to see", text="a fox")), GOOD)["text"] == "a fox"
    refused = refusal(text_to_image(), put("CLIPTextEncode", text="a fox"))
    assert refused.code == "unknown_node"
    assert f'"{GOOD}", "{BAD}"' in refused.message


def driven(*targets: str) -> Json:
    """The workflow with a PrimitiveNode that says these widgets; its id is "8"."""
    links = [{"op": "connect", "from": "says.0", "to": one} for one in targets]
    return edited(text_to_image(), {"op": "add", "id": "says", "type": "PrimitiveNode"}, *links)


def test_a_primitive_node_has_the_widget_that_it_feeds() -> None:
    document = driven(f"{EMPTY}.width")
    assert value(document, "8", "value") == 512
    assert inputs(document, EMPTY)["width"] == 512


def test_a_widget_that_a_primitive_node_drives_is_set_there() -> None:
    document = edited(driven(f"{EMPTY}.width"), put(EMPTY, width=1024))
    assert value(document, "8", "value") == 1024
    assert inputs(document, EMPTY)["width"] == 1024


def test_how_a_primitive_nodes_value_changes_is_kept() -> None:
    seed = edited(driven(f"{SAMPLER}.seed"), put("8", control_after_generate="increment"))
    assert value(seed, "8", "control_after_generate") == "increment"
    assert value(edited(seed, put(SAMPLER, seed=5)), "8", "control_after_generate") == "increment"


def test_a_driven_widget_is_refused_where_another_value_would_change() -> None:
    both = driven(f"{EMPTY}.width", f"{EMPTY}.height")
    refused = refusal(both, put(EMPTY, width=1024))
    assert refused.code == "driven"
    assert f'"{EMPTY}.height"' in refused.message
    assert inputs(edited(both, put("8", value=1024)), EMPTY)["height"] == 1024


def test_driven_widgets_that_are_asked_to_become_the_same_are_set_together() -> None:
    both = driven(f"{EMPTY}.width", f"{EMPTY}.height")
    found = inputs(edited(both, put(EMPTY, width=1024, height=1024)), EMPTY)
    assert (found["width"], found["height"]) == (1024, 1024)
    assert refusal(both, put(EMPTY, width=1024, height=512)).code == "driven"


def test_a_value_that_no_widget_says_is_refused() -> None:
    measured = edited(
        text_to_image(),
        {"op": "add", "id": "size", "type": "GetImageSize", "inputs": {"image": "6.IMAGE"}},
        {"op": "add", "id": "next", "type": "EmptyLatentImage", "inputs": {"width": "size.width"}},
    )
    refused = refusal(measured, put("9", width=64))
    assert refused.code == "driven"
    assert '"8"' in refused.message
    freed = edited(measured, {"op": "disconnect", "to": "9.width"}, put("9", width=64))
    assert value(freed, "9", "width") == 64


def test_a_widget_behind_a_node_that_holds_a_value_is_set_in_that() -> None:
    held = edited(
        text_to_image(),
        {"op": "add", "id": "n", "type": "PrimitiveInt", "values": {"value": 5}},
        {"op": "connect", "from": "n.INT", "to": f"{SAMPLER}.steps"},
        put(SAMPLER, steps=9),
    )
    assert value(held, "8", "value") == 9


def test_a_widget_in_a_subgraph_is_set_inside() -> None:
    result = made(wrapped(EMPTY, SAMPLER), put(f"8:{SAMPLER}", steps=11))
    assert inputs(result.content, f"8:{SAMPLER}")["steps"] == 11
    assert result.instances is None


def test_an_edit_of_a_shared_subgraph_says_how_many_instances_changed() -> None:
    one = wrapped(EMPTY, SAMPLER)
    twice = edited(one, {"op": "add", "id": "twin", "type": "Inner"})
    result = made(twice, put(f"8:{SAMPLER}", steps=11))
    assert result.instances == 2
    assert inputs(result.content, f"9:{SAMPLER}")["steps"] == 11


def test_a_dynamic_combo_changes_which_widgets_there_are() -> None:
    scaled = edited(
        text_to_image(),
        {
            "op": "add",
            "id": "r",
            "type": "ResizeImageMaskNode",
            "values": {
                "resize_type.megapixels": 2,
                "resize_type": "scale total pixels",
            },
            "inputs": {"input": "6.IMAGE"},
        },
        {"op": "connect", "from": "r.0", "to": f"{SAVE}.images"},
    )
    found = inputs(scaled, "8")
    assert found["resize_type"] == "scale total pixels"
    assert found["resize_type.megapixels"] == 2
    other = edited(scaled, put("8", resize_type="scale by multiplier"))
    assert "resize_type.megapixels" not in inputs(other, "8")
    assert "resize_type.multiplier" in inputs(other, "8")
