"""The panel's hand makes subgraphs, edits inside them, and takes them apart."""

from typing import Any

import pytest
from plugin.tests.e2e.canvas import Canvas, Hand, undone_and_redone
from plugin.tests.e2e.graphs import add, link, node, text_to_image

pytestmark = pytest.mark.e2e

WRAP = """async () => {
    const graph = app.rootGraph
    const nodes = [3, 5].map((id) => graph.getNodeById(id))
    graph.convertToSubgraph(new Set(nodes))
    await new Promise((done) => setTimeout(done, 200))
}"""


def test_a_subgraph_is_made_edited_inside_and_taken_apart(canvas: Canvas, hand: Hand) -> None:
    before, plain = canvas.state(), canvas.prompt()
    # The person's way gives the definition that the server would write.
    canvas.panel.evaluate(WRAP)
    wrapped = canvas.graph()
    canvas.undo()
    assert canvas.state() == before
    (definition,) = wrapped["definitions"]["subgraphs"]
    (raw,) = [one for one in wrapped["nodes"] if one["type"] == definition["id"]]
    address = str(raw["id"])
    raw["inputs"] = [{**one, "link": None} for one in raw["inputs"]]
    raw["outputs"] = [{**one, "links": []} for one in raw["outputs"]]
    names = [one["name"] for one in raw["inputs"]]
    steps = [
        {"do": "remove", "node": "3"},
        {"do": "remove", "node": "5"},
        {"do": "define", "subgraph": definition},
        add(raw),
        link("4", 0, "MODEL", address, names[0], 0),
        link("6", 0, "CONDITIONING", address, names[1], 1),
        link("7", 0, "CONDITIONING", address, names[2], 2),
        link(address, 0, "LATENT", "8", "samples", 0),
    ]
    ids = {"latent": f"{address}:5"}
    assert hand.run(steps, "wrap", new_ids=ids)["output"]["ids"] == ids
    canvas.settle()
    prompt = canvas.prompt()
    moved = {"3": f"{address}:3", "5": f"{address}:5"}
    assert prompt == renamed(plain, moved)
    undone_and_redone(canvas, before)

    inside = [
        {"do": "values", "node": f"{address}:5", "values": {"width": 1024}},
        add(node(20, "LatentUpscaleBy", "samples:LATENT", "LATENT:LATENT", ["area", 3]), address),
        link(f"{address}:3", 0, "LATENT", f"{address}:20", "samples", 0),
        {
            "do": "link",
            "from": f"{address}:20",
            "output": 0,
            "output_name": "LATENT",
            "to": f"{address}:out",
            "input": definition["outputs"][0]["name"],
            "input_index": 0,
        },
    ]
    assert "output" in hand.run(inside, "inside")
    canvas.settle()
    prompt = canvas.prompt()
    assert prompt[f"{address}:5"]["inputs"]["width"] == 1024
    assert prompt[f"{address}:20"]["inputs"]["samples"] == [f"{address}:3", 0]
    assert prompt["8"]["inputs"]["samples"] == [f"{address}:20", 0]
    canvas.undo()

    graph = text_to_image()
    nodes = {one["id"]: one for one in graph["nodes"]}
    back = [{"do": "remove", "node": address}]
    for id_ in (3, 5):
        raw = nodes[id_]
        raw["inputs"] = [{**one, "link": None} for one in raw["inputs"]]
        back.append(add(raw))
    back += [
        link("4", 0, "MODEL", "3", "model", 0),
        link("6", 0, "CONDITIONING", "3", "positive", 1),
        link("7", 0, "CONDITIONING", "3", "negative", 2),
        link("5", 0, "LATENT", "3", "latent_image", 3),
        link("3", 0, "LATENT", "8", "samples", 0),
    ]
    wrapped_state = canvas.state()
    assert "output" in hand.run(back, "unwrap")
    canvas.settle()
    assert canvas.prompt() == plain
    undone_and_redone(canvas, wrapped_state)


SLOTS = """() => {
    const instance = app.rootGraph.nodes.find((node) => node.subgraph)
    const graph = instance.subgraph
    const slots = (list) => list.map(({id, name, type, label}) => ({id, name, type, label}))
    const [inputs, outputs] = [graph.inputs, graph.outputs].map(slots)
    return {address: String(instance.id), inputs, outputs}
}"""


def test_the_slots_of_a_subgraph_come_and_go_in_their_order(canvas: Canvas, hand: Hand) -> None:
    canvas.panel.evaluate(WRAP)
    before, plain = canvas.state(), canvas.prompt()
    slots = canvas.panel.evaluate(SLOTS)
    address, inputs, outputs = slots["address"], slots["inputs"], slots["outputs"]
    wider = [inputs[0], {"name": "width", "type": "INT"}, *inputs[1:]]
    boundary = {"do": "boundary", "scope": address, "name": "Painter", "outputs": outputs}
    steps = [
        {**boundary, "inputs": wider},
        {
            "do": "link",
            "from": f"{address}:in",
            "output": 1,
            "output_name": "width",
            "to": f"{address}:5",
            "input": "width",
            "input_index": 0,
        },
    ]
    assert "output" in hand.run(steps, "added")
    canvas.settle()
    found = canvas.panel.evaluate(SLOTS)["inputs"]
    assert [one["name"] for one in found] == [one["name"] for one in wider]
    # What was linked to the slots behind the new one still is, inside and outside.
    prompt = canvas.prompt()
    assert prompt[f"{address}:3"] == plain[f"{address}:3"]
    assert prompt[f"{address}:5"]["inputs"]["width"] == 512
    undone_and_redone(canvas, before)
    removed = [
        {"do": "unlink", "to": f"{address}:5", "input": "width", "input_index": 0},
        {**boundary, "inputs": inputs},
    ]
    assert "output" in hand.run(removed, "removed")
    canvas.settle()
    assert canvas.prompt() == plain
    assert canvas.state() == before


def renamed(prompt: Any, ids: dict[str, str]) -> Any:
    """The prompt with other ids of nodes."""

    def value(one: Any) -> Any:
        return [ids.get(one[0], one[0]), *one[1:]] if isinstance(one, list) else one

    return {
        ids.get(id_, id_): {
            **one,
            "inputs": {name: value(each) for name, each in one["inputs"].items()},
        }
        for id_, one in prompt.items()
    }
