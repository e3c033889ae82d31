"""The live graph: values by name, as the front end has them after it loaded a file."""

from typing import Any

import pytest
from hypothesis import given
from plugin.assistant.workflow.live import LiveGraph
from plugin.assistant.workflow.live_nodes import LiveNode
from plugin.assistant.workflow.page_values import UNSET
from plugin.tests.workflow.strategies import GRAPHS, JSON
from plugin.tests.workflow.workflows import (
    definitions,
    inner_link,
    live,
    node,
    socket,
    subgraph,
    widget_socket,
    with_subgraphs,
    workflow,
)

SAMPLER = [7, "fixed", 20, 8, "euler", "simple", 1]


def at(graph: LiveGraph, address: str) -> LiveNode:
    found = graph.node(address)
    assert found is not None
    return found


def values(node_: LiveNode) -> dict[str, Any]:
    return {widget.name: widget.value for widget in node_.widgets}


def linked(node_: LiveNode) -> dict[str, str]:
    return {one.name: one.link.source for one in node_.inputs if one.link is not None}


def test_values_have_the_names_of_the_definition_and_a_seed_its_control() -> None:
    sampler = at(live(workflow(node(3, "KSampler", widgets_values=SAMPLER))), "3")
    assert values(sampler) == {
        "seed": 7,
        "control_after_generate": "fixed",
        "steps": 20,
        "cfg": 8,
        "sampler_name": "euler",
        "scheduler": "simple",
        "denoise": 1,
    }
    assert [widget.place for widget in sampler.widgets] == [0, 1, 2, 3, 4, 5, 6]
    assert [widget.name for widget in sampler.widgets if not widget.in_prompt] == [
        "control_after_generate"
    ]


def test_a_file_that_is_older_than_the_definition_has_its_values_where_the_canvas_has_them() -> (
    None
):
    sampler = at(live(workflow(node(3, "KSampler", widgets_values=[7, 20, "flow"]))), "3")
    assert values(sampler)["steps"] == "flow"
    assert values(sampler)["cfg"] == 8


def test_an_upload_has_a_place_in_the_file_and_none_in_a_prompt() -> None:
    loader = at(live(workflow(node(1, "LoadImage", widgets_values=["a.png", "image"]))), "1")
    assert values(loader) == {"image": "a.png", "upload": "image"}
    assert [widget.in_prompt for widget in loader.widgets] == [True, False]


def test_an_option_of_a_dynamic_combo_brings_its_own_inputs() -> None:
    resize = node(
        1,
        "ResizeImageMaskNode",
        inputs=[socket("input", "IMAGE"), socket("resize_type.match", "IMAGE,MASK", link=4)],
        widgets_values=["match size", "center", "area"],
    )
    source = node(2, "LoadImage")
    graph = live(workflow(resize, source, links=[[4, 2, 0, 1, 1, "IMAGE"]]))
    found = at(graph, "1")
    assert values(found) == {
        "resize_type": "match size",
        "resize_type.crop": "center",
        "scale_method": "area",
    }
    assert linked(found) == {"resize_type.match": "2"}
    names = [one.name for one in found.inputs]
    assert names.index("resize_type.match") == names.index("resize_type") + 1
    assert "resize_type.width" not in names


def test_an_option_that_the_definition_has_not_takes_its_inputs_away() -> None:
    resize = node(1, "ResizeImageMaskNode", widgets_values=["newer", 5, 6])
    found = at(live(workflow(resize)), "1")
    assert values(found) == {"resize_type": "newer", "scale_method": 5}


def test_a_group_that_grows_has_a_free_input_behind_the_last_linked_one() -> None:
    inputs = [socket(f"images.image{i}", "IMAGE", link=i + 1) for i in range(3)]
    batch = node(9, "BatchImagesNode", inputs=inputs)
    loaders = [node(i, "LoadImage") for i in range(3)]
    links = [[i + 1, i, 0, 9, i, "IMAGE"] for i in range(3)]
    found = at(live(workflow(batch, *loaders, links=links)), "9")
    assert [one.name for one in found.inputs] == [f"images.image{i}" for i in range(4)]
    assert linked(found) == {f"images.image{i}": str(i) for i in range(3)}


