"""Nodes and links that a batch adds, changes and takes away."""

from typing import Any

import pytest
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.workflow.edits.drawn import (
    BAD,
    DECODE,
    EMPTY,
    GOOD,
    MODEL,
    SAMPLER,
    SAVE,
    edited,
    inputs,
    made,
    node,
    prompt,
    refusal,
    text_to_image,
    value,
    wrapped,
)
from plugin.tests.workflow.workflows import template, workflow

Json = dict[str, Any]
LORA = {"op": "insert", "id": "l", "type": "LoraLoaderModelOnly", "into": f"{SAMPLER}.model"}


def raw(document: Json, id_: int) -> Json:
    found: Json = next(one for one in document["nodes"] if one["id"] == id_)
    return found


def test_a_new_node_is_written_as_the_front_end_writes_it() -> None:
    written = raw(text_to_image(), int(SAMPLER))
    assert written["properties"] == {"cnr_id": "comfy-core", "Node name for S&R": "KSampler"}
    assert written["widgets_values"] == [0, "randomize", 20, 8, "euler", "simple", 1]
    assert written["inputs"][0] == {
        "localized_name": "model",
        "name": "model",
        "type": "MODEL",
        "link": 3,
    }
    steps = next(one for one in written["inputs"] if one["name"] == "steps")
    assert (steps["widget"], steps["link"]) == ({"name": "steps"}, None)
    assert written["outputs"][0]["links"] == [7]
    assert written["mode"] == 0
    assert "title" not in written


def test_links_and_the_largest_ids_are_written() -> None:
    document = text_to_image()
    assert document["links"][2] == [3, 1, 0, 5, 0, "MODEL"]
    assert (document["last_node_id"], document["last_link_id"]) == (7, 9)
    graph = parse_workflow(document)
    assert not graph.root.oddities
    for link in graph.root.links.values():
        assert link.id in graph.root.nodes[link.source].outputs[link.source_slot].links
        assert graph.root.nodes[link.target].inputs[link.target_slot].link == link.id


def test_later_operations_see_the_earlier_ones() -> None:
    result = made(
        text_to_image(),
        {"op": "add", "id": "up", "type": "LatentUpscaleBy", "inputs": {"samples": "5"}},
        {"op": "connect", "from": "up.LATENT", "to": f"{DECODE}.samples"},
        {"op": "set", "node": "up", "values": {"scale_by": 2}},
    )
    assert result.ids == {"up": "8"}
    assert inputs(result.content, "8")["scale_by"] == 2
    assert inputs(result.content, DECODE)["samples"] == ["8", 0]


def test_a_node_is_added_inside_a_subgraph_with_an_id_that_no_scope_has() -> None:
    result = made(
        wrapped(EMPTY, SAMPLER),
        {"op": "add", "id": "up", "type": "LatentUpscaleBy", "inputs": {"samples": "8:5.LATENT"}},
        {"op": "connect", "from": "up.LATENT", "to": "8:out.LATENT"},
    )
    assert result.ids == {"up": "8:9"}
    assert inputs(result.content, DECODE)["samples"] == ["8:9", 0]


def test_a_link_comes_from_the_outside_of_a_subgraph() -> None:
    document = edited(
        wrapped(EMPTY, SAMPLER),
        {"op": "connect", "from": "8:in.positive", "to": "8:5.negative"},
    )
    assert inputs(document, "8:5")["negative"] == [GOOD, 0]


def test_a_node_is_inserted_into_one_link() -> None:
    twice = edited(
        text_to_image(),
        {"op": "add", "id": "s", "type": "KSampler", "inputs": {"model": "1.MODEL"}},
        LORA,
    )
    assert inputs(twice, SAMPLER)["model"] == ["9", 0]
    assert inputs(twice, "9")["model"] == [MODEL, 0]
    assert inputs(twice, "8")["model"] == [MODEL, 0]


def test_nothing_is_inserted_where_nothing_feeds_an_input() -> None:
    refused = refusal(text_to_image(), {**LORA, "into": f"{EMPTY}.width"})
    assert refused.code == "not_possible"
    assert "add" in refused.message


def test_a_removed_node_leaves_no_link() -> None:
    document = edited(text_to_image(), {"op": "remove", "node": SAMPLER})
    assert SAMPLER not in prompt(document)
    assert "samples" not in inputs(document, DECODE)
    assert len(document["links"]) == 4
    assert raw(document, int(EMPTY))["outputs"][0]["links"] in (None, [])


