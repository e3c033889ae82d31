"""New nodes lie where a person would put them."""

from random import Random
from typing import Any

import pytest
from plugin.assistant.workflow.edits.boxes import (
    Box,
    boundary_boxes,
    group_box,
    members,
    node_box,
    nodes_of,
    wires,
)
from plugin.assistant.workflow.edits.placement import place_new
from plugin.assistant.workflow.edits.sizes import estimated_size
from plugin.assistant.workflow.inputs import mapping
from plugin.tests.workflow.edits.changes import largest_id
from plugin.tests.workflow.workflows import live, node, sample, template, workflow

Json = dict[str, Any]


def at(id_: int, x: float, y: float, width: float = 200, height: float = 100) -> Json:
    return node(id_, "KSampler", pos=[x, y], size=[width, height])


def new(id_: int, width: float = 200, height: float = 100) -> Json:
    return at(id_, 0, 0, width, height)


def linked(*ends: tuple[int, int]) -> list[Any]:
    return [[place, one, 0, other, 0, "*"] for place, (one, other) in enumerate(ends)]


def framed(title: str, *bounding: float) -> Json:
    return {"title": title, "bounding": list(bounding)}


def box(scope: Json, id_: int) -> Box:
    return node_box(nodes_of(scope)[str(id_)])


def test_a_node_lies_right_of_what_feeds_it() -> None:
    scope = workflow(at(1, 0, 0), at(2, 0, 300), new(3), links=linked((1, 3), (2, 3)))
    place_new(scope, {"3": None})
    assert box(scope, 3).x >= 200
    assert 0 <= box(scope, 3).y + 30 <= 300


def test_a_node_between_two_lies_between_their_heights() -> None:
    scope = workflow(at(1, 0, 0), at(2, 900, 400), new(3), links=linked((1, 3), (3, 2)))
    place_new(scope, {"3": None})
    assert box(scope, 3) == Box(260, 170, 200, 130)


def test_a_node_that_only_feeds_lies_left_of_what_it_feeds() -> None:
    scope = workflow(at(1, 0, 0), new(2), links=linked((2, 1)))
    place_new(scope, {"2": None})
    assert box(scope, 2).right <= 0
    assert box(scope, 2).y == box(scope, 1).y


def test_a_node_lies_beside_the_node_that_is_named() -> None:
    scope = workflow(at(1, 0, 0), at(2, 5000, 0), new(3), links=linked((1, 3)))
    place_new(scope, {"3": "2"})
    assert box(scope, 3).x > box(scope, 2).right
    assert box(scope, 3).x < box(scope, 2).right + 100


def test_a_node_without_links_lies_below_everything() -> None:
    scope = workflow(at(1, 50, 0), at(2, 400, 700), new(3), groups=[framed("a", 0, 0, 100, 900)])
    place_new(scope, {"3": None})
    assert box(scope, 3).y >= 900


def test_the_only_node_lies_at_the_origin() -> None:
    scope = workflow(new(1))
    place_new(scope, {"1": None})
    assert scope["nodes"][0]["pos"] == [0, 30]


def test_what_is_in_the_way_is_not_covered() -> None:
    scope = workflow(at(1, 0, 0), at(2, 230, 0), new(3), links=linked((1, 3)))
    place_new(scope, {"3": None})
    assert not box(scope, 3).covers(box(scope, 2), 10)
    assert box(scope, 3).x >= 200


def test_a_chain_of_new_nodes_goes_on_to_the_right() -> None:
    scope = workflow(at(1, 0, 0), new(4), new(3), new(2), links=linked((1, 2), (2, 3), (3, 4)))
    place_new(scope, {"4": None, "3": None, "2": None})
    places = [box(scope, id_).x for id_ in (1, 2, 3, 4)]
    assert places == sorted(places)
    assert len(set(places)) == 4


def test_a_chain_of_new_nodes_before_a_node_goes_on_to_the_left() -> None:
    scope = workflow(new(2), new(3), at(1, 0, 0), links=linked((2, 3), (3, 1)))
    place_new(scope, {"2": None, "3": None})
    assert box(scope, 2).right < box(scope, 3).x
    assert box(scope, 3).right < box(scope, 1).x


def test_a_group_grows_around_a_node_whose_neighbours_are_in_it() -> None:
    group = framed("Sampling", -20, -80, 250, 200)
    scope = workflow(at(1, 0, 0), new(2), links=linked((1, 2)), groups=[group])
    place_new(scope, {"2": None})
    assert members(scope, scope["groups"][0]) == ["1", "2"]
    assert group_box(scope["groups"][0]).encloses(box(scope, 2))