def test_a_link_goes_to_the_input_of_the_files_name_not_of_its_place() -> None:
    sampler = node(
        3,
        "KSampler",
        inputs=[socket("latent_image", "LATENT", link=1), widget_socket("steps", "INT", link=2)],
        widgets_values=SAMPLER,
    )
    links = [[1, 8, 0, 3, 0, "LATENT"], [2, 9, 0, 3, 1, "INT"]]
    graph = live(workflow(sampler, node(8, "EmptyLatentImage"), node(9, "X"), links=links))
    assert linked(at(graph, "3")) == {"latent_image": "8", "steps": "9"}


def test_an_unknown_node_keeps_its_values_with_the_names_that_the_file_tells() -> None:
    odd = node(
        1,
        "Odd",
        inputs=[widget_socket("seed", "INT"), widget_socket("mode", "COMBO")],
        widgets_values=[7, "randomize", "a", "b"],
        outputs=[{"name": "OUT", "type": "IMAGE"}],
    )
    by_name = node(2, "Other", widgets_values={"a": 1, "b": [2]})
    graph = live(workflow(odd, by_name))
    found = at(graph, "1")
    assert values(found) == {
        "seed": 7,
        "control_after_generate": "randomize",
        "mode": "a",
        "value_3": "b",
    }
    assert [(out.name, out.type) for out in found.outputs] == [("OUT", "IMAGE")]
    assert values(at(graph, "2")) == {"a": 1, "b": [2]}


def promoted(**more: Any) -> dict[str, Any]:
    """A workflow with a subgraph whose input `steps` feeds the widget of a sampler inside."""
    sampler = node(
        5, "KSampler", inputs=[widget_socket("steps", "INT", link=1)], widgets_values=SAMPLER
    )
    inner = subgraph(
        "s",
        sampler,
        inputs=[{"name": "steps", "type": "INT", "linkIds": [1]}],
        links=[inner_link(1, -10, 0, 5, 0, "INT")],
    )
    return with_subgraphs(workflow(node(1, "s", **more), node(2, "s")), inner)


def test_each_instance_has_a_value_of_its_own_for_a_promoted_widget() -> None:
    graph = live(promoted(widgets_values=[33]))
    assert values(at(graph, "1")) == {"steps": 33}
    assert values(at(graph, "2")) == {"steps": 20}
    assert values(at(graph, "1:5"))["steps"] == 20
    assert at(graph, "1:5") is at(graph, "2:5")


def test_a_value_that_an_earlier_loading_could_not_place_counts() -> None:
    kept = [{"originalEntry": ["-1", "steps"], "hostValue": 44, "attemptedAtVersion": 1}]
    properties = {"proxyWidgetErrorQuarantine": kept}
    graph = live(promoted(widgets_values=[33], properties=properties))
    assert values(at(graph, "1")) == {"steps": 44}


def test_proxy_widgets_become_inputs_of_the_subgraph() -> None:
    sampler = node(5, "KSampler", widgets_values=SAMPLER)
    properties = {"proxyWidgets": [["5", "cfg"], ["5", "steps"], ["5", "no such"], ["77", "x"]]}
    instance = node(1, "s", properties=properties, widgets_values=[2.5])
    root = workflow(instance, node(2, "s"))
    graph = live(with_subgraphs(root, subgraph("s", sampler)))
    assert values(at(graph, "1")) == {"cfg": 2.5, "steps": 20}
    assert values(at(graph, "2")) == {"cfg": 8, "steps": 20}
    assert [slot.name for slot in graph.subgraphs["s"].inputs] == ["cfg", "steps"]
    assert linked(at(graph, "1:5")) == {"cfg": "-10", "steps": "-10"}


def test_a_widget_is_promoted_through_two_subgraphs() -> None:
    inner = promoted()["definitions"]["subgraphs"][0]
    outer = subgraph(
        "o",
        node(6, "s", inputs=[socket("steps", "INT", link=2)], widgets_values=[11]),
        inputs=[{"name": "count", "type": "INT", "linkIds": [2]}],
        links=[inner_link(2, -10, 0, 6, 0, "INT")],
    )
    graph = live(with_subgraphs(workflow(node(1, "o")), outer, inner))
    assert values(at(graph, "1")) == {"count": 11}
    assert graph.node("1:6:5") is not None


