"""Groups: frames around nodes, drawn and taken away; and nodes moved."""

from typing import Any

import pytest
from plugin.assistant.workflow.edits.boxes import group_box, members, node_box, nodes_of
from plugin.assistant.workflow.edits.groups import group, move, move_near, ungroup
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.tests.workflow.workflows import node, subgraph, with_subgraphs, workflow

Json = dict[str, Any]


def at(id_: int, x: float, y: float) -> Json:
    return node(id_, "KSampler", pos=[x, y], size=[200, 100])


def test_a_group_holds_its_nodes_with_their_titles() -> None:
    scope = workflow(at(1, 0, 0), at(2, 300, 50), at(3, 900, 0))
    made = group(scope, scope, "Both", ["1", "2"])
    assert scope["groups"] == [made]
    assert made["bounding"] == [-10, -74, 520, 234]
    assert members(scope, made) == ["1", "2"]


def test_a_group_of_distant_nodes_does_not_hold_those_between() -> None:
    scope = workflow(at(1, 0, 0), at(2, 300, 0), at(3, 600, 0))
    made = group(scope, scope, "Ends", ["1", "3"])
    assert members(scope, made) == ["1", "3"]
    assert nodes_of(scope)["2"]["pos"] == [300, 0]


def test_groups_have_ids_of_their_own_in_the_whole_workflow() -> None:
    inner = subgraph("s", at(4, 0, 0), groups=[{"id": 8, "title": "a", "bounding": [0, 0, 1, 1]}])
    content = with_subgraphs(workflow(at(1, 0, 0), node(2, "s")), inner)
    assert group(content, content, "New", ["1"])["id"] == 9
    assert group(content, inner, "New", ["4"])["id"] == 10


def test_a_group_is_taken_away_by_title_or_id_and_its_nodes_stay() -> None:
    scope = workflow(at(1, 0, 0))
    group(scope, scope, "One", ["1"])
    group(scope, scope, "Two", ["1"])
    ungroup(scope, "One")
    assert [one["title"] for one in scope["groups"]] == ["Two"]
    ungroup(scope, "2")
    assert scope["groups"] == []
    assert nodes_of(scope).keys() == {"1"}


@pytest.mark.parametrize(
    ("titles", "name", "message"),
    [
        ([], "Sampling", "No group is called Sampling. There are no groups here."),
        (["Models", "Sampler"], "Sampling", "No group is called Sampling. The nearest is Sampler."),
        (["Same", "Same"], "Same", "2 groups are called Same: 1, 2."),
    ],
)
def test_a_group_that_is_not_clear_is_refused(titles: list[str], name: str, message: str) -> None:
    scope = workflow(at(1, 0, 0))
    for title in titles:
        group(scope, scope, title, ["1"])
    with pytest.raises(EditRefused) as refused:
        ungroup(scope, name)
    assert (refused.value.code, refused.value.message) == ("not_possible", message)
    assert len(scope.get("groups", [])) == len(titles)


def test_a_node_is_moved_to_a_place() -> None:
    scope = workflow(at(1, 0, 0))
    move(scope, "1", 40, -7.5)
    assert scope["nodes"][0]["pos"] == [40, -7.5]


def test_a_node_moved_beside_another_joins_its_group() -> None:
    scope = workflow(at(1, 0, 0), at(2, 2000, 0), at(3, 230, 0))
    made = group(scope, scope, "First", ["1"])
    move_near(scope, "2", "1")
    placed = node_box(nodes_of(scope)["2"])
    assert not any(placed.covers(node_box(nodes_of(scope)[one])) for one in "13")
    assert not group_box(made).covers(node_box(nodes_of(scope)["3"])) or "3" not in members(
        scope, made
    )
    assert members(scope, made) == ["1", "2"]
