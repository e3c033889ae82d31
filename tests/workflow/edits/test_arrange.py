"""Columns by depth, nothing covered, groups kept together."""

from itertools import combinations
from typing import Any

import pytest
from plugin.assistant.workflow.edits.arrange import arrange
from plugin.assistant.workflow.edits.boxes import (
    Box,
    boundary_boxes,
    group_box,
    members,
    node_box,
    nodes_of,
    wires,
)
from plugin.assistant.workflow.inputs import mapping
from plugin.tests.workflow.workflows import node, sample, template, workflow

Json = dict[str, Any]


def at(id_: int, x: float = 0, y: float = 0, width: float = 200, height: float = 100) -> Json:
    return node(id_, "KSampler", pos=[x, y], size=[width, height])


def linked(*ends: tuple[int, int]) -> list[Any]:
    return [[place, one, 0, other, 0, "*"] for place, (one, other) in enumerate(ends)]


def boxes(scope: Json) -> dict[str, Box]:
    return {id_: node_box(one) for id_, one in nodes_of(scope).items()}


def test_each_node_stands_right_of_all_that_feeds_it() -> None:
    ends = linked((1, 2), (2, 4), (1, 4), (3, 4))
    scope = workflow(at(4), at(3), at(2, width=400), at(1), links=ends)
    arrange(scope)
    placed = boxes(scope)
    assert placed["1"].x == placed["3"].x
    assert placed["2"].x >= placed["1"].right
    assert placed["4"].x >= placed["2"].right
    assert not any(one.covers(other) for one, other in combinations(placed.values(), 2))


def test_the_corner_stays_where_it_was() -> None:
    scope = workflow(at(1, 500, 700), at(2, 400, 900), links=linked((1, 2)))
    arrange(scope)
    assert boxes(scope)["1"].x == 400
    assert min(one.y for one in boxes(scope).values()) == 670


def test_a_circle_is_laid_out_too() -> None:
    scope = workflow(at(1), at(2), at(3), links=linked((1, 2), (2, 1), (2, 3), (3, 3)))
    arrange(scope)
    assert not any(one.covers(other) for one, other in combinations(boxes(scope).values(), 2))


def test_a_group_is_moved_with_its_nodes_and_holds_no_other() -> None:
    group = {"title": "Models", "bounding": [-20, -80, 1000, 400]}
    scope = workflow(at(1), at(2, 300), at(3, 100, 900), groups=[group], links=linked((1, 3)))
    arrange(scope)
    assert members(scope, scope["groups"][0]) == ["1", "2"]
    assert all(group_box(scope["groups"][0]).encloses(boxes(scope)[id_]) for id_ in "12")
    assert boxes(scope)["3"].x >= group_box(scope["groups"][0]).right


def test_nodes_that_links_lead_out_of_a_group_and_back_stand_right_of_what_feeds_them() -> None:
    group = {"title": "Torn", "bounding": [-20, -80, 1000, 400]}
    ends = linked((1, 3), (3, 2))
    scope = workflow(at(1), at(2, 300), at(3, 100, 900), groups=[group], links=ends)
    arrange(scope)
    placed = boxes(scope)
    assert placed["1"].right < placed["3"].x < placed["3"].right < placed["2"].x
    assert set("12") <= set(members(scope, scope["groups"][0]))


def test_only_the_named_nodes_are_moved_and_cover_no_other() -> None:
    scope = workflow(at(1), at(2), at(3, 250, 0), at(4, 0, 200), links=linked((1, 2), (2, 3)))
    arrange(scope, ["1", "2"])
    placed = boxes(scope)
    assert (placed["3"], placed["4"]) == (Box(250, -30, 200, 130), Box(0, 170, 200, 130))
    assert placed["2"].x >= placed["1"].right
    assert not any(one.covers(other) for one, other in combinations(placed.values(), 2))


def test_nodes_inside_of_a_group_are_arranged_in_it() -> None:
    group = {"title": "Models", "bounding": [-20, -80, 300, 260]}
    scope = workflow(at(1), at(2, 10, 10), at(3, 30, 30), groups=[group], links=linked((1, 2)))
    arrange(scope, ["1", "2"])
    assert set(members(scope, scope["groups"][0])) == {"1", "2", "3"}


@pytest.mark.parametrize("name", sample())
def test_any_template_can_be_arranged(name: str) -> None:
    document = template(name)
    for scope in (document, *mapping(document.get("definitions")).get("subgraphs", [])):
        held = {id(one): members(scope, one) for one in scope.get("groups", [])}
        arrange(scope)
        placed = boxes(scope)
        for one, other in combinations(placed, 2):
            assert not placed[one].covers(placed[other]), (one, other)
        for source, target in wires(scope):
            if source in placed and target in placed and source != target:
                assert placed[source].right < placed[target].x, (source, target)
        for panel in boundary_boxes(scope).values():
            assert not any(panel.covers(one) for one in placed.values())
        for group in scope.get("groups", []):
            assert set(held[id(group)]) <= set(members(scope, group)), group["title"]
