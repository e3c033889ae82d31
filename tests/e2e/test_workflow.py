"""The model sees the canvas as it is: with each question, and while it answers."""

import pytest
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

SET_STEPS = """(steps) => {
    const graphs = [app.rootGraph, ...app.rootGraph.subgraphs.values()]
    const nodes = graphs.flatMap((graph) => graph.nodes)
    const sampler = nodes.find((node) => node.type === 'KSampler')
    sampler.widgets.find((widget) => widget.name === 'steps').value = steps
    // What the front end does after a person's click or key.
    const tracker = app.extensionManager.workflow.activeWorkflow.changeTracker
    ;(tracker.captureCanvasState ?? tracker.checkState).call(tracker)
}"""
KEPT = """async () => {
    const [chat] = (await (await fetch('/api/chats?limit=1')).json()).chats
    return (await (await fetch(`/api/chats/${chat.id}/workflows`)).json()).workflows
}"""
"""The graphs that are kept of the chat that was used last."""
UNTIL_KEPT = f"""async (count) => {{
    while ((await ({KEPT})()).length < count) await new Promise(requestAnimationFrame)
}}"""


def read(provider: ProviderThread) -> str:
    """What the model read last."""
    return str([one["content"] for one in provider.last_messages if one["role"] == "tool"][-1])


def test_a_change_on_the_canvas_is_seen_with_the_next_question_and_during_an_answer(
    panel: Panel, provider: ProviderThread
) -> None:
    look = Script([tool_call("getWorkflowInfo", {"level": "full"})])
    panel.evaluate(SET_STEPS, 21)
    provider.queue(look, "21 steps.")
    panel.ask("How many steps?")
    panel.idle()
    assert "steps=21" in read(provider)

    panel.evaluate(SET_STEPS, 22)
    provider.queue(look, "22 steps.")
    panel.ask("And now?")
    panel.idle()
    assert "steps=22" in read(provider)

    rest = new_wait()
    provider.queue(Script([{"text": "I look."}, {"wait": rest}, *look.steps]), "23 steps.")
    panel.ask("Look once more")
    provider.reached(rest)
    panel.evaluate(SET_STEPS, 23)
    panel.evaluate(UNTIL_KEPT, 3)
    provider.release(rest)
    panel.idle()
    assert "steps=23" in read(provider)
    kept = panel.evaluate(KEPT)
    assert len({one["revision"] for one in kept}) == len(kept) >= 3
    assert len({one["workflow_id"] for one in kept}) == 1
    assert all(one["message_id"] for one in kept)
