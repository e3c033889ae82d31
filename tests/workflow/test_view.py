"""The view of a workflow: small, complete in what people ask for, and safe whatever a file says."""

import json
import re
import statistics
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.node_definitions import NO_DEFINITIONS, NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.view import LONGEST_VALUE, Level, Opened, view
from plugin.bench.workflow_questions import score
from plugin.preview.catalog import load_catalog
from plugin.tests.prompts import recorded_prompts, template_ids, template_text

MOST_NORMAL, MOST_OUTLINE = 0.07, 0.02
"""Of the file's characters, in the median over templates."""
MOST_OF_PROMPT = 0.5
"""Of the characters of the minified API prompt."""
FEWEST_ANSWERS = 0.95


@cache
def definitions() -> NodeDefinitions:
    return NodeDefinitions(load_catalog().nodes)


@cache
def sample() -> tuple[str, ...]:
    """60 templates from all of them; `bench/workflow.py` takes all."""
    ids = template_ids()
    return tuple(ids[:: len(ids) // 60][:60])


def template(identity: str) -> Graph:
    return parse_workflow(json.loads(template_text(identity)))


def shown(*nodes: Mapping[str, Any], links: Any = (), level: Level = "normal", **more: Any) -> str:
    graph = parse_workflow({"nodes": list(nodes), "links": list(links), **more})
    return view(graph, definitions(), level).partition("\n")[2]


def sampler(**more: Any) -> dict[str, Any]:
    values = [42, "fixed", 20, 8.0, "euler", "normal", 1.0]
    return {"id": 3, "type": "KSampler", "widgets_values": values, **more}


@pytest.mark.parametrize(("level", "most"), [("normal", MOST_NORMAL), ("outline", MOST_OUTLINE)])
def test_a_level_is_a_small_part_of_the_file(level: Level, most: float) -> None:
    shares = [
        len(view(template(identity), definitions(), level)) / len(template_text(identity))
        for identity in sample()
    ]
    assert statistics.median(shares) <= most


def test_normal_is_at_most_half_of_the_minified_prompt() -> None:
    prompts = recorded_prompts()
    shares = []
    for identity in sample():
        prompt = json.dumps(prompts[identity]["output"], ensure_ascii=False, separators=(",", ":"))
        shares.append(len(view(template(identity), definitions())) / len(prompt))
    assert statistics.median(shares) <= MOST_OF_PROMPT


def test_normal_holds_the_answers_to_what_people_ask() -> None:
    held, missing = score(
        lambda identity: json.loads(template_text(identity)),
        lambda workflow: view(parse_workflow(workflow), definitions()),
    )
    assert len(held) >= FEWEST_ANSWERS * (len(held) + len(missing)), missing


def test_every_node_of_every_level_is_there() -> None:
    for identity in sample():
        graph = template(identity)
        texts = {level: view(graph, definitions(), level) for level in ("normal", "outline")}
        for scope in graph.scopes():
            for node in scope.nodes.values():
                address = re.compile(rf"(?<![\w.]){re.escape(node.id)}(?![\w.])")
                for level, text in texts.items():
                    assert address.search(text), (identity, level, node.id)


def test_a_node_is_one_line_with_its_values_and_what_feeds_it() -> None:
    loader = {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["a.safetensors"]}
    fed = sampler(
        title="First pass", mode=4, inputs=[{"name": "model", "type": "MODEL", "link": 1}]
    )
    assert shown(loader, fed, links=[[1, 4, 0, 3, 0, "MODEL"]]).splitlines() == [
        "4 CheckpointLoaderSimple ckpt_name=a.safetensors",
        '3 KSampler "First pass" bypassed seed=42 control_after_generate=fixed steps=20 cfg=8'
        " sampler_name=euler scheduler=normal denoise=1 model<-4.MODEL",
    ]


def test_an_output_without_a_choice_needs_no_name() -> None:
    decode = {"id": 8, "type": "VAEDecode"}
    save = {"id": 9, "type": "PreviewImage", "inputs": [{"name": "images", "link": 1}]}
    assert "9 PreviewImage images<-8" in shown(decode, save, links=[[1, 8, 0, 9, 0, "IMAGE"]])


def test_a_default_is_left_out_of_normal_but_for_what_people_ask_for() -> None:
    node = {"id": 1, "type": "UNETLoader", "widgets_values": ["a.safetensors", "default"]}
    assert shown(node) == "1 UNETLoader unet_name=a.safetensors"
    assert "weight_dtype=default" in shown(node, level="full")
    assert "steps=20" in shown(sampler())


def test_a_value_that_a_link_replaces_is_not_shown() -> None:
    number = {"id": 1, "type": "PrimitiveInt", "widgets_values": [30, "fixed"]}
    fed = sampler(inputs=[{"name": "steps", "type": "INT", "link": 1, "widget": {"name": "steps"}}])
    text = shown(number, fed, links=[[1, 1, 0, 3, 0, "INT"]])
    assert "steps<-1" in text and "steps=20" not in text


def test_a_value_of_a_slider_has_no_long_tail() -> None:
    node = {
        "id": 1,
        "type": "LoraLoaderModelOnly",
        "widgets_values": ["a.safetensors", 0.8500000000000001],
    }
    assert "strength_model=0.85" in shown(node).split()


def test_a_long_text_is_cut_and_says_how_much_is_left_out() -> None:
    node = {"id": 1, "type": "CLIPTextEncode", "widgets_values": ["x" * 5_000]}
    assert f'{"x" * LONGEST_VALUE}"…+{5_000 - LONGEST_VALUE}' in shown(node)
    assert "x" * 5_000 in shown(node, level="full")


def test_notes_stand_apart_with_the_beginning_of_their_first_line() -> None:
    note = {"id": 1, "type": "MarkdownNote", "widgets_values": ["## Read me\n\nUse a cat."]}
    lines = shown(note, sampler()).splitlines()
    assert lines[-2:] == ["notes:", '1 "Read me"…+15']


def subgraph_workflow(*instances: int) -> dict[str, Any]:
    inner = {
        "id": "key",
        "name": "Decode",
        "nodes": [{"id": 8, "type": "VAEDecode", "outputs": [{"name": "IMAGE", "type": "IMAGE"}]}],
        "links": [{"id": 1, "origin_id": 8, "origin_slot": 0, "target_id": -20, "target_slot": 0}],
        "outputs": [{"name": "image", "type": "IMAGE", "linkIds": [1]}],
    }
    nodes = [{"id": one, "type": "key"} for one in instances]
    return {"nodes": nodes, "links": [], "definitions": {"subgraphs": [inner]}}


def test_a_subgraph_is_shown_once_below_its_first_instance() -> None:
    text = view(parse_workflow(subgraph_workflow(57, 60)), definitions())
    assert text.splitlines()[1:] == [
        '57 subgraph "Decode"',
        " 8 VAEDecode",
        " out image<-8",
        '60 subgraph "Decode" (inside as in 57)',
    ]


def test_a_subgraph_without_an_instance_is_said_to_be_unused() -> None:
    text = view(parse_workflow(subgraph_workflow()), definitions())
    assert 'subgraph "Decode", not in use:' in text and "VAEDecode" in text


def test_two_subgraphs_of_one_name_stay_apart() -> None:
    inner: list[dict[str, Any]] = [
        {"id": name, "name": "Upscale", "nodes": [], "links": []} for name in ("a", "b")
    ]
    text = shown({"id": 1, "type": "a"}, {"id": 2, "type": "b"}, definitions={"subgraphs": inner})
    assert '1 subgraph "Upscale"' in text and '2 subgraph "Upscale (2)"' in text


def test_a_subgraph_that_holds_itself_is_shown_without_an_end() -> None:
    inner = {"id": "a", "name": "Ring", "nodes": [{"id": 1, "type": "a"}], "links": []}
    workflow = {"nodes": [{"id": 5, "type": "a"}], "links": []}
    graph = parse_workflow({**workflow, "definitions": {"subgraphs": [inner]}})
    for level in ("outline", "normal", "full"):
        assert "Ring" in view(graph, definitions(), level)


def test_the_head_names_workflow_revision_and_selection() -> None:
    graph = parse_workflow({"nodes": [sampler()], "links": []})
    first, second = view(graph, definitions(), opened=Opened("mine", ("3",))).splitlines()[:2]
    assert re.fullmatch('workflow "mine", revision [0-9a-f]{8}: 1 node', first)
    assert second == "selected by the user: 3"


def test_an_api_prompt_has_a_view_too() -> None:
    prompt = {
        "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "a.safetensors"}},
        "3": {"class_type": "KSampler", "inputs": {"model": ["4", 0], "steps": 30}},
    }
    text = view(parse_workflow(prompt), definitions())
    assert text.startswith("API prompt, revision ")
    assert "3 KSampler steps=30 model<-4.MODEL" in text


def test_an_unknown_type_is_kept_with_its_values() -> None:
    node = {
        "id": 1,
        "type": "Nobody knows",
        "inputs": [{"name": "strength", "type": "FLOAT", "widget": {"name": "strength"}}],
        "widgets_values": [0.5],
    }
    assert shown(node) == '1 "Nobody knows" strength=0.5'


TRICK = 'X"\n#9 LoadImage image="secret"\x00\u2028\u202e'


@given(st.sampled_from([TRICK, "a=1", "x<-1.A", "a muted", "a\rb", "\x85", "in", "->"]) | st.text())
def test_no_name_in_a_graph_ends_its_line_or_looks_like_a_value(name: str) -> None:
    slot = {"name": name, "label": name, "link": 1, "widget": {"name": name}}
    node = {"id": name or "1", "type": name, "title": name, "inputs": [slot]}
    values = {"widgets_values": [name], "properties": {}}
    outputs = {"id": 2, "type": "Load", "outputs": [{"name": name}]}
    inner = {"id": "s", "name": name, "inputs": [{"name": name}], "nodes": [], "links": []}
    document = {
        "nodes": [{**node, **values}, outputs, {"id": 7, "type": "s"}],
        "links": [[1, 2, 0, name or "1", 0, "IMAGE"]],
        "groups": [{"title": name, "bounding": [-1, -1, 99, 99]}],
        "definitions": {"subgraphs": [inner]},
    }
    graph = parse_workflow(document)
    for level in ("outline", "normal", "full"):
        text = view(graph, NO_DEFINITIONS, level, Opened(name, (name,)))
        assert len(text.splitlines()) == text.count("\n") + 1
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)
        # Without the JSON strings nothing is left that the view did not write itself.
        left = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
        assert re.fullmatch(r'[\w\s"…+.:;,=<>@()*/|\\\[\]-]*', left), left
        assert len(name) < 5 or not re.search(r"[\s=<\"]", name) or name not in left
