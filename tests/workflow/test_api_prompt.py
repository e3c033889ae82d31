"""The API prompt: equal to the stock front end's on the official templates, and each rule alone."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.workflow.api_prompt import api_prompt, resolve_choices
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.page_values import page_value
from plugin.assistant.workflow.parse import parse_workflow
from plugin.preview.catalog import load_catalog
from plugin.tests.workflow.strategies import GRAPHS
from plugin.tests.workflow.workflows import (
    all_types_known,
    definitions,
    inner_link,
    node,
    recorded_prompts,
    sample,
    socket,
    subgraph,
    template,
    widget_socket,
    with_subgraphs,
    workflow,
)

VIEW_OF_A_MODEL = ("Load3D", "image")
"""A picture that the page takes of a 3D model and uploads when the prompt is queued."""
PASS = {
    "input": {"required": {"a": ["IMAGE"], "b": ["LATENT"]}},
    "output": ["LATENT", "IMAGE"],
}
TEXT = {"input": {"required": {"text": ["STRING", {"dynamicPrompts": True, "multiline": True}]}}}
KNOWN = {
    "Source": {"input": {}, "output": ["IMAGE", "LATENT"]},
    "Pass": PASS,
    "Sink": {"input": {"required": {"image": ["IMAGE"], "n": ["INT", {"default": 3}]}}},
    "Text": TEXT,
    "List": {"input": {"required": {"points": ["POINTS"], "c": ["CURVE"], "l": ["COLORS"]}}},
    "SaveImage": {"input": {"required": {"filename_prefix": ["STRING"]}}},
}


DEFINED = load_catalog().nodes


def prompt(document: Any, known: Mapping[str, Any] = KNOWN) -> dict[str, Any]:
    return api_prompt(parse_workflow(document), NodeDefinitions(known))


def inputs(document: Any, address: str) -> dict[str, Any]:
    found: dict[str, Any] = prompt(document)[address]["inputs"]
    return found


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """What is not equal, but for titles and the pictures that only a page can take."""
    different = [f"{id_}: only one has it" for id_ in expected.keys() ^ found.keys()]
    for id_ in expected.keys() & found.keys():
        theirs, ours = expected[id_], found[id_]
        if theirs["class_type"] != ours["class_type"]:
            different.append(f"{id_}: {theirs['class_type']} -> {ours['class_type']}")
        if list(theirs["inputs"]) != list(ours["inputs"]):
            different.append(f"{id_}: {list(theirs['inputs'])} -> {list(ours['inputs'])}")
            continue
        for name, value in theirs["inputs"].items():
            same = json.dumps(value) == json.dumps(ours["inputs"][name])
            if not same and (theirs["class_type"], name) != VIEW_OF_A_MODEL:
                different.append(f"{id_}.{name}: {value!r} -> {ours['inputs'][name]!r}")
    return different


def test_the_prompts_of_a_sample_of_templates_are_the_front_ends() -> None:
    compared = 0
    for name in sample():
        graph = parse_workflow(template(name))
        if name in recorded_prompts() and all_types_known(graph):
            found = api_prompt(graph, definitions())
            assert differences(recorded_prompts()[name], found) == [], name
            compared += 1
    assert compared > 40


@pytest.mark.slow
def test_the_prompts_of_all_templates_of_known_nodes_are_the_front_ends() -> None:
    different = {}
    for name, expected in recorded_prompts().items():
        graph = parse_workflow(template(name))
        if all_types_known(graph):
            found = differences(expected, api_prompt(graph, definitions()))
            if found:
                different[name] = found
    assert different == {}


def test_the_new_schema_has_the_same_prompt() -> None:
    for name in sample()[::6]:
        document = template(name)
        names = ("id", "origin_id", "origin_slot", "target_id", "target_slot", "type")
        links = [dict(zip(names, link, strict=False)) for link in document["links"]]
        state = {"lastNodeId": document["last_node_id"]}
        newer = {**document, "version": 1, "links": links, "state": state}
        del newer["last_node_id"]
        assert prompt(newer, DEFINED) == prompt(document, DEFINED), name


def wide(count: int) -> dict[str, dict[str, Any]]:
    """Workflows of many parts at one place."""
    numbers = range(1, count)
    picture = node(count, "Source")
    rows = [socket("images.image5", "IMAGE", link=i) for i in numbers]
    odd = [widget_socket("a", "INT", link=i) for i in numbers]
    links = [[i, count, 0, 0, i - 1, "IMAGE"] for i in numbers]
    shown = {"proxyWidgets": [[str(i), "steps"] for i in numbers]}
    samplers = [node(i, "KSampler") for i in numbers]
    return {
        "rows": workflow(node(0, "BatchImagesNode", inputs=rows), picture, links=links),
        "inputs": workflow(node(0, "Odd", inputs=odd), picture, links=links),
        "one input": workflow(node(0, "Sink", inputs=[socket("image")]), picture, links=links),
        "choices": workflow(node(0, "CustomCombo", widgets_values=["a", 0, *map(str, numbers)])),
        "promoted": with_subgraphs(
            workflow(node(0, "s", properties=shown)), subgraph("s", *samplers)
        ),
    }


@pytest.mark.parametrize("shape", list(wide(2)))
def test_thousands_of_parts_at_one_place_make_a_prompt(shape: str) -> None:
    assert prompt(wide(3_000)[shape], DEFINED)


def chain(middle: dict[str, Any], *links: list[Any]) -> dict[str, Any]:
    """A source, one node in the middle, and a sink that the middle's second output feeds."""
    sink = node(9, "Sink", inputs=[socket("image", "IMAGE", link=90)])
    return workflow(node(1, "Source"), middle, sink, links=list(links))


