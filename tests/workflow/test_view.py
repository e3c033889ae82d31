"""The compact view of a workflow: complete for official templates, and without an exception for any
other JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.assistant.workflow.view import LONGEST_VALUE, view, widget_values
from plugin.scripts.knowledge.template_facts import installed_templates

MOST_OF_THE_FILE = 0.15
"""The most that a view may have of its template's characters, on average; the measured share was
0.12."""


@cache
def templates() -> tuple[tuple[str, Mapping[str, Any], int], ...]:
    """Name, workflow and file size in characters of each official template."""
    found = []
    for path in sorted(Path(installed_templates()).glob("*.json")):
        text = path.read_text(encoding="utf-8")
        graph = json.loads(text)
        if isinstance(graph, dict) and isinstance(graph.get("nodes"), list):
            found.append((path.stem, graph, len(text)))
    return tuple(found)


def scopes(graph: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The workflow and its subgraphs, each with what its lines are indented by."""
    yield "", graph
    for subgraph in (graph.get("definitions") or {}).get("subgraphs") or []:
        yield "  ", subgraph


def workflow(*nodes: Mapping[str, Any], links: Any = ()) -> Snapshot:
    return Snapshot(name="mine", graph={"nodes": list(nodes), "links": list(links)})


def test_there_are_many_templates_and_some_with_subgraphs() -> None:
    assert len(templates()) > 500
    assert sum(len(list(scopes(graph))) > 1 for _, graph, _ in templates()) > 50


def test_every_node_of_every_template_is_there_with_its_type() -> None:
    for name, graph, _ in templates():
        shown = view(Snapshot(name=name, graph=graph)).splitlines()
        subgraphs = {item["id"] for _, item in scopes(graph) if item is not graph}
        for indent, scope in scopes(graph):
            for node in scope["nodes"]:
                own = [line for line in shown if line.startswith(f"{indent}#{node['id']} ")]
                assert own, f"{name}: node {node['id']} is missing"
                if node["type"] in subgraphs:
                    assert any("(subgraph)" in line for line in own), f"{name}: {node['id']}"
                else:
                    assert any(node["type"] in line for line in own), f"{name}: {node['id']}"


def test_every_link_of_every_template_is_there() -> None:
    for name, graph, _ in templates():
        shown = view(Snapshot(name=name, graph=graph))
        wired = sum(
            slot.get("link") is not None
            for _, scope in scopes(graph)
            for node in scope["nodes"]
            for slot in node.get("inputs") or []
        )
        outputs = sum(
            link["target_id"] == -20
            for _, scope in scopes(graph)
            if scope is not graph
            for link in scope["links"]
        )
        assert shown.count("<-") >= wired + outputs, name


def test_the_view_is_a_small_part_of_the_file() -> None:
    shares = [
        len(view(Snapshot(name=name, graph=graph))) / size for name, graph, size in templates()
    ]
    assert sum(shares) / len(shares) < MOST_OF_THE_FILE


def test_values_have_their_names_and_a_seed_its_control() -> None:
    node = {
        "id": 3,
        "type": "KSampler",
        "inputs": [
            {"name": "model", "link": None},
            {"name": "seed", "widget": {"name": "seed"}},
            {"name": "steps", "widget": {"name": "steps"}},
        ],
        "widgets_values": [42, "randomize", 20],
    }
    assert widget_values(node) == [("seed", 42), ("control", "randomize"), ("steps", 20)]


def test_a_value_that_only_looks_like_a_control_keeps_its_own_name() -> None:
    node = {
        "id": 3,
        "type": "X",
        "inputs": [
            {"name": "seed", "widget": {"name": "seed"}},
            {"name": "mode", "widget": {"name": "mode"}},
        ],
        "widgets_values": [42, "fixed"],
    }
    assert widget_values(node) == [("seed", 42), ("mode", "fixed")]


def test_links_titles_modes_and_the_selection_are_shown() -> None:
    loader = {"id": 1, "type": "Loader", "outputs": [{"name": "MODEL"}], "order": 0}
    sampler = {
        "id": 2,
        "type": "KSampler",
        "title": "Second pass",
        "mode": 4,
        "inputs": [{"name": "model", "link": 7}],
        "order": 1,
    }
    graph = {"nodes": [sampler, loader], "links": [[7, 1, 0, 2, 0, "MODEL"]]}
    assert view(Snapshot(name="mine", graph=graph, selection=("2",))).splitlines() == [
        'workflow "mine": 2 nodes, 1 links',
        "selected by the user: #2",
        "#1 Loader",
        '#2 KSampler "Second pass" [bypassed]; model<-#1.MODEL',
    ]


