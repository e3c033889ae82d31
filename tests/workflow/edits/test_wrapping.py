"""Nodes put into a subgraph and back: the prompt is the same up to the addresses."""

import json
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from plugin.assistant.workflow.api_prompt import api_prompt, resolve_choices
from plugin.assistant.workflow.edits.boxes import members, node_box, nodes_of
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.assistant.workflow.edits.scope_links import definitions_of
from plugin.assistant.workflow.edits.unwrapping import unwrap
from plugin.assistant.workflow.edits.wrapping import wrap
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.workflow.workflows import (
    definitions,
    node,
    sample,
    socket,
    template,
    widget_socket,
    workflow,
)

Json = dict[str, Any]


def prompt(document: Json) -> Json:
    """The prompt's nodes without their titles; the document's JSON is not changed by reading."""
    made = api_prompt(parse_workflow(json.loads(json.dumps(document))), definitions())
    return {address: [one["class_type"], one["inputs"]] for address, one in made.items()}


def renamed(prompt: Json, names: dict[str, str]) -> Json:
    """A prompt whose addresses begin otherwise."""

    def address(old: str) -> str:
        whole, parts = "", old.split(":")
        for length in range(len(parts), 0, -1):
            head = ":".join(parts[:length])
            if head in names:
                return ":".join([names[head], *parts[length:]])
        return whole or old

    made = {}
    for old, (type_, inputs) in prompt.items():
        links = {
            name: [address(value[0]), value[1]]
            for name, value in inputs.items()
            if isinstance(value, list) and len(value) == 2 and value[0] in prompt
        }
        made[address(old)] = [type_, {**inputs, **links}]
    return made


def without_value_nodes(prompt: Json, new: set[str]) -> Json:
    """The values of nodes that unwrapping added in place of links to them."""
    made = {}
    for id_, (type_, inputs) in prompt.items():
        if id_ in new:
            continue
        values = {
            name: prompt[value[0]][1]["value"]
            for name, value in inputs.items()
            if isinstance(value, list) and value and value[0] in new
        }
        made[id_] = [type_, {**inputs, **values}]
    return made


def simple() -> Json:
    """A loader that feeds two samplers; the first feeds the second, that a decoder."""

    def sampler(id_: int, x: int, model: int, latent: int | None) -> Json:
        inputs = [socket("model", "MODEL", model), socket("latent_image", "LATENT", latent)]
        outputs = [{"name": "LATENT", "type": "LATENT", "links": []}]
        values = [id_, "fixed", 20, 8, "euler", "normal", 1]
        return node(
            id_,
            "KSampler",
            inputs=inputs,
            outputs=outputs,
            widgets_values=values,
            pos=[x, 0],
            size=[270, 262],
            mode=0,
        )

    loader = node(
        1,
        "UNETLoader",
        outputs=[{"name": "MODEL", "type": "MODEL", "links": [1, 2]}],
        widgets_values=["a", "default"],
        pos=[0, 0],
        size=[270, 82],
    )
    decoder = node(
        4, "VAEDecode", inputs=[socket("samples", "LATENT", 4)], pos=[1300, 0], size=[140, 46]
    )
    links = [
        [1, 1, 0, 2, 0, "MODEL"],
        [2, 1, 0, 3, 0, "MODEL"],
        [3, 2, 0, 3, 1, "LATENT"],
        [4, 3, 0, 4, 0, "LATENT"],
    ]
    return workflow(loader, sampler(2, 400, 1, None), sampler(3, 800, 2, 3), decoder, links=links)


def test_the_subgraph_has_the_slots_that_links_need_named_after_those_inside() -> None:
    document = simple()
    document["groups"] = [{"id": 3, "title": "Sampling", "bounding": [380, -80, 720, 400]}]
    id_ = wrap(document, document, ["2", "3"], "Sampling", definitions())
    assert id_ == "5"
    made = definitions_of(document)[0]
    assert made["name"] == "Sampling"
    assert [[one["name"], one["type"]] for one in made["inputs"]] == [["model", "MODEL"]]
    assert [[one["name"], one["type"]] for one in made["outputs"]] == [["LATENT", "LATENT"]]
    assert len(made["inputs"][0]["linkIds"]) == 2
    assert [one["id"] for one in made["nodes"]] == [2, 3]
    assert [one["title"] for one in made["groups"]] == ["Sampling"]
    assert document["groups"] == []
    instance = nodes_of(document)["5"]
    assert [one["name"] for one in instance["inputs"]] == ["model"]
    assert [one["name"] for one in instance["outputs"]] == ["LATENT"]
    ends = [[one[1], one[2], one[3], one[4]] for one in document["links"]]
    assert sorted(ends) == [[1, 0, 5, 0], [5, 0, 4, 0]]
    inner = [
        [one["origin_id"], one["origin_slot"], one["target_id"], one["target_slot"]]
        for one in made["links"]
    ]
    assert sorted(inner) == [[-10, 0, 2, 0], [-10, 0, 3, 0], [2, 0, 3, 1], [3, 0, -20, 0]]
    assert list(prompt(document)) == ["1", "4", "5:2", "5:3"]


