"""The scorer of the questions about workflows knows an answer in any format, and misses none."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from plugin.bench.workflow_questions import FRESH, QUESTIONS, held, questions, score
from plugin.bench.workflow_raw import (
    Placed,
    Raw,
    Scope,
    is_widget,
    placed,
    specs,
    subgraphs,
    widgets,
)
from plugin.preview.catalog import load_catalog
from plugin.preview.templates import templates_folder


@cache
def catalog() -> dict[str, Any]:
    return dict(load_catalog().nodes)


def load(template: str) -> Raw:
    path = templates_folder() / f"{template}.json"
    workflow: Raw = json.loads(path.read_text(encoding="utf-8"))
    return workflow


def named_values(node: Placed) -> dict[str, Any]:
    """The values of a node by name; where that is not sure, by the definition's first names."""
    values = node.node.get("widgets_values") or []
    definition = catalog().get(node.type)
    known = widgets(node.node, definition) if definition else None
    if known:
        return {one.name: values[one.place] for one in known}
    names = [name for name, spec in specs(definition or {}).items() if is_widget(spec)]
    if names and isinstance(values, list):
        return dict(zip(names, values, strict=False))
    return {f"value{number}": value for number, value in enumerate(values)}


def sources(node: Placed) -> dict[str, str]:
    links = node.scope.links()
    found = {}
    for slot in node.node.get("inputs") or []:
        link = links.get(slot.get("link"))
        if link is not None and link.origin != -10:
            found[slot["name"] or "input"] = f"{link.origin}.{link.origin_slot}"
    return found


def name_of(node: Placed, workflow: Raw) -> str:
    definition = subgraphs(workflow).get(node.type)
    return str(definition["name"]) if definition else node.type


def as_list(workflow: Raw, *, values: bool = True, links: bool = True, modes: bool = True) -> str:
    """One line for a node, one for each value and link."""
    lines = []
    for node in placed(workflow):
        mode = {2: " (muted)", 4: " (bypassed)"}.get(node.mode, "") if modes else ""
        title = f' "{node.node["title"]}"' if node.node.get("title") else ""
        indent = "  " * node.address.count(":")
        lines.append(f"{indent}{node.address} {name_of(node, workflow)}{title}{mode}")
        if values:
            lines += [f"{indent}    {name}: {said}" for name, said in named_values(node).items()]
            lines += [f"{indent}    promoted {name}" for name in _inputs_of(node, workflow)]
        if links:
            lines += [f"{indent}    {name} <- {said}" for name, said in sources(node).items()]
    return "\n".join(lines)


def _inputs_of(node: Placed, workflow: Raw) -> list[str]:
    definition = subgraphs(workflow).get(node.type) or {}
    return [str(one["name"]) for one in definition.get("inputs") or []]


def as_code(workflow: Raw) -> str:
    """Python-like calls, each subgraph as a function that is written once."""
    parts = [_calls(Scope(workflow, ""), workflow)]
    for definition in subgraphs(workflow).values():
        names = ", ".join(str(one["name"]) for one in definition["inputs"])
        body = _calls(Scope(definition, ""), workflow).replace("\n", "\n    ")
        parts.append(f"def {definition['name']}({names}):\n    {body}")
    return "\n\n".join(parts)


def _calls(scope: Scope, workflow: Raw) -> str:
    lines = []
    for raw in scope.nodes:
        node = Placed(str(raw["id"]), raw, scope, ())
        given = [f"{name}=node_{said}" for name, said in sources(node).items()]
        given += [
            f"{name}={json.dumps(said, ensure_ascii=False)}"
            for name, said in named_values(node).items()
        ]
        inputs = ", ".join(_inputs_of(node, workflow))
        mode = {2: "  # muted", 4: "  # bypassed"}.get(node.mode, "")
        title = f"  # {raw['title']}" if raw.get("title") else ""
        head = f"node_{raw['id']} = {name_of(node, workflow)}  # inputs {inputs}{mode}{title}"
        lines.append(f"{head}\n    ({', '.join(given)})")
    return "\n".join(lines)


INSTANCE_ALONE = "image_krea2_turbo_t2i: Which seed does the sampler run with?"
"""Its answer is a value of the instance itself, which the views here do not name."""


@pytest.mark.parametrize(("file", "count"), [(QUESTIONS, 60), (FRESH, 40)])
def test_the_questions_are_on_20_templates_and_each_names_nodes_that_exist(
    file: Path, count: int
) -> None:
    asked = questions(file)
    assert len(asked) == count
    assert len({one.template for one in asked}) == 20
    for one in asked:
        addresses = {node.address for node in placed(load(one.template))}
        assert _named_nodes(one.facts) <= addresses, one.question


def test_the_fresh_questions_are_about_other_templates() -> None:
    asked = {one.template for one in questions()}
    assert asked.isdisjoint(one.template for one in questions(FRESH))


def _named_nodes(facts: tuple[Raw, ...]) -> set[str]:
    found: set[str] = set()
    for fact in facts:
        ((kind, body),) = fact.items()
        if kind != "text":
            found.update(body.get("of") or [])
            found.update(body.get("from") or [])
            found.update([body[key] for key in ("to", "node") if key in body])
    return found


@pytest.mark.parametrize("view", [as_list, as_code])
@pytest.mark.parametrize(("file", "lacking"), [(QUESTIONS, []), (FRESH, [INSTANCE_ALONE])])
def test_a_view_that_shows_everything_holds_every_answer(
    view: Callable[[Raw], str], file: Path, lacking: list[str]
) -> None:
    _, missing = score(load, view, file)
    assert [f"{one.template}: {one.question}" for one in missing] == lacking


@pytest.mark.parametrize("left_out", ["values", "links", "modes"])
def test_a_view_without_values_links_or_modes_lacks_the_answers_that_need_them(
    left_out: str,
) -> None:
    kinds = {"values": ("value", "size"), "links": ("link",), "modes": ("mode",)}[left_out]
    found, _ = score(load, lambda workflow: as_list(workflow, **{left_out: False}))
    needs = [one for one in found if any(kind in fact for fact in one.facts for kind in kinds)]
    assert [f"{one.template}: {one.question}" for one in needs] == []


def test_a_value_of_another_node_is_no_answer() -> None:
    workflow = load("sd3.5_large_canny_controlnet_example")
    text = as_list(workflow)
    wanted = {"value": {"of": ["3"], "name": ["steps"], "is": ["32"]}}
    assert held(text, workflow, [wanted])
    assert not held(text.replace("steps: 32", "steps: 3"), workflow, [wanted])
    assert not held(text, workflow, [{"value": {**wanted["value"], "of": ["8"]}}])


def test_a_link_from_another_node_is_no_answer() -> None:
    workflow = load("sd3.5_large_canny_controlnet_example")
    wanted = {"link": {"to": "51", "input": "image", "from": ["47"]}}
    text = as_list(workflow)
    assert held(text, workflow, [wanted])
    assert not held(text.replace("image <- 47.0", "image <- 48.0"), workflow, [wanted])
    assert not held(text.replace("image <- 47.0", "pixels <- 47.0"), workflow, [wanted])