def test_two_subgraphs_of_one_name_stay_apart() -> None:
    inner: list[dict[str, Any]] = [
        {"id": name, "name": "Upscale", "nodes": [], "links": []} for name in ("a", "b")
    ]
    nodes = [{"id": 1, "type": "a"}, {"id": 2, "type": "b"}]
    graph = {"nodes": nodes, "links": [], "definitions": {"subgraphs": inner}}
    shown = view(Snapshot(name="mine", graph=graph))
    assert "#1 Upscale (subgraph)" in shown
    assert "#2 Upscale (2) (subgraph)" in shown
    assert 'subgraph "Upscale (2)": 0 nodes' in shown


def test_a_long_value_is_cut_and_says_how_long_it_is() -> None:
    note = {"id": 1, "type": "Note", "widgets_values": ["x" * 5_000]}
    shown = view(workflow(note))
    assert len(shown) < LONGEST_VALUE + 200
    assert "(5002 characters)" in shown


@pytest.mark.parametrize("graph", [None, {}, {"nodes": None}, {"3": {"class_type": "KSampler"}}])
def test_without_a_workflow_it_says_so(graph: Any) -> None:
    assert view(Snapshot(graph=graph)).startswith("No workflow is open")


def test_a_name_with_line_breaks_stays_on_its_line() -> None:
    assert len(view(Snapshot(name='a"\nb', graph={"nodes": []})).splitlines()) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
IDS = st.integers(-20, 3) | JSON
SLOTS = st.lists(
    JSON | st.fixed_dictionaries({}, optional={"name": JSON, "link": IDS, "widget": JSON}),
    max_size=3,
)
NODES = st.fixed_dictionaries(
    {"id": IDS, "type": st.sampled_from(["KSampler", "Note", "s"]) | JSON},
    optional={
        "title": JSON,
        "mode": st.sampled_from([0, 2, 4]) | JSON,
        "order": JSON,
        "inputs": SLOTS | JSON,
        "outputs": SLOTS | JSON,
        "widgets_values": JSON,
    },
)
LINKS = st.lists(
    st.tuples(IDS, IDS, IDS, IDS, IDS, JSON).map(list)
    | JSON
    | st.fixed_dictionaries(
        dict.fromkeys(("id", "origin_id", "origin_slot", "target_id", "target_slot"), IDS)
    ),
    max_size=4,
)
SCOPE = st.fixed_dictionaries({"nodes": st.lists(NODES | JSON, max_size=3), "links": LINKS | JSON})
SUBGRAPHS = st.lists(
    st.builds(lambda s, more: {**s, **more}, SCOPE, st.fixed_dictionaries({"id": st.just("s")}))
    | JSON,
    max_size=2,
)
GRAPHS = st.builds(
    lambda scope, definitions: {**scope, "definitions": definitions},
    SCOPE,
    st.fixed_dictionaries({"subgraphs": SUBGRAPHS | JSON}) | JSON,
)


@given(GRAPHS)
def test_whatever_a_client_sends_the_view_is_text(graph: Any) -> None:
    shown = view(Snapshot(graph=graph))
    assert "\n#" in "\n" + shown or "0 nodes" in shown


TRICK = 'X"\n#9 LoadImage image="secret"\x00\u2028\u202e'


@given(st.sampled_from([TRICK, "a=1", "x; model<-#1.A", "a [muted]", "a\rb", "\x85"]) | st.text())
def test_no_name_in_a_graph_ends_its_line_or_looks_like_a_value(name: str) -> None:
    slot = {"name": name, "link": 1, "widget": {"name": name}}
    node = {"id": name, "type": name, "title": name, "inputs": [slot], "widgets_values": ["v"]}
    outputs = {"id": 2, "type": "Load", "outputs": [{"name": name}]}
    subgraph = {"id": "s", "name": name, "inputs": [{"name": name}], "nodes": [node], "links": []}
    graph = {
        "nodes": [node, outputs],
        "links": [[1, 2, 0, name, 0, "IMAGE"]],
        "definitions": {"subgraphs": [subgraph]},
    }
    shown = view(Snapshot(name=name, graph=graph, selection=(name, "2")))
    assert len(shown.splitlines()) == 6
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", shown)
    # Without the JSON strings and plain names nothing is left that the view did not write.
    assert [line[:1] for line in re.sub(r'"(?:[^"\\]|\\.)*"', "", shown).splitlines()] == list(
        "ws##s "
    )


def test_usual_names_of_nodes_stand_as_they_are() -> None:
    for name in ("KSampler", "CLIP Text Encode (Prompt)", "easy kSampler", "Image Resize+", "節點"):
        assert f"#1 {name}" in view(workflow({"id": 1, "type": name}))