def test_a_bypassed_node_passes_on_the_input_of_the_same_type() -> None:
    middle = node(
        5, "Pass", mode=4, inputs=[socket("a", "IMAGE", link=1), socket("b", "LATENT", link=2)]
    )
    links = [[1, 1, 0, 5, 0, "IMAGE"], [2, 1, 1, 5, 1, "LATENT"], [90, 5, 1, 9, 0, "IMAGE"]]
    found = prompt(chain(middle, *links))
    assert list(found) == ["1", "9"]
    assert found["9"]["inputs"]["image"] == ["1", 0]


def test_a_muted_node_gives_nothing() -> None:
    middle = node(5, "Pass", mode=2, inputs=[socket("a", "IMAGE", link=1)])
    found = prompt(chain(middle, [1, 1, 0, 5, 0, "IMAGE"], [90, 5, 1, 9, 0, "IMAGE"]))
    assert list(found) == ["1", "9"]
    assert found["9"]["inputs"] == {"n": 3}


def test_a_reroute_is_passed_through() -> None:
    reroute = node(5, "Reroute", inputs=[socket("", "*", link=1)], outputs=[{"type": "*"}])
    found = prompt(chain(reroute, [1, 1, 0, 5, 0, "*"], [90, 5, 0, 9, 0, "*"]))
    assert found["9"]["inputs"]["image"] == ["1", 0]


def test_a_circle_of_reroutes_feeds_nothing() -> None:
    first = node(5, "Reroute", inputs=[socket("", "*", link=1)])
    second = node(6, "Reroute", inputs=[socket("", "*", link=2)])
    sink = node(9, "Sink", inputs=[socket("image", "IMAGE", link=90)])
    links = [[1, 6, 0, 5, 0, "*"], [2, 5, 0, 6, 0, "*"], [90, 5, 0, 9, 0, "*"]]
    assert inputs(workflow(first, second, sink, links=links), "9") == {"n": 3}


