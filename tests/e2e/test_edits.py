"""The model edits the workflow on the canvas: end to end, from the scripted model's call to the
page's own prompt, and what happens when the page does not stand still meanwhile."""

import json
from typing import Any

import pytest
from playwright.sync_api import Route, expect
from plugin.tests.e2e.canvas import Canvas
from plugin.tests.e2e.editing import (
    COMMANDS,
    SET_VALUE,
    UPSCALED,
    asked,
    edit,
    held_before_the_edit,
    result,
    upscalers,
)
from plugin.tests.e2e.graphs import text_to_image
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

# As in a tab behind another one: the page is told so, and no frame is drawn.
HIDE = """() => {
    const waiting = []
    window.shownFrame = window.requestAnimationFrame
    window.requestAnimationFrame = (draw) => {
        window.framesWanted = waiting.push(draw)
        return -waiting.length
    }
    window.show = () => {
        window.requestAnimationFrame = window.shownFrame
        delete document.hidden
        delete document.visibilityState
        waiting.forEach((draw) => requestAnimationFrame(draw))
        document.dispatchEvent(new Event('visibilitychange'))
    }
    Object.defineProperty(document, 'hidden', {value: true, configurable: true})
    Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true})
    document.dispatchEvent(new Event('visibilitychange'))
}"""
SHOW = "() => window.show()"


@pytest.mark.parametrize("vue", [False, True], ids=["canvas", "vue"])
def test_an_edit_of_the_model_is_one_undo_step(
    own: Panel, canvas: Canvas, provider: ProviderThread, vue: bool
) -> None:
    canvas.vue_nodes(vue)
    canvas.capture()
    before, view = canvas.state(), canvas.view()
    asked(own, provider)
    own.idle()
    canvas.settle()
    answer = json.loads(result(provider))
    added = answer["ids"]["up"]
    after, prompt = canvas.state(), canvas.prompt()
    assert prompt["8"]["inputs"]["samples"] == [added, 0]
    assert prompt[added]["inputs"]["samples"] == ["3", 0]
    assert prompt["3"]["inputs"]["sampler_name"] == "dpmpp_2m"
    assert prompt["3"]["inputs"]["steps"] == 30
    assert canvas.view() == view
    canvas.undo()
    assert canvas.state() == before
    canvas.redo()
    assert canvas.state() == after


