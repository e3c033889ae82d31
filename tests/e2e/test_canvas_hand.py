"""The panel's hand on the canvas: steps become one undo step of the front end, in both ways of
drawing nodes, and what cannot be carried out leaves no trace."""

from typing import Any

import pytest
from plugin.tests.e2e.canvas import Canvas, Hand, undone_and_redone
from plugin.tests.e2e.graphs import add, link, node, text_to_image, upscale

pytestmark = pytest.mark.e2e


def test_an_edit_is_one_undo_step_and_moves_neither_view_nor_selection(
    canvas: Canvas, hand: Hand
) -> None:
    canvas.panel.evaluate("() => app.canvas.selectNode(app.rootGraph.getNodeById(6))")
    canvas.panel.evaluate("() => { app.canvas.ds.scale = 0.7; app.canvas.ds.offset[0] = 33 }")
    before, view = canvas.state(), canvas.view()
    steps = [
        *upscale(10),
        {"do": "values", "node": "3", "values": {"steps": 30, "sampler_name": "dpmpp_2m"}},
        {"do": "node", "node": "3", "title": "Main", "mode": 0},
        {"do": "node", "node": "9", "mode": 4, "pos": [2000, 100]},
    ]
    result = hand.run(steps, new_ids={"up": "10"})
    assert result["output"]["ids"] == {"up": "10"}
    assert canvas.view() == view
    canvas.settle()
    prompt = canvas.prompt()
    assert prompt["10"]["inputs"] == {
        "upscale_method": "bislerp",
        "scale_by": 2,
        "samples": ["3", 0],
    }
    assert prompt["8"]["inputs"]["samples"] == ["10", 0]
    assert prompt["3"]["inputs"]["steps"] == 30
    assert prompt["3"]["inputs"]["sampler_name"] == "dpmpp_2m"
    assert prompt["3"]["_meta"]["title"] == "Main"
    assert "9" not in prompt
    undone_and_redone(canvas, before)


def test_removed_nodes_come_back_with_their_links(canvas: Canvas, hand: Hand) -> None:
    before = canvas.state()
    steps: list[dict[str, Any]] = [
        {"do": "unlink", "to": "3", "input": "negative", "input_index": 2},
        {"do": "remove", "node": "7"},
    ]
    assert "output" in hand.run(steps)
    canvas.settle()
    assert "7" not in canvas.prompt()
    assert "negative" not in canvas.prompt()["3"]["inputs"]
    undone_and_redone(canvas, before)


def test_a_node_gets_another_type_and_keeps_its_id(canvas: Canvas, hand: Hand) -> None:
    before = canvas.state()
    raw = node(5, "EmptySD3LatentImage", "", "LATENT:LATENT", [1024, 768, 2])
    steps = [
        {"do": "remove", "node": "5"},
        add(raw),
        link("5", 0, "LATENT", "3", "latent_image", 3),
    ]
    assert "output" in hand.run(steps)
    canvas.settle()
    prompt = canvas.prompt()
    assert prompt["5"]["class_type"] == "EmptySD3LatentImage"
    assert prompt["5"]["inputs"] == {"width": 1024, "height": 768, "batch_size": 2}
    assert prompt["3"]["inputs"]["latent_image"] == ["5", 0]
    undone_and_redone(canvas, before)


def test_what_fails_half_way_is_taken_back(canvas: Canvas, hand: Hand) -> None:
    canvas.panel.evaluate("() => app.canvas.selectNode(app.rootGraph.getNodeById(6))")
    canvas.capture()
    before, history = canvas.state(), canvas.history()
    steps = [*upscale(10), {"do": "values", "node": "3", "values": {"steps": 30, "stps": 1}}]
    result = hand.run(steps)
    assert 'no widget "stps"' in result["error"]
    assert "Nothing was changed" in result["error"]
    canvas.settle()
    assert canvas.state() == before
    # Neither undo nor redo has anything of it.
    assert canvas.history() == history


def test_what_the_server_did_not_ask_for_is_taken_back(canvas: Canvas, hand: Hand) -> None:
    canvas.capture()
    before, history = canvas.state(), canvas.history()
    hand.run(upscale(10))
    assert hand.undo() is True
    canvas.settle()
    assert canvas.state() == before
    assert canvas.history() == history