def test_the_instance_stands_where_its_nodes_were_and_covers_nothing() -> None:
    document = simple()
    id_ = wrap(document, document, ["2", "3"], "Sampling", definitions())
    placed = node_box(nodes_of(document)[id_])
    assert 270 < placed.x < placed.right < 1300
    document = simple()
    id_ = wrap(document, document, ["1", "4"], "Ends", definitions())
    others = [one for one in nodes_of(document) if one != id_]
    placed = node_box(nodes_of(document)[id_])
    assert not any(placed.covers(node_box(nodes_of(document)[one])) for one in others)


def test_the_same_edit_gives_the_same_bytes() -> None:
    one, other = simple(), simple()
    wrap(one, one, ["2", "3"], "Sampling", definitions())
    wrap(other, other, ["3", "2"], "Sampling", definitions())
    assert json.dumps(one) == json.dumps(other)


def test_two_subgraphs_of_one_name_have_their_own_ids() -> None:
    document = simple()
    wrap(document, document, ["2"], "Part", definitions())
    wrap(document, document, ["3"], "Part", definitions())
    first, second = definitions_of(document)
    assert first["id"] != second["id"]


def test_a_primitive_comes_along_with_all_that_it_feeds_else_it_is_refused() -> None:
    def document() -> Json:
        made = simple()
        made["nodes"].append(
            node(9, "PrimitiveNode", outputs=[{"name": "INT", "type": "INT"}], widgets_values=[33])
        )
        for id_, link in ((2, 20), (3, 21)):
            nodes_of(made)[str(id_)]["inputs"].append(widget_socket("steps", "INT", link))
            made["links"].append([link, 9, 0, id_, 2, "INT"])
        return made

    expected = prompt(document())
    assert expected["2"][1]["steps"] == 33
    both = document()
    id_ = wrap(both, both, ["2", "3"], "Both", definitions())
    assert "9" not in nodes_of(both)
    assert prompt(both) == renamed(expected, {one: f"{id_}:{one}" for one in "23"})
    with pytest.raises(EditRefused) as refused:
        wrap(document(), document(), ["2"], "One", definitions())
    assert refused.value.message == (
        "9 (PrimitiveNode) also feeds 3, and a PrimitiveNode works only beside what it feeds. "
        "Wrap these, too."
    )


def test_nodes_that_link_by_a_name_are_not_parted() -> None:
    document = simple()
    document["nodes"].append(node(8, "SetNode", inputs=[], outputs=[], widgets_values=["x"]))
    document["nodes"].append(node(9, "GetNode", inputs=[], outputs=[], widgets_values=["x"]))
    with pytest.raises(EditRefused) as refused:
        wrap(document, document, ["8"], "One", definitions())
    assert refused.value.code == "not_possible"
    wrap(document, document, ["8", "9"], "Both", definitions())


def test_a_value_that_a_bypassed_node_passes_on_stays_when_it_is_unwrapped() -> None:
    document = template("audio_minimax_music_3")
    inside = definitions_of(document)[0]
    next(one for one in inside["nodes"] if one["id"] == 13)["mode"] = 4
    before = prompt(document)
    assert before["37:15"][1]["seconds"] == 60, "the value of the bypassed encoder's widget"
    nodes = nodes_of(document)
    new = unwrap(document, document, "37", definitions())
    added = set(nodes_of(document)) - set(nodes) - set(new.values())
    assert [nodes_of(document)[one]["type"] for one in added] == ["PrimitiveFloat"]
    names = {f"37:{old}": id_ for old, id_ in new.items()}
    assert without_value_nodes(prompt(document), added) == renamed(before, names)


def test_a_node_that_is_no_instance_cannot_be_unwrapped() -> None:
    document = simple()
    with pytest.raises(EditRefused) as refused:
        unwrap(document, document, "2", definitions())
    assert refused.value.message == "2 is no subgraph, so there is nothing to unwrap."


