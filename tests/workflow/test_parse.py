"""Reading workflows: every template, every kind of oddity, and what is no workflow."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from plugin.assistant.errors import NotAWorkflow
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.parse import (
    DEEPEST_INSTANCES,
    MOST_NODES,
    parse_workflow,
    read_workflow,
)
from plugin.tests.workflow.strategies import GRAPHS
from plugin.tests.workflow.workflows import (
    inner_link,
    node,
    socket,
    subgraph,
    template,
    template_texts,
    with_subgraphs,
    workflow,
)


def addresses(graph: Graph) -> list[str]:
    return [place.address for place in graph.places()]


def test_every_template_is_read_without_an_oddity_and_each_address_leads_back() -> None:
    assert len(template_texts()) > 600
    for name, text in template_texts().items():
        graph = read_workflow(text)
        assert not [odd for scope in graph.scopes() for odd in scope.oddities], name
        for place in graph.places():
            found = graph.place(place.address)
            assert found is not None and found.node is place.node, f"{name} {place.address}"
        assert graph.flat_size == len(addresses(graph)), name


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "null", '"nodes"', "{}", '{"nodes": 3}'])
def test_what_is_no_workflow_is_refused_with_one_sentence(content: str) -> None:
    with pytest.raises(NotAWorkflow) as refused:
        read_workflow(content)
    assert refused.value.message.endswith(".")
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        "[" * 100_000,
        '{"nodes": [{"id": ' + "9" * 5000 + "}]}",
        "{" + '"a":{' * 50_000,
    ],
)
def test_bytes_that_are_no_text_and_json_without_end_are_refused(content: str | bytes) -> None:
    with pytest.raises(NotAWorkflow):
        read_workflow(content)


@given(GRAPHS)
def test_whatever_lies_in_a_workflow_it_is_read(document: Any) -> None:
    if not isinstance(document.get("nodes"), list):
        return
    graph = parse_workflow(document)
    for place in graph.places():
        slots = (*place.node.inputs, *place.node.outputs)
        texts = [
            place.address,
            place.node.type,
            *(part for s in slots for part in (s.name, s.type)),
        ]
        assert all(isinstance(one, str) for one in texts)
        assert all(isinstance(number, float) for number in place.node.bounds)


def test_ids_are_texts_whatever_the_file_has() -> None:
    document = workflow(
        node(1, "A"),
        node("2", "B", inputs=[socket("a", link="7"), socket("b", link=8)]),
        node(3.0, "C"),
        node("x:y", "D"),
        links=[["7", "1", 0, 2, 0, "*"], [8, 3, 0, "2", "1", "*"]],
    )
    graph = parse_workflow(document)
    assert addresses(graph) == ["1", "2", "3", "x:y"]
    target = graph.root.nodes["2"]
    feeding = [graph.root.feeding(target, slot) for slot in range(2)]
    assert [link.source for link in feeding if link is not None] == ["1", "3"]
    place = graph.place("x:y")
    assert place is not None and place.node.type == "D"


def test_parts_that_are_none_are_kept_as_oddities() -> None:
    document = workflow(
        None,
        node(1, "A"),
        {"type": "no id"},
        node(True, "B"),
        links=[7, [1, 2], [3, 1, 0, 1, 0, "*"], [3, 1, 0, 1, 1, "*"]],
        groups=[None, {"title": "g", "bounding": [0, 0, 9]}],
    )
    graph = parse_workflow(document)
    assert [(odd.part, odd.position) for odd in graph.root.oddities] == [
        ("node", 0),
        ("node", 2),
        ("node", 3),
        ("link", 0),
        ("link", 1),
        ("link", 3),
        ("group", 0),
    ]
    assert graph.root.groups[0].bounds == (0, 0, 9, 0)


def test_the_second_node_of_an_id_gets_a_new_one() -> None:
    graph = parse_workflow(workflow(node(1, "A"), node(1, "B"), last_node_id=4))
    assert addresses(graph) == ["1", "5"]


def test_nodes_of_two_subgraphs_with_one_id_are_numbered_as_the_front_end_does() -> None:
    inner = subgraph("a", node(1, "KSampler"), node(5, "X"))
    other = subgraph(
        "b",
        node(5, "X", outputs=[{"name": "o", "type": "*"}]),
        node(6, "Y", inputs=[socket("i", link=1)]),
        links=[inner_link(1, 5, 0, 6, 0)],
    )
    root = workflow(node(1, "a"), node(2, "b"), last_node_id=7)
    graph = parse_workflow(with_subgraphs(root, inner, other))
    # 8 is the first number behind last_node_id, 9 the next.
    assert addresses(graph) == ["1", "1:8", "1:5", "2", "2:9", "2:6"]
    assert graph.subgraphs["b"].links["1"].source == "9"


def test_a_link_to_nowhere_is_kept_and_feeds_nothing() -> None:
    document = workflow(
        node(1, "A", inputs=[socket("a", link=99), socket("b", link=3)]),
        links=[[3, 77, 0, 1, 1, "*"]],
    )
    graph = parse_workflow(document)
    target = graph.root.nodes["1"]
    assert graph.root.feeding(target, 0) is None
    link = graph.root.feeding(target, 1)
    assert link is not None and link.source not in graph.root.nodes


@pytest.mark.parametrize("cycle", [["a", "a"], ["a", "b", "a"], ["a", "b", "c", "a"]])
def test_an_instance_in_itself_ends_the_addresses(cycle: list[str]) -> None:
    pairs = list(pairwise(cycle))
    inner = [subgraph(key, node(10 + i, held)) for i, (key, held) in enumerate(pairs)]
    outside = subgraph("outside", node(20, "a"), node(21, "KSampler"))
    root = workflow(node(1, "a"), node(2, "outside"))
    graph = parse_workflow(with_subgraphs(root, *inner, outside))
    assert graph.cyclic == set(cycle)
    assert addresses(graph) == ["1", "2", "2:20", "2:21"]


def test_subgraphs_that_stand_for_too_many_nodes_are_refused() -> None:
    inner = [subgraph("s0", node(1, "KSampler"))]
    for level in range(1, 40):
        held = f"s{level - 1}"
        inner.append(subgraph(f"s{level}", node(2 * level, held), node(2 * level + 1, held)))
    with pytest.raises(NotAWorkflow, match=str(MOST_NODES)) as refused:
        parse_workflow(with_subgraphs(workflow(node(99, "s39")), *inner))
    assert refused.value.code == "workflow_too_large"


def test_subgraphs_that_lie_too_deep_in_each_other_are_refused() -> None:
    deep = DEEPEST_INSTANCES + 1
    inner = [subgraph(f"s{level}", node(level, f"s{level + 1}")) for level in range(deep)]
    with pytest.raises(NotAWorkflow, match="levels"):
        parse_workflow(with_subgraphs(workflow(node(999, "s0")), *inner))


def test_definitions_inside_of_a_definition_are_known_everywhere() -> None:
    outer = subgraph("outer", node(3, "inner"))
    outer["definitions"] = {"subgraphs": [subgraph("inner", node(4, "KSampler"))]}
    root = workflow(node(1, "outer"), node(2, "inner"))
    graph = parse_workflow(with_subgraphs(root, outer))
    assert addresses(graph) == ["1", "1:3", "1:3:4", "2", "2:4"]


def test_a_prompt_is_read_with_its_links_and_values() -> None:
    prompt = {
        "57:8": {
            "class_type": "KSampler",
            "inputs": {"seed": 7, "model": ["4", 0], "points": {"__value__": [1, 2]}},
            "_meta": {"title": "Mine"},
        },
        "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "a"}},
    }
    graph = parse_workflow(prompt)
    assert graph.format == "prompt"
    sampler = graph.root.nodes["57:8"]
    assert (sampler.type, sampler.title) == ("KSampler", "Mine")
    assert sampler.named_values == {"seed": 7, "points": [1, 2]}
    link = graph.root.feeding(sampler, 0)
    assert link is not None and (link.source, link.source_slot) == ("4", 0)


def test_a_group_holds_the_nodes_whose_centre_is_in_it() -> None:
    document = workflow(
        node(1, "A", pos=[10, 10], size=[20, 20]),
        node(2, "B", pos={"0": 95, "1": 0}, size={"0": 20, "1": 20}),
        groups=[{"title": "g", "bounding": [0, 0, 100, 100]}],
    )
    root = parse_workflow(document).root
    assert [member.id for member in root.members(root.groups[0])] == ["1"]


def test_a_template_of_many_nodes_is_read_whole() -> None:
    big = template("default") if "default" in template_texts() else workflow(node(1, "A"))
    count = 20_000
    big["nodes"] = [
        node(i, "KSampler", inputs=[socket("model", link=i)], widgets_values=[i])
        for i in range(count)
    ]
    big["links"] = [[i, i - 1, 0, i, 0, "MODEL"] for i in range(1, count)]
    graph = parse_workflow(json.loads(json.dumps(big)))
    assert len(graph.root.nodes) == count and len(graph.root.links) == count - 1
