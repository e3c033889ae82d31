"""Two workflows compared as graphs: what counts and what does not."""

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from plugin.assistant.workflow.edits.same import differences
from plugin.tests.workflow.edits.changes import changed
from plugin.tests.workflow.workflows import (
    definitions,
    inner_link,
    node,
    sample,
    socket,
    subgraph,
    template,
    widget_socket,
    with_subgraphs,
    workflow,
)

Json = dict[str, Any]


def sampler(id_: int, **more: Any) -> Json:
    values = [1, "fixed", 20, 8, "euler", "normal", 1]
    inputs = [socket("model", "MODEL", more.pop("model", None))]
    outputs = [{"name": "LATENT", "type": "LATENT", "links": []}]
    return node(id_, "KSampler", inputs=inputs, outputs=outputs, widgets_values=values, **more)


def text(id_: int, value: str) -> Json:
    return node(id_, "CLIPTextEncode", widgets_values=[value])


def loader(id_: int, **more: Any) -> Json:
    outputs = [{"name": "MODEL", "type": "MODEL", "links": [1]}]
    return node(id_, "UNETLoader", outputs=outputs, widgets_values=["a", "default"], **more)


def base() -> Json:
    link = [1, 1, 0, 2, 0, "MODEL"]
    return workflow(loader(1), sampler(2, model=1), text(3, "a cat"), links=[link])


def found(change: Callable[[Json], Any], expected: Json | None = None) -> list[str]:
    """The differences after a change of the base."""
    after = deepcopy(expected or base())
    change(after)
    return differences(expected or base(), after, definitions())


def values(id_: int, place: int, value: Any) -> Callable[[Json], Any]:
    def change(after: Json) -> None:
        nodes = {one["id"]: one for one in after["nodes"]}
        nodes[id_]["widgets_values"][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (values(2, 2, 25), ["2 (KSampler): steps is 25, not 20."]),
        (values(2, 1, True), ["2 (KSampler): control_after_generate is true, not fixed."]),
        (values(2, 6, "1"), ['2 (KSampler): denoise is "1", not 1.']),
        (lambda w: w["nodes"][1].update(mode=4), ["2 (KSampler) is bypassed, not running."]),
        (lambda w: w["nodes"][1].update(mode=2), ["2 (KSampler) is muted, not running."]),
        (
            lambda w: w["nodes"][1].update(title="First pass"),
            ['2 (KSampler) has the title "First pass", not KSampler.'],
        ),
        (lambda w: w["nodes"][2].update(type="Note"), ["3 (CLIPTextEncode) has the type Note."]),
        (lambda w: w["nodes"].pop(2), ["3 (CLIPTextEncode) is missing."]),
        (
            lambda w: w["nodes"].append(text(9, "")),
            ["9 (CLIPTextEncode) is there and should not be."],
        ),
        (lambda w: w["links"].clear(), ["2.model is fed by nothing, not by 1.0."]),
        (
            lambda w: w["links"][0].__setitem__(2, 3),
            ["2.model is fed by 1.3, not by 1.0."],
        ),
    ],
)
def test_what_counts_is_said(change: Callable[[Json], Any], sentences: list[str]) -> None:
    assert found(change) == sentences


def test_a_missing_node_is_said_and_not_each_of_its_inputs() -> None:
    def change(after: Json) -> None:
        after["nodes"].pop(1)
        after["links"].clear()

    assert found(change) == ["2 (KSampler) is missing."]


def _renumber_links(after: Json) -> None:
    after["links"] = [[77, 1, 0, 2, 0, "MODEL"]]
    after["nodes"][1]["inputs"][0]["link"] = 77
    after["nodes"][0]["outputs"][0]["links"] = [77]


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w["nodes"].reverse(),
        _renumber_links,
        lambda w: w["nodes"][1].update(pos=[9, 9], size=[1, 1], order=7, color="#222"),
        lambda w: w.update(groups=[{"title": "New", "bounding": [0, 0, 900, 900]}]),
        lambda w: w["nodes"][1].update(title="KSampler"),
        values(2, 3, 8.0),
        lambda w: w.update(extra={"ds": {}}, last_node_id=99),
    ],
)
def test_what_does_not_count_is_not_said(change: Callable[[Json], Any]) -> None:
    assert found(change) == []