def test_a_shared_subgraph_stays_and_each_instance_keeps_its_values() -> None:
    document = simple()
    id_ = wrap(document, document, ["2"], "Part", definitions())
    key = nodes_of(document)[id_]["type"]
    made = definitions_of(document)[0]
    made["inputs"].append({"id": "s", "name": "steps", "type": "INT", "linkIds": [90]})
    made["nodes"][0]["inputs"].append(widget_socket("steps", "INT", 90))
    ends = {"origin_id": -10, "origin_slot": 1, "target_id": 2, "target_slot": 2}
    made["links"].append({"id": 90, **ends, "type": "INT"})
    first = nodes_of(document)[id_]
    first["inputs"].append(widget_socket("steps", "INT"))
    first["widgets_values"] = [31]
    second = deepcopy({**first, "id": 77, "widgets_values": [32]})
    for slot in second["inputs"]:
        slot["link"] = None
    document["nodes"].append({**second, "outputs": [{**second["outputs"][0], "links": []}]})
    before = prompt(document)
    assert [before[f"{one}:2"][1]["steps"] for one in (id_, 77)] == [31, 32]
    new = unwrap(document, document, id_, definitions())
    assert [one["id"] for one in definitions_of(document)] == [key]
    assert prompt(document) == renamed(before, {f"{id_}:2": new["2"]})
    new = unwrap(document, document, "77", definitions())
    assert definitions_of(document) == []
    assert prompt(document)[new["2"]][1]["steps"] == 32


def test_what_comes_out_of_a_subgraph_covers_nothing_and_brings_its_groups() -> None:
    document = simple()
    document["groups"] = [{"id": 3, "title": "Sampling", "bounding": [380, -80, 720, 400]}]
    id_ = wrap(document, document, ["2", "3"], "Sampling", definitions())
    unwrap(document, document, id_, definitions())
    boxes = {one: node_box(raw) for one, raw in nodes_of(document).items()}
    assert not any(boxes[one].covers(boxes[two]) for one in "14" for two in "23")
    (group,) = document["groups"]
    assert members(document, group) == ["2", "3"]


def computed(prompt: Json) -> Json:
    """A prompt with its texts as the front end computes them where they are not promoted."""
    return {
        id_: [
            type_,
            {k: resolve_choices(v) if isinstance(v, str) else v for k, v in inputs.items()},
        ]
        for id_, (type_, inputs) in prompt.items()
    }


@pytest.mark.parametrize("name", sample())
def test_any_nodes_of_a_template_are_wrapped_and_unwrapped(name: str) -> None:
    """In the workflow itself and in one of its subgraphs, the prompt stays as it was."""
    random, document = Random(name), template(name)
    if any(scope.renamed for scope in parse_workflow(document).scopes()):
        pytest.skip("the file has ids twice; a draft gives them anew first")
    before = prompt(document)
    scopes = [(document, "")]
    for id_, one in nodes_of(document).items():
        inner = next((d for d in definitions_of(document) if d["id"] == one["type"]), None)
        if inner is not None:
            scopes.append((inner, f"{id_}:"))
    for scope, prefix in scopes:
        ids = list(nodes_of(scope))
        chosen = random.sample(ids, random.randint(1, min(len(ids), 6)))
        backup = json.dumps(document)
        try:
            made = wrap(document, scope, chosen, "Part", definitions())
        except EditRefused:
            assert "PrimitiveNode" in backup
            return
        names = {
            f"{prefix}{one}": f"{prefix}{made}:{one}"
            for one in nodes_of(definitions_of(document)[-1])
        }
        assert prompt(document) == renamed(before, names)
        assert parse_workflow(document).flat_size == len(list(parse_workflow(document).places()))
        assert unwrap(document, scope, made, definitions()).keys() >= set(chosen)
        assert prompt(document) == before


UNLIKE = {"basic_image_color_adjustment", "flux1_dev_uso_reference_image_gen"}
"""The front end writes a promoted curve otherwise than one at its node, and runs what is in a
bypassed instance inside of a subgraph, not in the workflow itself."""


@pytest.mark.parametrize("name", sample())
def test_the_subgraphs_of_a_template_are_unwrapped(name: str) -> None:
    document = template(name)
    if any(scope.renamed for scope in parse_workflow(document).scopes()):
        pytest.skip("the file has ids twice; a draft gives them anew first")
    for id_, one in list(nodes_of(document).items()):
        if one["type"] in {d["id"] for d in definitions_of(document)} and one.get("mode", 0) == 0:
            before = prompt(document)
            new = unwrap(document, document, id_, definitions())
            names = {f"{id_}:{old}": other for old, other in new.items()}
            expected = renamed(before, names)
            after = prompt(document)
            found = without_value_nodes(after, after.keys() - expected.keys())
            assert name in UNLIKE or computed(found) == computed(expected)