def test_a_chain_of_reroutes_of_any_length_is_passed_through() -> None:
    count = 5_000
    reroutes = [
        node(10 + i, "Reroute", inputs=[socket("", "*", link=100_000 + i)]) for i in range(count)
    ]
    links = [[100_000 + i, 9 + i if i else 1, 0, 10 + i, 0, "*"] for i in range(count)]
    sink = node(9, "Sink", inputs=[socket("image", "IMAGE", link=90)])
    links.append([90, 9 + count, 0, 9, 0, "*"])
    document = workflow(node(1, "Source"), *reroutes, sink, links=links)
    assert inputs(document, "9")["image"] == ["1", 0]


def test_nodes_that_link_by_a_name_lead_to_the_named_value() -> None:
    setter = node(
        5, "SetNode", inputs=[socket("IMAGE", "IMAGE", link=1)], widgets_values=["picture"]
    )
    getter = node(6, "GetNode", widgets_values=["picture"])
    sink = node(9, "Sink", inputs=[socket("image", "IMAGE", link=90)])
    links = [[1, 1, 0, 5, 0, "IMAGE"], [90, 6, 0, 9, 0, "IMAGE"]]
    document = workflow(node(1, "Source"), setter, getter, sink, links=links)
    assert inputs(document, "9")["image"] == ["1", 0]
    assert list(prompt(document)) == ["1", "9"]


def nested(**more: Any) -> dict[str, Any]:
    """A source, and a subgraph of a subgraph with a sink whose image comes from outside."""
    sink = node(
        9, "Sink", inputs=[socket("image", "IMAGE", link=1), widget_socket("n", "INT", link=2)]
    )
    inner = subgraph(
        "inner",
        sink,
        node(8, "Source"),
        inputs=[
            {"name": "image", "type": "IMAGE", "linkIds": [1]},
            {"name": "n", "type": "INT", "linkIds": [2]},
        ],
        outputs=[{"name": "out", "type": "IMAGE", "linkIds": [3]}],
        links=[
            inner_link(1, -10, 0, 9, 0, "IMAGE"),
            inner_link(2, -10, 1, 9, 1, "INT"),
            inner_link(3, 8, 0, -20, 0, "IMAGE"),
        ],
    )
    middle = node(
        6,
        "inner",
        inputs=[socket("image", "IMAGE", link=4), socket("n", "INT", link=5)],
        widgets_values=[12],
    )
    outer = subgraph(
        "outer",
        middle,
        inputs=[
            {"name": "image", "type": "IMAGE", "linkIds": [4]},
            {"name": "n", "type": "INT", "linkIds": [5]},
        ],
        outputs=[{"name": "out", "type": "IMAGE", "linkIds": [6]}],
        links=[
            inner_link(4, -10, 0, 6, 0, "IMAGE"),
            inner_link(5, -10, 1, 6, 1, "INT"),
            inner_link(6, 6, 0, -20, 0, "IMAGE"),
        ],
    )
    instance = node(
        5, "outer", inputs=[socket("image", "IMAGE", link=7)], widgets_values=[21], **more
    )
    last = node(4, "Sink", inputs=[socket("image", "IMAGE", link=8)])
    links = [[7, 1, 0, 5, 0, "IMAGE"], [8, 5, 0, 4, 0, "IMAGE"]]
    root = workflow(node(1, "Source"), instance, last, links=links)
    return with_subgraphs(root, outer, inner)


def test_subgraphs_are_replaced_by_what_is_in_them() -> None:
    found = prompt(nested())
    assert set(found) == {"1", "4", "5:6:8", "5:6:9"}
    assert found["5:6:9"]["inputs"] == {"n": 21, "image": ["1", 0]}
    assert found["4"]["inputs"]["image"] == ["5:6:8", 0]


def test_a_muted_instance_takes_along_what_is_in_it() -> None:
    found = prompt(nested(mode=2))
    assert set(found) == {"1", "4"}
    assert found["4"]["inputs"] == {"n": 3}