def test_a_bridge_leads_each_output_past_a_removed_node() -> None:
    loaded = edited(
        text_to_image(),
        {"op": "insert", "id": "l", "type": "LoraLoader", "into": f"{SAMPLER}.model",
         "inputs": {"clip": f"{MODEL}.CLIP"}},
        {"op": "connect", "from": "l.CLIP", "to": f"{GOOD}.clip"},
    )  # fmt: skip
    document = edited(loaded, {"op": "remove", "node": "8", "bridge": True})
    assert prompt(document) == prompt(text_to_image())


def test_add_then_remove_is_the_workflow_from_before() -> None:
    document = edited(text_to_image(), LORA, {"op": "remove", "node": "l", "bridge": True})
    assert prompt(document) == prompt(text_to_image())
    assert made(text_to_image(), LORA, {"op": "remove", "node": "l"}).removed == ()


def test_another_type_keeps_what_fits() -> None:
    before = edited(text_to_image(), {"op": "set", "node": SAMPLER, "values": {"steps": 33}})
    document = edited(
        before,
        {"op": "replace", "node": SAMPLER, "type": "KSamplerAdvanced", "values": {"cfg": 3}},
    )
    found = inputs(document, SAMPLER)
    assert prompt(document)[SAMPLER]["class_type"] == "KSamplerAdvanced"
    assert (found["steps"], found["cfg"], found["model"]) == (33, 3, [MODEL, 0])
    assert inputs(document, DECODE)["samples"] == [SAMPLER, 0]
    assert raw(document, int(SAMPLER))["pos"] == raw(before, int(SAMPLER))["pos"]


def test_what_does_not_fit_the_other_type_is_lost() -> None:
    document = edited(
        text_to_image(), {"op": "replace", "node": SAMPLER, "type": "EmptyLatentImage"}
    )
    assert inputs(document, DECODE)["samples"] == [SAMPLER, 0]
    assert "model" not in inputs(document, SAMPLER)
    assert len(document["links"]) == 5


def test_an_input_that_was_linked_changes_its_source() -> None:
    document = edited(
        text_to_image(),
        {"op": "connect", "from": f"{GOOD}.CONDITIONING", "to": f"{SAMPLER}.negative"},
    )
    assert inputs(document, SAMPLER)["negative"] == [GOOD, 0]
    assert len(document["links"]) == 9


@pytest.mark.parametrize(
    ("source", "target", "code", "words"),
    [
        (f"{MODEL}.VAE", f"{SAMPLER}.model", "wrong_type", f'"{MODEL}.MODEL" would fit'),
        (f"{MODEL}.MODL", f"{SAMPLER}.model", "unknown_slot", '"MODEL"'),
        (f"{MODEL}.MODEL", f"{SAMPLER}.modell", "unknown_slot", '"model"'),
        ("77.MODEL", f"{SAMPLER}.model", "unknown_node", '"77"'),
        (f"{DECODE}.IMAGE", f"{SAVE}.filename_prefix", "wrong_type", "STRING"),
        (f"{SAMPLER}.LATENT", f"{SAMPLER}.latent_image", "cycle", "circle"),
        (MODEL, SAVE, "unknown_slot", f'"{MODEL}.MODEL"'),
    ],
)
def test_a_wrong_link_is_refused(source: str, target: str, code: str, words: str) -> None:
    refused = refusal(
        text_to_image(), {"op": "arrange"}, {"op": "connect", "from": source, "to": target}
    )
    assert (refused.operation, refused.code) == (1, code)
    assert words in refused.message


def test_a_slot_may_be_named_by_place_or_by_type_where_that_is_clear() -> None:
    document = edited(
        text_to_image(),
        {"op": "disconnect", "to": f"{DECODE}.vae"},
        {"op": "connect", "from": f"{MODEL}.2", "to": DECODE},
    )
    assert inputs(document, DECODE)["vae"] == [MODEL, 2]


def test_a_circle_over_a_subgraph_is_found() -> None:
    encode = {"op": "add", "id": "e", "type": "VAEEncode", "inputs": {"vae": "1.VAE"}}
    encoded = edited(wrapped(SAMPLER, DECODE), encode)
    circle = (
        {"op": "connect", "from": "8.IMAGE", "to": "9.pixels"},
        {"op": "connect", "from": "9.LATENT", "to": "8.latent_image"},
    )
    assert refusal(encoded, *circle).code == "cycle"


def test_a_group_of_inputs_grows_and_closes_its_gap() -> None:
    batch = {"op": "add", "id": "b", "type": "BatchImagesNode"}
    links = [
        {"op": "connect", "from": f"{one}.IMAGE", "to": "b.images"} for one in (DECODE, "x", "y")
    ]
    loads = [{"op": "add", "id": one, "type": "LoadImage"} for one in "xy"]
    document = edited(text_to_image(), batch, *loads, *links)
    assert [inputs(document, "8")[f"images.image{row}"][0] for row in range(3)] == [
        DECODE,
        "9",
        "10",
    ]
    fewer = edited(document, {"op": "disconnect", "to": "8.images.image1"})
    assert inputs(fewer, "8") == {"images.image0": [DECODE, 0], "images.image1": ["10", 0]}


