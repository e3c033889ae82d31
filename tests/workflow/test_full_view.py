"""The full view is read back as the same graph, whatever the graph is."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import NotAWorkflow
from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.facts import facts, first_difference, revision
from plugin.assistant.workflow.full_reading import read_full_view
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.node_definitions import NO_DEFINITIONS
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.view import view
from plugin.tests.prompts import recorded_prompts, template_text
from plugin.tests.workflow.test_view import definitions, sample, template


def read_back(graph: Graph) -> Graph:
    return read_full_view(view(graph, definitions(), "full"))


@pytest.mark.parametrize("identity", sample())
def test_a_template_and_its_prompt_are_read_back(identity: str) -> None:
    for graph in (template(identity), parse_workflow(recorded_prompts()[identity]["output"])):
        again = read_back(graph)
        assert first_difference(facts(graph), facts(again)) is None
        assert revision(again) == revision(graph)


def without_titles(prompt: dict[str, Any]) -> dict[str, Any]:
    return {id_: {**node, "_meta": None} for id_, node in prompt.items()}


def test_what_is_read_back_makes_the_same_prompt() -> None:
    for identity in sample()[::4]:
        graph = template(identity)
        expected = api_prompt(graph, definitions())
        found = api_prompt(read_back(graph), definitions())
        assert without_titles(found) == without_titles(expected), identity


NAMES = st.sampled_from(
    ["KSampler", "in", "3", "a b", 'a"b', "a\nb", "subgraph", "x:y", "", "notes"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
SLOT = st.fixed_dictionaries(
    {"name": NAMES, "type": NAMES},
    optional={
        "label": NAMES,
        "link": st.integers(1, 6),
        "widget": st.builds(lambda n: {"name": n}, NAMES),
    },
)
NODE = st.fixed_dictionaries(
    {"id": st.integers(-20, 4) | NAMES, "type": NAMES | st.just("s")},
    optional={
        "title": NAMES,
        "mode": st.integers(-3, 6),
        "inputs": st.lists(SLOT, max_size=3),
        "outputs": st.lists(SLOT, max_size=3),
        "widgets_values": st.lists(VALUES, max_size=4) | st.dictionaries(NAMES, VALUES, max_size=3),
        "widgets_values_named": st.dictionaries(NAMES, VALUES, max_size=3),
        "properties": st.fixed_dictionaries({}, optional={"proxyWidgets": VALUES}),
    },
)
END = st.integers(-20, 4) | NAMES
LINK = st.tuples(st.integers(1, 6), END, st.integers(0, 3), END, st.integers(0, 3), NAMES).map(list)
SCOPE = st.fixed_dictionaries(
    {"nodes": st.lists(NODE | VALUES, max_size=4), "links": st.lists(LINK | VALUES, max_size=5)},
    optional={
        "groups": st.lists(
            st.fixed_dictionaries({"title": NAMES, "bounding": st.lists(st.integers(), max_size=5)})
        )
    },
)
SUBGRAPH = st.builds(
    lambda scope, more: {**scope, **more},
    SCOPE,
    st.fixed_dictionaries(
        {"id": st.sampled_from(["s", "t", "u v"]), "name": NAMES},
        optional={"inputs": st.lists(SLOT, max_size=2), "outputs": st.lists(SLOT, max_size=2)},
    ),
)
WORKFLOW = st.builds(
    lambda scope, subgraphs: {**scope, "definitions": {"subgraphs": subgraphs}},
    SCOPE,
    st.lists(SUBGRAPH, max_size=3),
)


@given(WORKFLOW)
def test_any_workflow_is_read_back(document: Any) -> None:
    try:
        graph = parse_workflow(document)
    except NotAWorkflow:
        return
    again = read_full_view(view(graph, NO_DEFINITIONS, "full"))
    assert first_difference(facts(graph), facts(again)) is None
    assert revision(again) == revision(graph)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "workflow: 1 node\n1 KSampler steps", "workflow:\n1"]
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        read_full_view(text)


def changed(document: Any, **change: Any) -> str:
    other = copy.deepcopy(document)
    other["nodes"][0].update(change)
    return revision(parse_workflow(other))


def test_a_revision_changes_with_what_counts_and_with_nothing_else() -> None:
    document = json.loads(template_text("image_z_image_turbo"))
    before = revision(parse_workflow(document))
    assert len(before) == 8 and int(before, 16) >= 0
    assert changed(document, pos=[1, 2], size=[3, 4], color="#fff", order=9) == before
    for change in ({"title": "x"}, {"mode": 4}, {"type": "X"}, {"widgets_values": ["x"]}):
        assert changed(document, **change) != before, change
    renumbered = copy.deepcopy(document)
    for link in renumbered["links"]:
        for node in renumbered["nodes"]:
            for slot in node.get("inputs") or []:
                if slot.get("link") == link[0]:
                    slot["link"] = link[0] + 1000
            for slot in node.get("outputs") or []:
                slot["links"] = [one + 1000 if one == link[0] else one for one in slot["links"]]
        link[0] += 1000
    assert revision(parse_workflow(renumbered)) == before
    unlinked = {**document, "links": []}
    assert revision(parse_workflow(unlinked)) != before