def test_a_group_inside_of_another_grows_with_it() -> None:
    groups = [framed("inner", -20, -80, 250, 200), framed("outer", -40, -140, 290, 280)]
    scope = workflow(at(1, 0, 0), new(2), links=linked((1, 2)), groups=groups)
    place_new(scope, {"2": None})
    inner, outer = map(group_box, scope["groups"])
    assert inner.encloses(box(scope, 2))
    assert outer.encloses(inner)


def test_a_group_does_not_grow_over_others() -> None:
    group = framed("a", -20, -80, 250, 200)
    others = [at(9 + y, 300, 120 * y, 200, 90) for y in range(-8, 9)]
    scope = workflow(at(1, 0, 0), new(2), *others, links=linked((1, 2)), groups=[group])
    place_new(scope, {"2": None})
    assert not any(box(scope, 2).covers(node_box(one)) for one in scope["nodes"] if one["id"] != 2)
    assert set(members(scope, scope["groups"][0])) <= {"1", "2"}


def test_a_node_is_not_put_on_a_group_that_it_does_not_belong_to() -> None:
    group = framed("other", 220, -200, 600, 500)
    scope = workflow(at(1, 0, 0), at(2, 400, 0), new(3), links=linked((1, 3)), groups=[group])
    place_new(scope, {"3": None})
    assert not box(scope, 3).covers(group_box(group))
    assert scope["groups"][0]["bounding"] == [220, -200, 600, 500]


def test_what_is_there_keeps_its_place() -> None:
    scope = workflow(at(1, 7, 8), at(2, 230, 0), new(3), links=linked((1, 3)))
    place_new(scope, {"3": None})
    assert [one["pos"] for one in scope["nodes"][:2]] == [[7, 8], [230, 0]]


@pytest.mark.parametrize("name", sample())
def test_a_node_in_any_link_of_a_template_covers_nothing(name: str) -> None:
    """In the workflow and in each of its subgraphs, where the subgraph's own panels count, too."""
    random = Random(name)
    document = template(name)
    definitions = mapping(document.get("definitions")).get("subgraphs", [])
    for scope in (document, *definitions):
        pairs = [pair for pair in wires(scope) if set(pair) <= nodes_of(scope).keys()]
        if not pairs:
            continue
        source, target = random.choice(pairs)
        id_ = largest_id(document) + 1
        frames = {str(one.get("id")): members(scope, one) for one in scope.get("groups", [])}
        scope["nodes"].append(new(id_, 270, 130))
        form = dict if scope is not document else list
        for ends in ((source, str(id_)), (str(id_), target)):
            scope["links"].append(_link(form, *ends))
        place_new(scope, {str(id_): None})
        placed = box(scope, id_)
        others = [one for one in nodes_of(scope) if one != str(id_)]
        assert not any(placed.covers(node_box(nodes_of(scope)[one])) for one in others)
        assert not any(placed.covers(one) for one in boundary_boxes(scope).values())
        assert placed.x >= node_box(nodes_of(scope)[source]).right
        for group in scope.get("groups", []):
            now = members(scope, group)
            held = frames[str(group.get("id"))]
            assert [one for one in now if one != str(id_)] == held
            if str(id_) in now:
                assert {source, target} <= set(held)
                assert group_box(group).encloses(placed)


def _link(form: type, source: str, target: str) -> Any:
    ends = [900_000 + int(source), int(source), 0, int(target), 0, "*"]
    names = ("id", "origin_id", "origin_slot", "target_id", "target_slot", "type")
    return ends if form is list else dict(zip(names, ends, strict=True))


@pytest.mark.parametrize(
    ("type_", "width", "height"),
    [("KSampler", 270, 262), ("CheckpointLoaderSimple", 270, 98), ("VAEDecode", 140, 46)],
)
def test_a_new_node_has_about_the_size_that_the_front_end_gives_it(
    type_: str, width: float, height: float
) -> None:
    """Sizes of nodes that the stock front end made (comfyui-frontend-package 1.58)."""
    made = live(workflow(node(1, type_))).root.nodes["1"]
    found = estimated_size(made)
    assert width <= found[0] <= width * 1.5
    assert height <= found[1] <= height * 1.3
