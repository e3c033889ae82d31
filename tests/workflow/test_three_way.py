"""A change is carried over into a workflow that others have changed since."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from plugin.assistant.workflow.facts import facts
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.three_way import carry_over
from plugin.tests.growth import MOST_GROWTH, growth

from .workflows import template, template_texts

Json = dict[str, Any]


def node(id_: int, kind: str, values: list[Any], sources: Mapping[str, int | None]) -> Json:
    return {
        "id": id_,
        "type": kind,
        "pos": [id_ * 10, 0],
        "mode": 0,
        "inputs": [{"name": name, "type": "X", "link": one} for name, one in sources.items()],
        "outputs": [{"name": "X", "type": "X", "links": []}],
        "widgets_values": values,
    }


def portrait() -> Json:
    """A loader (1) feeds a sampler (2) with a seed, which feeds a picture (3)."""
    return {
        "last_node_id": 3,
        "last_link_id": 2,
        "nodes": [
            {**node(1, "Loader", ["a.safetensors"], {})},
            {**node(2, "Sampler", [7, "randomize", 20, "euler"], {"model": 1})},
            {**node(3, "Save", ["out"], {"images": 2})},
        ],
        "links": [[1, 1, 0, 2, 0, "X"], [2, 2, 0, 3, 0, "X"]],
        "groups": [],
        "version": 0.4,
    }


def with_values(workflow: Json, id_: int, **places: Any) -> Json:
    made = copy.deepcopy(workflow)
    for place, value in places.items():
        _node(made, id_)["widgets_values"][int(place[1:])] = value
    return made


def with_node_between(workflow: Json) -> Json:
    """A node 4 in the link from 1 to 2, as an insert makes it."""
    made = copy.deepcopy(workflow)
    made["nodes"].append(node(4, "Lora", [0.8], {"model": 3}))
    made["links"] = [[2, 2, 0, 3, 0, "X"], [3, 1, 0, 4, 0, "X"], [4, 4, 0, 2, 0, "X"]]
    _node(made, 2)["inputs"][0]["link"] = 4
    made["last_node_id"], made["last_link_id"] = 4, 4
    return made


def without(workflow: Json, id_: int) -> Json:
    made = copy.deepcopy(workflow)
    made["nodes"] = [one for one in made["nodes"] if one["id"] != id_]
    gone = {link[0] for link in made["links"] if id_ in (link[1], link[3])}
    made["links"] = [link for link in made["links"] if link[0] not in gone]
    for one in made["nodes"]:
        for slot in one["inputs"]:
            slot["link"] = None if slot["link"] in gone else slot["link"]
    return made


def _node(workflow: Json, id_: int) -> Json:
    found: Json = next(one for one in workflow["nodes"] if one["id"] == id_)
    return found


def said(workflow: Mapping[str, Any]) -> Any:
    return facts(parse_workflow(workflow))


def test_what_nobody_touched_becomes_exactly_what_it_was() -> None:
    before, after = portrait(), with_node_between(with_values(portrait(), 2, v2=30))
    assert said(carry_over(after, after, before).content) == said(before)
    assert said(carry_over(before, before, after).content) == said(after)


def test_what_others_changed_elsewhere_stays() -> None:
    before, after = portrait(), with_values(portrait(), 2, v2=30)
    now = with_values(with_values(after, 2, v3="dpmpp_2m"), 1, v0="b.safetensors")
    taken = carry_over(now, after, before)
    assert taken.clashes == ()
    assert _node(dict(taken.content), 2)["widgets_values"] == [7, "randomize", 20, "dpmpp_2m"]
    assert _node(dict(taken.content), 1)["widgets_values"] == ["b.safetensors"]


def test_a_value_that_was_changed_again_clashes() -> None:
    before, after = portrait(), with_values(portrait(), 2, v2=30)
    taken = carry_over(with_values(after, 2, v2=50), after, before)
    assert taken.clashes == ("2",)
    assert taken.content == with_values(after, 2, v2=50)


def test_a_seed_that_a_run_turned_does_not_clash() -> None:
    before, after = portrait(), with_values(portrait(), 2, v0=8, v2=30)
    taken = carry_over(with_values(after, 2, v0=99), after, before)
    assert said(taken.content) == said(before)
    added = with_node_between(portrait())
    _node(added, 4)["widgets_values"] = [5, "fixed"]
    turned = with_values(added, 4, v0=6)
    assert said(carry_over(turned, added, before).content) == said(before)


def test_a_new_node_that_somebody_used_or_changed_clashes() -> None:
    before, after = portrait(), with_node_between(portrait())
    changed = with_values(after, 4, v0=0.5)
    assert carry_over(changed, after, before).clashes == ("4",)
    used = copy.deepcopy(after)
    _node(used, 3)["inputs"][0]["link"] = 9
    used["links"] = [[9, 4, 0, 3, 0, "X"], *(link for link in used["links"] if link[3] != 3)]
    assert carry_over(used, after, before).clashes == ("3",)


def test_a_removed_node_comes_back_with_its_links() -> None:
    before, after = portrait(), without(portrait(), 2)
    now = with_values(after, 3, v0="mine")
    taken = carry_over(now, after, before)
    assert said(taken.content) == said(with_values(before, 3, v0="mine"))
    assert carry_over(without(after, 1), after, before).clashes == ("2",)


def test_what_is_as_it_should_be_already_is_said() -> None:
    before, after = portrait(), with_values(portrait(), 2, v2=30)
    assert carry_over(before, after, before).is_done
    assert not carry_over(after, after, before).is_done
    moved = copy.deepcopy(before)
    _node(moved, 1)["pos"] = [500, 500]
    assert carry_over(moved, after, before).is_done


def test_a_change_of_places_alone_is_taken_back_but_for_what_was_moved_since() -> None:
    before, after = portrait(), copy.deepcopy(portrait())
    for id_ in (1, 2):
        _node(after, id_)["pos"] = [900, 900]
    now = copy.deepcopy(after)
    _node(now, 2)["pos"] = [1, 1]
    content = dict(carry_over(now, after, before).content)
    assert [_node(content, id_)["pos"] for id_ in (1, 2)] == [[10, 0], [1, 1]]


def test_api_prompts() -> None:
    before = {"3": {"class_type": "Sampler", "inputs": {"steps": 20, "seed": 1, "model": ["4", 0]}}}
    before["4"] = {"class_type": "Loader", "inputs": {"name": "a"}}
    after = copy.deepcopy(before)
    after["3"]["inputs"]["steps"] = 30  # type: ignore[index]
    now = copy.deepcopy(after)
    now["3"]["inputs"]["seed"] = 9  # type: ignore[index]
    content = carry_over(now, after, before).content
    assert content["3"]["inputs"] == {"steps": 20, "seed": 9, "model": ["4", 0]}
    now["3"]["inputs"]["steps"] = 40  # type: ignore[index]
    assert carry_over(now, after, before).clashes == ("3",)


def scopes_of(workflow: Json) -> list[Json]:
    found = [workflow]
    for scope in found:
        found.extend((scope.get("definitions") or {}).get("subgraphs") or [])
    return found


def _set_title(scope: Json, lot: random.Random) -> None:
    lot.choice(scope["nodes"])["title"] = f"Called {lot.random()}"


def _set_value(scope: Json, lot: random.Random) -> None:
    listed = [one for one in scope["nodes"] if isinstance(one.get("widgets_values"), list)]
    for one in lot.sample(listed, min(2, len(listed))):
        one["widgets_values"] = [*one["widgets_values"], lot.random()]


def _bypass(scope: Json, lot: random.Random) -> None:
    lot.choice(scope["nodes"])["mode"] = 4


def _unlink(scope: Json, lot: random.Random) -> None:
    if scope["links"]:
        gone = lot.choice(scope["links"])
        scope["links"] = [link for link in scope["links"] if link is not gone]
        number = gone["id"] if isinstance(gone, dict) else gone[0]
        for one in scope["nodes"]:
            for slot in one.get("inputs") or []:
                slot["link"] = None if slot.get("link") == number else slot.get("link")
            for slot in one.get("outputs") or []:
                slot["links"] = [link for link in slot.get("links") or [] if link != number]
        for name in ("inputs", "outputs"):
            for slot in scope.get(name) or []:
                slot["linkIds"] = [link for link in slot.get("linkIds") or [] if link != number]


def _add(scope: Json, lot: random.Random) -> None:
    scope["nodes"].append(node(90_000 + lot.randrange(10_000), "Note", ["text"], {}))


CHANGES: tuple[Callable[[Json, random.Random], None], ...] = (
    _set_title,
    _set_value,
    _bypass,
    _unlink,
    _add,
)


@pytest.mark.parametrize("name", sorted(template_texts())[::40])
def test_changes_of_templates_are_taken_back_and_made_again(name: str) -> None:
    lot = random.Random(name)
    before = template(name)
    after = copy.deepcopy(before)
    for scope in scopes_of(after):
        if scope.get("nodes"):
            for change in lot.sample(CHANGES, 2):
                change(scope, lot)
    assert said(carry_over(after, after, before).content) == said(before)
    assert said(carry_over(before, before, after).content) == said(after)
    again = carry_over(carry_over(after, after, before).content, before, after).content
    assert said(again) == said(after)


@pytest.mark.slow
def test_the_time_grows_with_the_workflow_alone() -> None:
    def carry(letters: str) -> None:
        before = chain(len(letters))
        after = copy.deepcopy(before)
        after["nodes"][0]["widgets_values"][0] = 8
        carry_over(after, after, before)

    assert growth(carry, "x", 1_000) < MOST_GROWTH


def chain(length: int) -> Json:
    """So many nodes, each fed by the one before."""
    nodes = [node(one, "Step", [7], {"x": one - 1 or None}) for one in range(1, length + 1)]
    links = [[one, one, 0, one + 1, 0, "X"] for one in range(1, length)]
    return {"last_node_id": length, "last_link_id": length - 1, "nodes": nodes, "links": links}