def test_a_batch_that_is_refused_says_which_operation_and_changes_nothing() -> None:
    refused = refusal(text_to_image(), LORA, {"op": "remove", "node": "99"})
    assert refused.json() == {
        "operation": 1,
        "code": "unknown_node",
        "message": refused.message,
    }


@pytest.mark.parametrize(
    ("type_", "words"),
    [("KSamplr", '"KSampler"'), ("NoSuchThingAtAll", "searchNodes")],
)
def test_a_type_that_is_not_installed_is_refused(type_: str, words: str) -> None:
    refused = refusal(text_to_image(), {"op": "add", "id": "n", "type": type_})
    assert refused.code == "unknown_type"
    assert words in refused.message


def test_a_type_is_found_by_its_title_too() -> None:
    result = made(text_to_image(), {"op": "add", "id": "n", "type": "load lora"})
    assert node(result.content, result.ids["n"]).type == "LoraLoaderModelOnly"


def test_an_id_of_a_new_node_must_be_free() -> None:
    add = {"op": "add", "id": "up", "type": "LatentUpscaleBy"}
    assert refusal(text_to_image(), add, add).code == "name_taken"
    assert refusal(text_to_image(), {**add, "id": SAMPLER}).code == "name_taken"


def test_titles_and_modes() -> None:
    document = edited(
        text_to_image(),
        {"op": "title", "node": SAMPLER, "title": "First pass"},
        {"op": "mode", "node": BAD, "mode": "mute"},
    )
    assert prompt(document)[SAMPLER]["_meta"]["title"] == "First pass"
    assert BAD not in prompt(document)
    plain = edited(document, {"op": "title", "node": SAMPLER, "title": ""})
    assert "title" not in raw(plain, int(SAMPLER))


def test_the_page_has_nodes_of_its_own() -> None:
    document = edited(
        text_to_image(),
        {"op": "add", "id": "note", "type": "Note", "values": {"text": "Read me"}},
        {"op": "insert", "id": "r", "type": "Reroute", "into": f"{SAVE}.images"},
    )
    assert value(document, "8", "text") == "Read me"
    assert prompt(document) == prompt(text_to_image())


def test_the_last_instance_takes_its_subgraph_along() -> None:
    document = edited(wrapped(EMPTY, SAMPLER), {"op": "remove", "node": "8"})
    assert document["definitions"]["subgraphs"] == []


def test_a_subgraph_cannot_lie_in_itself() -> None:
    inner = {"op": "add", "id": "n", "type": "Inner", "inside": "8"}
    assert refusal(wrapped(EMPTY, SAMPLER), inner).code == "cycle"


def test_the_base_has_what_the_batch_touches_as_it_was_before() -> None:
    base = made(text_to_image(), LORA).base
    assert base.keys() == {MODEL, SAMPLER}
    assert base[SAMPLER]["links"]["model"] == f"{MODEL}.MODEL"
    assert base[SAMPLER]["values"]["steps"] == 20
    assert (base[SAMPLER]["type"], base[SAMPLER]["mode"]) == ("KSampler", "run")
    # A run changes the seed, and that is no change.
    assert "seed" not in base[SAMPLER]["values"]


def test_an_empty_workflow_can_be_filled() -> None:
    document = edited(workflow(), {"op": "add", "id": "n", "type": "LoadImage"})
    assert [one["id"] for one in document["nodes"]] == [1]


def test_a_links_form_is_that_of_the_files_version() -> None:
    document = {**workflow(), "version": 1, "state": {"lastNodeId": 4, "lastLinkId": 2}}
    document = edited(
        document,
        {"op": "add", "id": "n", "type": "LoadImage"},
        {"op": "add", "id": "p", "type": "PreviewImage", "inputs": {"images": "n.IMAGE"}},
    )
    assert document["links"][0]["origin_id"] == 5
    assert document["state"] == {"lastNodeId": 6, "lastLinkId": 3}


def test_what_no_operation_touches_stays_as_it_was() -> None:
    before = template("flux_schnell")
    after = edited(before, {"op": "set", "node": "31", "values": {"steps": 8}})
    assert [one for one in after["nodes"] if one["id"] != 31] == [
        one for one in before["nodes"] if one["id"] != 31
    ]
    assert {**after, "nodes": []} == {**before, "nodes": []}