def test_a_bypassed_instance_passes_on_its_input() -> None:
    found = prompt(nested(mode=4))
    assert set(found) == {"1", "4"}
    assert found["4"]["inputs"]["image"] == ["1", 0]


def test_an_instance_in_itself_is_left_out_without_an_end_of_time() -> None:
    inner = subgraph("s", node(5, "s"), node(6, "Source"))
    found = prompt(with_subgraphs(workflow(node(1, "s"), node(2, "Source")), inner))
    assert "2" in found and not any(id_.startswith("1:") for id_ in found)


def test_lists_are_wrapped_since_a_list_is_a_link() -> None:
    document = workflow(node(1, "List", widgets_values=[{"points": []}, ["#fff"]]))
    assert inputs(document, "1") == {
        "c": {"__type__": "CURVE", "__value__": {"points": []}},
        "l": {"__value__": ["#fff"]},
    }


def test_notes_and_primitive_nodes_have_no_part_in_it() -> None:
    document = workflow(node(1, "Note"), node(2, "MarkdownNote"), node(3, "PrimitiveNode"))
    assert prompt(document) == {}


def test_a_node_of_an_unknown_type_stays_with_its_values_and_links() -> None:
    odd = node(
        5,
        "Odd",
        inputs=[socket("image", "IMAGE", link=1), widget_socket("mode", "COMBO")],
        widgets_values=["a"],
    )
    document = workflow(node(1, "Source"), odd, links=[[1, 1, 0, 5, 0, "IMAGE"]])
    assert prompt(document)["5"] == {
        "inputs": {"mode": "a", "image": ["1", 0]},
        "class_type": "Odd",
        "_meta": {"title": "Odd"},
    }


def test_a_file_name_may_name_the_value_of_another_node() -> None:
    save = node(1, "SaveImage", widgets_values=["%Other.n%/%nobody.n%/%date:yyyy%"])
    other = node(2, "Sink", title="Other", widgets_values=[7])
    assert inputs(workflow(save, other), "1") == {"filename_prefix": "7/%nobody.n%/%date:yyyy%"}


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("a {b|c} d", "a b d"),
        ("{a {b|c}|d} e", "a b e"),
        ("{a|{b|c}|d}{|x}y", "ay"),
        (r"\{a\|b\} \c", r"{a|b} \c"),
        ("a // no\nb /* no\nno */ c", "a \nb  c"),
        ("{a", "a"),
        ("a} b|c", "a} b|c"),
    ],
)
def test_of_the_choices_in_a_text_the_first_is_taken(text: str, resolved: str) -> None:
    document = workflow(node(1, "Text", widgets_values=[text]))
    assert inputs(document, "1") == {"text": resolved}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (20.0, "20"),
        (0.1, "0.1"),
        (18446744073709551615, "18446744073709552000"),
        (2**53 + 1, "9007199254740992"),
        (float("inf"), "null"),
        (1e300, "1e+300"),
        (True, "true"),
        ([1.0, {"a": 2.0}], '[1, {"a": 2}]'),
    ],
)
def test_numbers_are_written_as_the_page_writes_them(value: Any, expected: str) -> None:
    assert json.dumps(page_value(value)) == expected


def test_a_prompt_stays_what_it_is() -> None:
    document = {"3": {"class_type": "Sink", "inputs": {"image": ["4", 0], "n": 1.0}, "x": 1}}
    assert json.dumps(prompt(document)) == json.dumps(document)


@given(GRAPHS)
def test_whatever_lies_in_a_workflow_it_has_a_prompt(document: Any) -> None:
    if isinstance(document.get("nodes"), list):
        for entry in prompt(document, {"KSampler": PASS}).values():
            assert isinstance(entry["class_type"], str)


@given(st.text(alphabet="{}|\\/*ab\n"))
def test_any_text_is_resolved(text: str) -> None:
    assert isinstance(resolve_choices(text), str)
