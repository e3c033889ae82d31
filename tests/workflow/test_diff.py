"""What changed between two states of a workflow, and the parts of a workflow that are asked for."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.workflow.diff import WorkflowDiff, compare, same_node
from plugin.assistant.workflow.excerpt import find_nodes, show_nodes
from plugin.assistant.workflow.facts import revision
from plugin.assistant.workflow.node_words import NodeWords, WorkflowWords, workflow_words
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.prompts import template_text
from plugin.tests.workflow.test_view import definitions, sample

LOADER = {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["a.safetensors"]}
TEXT = {
    "id": 6,
    "type": "CLIPTextEncode",
    "widgets_values": ["a cat"],
    "inputs": [{"name": "clip", "type": "CLIP", "link": 1}],
}
WORKFLOW = {"nodes": [LOADER, TEXT], "links": [[1, 4, 1, 6, 0, "CLIP"]]}


def words(document: Any) -> WorkflowWords:
    return workflow_words(parse_workflow(document), definitions())


def lines(before: Any, after: Any) -> list[str]:
    return compare(words(before), words(after)).text().splitlines()


def changed(**change: Any) -> dict[str, Any]:
    return {**WORKFLOW, "nodes": [LOADER, {**TEXT, **change}]}


def test_a_diff_names_both_revisions() -> None:
    other = changed(title="Positive")
    ends = [revision(parse_workflow(one)) for one in (WORKFLOW, other)]
    assert lines(WORKFLOW, other)[0] == f"from {ends[0]} to {ends[1]}:"


def test_nothing_changed_is_said() -> None:
    assert lines(WORKFLOW, WORKFLOW)[0].startswith("Nothing has changed since ")
    moved = changed(pos=[5, 5])
    assert lines(WORKFLOW, moved)[0].startswith("Nothing has changed since ")


def test_values_titles_and_modes_that_changed_stand_with_both_states() -> None:
    assert lines(WORKFLOW, changed(widgets_values=["a dog"]))[1:] == [
        '~ 6 CLIPTextEncode: text="a cat" -> "a dog"'
    ]
    assert lines(WORKFLOW, changed(title="Positive", mode=4))[1:] == [
        '~ 6 CLIPTextEncode: title none -> "Positive"; now bypassed, was run'
    ]


def test_links_that_changed_stand_with_both_sources() -> None:
    unlinked = {**changed(inputs=[{"name": "clip", "type": "CLIP", "link": None}]), "links": []}
    assert lines(WORKFLOW, unlinked)[1:] == ["~ 6 CLIPTextEncode: clip no more <-4.CLIP"]
    assert lines(unlinked, WORKFLOW)[1:] == ["~ 6 CLIPTextEncode: clip<-4.CLIP, was not linked"]
    second = {**LOADER, "id": 5}
    moved = {"nodes": [LOADER, second, TEXT], "links": [[1, 5, 1, 6, 0, "CLIP"]]}
    assert lines(WORKFLOW, moved)[1:] == [
        "+ 5 CheckpointLoaderSimple ckpt_name=a.safetensors",
        "~ 6 CLIPTextEncode: clip<-4.CLIP -> 5.CLIP",
    ]


def test_a_removed_node_is_named() -> None:
    alone = {"nodes": [LOADER], "links": []}
    assert lines(WORKFLOW, alone)[1:] == ["- 6 CLIPTextEncode"]


def test_of_a_long_text_the_changed_part_stands() -> None:
    old, new = ("x " * 300 + part + " y" * 300 for part in ("a cat", "a dog"))
    [line] = lines(changed(widgets_values=[old]), changed(widgets_values=[new]))[1:]
    assert "cat" in line and "dog" in line and len(line) < 200


def test_a_subgraph_that_is_new_or_gone_is_one_entry_with_its_nodes() -> None:
    inner = {"id": "s", "name": "Encode", "nodes": [{**TEXT, "inputs": []}], "links": []}
    wrapped = {
        "nodes": [LOADER, {"id": 7, "type": "s"}],
        "links": [],
        "definitions": {"subgraphs": [inner]},
    }
    assert lines(WORKFLOW, wrapped)[1:] == [
        "- 6 CLIPTextEncode",
        '+ 7 subgraph "Encode"',
        '+ subgraph "Encode": 1 node',
        '  + 6 CLIPTextEncode text="a cat"',
    ]
    assert lines(wrapped, WORKFLOW)[-1] == '- subgraph "Encode"'


def applied(diff: WorkflowDiff) -> dict[str, dict[str, NodeWords]]:
    """The nodes of the earlier state with the difference applied to them."""
    state = {key: dict(scope.nodes) for key, scope in diff.before.scopes.items()}
    for scope in diff.scopes:
        if scope.after is None:
            assert scope.before is not None
            del state[scope.before.key]
            continue
        nodes = state.setdefault(scope.after.key, {})
        for node in scope.removed:
            del nodes[node.id]
        nodes.update({node.id: node for node in scope.added})
        for before, after in scope.changed:
            assert same_node(nodes[before.id], before)
            nodes[after.id] = after
    return state


def mutated(document: Any, draw: Any) -> Any:
    """The workflow with up to four changes of its nodes and links."""
    other = copy.deepcopy(document)
    scopes = [other, *(other.get("definitions") or {}).get("subgraphs", [])]
    for _ in range(draw(st.integers(0, 4))):
        scope = draw(st.sampled_from(scopes))
        if not scope["nodes"]:
            continue
        node = draw(st.sampled_from(scope["nodes"]))
        change = draw(st.sampled_from(["remove", "copy", "value", "title", "mode", "links"]))
        if change == "remove":
            scope["nodes"].remove(node)
        elif change == "copy":
            scope["nodes"].append({**copy.deepcopy(node), "id": 9_000 + len(scope["nodes"])})
        elif change == "value" and isinstance(node.get("widgets_values"), list):
            node["widgets_values"] = [draw(st.text(max_size=4)), *node["widgets_values"][1:]]
        elif change == "title":
            node["title"] = draw(st.text(max_size=4))
        elif change == "mode":
            node["mode"] = draw(st.sampled_from([0, 2, 4]))
        elif change == "links" and scope["links"]:
            scope["links"].pop()
    return other


@settings(max_examples=60)
@given(st.data())
def test_the_diff_applied_to_the_earlier_state_gives_the_later_one(data: Any) -> None:
    document = json.loads(template_text(data.draw(st.sampled_from(sample()))))
    before, after = words(document), words(mutated(document, data.draw))
    for diff in (compare(before, after), compare(after, before)):
        found = applied(diff)
        expected = {key: scope.nodes for key, scope in diff.after.scopes.items()}
        assert found.keys() == expected.keys()
        for key, nodes in expected.items():
            assert found[key].keys() == nodes.keys()
            assert all(same_node(found[key][id_], node) for id_, node in nodes.items())


# Parts of a workflow


def test_a_node_is_shown_whole_with_what_it_feeds() -> None:
    long = {**TEXT, "widgets_values": ["x" * 500]}
    shown = show_nodes(words({**WORKFLOW, "nodes": [LOADER, long]}), ["4", "6", "4"])
    assert shown.splitlines() == [
        "4 CheckpointLoaderSimple ckpt_name=a.safetensors",
        "  feeds 6.clip",
        f"6 CLIPTextEncode text={'x' * 500} clip<-4.CLIP",
    ]


def test_nodes_inside_of_a_subgraph_have_whole_addresses() -> None:
    document = json.loads(template_text("image_z_image_turbo"))
    shown = show_nodes(words(document), ["57:3"]).splitlines()
    assert shown[0].startswith("57:3 KSampler ")
    assert "model<-57:11" in shown[0] and "seed<-in.seed" in shown[0]
    assert shown[1] == "  feeds 57:8.samples"
    whole = show_nodes(words(document), ["57"])
    assert "\n  57:8 VAEDecode " in whole


def test_an_unknown_address_is_said_with_the_nearest_one() -> None:
    document = json.loads(template_text("image_z_image_turbo"))
    assert show_nodes(words(document), ["3"]) == "There is no node 3. There is 57:3."
    assert show_nodes(words(document), ["99"]) == "There is no node 99."


def test_nodes_are_found_by_their_words() -> None:
    document = json.loads(template_text("image_z_image_turbo"))
    found = find_nodes(words(document), "ksampler RES_multistep")
    assert [line.split()[0] for line in found.splitlines()] == ["57:3"]
    assert (
        find_nodes(words(document), "no such word") == "No node of the workflow holds these words."
    )


@pytest.mark.parametrize("file", ["SDXL\\my base.safetensors", "SDXL\\base.safetensors"])
@pytest.mark.parametrize("asked", ["SDXL\\{}", "SDXL/{}", "sdxl\\\\{}"])
def test_a_node_is_found_by_a_path_with_either_slash(file: str, asked: str) -> None:
    """Windows lists the files of folders with a backslash."""
    document = {"nodes": [{**LOADER, "widgets_values": [file]}]}
    found = find_nodes(words(document), asked.format(file.removeprefix("SDXL\\")))
    assert found.startswith("4 CheckpointLoaderSimple ")
