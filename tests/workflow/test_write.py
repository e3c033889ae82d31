"""Writing a graph that was read gives the same JSON, to the order of keys."""

import copy
import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.parts import Link, Node
from plugin.assistant.workflow.write import write_workflow
from plugin.tests.workflow.strategies import GRAPHS, JSON
from plugin.tests.workflow.workflows import (
    inner_link,
    node,
    recorded_prompts,
    sample,
    subgraph,
    template,
    template_texts,
    with_subgraphs,
    workflow,
)


def dumped(document: Any) -> str:
    """The JSON with the order of keys and the kind of numbers."""
    return json.dumps(document, ensure_ascii=False)


def written(document: Any) -> str:
    return dumped(write_workflow(parse_workflow(document)))


def test_every_template_is_written_as_it_was_read() -> None:
    for name, text in template_texts().items():
        document = json.loads(text)
        assert written(document) == dumped(document), name


def test_every_prompt_is_written_as_it_was_read() -> None:
    for name, prompt in recorded_prompts().items():
        if any("class_type" in entry for entry in prompt.values()):
            assert written(prompt) == dumped(prompt), name


def mutations() -> st.SearchStrategy[list[tuple[int, str, Any]]]:
    """Changes of a template: which part, which key, and what to put there."""
    keys = st.sampled_from(
        ["id", "type", "mode", "inputs", "outputs", "widgets_values", "title", "properties", "new"]
    )
    return st.lists(st.tuples(st.integers(0, 10_000), keys, JSON), min_size=1, max_size=6)


@settings(max_examples=60)
@given(st.sampled_from(sample()), mutations(), st.lists(st.integers(0, 10_000), max_size=3))
def test_a_mutated_template_is_written_as_it_was_read(
    name: str, changes: list[tuple[int, str, Any]], odd: list[int]
) -> None:
    document = template(name)
    scopes = [document, *document.get("definitions", {}).get("subgraphs", [])]
    parts = [
        part
        for scope in scopes
        for part in [*scope["nodes"], *scope["links"], *scope.get("groups", [])]
    ]
    for at, key, value in changes:
        part = parts[at % len(parts)]
        if isinstance(part, dict):
            part[key] = value
        else:
            part[at % len(part)] = value
    for at in odd:
        scope = scopes[at % len(scopes)]
        scope["nodes"].insert(at % (len(scope["nodes"]) + 1), copy.deepcopy(changes[0][2]))
        scope["links"].insert(at % (len(scope["links"]) + 1), at)
    assert written(document) == dumped(document)


@given(GRAPHS)
def test_whatever_lies_in_a_workflow_is_written_back(document: Any) -> None:
    if isinstance(document.get("nodes"), list):
        assert written(document) == dumped(document)


def test_reading_and_writing_change_nothing_in_the_document() -> None:
    document = template(sample()[5])
    before = dumped(document)
    written(document)
    assert dumped(document) == before


def test_an_edited_node_is_written_and_all_else_stays() -> None:
    document = workflow(node(1, "A", size=[1, 2]), "odd", node(2, "B", custom={"a": 1}))
    graph = parse_workflow(document)
    edited = replace(graph.root.nodes["1"], raw={**graph.root.nodes["1"].raw, "mode": 4})
    root = replace(graph.root, nodes={**graph.root.nodes, "1": edited})
    expected = copy.deepcopy(document)
    expected["nodes"][0]["mode"] = 4
    assert write_workflow(replace(graph, root=root)) == expected
    assert document["nodes"][0] == node(1, "A", size=[1, 2])


def test_a_new_link_gets_the_form_of_its_scope() -> None:
    inner = subgraph("s", node(5, "A"), node(1, "B"), links=[inner_link(3, 5, 0, 1, 0)])
    root = workflow(node(1, "s"), node(2, "C"), last_node_id=6)
    graph = parse_workflow(with_subgraphs(root, inner))
    scope = graph.subgraphs["s"]
    # The inner node 1 is called 7, since the workflow's own node has that id: see numbering.py.
    assert list(scope.nodes) == ["5", "7"]
    added = replace(scope, links={**scope.links, "9": Link("9", "5", 1, "7", 2, "IMAGE")})
    own = replace(graph.root, links={"4": Link("4", "1", 0, "2", 0, "MASK")})
    found = write_workflow(replace(graph, root=own, subgraphs={"s": added}))
    assert found["links"] == [[4, 1, 0, 2, 0, "MASK"]]
    assert found["definitions"]["subgraphs"][0]["links"][1] == inner_link(9, 5, 1, 1, 2, "IMAGE")


def test_links_of_the_new_schema_are_objects() -> None:
    document = {"version": 1, "nodes": [node(1, "A"), node(2, "B")], "links": []}
    graph = parse_workflow(document)
    root = replace(graph.root, links={"4": Link("4", "1", 0, "2", 0, "MASK")})
    assert write_workflow(replace(graph, root=root))["links"] == [inner_link(4, 1, 0, 2, 0, "MASK")]


def test_removed_and_added_nodes_leave_oddities_in_the_list() -> None:
    document = workflow(node(1, "A"), "odd", node(2, "B"))
    graph = parse_workflow(document)
    nodes = {"2": graph.root.nodes["2"], "3": Node("3", node(3, "C"))}
    found = write_workflow(replace(graph, root=replace(graph.root, nodes=nodes)))
    assert found["nodes"] == [node(2, "B"), "odd", node(3, "C")]