def test_a_primitive_node_has_the_widget_that_it_feeds_and_sets_it() -> None:
    primitive = node(
        1, "PrimitiveNode", outputs=[{"name": "INT", "type": "INT"}], widgets_values=[42, "fixed"]
    )
    sampler = node(
        2, "KSampler", inputs=[widget_socket("steps", "INT", link=1)], widgets_values=SAMPLER
    )
    graph = live(workflow(primitive, sampler, links=[[1, 1, 0, 2, 0, "INT"]]))
    assert values(at(graph, "1")) == {"value": 42, "control_after_generate": "fixed"}
    assert values(at(graph, "2"))["steps"] == 42


def test_an_input_for_a_widget_that_the_node_has_not_is_gone() -> None:
    sampler = node(
        2, "KSampler", inputs=[widget_socket("gone", "INT", link=1)], widgets_values=SAMPLER
    )
    graph = live(workflow(sampler, node(1, "X"), links=[[1, 1, 0, 2, 0, "INT"]]))
    assert "gone" not in linked(at(graph, "2"))


def test_of_two_links_to_one_input_the_first_counts() -> None:
    target = node(3, "VAEDecode", inputs=[socket("samples", "LATENT", link=1)])
    links = [[1, 1, 0, 3, 0, "LATENT"], [2, 2, 0, 3, 0, "LATENT"]]
    graph = live(workflow(node(1, "X"), node(2, "Y"), target, links=links))
    assert linked(at(graph, "3")) == {"samples": "1"}


def test_a_choice_without_a_value_is_the_first() -> None:
    sampler = node(3, "KSampler", widgets_values=[7, "fixed", 20, 8, None, None, 1])
    found = at(live(workflow(sampler)), "3")
    choices = definitions()["KSampler"].input("sampler_name")
    assert choices is not None and choices.choices is not None
    assert values(found)["sampler_name"] == choices.choices[0]


def test_a_text_field_holds_texts() -> None:
    encode = node(1, "CLIPTextEncode", widgets_values=[5.0])
    assert values(at(live(workflow(encode)), "1")) == {"text": "5"}


def test_a_prompt_has_its_values_inputs_and_outputs_by_name() -> None:
    graph = live(
        {
            "1": {"class_type": "KSampler", "inputs": {"steps": 3, "model": ["2", 0]}},
            "2": {"class_type": "UNETLoader", "inputs": {}},
        }
    )
    sampler = at(graph, "1")
    assert values(sampler) == {"steps": 3}
    assert [(one.name, one.type) for one in sampler.inputs] == [("model", "MODEL")]
    assert [out.name for out in at(graph, "2").outputs] == ["MODEL"]


@given(GRAPHS)
def test_whatever_lies_in_a_workflow_it_has_a_live_graph(document: Any) -> None:
    if not isinstance(document.get("nodes"), list):
        return
    graph = live(document)
    for address, found in graph.nodes():
        assert graph.node(address) is found
        names = [widget.name for widget in found.widgets]
        assert found.subgraph is not None or len(names) == len(set(names))


@pytest.mark.parametrize(
    "type_", ["KSampler", "ResizeImageMaskNode", "BatchImagesNode", "LoadImage", "CustomCombo"]
)
@given(JSON, JSON)
def test_any_values_make_a_live_node(type_: str, listed: Any, value: Any) -> None:
    for given_values in (listed, [value, listed, value], {"seed": value}):
        document = workflow(node(1, type_, widgets_values=given_values, inputs=listed))
        assert at(live(document), "1").inputs


def test_every_known_type_makes_a_live_node() -> None:
    for type_ in definitions():
        found = at(live(workflow(node(1, type_))), "1")
        names = {widget.name for widget in found.widgets}
        expected = {one.name for one in found.definition.inputs if one.has_widget}  # type: ignore[union-attr]
        assert expected <= names, type_
        assert all(widget.value is not UNSET or not widget.choices for widget in found.widgets)