def test_an_edit_of_another_workflow_is_refused(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = held_before_the_edit(own, provider, "Another one is open.")
    canvas.load(text_to_image(), "another")
    canvas.settle()
    provider.release(rest)
    own.idle()
    assert "nother workflow is open" in result(provider)
    assert upscalers(canvas) == 0


def test_a_workflow_that_is_renamed_meanwhile_is_edited(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = held_before_the_edit(own, provider, "Done.")
    rename = """async () => {
        const store = app.extensionManager.workflow
        await store.renameWorkflow(store.activeWorkflow, 'workflows/castle.json')
    }"""
    own.evaluate(rename)
    provider.release(rest)
    own.idle()
    assert canvas.name() == "castle"
    assert upscalers(canvas) == 1


def test_a_workflow_that_is_closed_meanwhile_is_left_alone(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = held_before_the_edit(own, provider, "It is closed.")
    canvas.load(text_to_image(), "another")
    canvas.close_others()
    canvas.settle()
    before = canvas.state()
    provider.release(rest)
    own.idle()
    assert "workflow is open" in result(provider)
    assert canvas.state() == before


def test_an_edit_is_carried_out_while_another_browser_tab_is_in_front(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = held_before_the_edit(own, provider, "Done.")
    # A browser without a window says of each page that it is seen.
    own.evaluate(HIDE)
    provider.release(rest)
    own.page.wait_for_function(UPSCALED, polling=100)
    own.page.wait_for_function("() => window.framesWanted > 0", polling=100)
    own.evaluate(SHOW)
    own.idle()
    expect(own.answer).to_contain_text("Done.")
    assert upscalers(canvas) == 1


def hold_back(panel: Panel, until: list[Any]) -> None:
    """Hold back the panel's `set_workflow`, so that the server does not learn of a change, and note
    the results of edits in `until`."""

    def decide(route: Route) -> None:
        sent = route.request.post_data_json or {}
        if sent.get("type") == "set_workflow":
            route.abort()
        elif sent.get("type") == "tool_result":
            until.append(sent)
            route.continue_()
        else:
            route.continue_()

    panel.page.route(COMMANDS, decide)


def test_a_node_that_the_user_changes_meanwhile_is_not_overwritten(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    sent: list[Any] = []
    hold_back(own, sent)
    rest = held_before_the_edit(own, provider, "You changed it.")
    own.evaluate(SET_VALUE, [3, "cfg", 3.5])
    before = canvas.state()
    provider.release(rest)
    own.idle()
    assert sent[0]["output"]["refused"] == "changed"
    assert "node 3" in sent[0]["output"]["text"]
    assert canvas.state() == before
    own.page.unroute(COMMANDS)


def test_a_seed_that_a_run_turned_is_no_change(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    own.evaluate(SET_VALUE, [3, "control_after_generate", "randomize"])
    sent: list[Any] = []
    hold_back(own, sent)
    rest = held_before_the_edit(own, provider, "Done.")
    own.evaluate(SET_VALUE, [3, "seed", 424242])
    provider.release(rest)
    own.idle()
    assert "after" in sent[0]["output"]
    assert upscalers(canvas) == 1
    assert canvas.prompt()["3"]["inputs"]["seed"] == 424242
    assert "error" not in result(provider)
    own.page.unroute(COMMANDS)


def test_a_graph_with_nodes_that_are_not_installed_is_edited(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    graph = text_to_image()
    strange = {"id": 12, "type": "NotInstalledNode", "pos": [0, 900], "size": [200, 100]}
    rest = {"flags": {}, "order": 0, "mode": 0, "inputs": [], "outputs": [], "properties": {}}
    graph["nodes"].append({**strange, **rest, "widgets_values": [1, "two"]})
    graph["last_node_id"] = 12
    canvas.load(graph, "strange")
    canvas.settle()
    canvas.capture()
    before = canvas.state()
    asked(own, provider)
    own.idle()
    assert upscalers(canvas) == 1
    assert before["nodes"][-1] in canvas.state()["nodes"]
    canvas.undo()
    assert canvas.state() == before
    # The front end asks its registry who makes the node.
    own.watch.foreign_requests.clear()


def test_a_result_that_is_not_as_foreseen_is_taken_back(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    before, history = canvas.state(), canvas.history()

    def change(route: Route) -> None:
        sent = route.request.post_data_json or {}
        if sent.get("type") == "tool_result":
            for one in sent["output"]["after"]["nodes"]:
                if one["id"] == 3:
                    one["mode"] = 4
            route.continue_(post_data=json.dumps(sent))
        else:
            route.continue_()

    own.page.route(COMMANDS, change)
    asked(own, provider, edit(), "It did not work.")
    own.idle()
    canvas.settle()
    assert canvas.state() == before
    assert canvas.history() == history
    own.page.unroute(COMMANDS)


def test_an_edit_that_the_user_denies_changes_nothing(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    before = canvas.state()
    # More than five nodes of the user's: that asks in every mode.
    removals = [{"op": "remove", "node": node} for node in ("3", "5", "6", "7", "8", "9")]
    asked(own, provider, edit(removals), "Then not.")
    card = own.answer.get_by_role("group", name="Change the workflow?")
    card.get_by_role("button", name="No", exact=True).click()
    expect(own.answer).to_contain_text("Then not.")
    own.idle()
    assert canvas.state() == before
    assert canvas.history()[0] == 0


def test_a_workflow_is_opened_in_a_new_tab(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    mine, name = canvas.state(), canvas.name()
    opening = tool_call("openWorkflow", {"template": "image_z_image_turbo", "name": name})
    asked(own, provider, Script([opening]), "Open.")
    own.idle()
    canvas.settle()
    names = "() => app.extensionManager.workflow.openWorkflows.map(({filename}) => filename)"
    assert canvas.name() == f"{name} (2)"
    assert name in own.evaluate(names)
    assert canvas.state() != mine
    assert f"{name} (2)" in result(provider)
