"""The revision of a graph: what counts changes it, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from plugin.assistant.errors import NotAWorkflow
from plugin.assistant.workflow.facts import revision as revision_of
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.snapshot import Snapshot

Graph = dict[str, Any]


def graph() -> Graph:
    inner = {
        "id": "sub",
        "name": "Inner",
        "nodes": [{"id": 5, "type": "VAEDecode", "mode": 0, "widgets_values": []}],
        "links": [],
        "inputs": [],
        "outputs": [],
    }
    return {
        "nodes": [
            {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["a.safetensors"]},
            {
                "id": 3,
                "type": "KSampler",
                "title": "Sampler",
                "mode": 0,
                "pos": [0, 0],
                "size": [100, 100],
                "inputs": [{"name": "model", "type": "MODEL", "link": 1}],
                "widgets_values": [42, "randomize", 20],
            },
            {"id": 6, "type": "sub"},
        ],
        "links": [[1, 4, 0, 3, 0, "MODEL"]],
        "groups": [],
        "definitions": {"subgraphs": [inner]},
        "extra": {},
    }


def revision(found: Graph) -> str:
    return revision_of(parse_workflow(found))


def inner(found: Graph) -> Graph:
    subgraph: Graph = found["definitions"]["subgraphs"][0]
    return subgraph


COUNTS: dict[str, Callable[[Graph], Any]] = {
    "value": lambda g: g["nodes"][1]["widgets_values"].__setitem__(2, 21),
    "order of values": lambda g: g["nodes"][1]["widgets_values"].reverse(),
    "type": lambda g: g["nodes"][1].update(type="KSamplerAdvanced"),
    "mode": lambda g: g["nodes"][1].update(mode=4),
    "title": lambda g: g["nodes"][1].update(title="Other"),
    "node": lambda g: g["nodes"].append({"id": 9, "type": "Note"}),
    "link": lambda g: g["links"].clear(),
    "end of a link": lambda g: g["links"].__setitem__(0, [1, 4, 1, 3, 0, "MODEL"]),
    "inside a subgraph": lambda g: inner(g)["nodes"][0].update(mode=2),
}
COUNTS_NOT: dict[str, Callable[[Graph], Any]] = {
    "place": lambda g: g["nodes"][1].update(pos=[7, 9]),
    "size": lambda g: g["nodes"][1].update(size=[7, 9]),
    "colour": lambda g: g["nodes"][1].update(color="#322"),
    "group": lambda g: g["groups"].append({"title": "G", "bounding": [0, 0, 1, 1]}),
    "order of nodes": lambda g: g["nodes"].reverse(),
    "view": lambda g: g.update(extra={"ds": {"scale": 2}}),
    "id of a link": lambda g: (
        g["links"][0].__setitem__(0, 77),
        g["nodes"][1]["inputs"][0].update(link=77),
    ),
}


def test_a_revision_is_eight_hex_digits() -> None:
    assert re.fullmatch("[0-9a-f]{8}", revision(graph()))
    assert Snapshot(graph=graph()).revision == revision(graph())


@pytest.mark.parametrize("name", COUNTS)
def test_what_counts_changes_the_revision(name: str) -> None:
    changed = graph()
    COUNTS[name](changed)
    assert revision(changed) != revision(graph())


@pytest.mark.parametrize("name", COUNTS_NOT)
def test_what_does_not_count_leaves_the_revision(name: str) -> None:
    changed = graph()
    COUNTS_NOT[name](changed)
    assert changed != graph()
    assert revision(changed) == revision(graph())


def test_a_link_out_of_a_subgraph_that_is_listed_twice_counts_once() -> None:
    """Taking an edit back leaves one of them."""
    once, twice = graph(), graph()
    for found in (once, twice):
        inner(found)["outputs"] = [{"name": "IMAGE", "type": "IMAGE", "linkIds": [1]}]
        inner(found)["links"] = [[1, 5, 0, -20, 0, "IMAGE"]]
    inner(twice)["links"].append([2, 5, 0, -20, 0, "IMAGE"])
    assert revision(once) == revision(twice)


def test_the_same_nodes_with_other_ids_are_another_graph() -> None:
    changed = graph()
    changed["nodes"][0]["id"] = 40
    changed["links"][0][1] = 40
    assert revision(changed) != revision(graph())


def test_values_by_name_count_as_those_by_place() -> None:
    named = {"nodes": [{"id": 1, "type": "X", "widgets_values": {"a": 1}}], "links": []}
    other = {"nodes": [{"id": 1, "type": "X", "widgets_values": {"a": 2}}], "links": []}
    assert revision(named) != revision(other)
    prompt = {"1": {"class_type": "X", "inputs": {"a": 1}}}
    assert revision(prompt) != revision({"1": {"class_type": "X", "inputs": {"a": 2}}})


@pytest.mark.parametrize("found", [None, {}, {"nodes": 7}])
def test_what_is_no_workflow_has_no_revision(found: Any) -> None:
    with pytest.raises(NotAWorkflow):
        assert Snapshot(graph=found).revision