def test_an_edit_is_refused_where_the_canvas_is_another(canvas: Canvas, hand: Hand) -> None:
    before = canvas.state()
    links = {"model": "4.MODEL", "positive": "6.CONDITIONING", "negative": "7.0"}
    known = {"type": "KSampler", "mode": "run", "values": {"steps": 20, "cfg": 8}}
    base: dict[str, Any] = {"3": {**known, "links": {**links, "latent_image": "5.LATENT"}}}
    refused = hand.run(upscale(10), workflow_id="other", base=base)["output"]
    assert refused["refused"] == "other_workflow"
    changes: list[tuple[str, Any]] = [
        ("cfg", {**base["3"], "values": {"steps": 20, "cfg": 7}}),
        ("its mode", {**base["3"], "mode": "bypass"}),
        ("the link of negative", {**base["3"], "links": {**base["3"]["links"], "negative": "6.0"}}),
        ("the link of latent_image", {**base["3"], "links": links}),
    ]
    for what, other in changes:
        refused = hand.run(upscale(10), base={"3": other})["output"]
        assert refused["refused"] == "changed"
        assert refused["text"] == f"The node 3 (KSampler) was changed on the canvas: {what}."
    assert hand.run(upscale(10), base={"33": {}})["output"]["refused"] == "changed"
    made = add(node(10, "NoSuchNode", "", "", []))
    refused = hand.run([made], base=base)["output"]
    assert refused["refused"] == "unknown_type"
    assert "NoSuchNode" in refused["text"]
    assert canvas.state() == before
    assert "after" in hand.run(upscale(10), base=base)["output"]


def test_a_seed_that_a_run_turned_is_no_change(canvas: Canvas, hand: Hand) -> None:
    control = """(value) => app.rootGraph.getNodeById(3).widgets
        .find(({name}) => name === 'control_after_generate').value = value"""
    base = {"3": {"type": "KSampler", "mode": "run", "values": {"seed": 8}}}
    assert hand.run(upscale(10), base=base)["output"]["refused"] == "changed"
    canvas.panel.evaluate(control, "randomize")
    assert "after" in hand.run(upscale(10), base=base)["output"]


def test_an_id_that_is_taken_meanwhile_becomes_another(canvas: Canvas, hand: Hand) -> None:
    canvas.panel.evaluate("() => { app.rootGraph.add(LiteGraph.createNode('VAEDecode')) }")
    taken = canvas.graph()["last_node_id"]
    ids = hand.run(upscale(taken), new_ids={"up": str(taken)})["output"]["ids"]
    canvas.settle()
    prompt = canvas.prompt()
    assert ids["up"] != str(taken)
    assert prompt[ids["up"]]["class_type"] == "LatentUpscaleBy"
    assert prompt["8"]["inputs"]["samples"] == [ids["up"], 0]


def test_an_edit_that_a_reload_lost_is_put_back(canvas: Canvas, hand: Hand) -> None:
    before, opened = canvas.state(), canvas.graph()
    hand.run(upscale(10))
    after = canvas.state()
    # It is never done twice, whatever the user did meanwhile, nor by the page after a reload.
    canvas.settle()
    canvas.undo()
    hand.run(upscale(10))
    again = Hand(canvas.panel, fresh=False)
    assert "after" in again.run(upscale(10))["output"]
    assert canvas.state() == before
    # The page is left with the edit, and the front end comes back with what was there before.
    canvas.redo()
    canvas.panel.evaluate("() => window.dispatchEvent(new Event('pagehide'))")
    canvas.load(opened)
    canvas.settle()
    again = Hand(canvas.panel, fresh=False)
    assert "after" in again.run(upscale(10))["output"]
    assert canvas.state() == after