@pytest.mark.parametrize(
    ("written", "computed", "same"),
    [
        ("a {red|blue} car", "a blue car", True),
        ("a {red|blue} car", "a blue bus", False),
        ("a car // remark", "a car ", True),
        ("%date:yyyy%/out", "2026/out", True),
        ("%KSampler.seed%_x", "12_x", True),
        ("%KSampler.seed%_x", "12_y", False),
        ("a cat", "a dog", False),
    ],
)
def test_a_text_that_the_front_end_computes_may_be_there_computed(
    written: str, computed: str, same: bool
) -> None:
    expected = workflow(text(3, written))
    assert (found(values(3, 0, computed), expected) == []) is same


def test_added_nodes_may_have_other_ids() -> None:
    expected = workflow(loader(1), sampler(2, model=1), links=[[1, 1, 0, 2, 0, "MODEL"]])
    after = workflow(loader(7), sampler(2, model=1), links=[[1, 7, 0, 2, 0, "MODEL"]])
    assert differences(expected, after, definitions(), {"1": "7"}) == []
    assert differences(expected, after, definitions()) == [
        "1 (UNETLoader) is missing.",
        "7 (UNETLoader) is there and should not be.",
        "2.model is fed by 7.0, not by 1.0.",
    ]


def nested(key: str, id_: int, steps: int = 20, name: str = "model") -> Json:
    """A subgraph with a sampler, whose model and steps come from outside."""
    inner = sampler(id_, model=1)
    inner["inputs"].append(widget_socket("steps", "INT", 2))
    links = [
        inner_link(1, -10, 0, id_, 0, "MODEL"),
        inner_link(2, -10, 1, id_, 1, "INT"),
        inner_link(3, id_, 0, -20, 0, "LATENT"),
    ]
    inputs = [
        {"id": "i", "name": name, "type": "MODEL", "linkIds": [1]},
        {"id": "s", "name": "steps", "type": "INT", "linkIds": [2]},
    ]
    outputs = [{"id": "o", "name": "LATENT", "type": "LATENT", "linkIds": [3]}]
    definition = subgraph(key, inner, links=links, inputs=inputs, outputs=outputs)
    instance = node(5, key, inputs=[socket(name, "MODEL", 9)], widgets_values=[steps])
    document = workflow(loader(1), instance, links=[[9, 1, 0, 5, 0, "MODEL"]])
    return with_subgraphs(document, {**definition, "name": "Part"})


def test_subgraphs_are_compared_by_what_is_in_them() -> None:
    assert differences(nested("a", 8), nested("b", 8), definitions()) == []
    assert differences(nested("a", 8), nested("a", 9), definitions(), {"5:8": "5:9"}) == []
    assert differences(nested("a", 8), nested("a", 9), definitions()) == [
        "5:8 (KSampler) is missing.",
        "5:9 (KSampler) is there and should not be.",
        "5:out.LATENT is fed by 5:9.0, not by 5:8.0.",
    ]
    assert differences(nested("a", 8), nested("a", 8, steps=30), definitions()) == [
        "5 (Part): steps is 30, not 20."
    ]
    assert differences(nested("a", 8), nested("a", 8, name="net"), definitions()) == [
        "5.model is fed by nothing, not by 1.0.",
        "5.net is fed by 1.0, not by nothing.",
        "5 has the inputs net, steps, not model, steps.",
        "5:8.model is fed by 5:in.net, not by 5:in.model.",
    ]


@pytest.mark.parametrize("name", sample())
def test_any_change_that_counts_is_found_in_any_template(name: str) -> None:
    random = Random(name)
    before = template(name)
    assert differences(before, template(name), definitions()) == []
    assert differences(before, json.loads(json.dumps(before)), definitions()) == []
    after = deepcopy(before)
    chosen = random.choice(after["nodes"])
    chosen["mode"] = 2 if chosen.get("mode", 0) != 2 else 0
    assert len(differences(before, after, definitions())) == 1
    # Whatever a file holds is compared, and the same from the other side.
    other = changed(before, random, 8)
    there, back = (
        differences(one, two, definitions()) for one, two in ((before, other), (other, before))
    )
    assert len(there) == len(back)
