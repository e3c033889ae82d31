"""Steps between two workflows: carried out on the one they give the other, and nothing more."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from plugin.assistant.workflow.edits.apply import apply
from plugin.assistant.workflow.edits.steps import steps_between
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.workflow.edits.changes import changed
from plugin.tests.workflow.edits.steps_carried_out import Canvas, canvas, carry_out
from plugin.tests.workflow.workflows import (
    definitions,
    sample,
    template,
    template_texts,
)

Json = dict[str, Any]


def unequal(found: Canvas, expected: Canvas, added: set[tuple[str, str]]) -> Iterator[str]:
    """What differs between two canvases. The values of added nodes come with their JSON."""
    assert found.keys() == expected.keys()
    for key, level in expected.items():
        other = found[key]
        for name in ("name", "links", "inputs", "outputs"):
            if getattr(level, name) != getattr(other, name):
                yield f"{key}: {name} {getattr(other, name)} {getattr(level, name)}"
        if sorted(map(str, level.groups)) != sorted(map(str, other.groups)):
            yield f"{key}: groups"
        if level.nodes.keys() != other.nodes.keys():
            yield f"{key}: nodes {other.nodes.keys() ^ level.nodes.keys()}"
            continue
        for id_, shown in level.nodes.items():
            mine = other.nodes[id_]
            if (shown.type, shown.looks) != (mine.type, mine.looks):
                yield f"{key} {id_}: {mine} {shown}"
            values = {name: mine.values.get(name) for name in shown.values}
            if (key, id_) not in added and json.dumps(values) != json.dumps(shown.values):
                yield f"{key} {id_}: {values} {shown.values}"


def check(before: Json, after: Json) -> list[Json]:
    """The steps lead from one to the other."""
    steps = steps_between(before, after, definitions())
    json.dumps(steps)
    expected = canvas(after, definitions())
    scopes = {"": ""}
    for place in parse_workflow(after).places():
        if place.node.type in expected:
            scopes[place.address] = place.node.type
    added = {
        (scopes[step["scope"]], step["node"].rpartition(":")[2])
        for step in steps
        if step["do"] == "add"
    }
    found = carry_out(canvas(before, definitions()), steps, definitions())
    assert list(unequal(found, expected, added)) == []
    return steps


@pytest.mark.parametrize("name", sample())
def test_steps_lead_from_a_workflow_to_a_changed_one_and_back(name: str) -> None:
    random = Random(name)
    before = template(name)
    after = changed(before, random, random.randint(1, 12))
    check(before, after)
    check(after, before)


@pytest.mark.parametrize("seed", range(40))
def test_steps_lead_from_any_workflow_to_any_other(seed: int) -> None:
    one, other = Random(seed).sample(list(template_texts()), 2)
    check(template(one), template(other))


def test_equal_workflows_need_no_step() -> None:
    for name in sample():
        assert steps_between(template(name), template(name), definitions()) == []


def test_what_hangs_on_a_choice_is_set_again_where_the_choice_changes() -> None:
    """The page makes these widgets anew, with their defaults."""
    before = template("api_elevenlabs_text_to_dialogue")
    line = "Now, you can use ElevenLabs node to generate multi-dialogue audio."
    values = {"inputs": "3", "inputs.text1": line, "inputs.text3": "Bye!"}
    batch = [{"op": "set", "node": "218", "values": values}]
    after = apply(before, batch, definitions()).content
    said = [one for one in steps_between(before, after, definitions()) if one["do"] == "values"]
    assert said[0]["values"] == {"inputs": "3"}
    assert said[1]["values"]["inputs.text3"] == "Bye!"
    assert said[1]["values"]["inputs.text1"] == line
