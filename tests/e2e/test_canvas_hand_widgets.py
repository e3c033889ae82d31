"""The panel's hand where inputs and widgets come and go: lists of inputs that grow, options with
widgets of their own, widgets that another node drives."""

from typing import Any

import pytest
from plugin.tests.e2e.canvas import Canvas, Hand, undone_and_redone
from plugin.tests.e2e.graphs import add, link, node, text_to_image

pytestmark = pytest.mark.e2e


def test_inputs_that_grow_take_links_in_turn(canvas: Canvas, hand: Hand) -> None:
    before = canvas.state()
    raw = node(10, "BatchImagesNode", "", "IMAGE:IMAGE", [])
    steps = [add(raw)]
    steps += [link("8", 0, "IMAGE", "10", f"images.image{at}", at) for at in range(4)]
    steps.append(link("10", 0, "IMAGE", "9", "images", 0))
    assert "output" in hand.run(steps)
    canvas.settle()
    inputs = canvas.prompt()["10"]["inputs"]
    assert inputs == {f"images.image{at}": ["8", 0] for at in range(4)}
    undone_and_redone(canvas, before)
    undo = [
        {"do": "unlink", "to": "10", "input": f"images.image{at}", "input_index": at}
        for at in (2, 3)
    ]
    assert "output" in hand.run(undo, "second")
    canvas.settle()
    assert canvas.prompt()["10"]["inputs"] == {f"images.image{at}": ["8", 0] for at in range(2)}


def test_an_option_brings_its_own_widgets_and_inputs(canvas: Canvas, hand: Hand) -> None:
    before = canvas.state()
    raw = node(10, "ResizeImageMaskNode", "", "resized:IMAGE", [])
    sizes = {"resize_type.width": 640, "resize_type.height": 384}
    steps = [
        add(raw),
        {"do": "values", "node": "10", "values": {"resize_type": "scale dimensions"}},
        link("8", 0, "IMAGE", "10", "input", 0),
        {"do": "values", "node": "10", "values": sizes},
        link("10", 0, "IMAGE", "9", "images", 0),
    ]
    assert "output" in hand.run(steps)
    canvas.settle()
    inputs = canvas.prompt()["10"]["inputs"]
    assert inputs["resize_type"] == "scale dimensions"
    assert {name: inputs[name] for name in sizes} == sizes
    assert inputs["input"] == ["8", 0]
    undone_and_redone(canvas, before)


def test_a_widget_is_driven_by_a_primitive(canvas: Canvas, hand: Hand) -> None:
    before = canvas.state()
    primitive = node(10, "PrimitiveNode", "", "INT:INT", [33, "fixed"])
    primitive["outputs"][0]["widget"] = {"name": "steps"}
    width = node(11, "PrimitiveInt", "", "INT:INT", [768, "fixed"])
    steps = [
        add(primitive),
        add(width),
        link("10", 0, "INT", "3", "steps", 6),
        link("11", 0, "INT", "5", "width", 0),
        {"do": "values", "node": "10", "values": {"value": 33}},
    ]
    assert "output" in hand.run(steps)
    canvas.settle()
    prompt = canvas.prompt()
    assert prompt["3"]["inputs"]["steps"] == 33
    assert prompt["5"]["inputs"]["width"] == ["11", 0]
    undone_and_redone(canvas, before)


def test_a_widget_of_an_option_is_driven_by_a_primitive(canvas: Canvas, hand: Hand) -> None:
    graph = text_to_image()
    slots = "input:IMAGE resize_type.width:INT"
    values = ["scale dimensions", 640, 512, "center", "area"]
    resize = node(10, "ResizeImageMaskNode", slots, "resized:IMAGE", values)
    resize["inputs"][1] |= {"widget": {"name": "resize_type.width"}, "link": 20}
    primitive = node(11, "PrimitiveNode", "", "INT:INT", [640, "fixed"])
    primitive["outputs"][0] |= {"widget": {"name": "resize_type.width"}, "links": [20]}
    graph["nodes"] += [resize, primitive]
    graph["links"].append([20, 11, 0, 10, 1, "INT"])
    graph["last_node_id"], graph["last_link_id"] = 11, 20
    canvas.load(graph)
    canvas.settle()
    before = canvas.state()
    # The front end has another name for this value than the server.
    wider = [{"do": "values", "node": "11", "values": {"value": 768}}]
    foreseen: dict[str, Any] = {"type": "PrimitiveNode", "values": {"value": 512}}
    assert hand.run(wider, base={"11": foreseen})["output"]["refused"] == "changed"
    foreseen["values"] = {"value": 640}
    assert "after" in hand.run(wider, base={"11": foreseen})["output"]
    canvas.settle()
    assert canvas.prompt()["10"]["inputs"]["resize_type.width"] == 768
    undone_and_redone(canvas, before)