def test_groups_are_made_changed_and_removed(canvas: Canvas, hand: Hand) -> None:
    group = {"id": 1, "title": "Prompts", "bounding": [100, 100, 500, 300], "color": "#3f789e"}
    before = canvas.state()
    assert "output" in hand.run([{"do": "group", "scope": "", "group": group}], "one")
    assert canvas.state()["groups"] == [["Prompts", [100, 100, 500, 300]]]
    wider = {**group, "title": "Texts", "bounding": [100, 100, 700, 300]}
    hand.run([{"do": "group", "scope": "", "group": wider}], "two")
    assert canvas.state()["groups"] == [["Texts", [100, 100, 700, 300]]]
    hand.run([{"do": "group", "scope": "", "remove": {"id": 1, "title": "Texts"}}], "three")
    assert canvas.state() == before


def test_nodes_of_an_unknown_type_stay_and_can_be_edited_around(canvas: Canvas, hand: Hand) -> None:
    graph = text_to_image()
    strange = node(12, "NotInstalledNode", "samples:LATENT", "LATENT:LATENT", [1, "two"])
    graph["nodes"].append(strange)
    graph["links"].append([20, 3, 0, 12, 0, "LATENT"])
    graph["nodes"][0]["outputs"][0]["links"].append(20)
    strange["inputs"][0]["link"] = 20
    graph["last_node_id"], graph["last_link_id"] = 12, 20
    canvas.load(graph)
    canvas.settle()
    before = canvas.state()
    assert "output" in hand.run([*upscale(13), {"do": "node", "node": "12", "title": "Strange"}])
    canvas.settle()
    found = {one[0]: one for one in canvas.state()["nodes"]}
    assert found[12] == [12, "NotInstalledNode", 0, "Strange", [1, "two"]]
    assert "3,0,12,0" in canvas.state()["links"]
    undone_and_redone(canvas, before)
    # Taken away and put back by steps, as *Undo this turn* does.
    before = canvas.state()
    assert "output" in hand.run([{"do": "remove", "node": "12"}], "removed")
    raw = {**strange, "title": "Strange"}
    raw["inputs"][0]["link"] = None
    back = [add(raw), link("3", 0, "LATENT", "12", "samples", 0)]
    assert "output" in hand.run(back, "back", tool="undoEdits")
    assert canvas.state() == before
    # The front end asks its registry who makes the node.
    canvas.panel.watch.foreign_requests.clear()


OPEN = """async ([graph, name]) => {
    const call = {tool_call_id: `open ${name} ${Math.random()}`, tool: 'openWorkflow', graph, name}
    const {output} = await window.hand.run(call)
    const tabs = app.extensionManager.workflow.openWorkflows.map(({filename}) => filename)
    return [output.name, output.graph.nodes.length, tabs]
}"""


def test_a_workflow_opens_in_a_new_tab_and_never_over_another(canvas: Canvas, hand: Hand) -> None:
    mine = canvas.state()
    opened = text_to_image()
    opened["nodes"] = opened["nodes"][:2]
    opened["links"] = []
    # Opened as the app that it is kept as, it would hide the side bar with the panel.
    opened["extra"] = {"linearMode": True, "linearData": {"inputs": [], "outputs": []}}
    for one in opened["nodes"]:
        one["inputs"] = [{**slot, "link": None} for slot in one["inputs"]]
        one["outputs"] = [{**slot, "links": []} for slot in one["outputs"]]
    names = "() => app.extensionManager.workflow.openWorkflows.map(({filename}) => filename)"
    before = canvas.panel.evaluate(names)
    first, nodes, tabs = canvas.panel.evaluate(OPEN, [opened, "portrait"])
    assert nodes == 2
    assert len(tabs) == len(before) + 1
    canvas.settle()
    assert canvas.graph()["extra"]["linearMode"] is False
    assert canvas.panel.message.is_visible()
    second, _, tabs = canvas.panel.evaluate(OPEN, [opened, "portrait"])
    assert len(tabs) == len(before) + 2
    assert first != second
    assert second.startswith("portrait (")
    back = """async (name) => {
        const store = app.extensionManager.workflow
        const mine = store.openWorkflows.find(({filename}) => filename === name)
        await store.openWorkflow(mine)
        await app.loadGraphData(mine.activeState, true, true, mine)
    }"""
    canvas.panel.evaluate(back, before[-1])
    canvas.settle()
    assert canvas.state() == mine
