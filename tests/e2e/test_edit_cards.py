"""What the assistant changed in the workflow: the card, *Undo this turn*, *Redo*."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.e2e.test_accessibility import use_theme, violations
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

SAMPLER = """() => {
    const node = app.rootGraph.nodes.find(({type}) => type === 'KSampler')
    const value = (name) => node.widgets.find((widget) => widget.name === name).value
    return {id: String(node.id), steps: value('steps'), cfg: value('cfg')}
}"""
SET_CFG = """(value) => {
    const node = app.rootGraph.nodes.find(({type}) => type === 'KSampler')
    node.widgets.find((widget) => widget.name === 'cfg').value = value
    const tracker = app.extensionManager.workflow.activeWorkflow.changeTracker
    ;(tracker.captureCanvasState ?? tracker.checkState).call(tracker)
}"""
SELECTED = "() => Object.values(app.canvas.selected_nodes).map(({type}) => type)"
UNDO_STEPS = "() => app.extensionManager.workflow.activeWorkflow.changeTracker.undoQueue.length"


def sampler(panel: Panel) -> dict[str, Any]:
    found: dict[str, Any] = panel.evaluate(SAMPLER)
    return found


def change(panel: Panel, provider: ProviderThread, values: dict[str, Any]) -> Locator:
    """The card of an edit that sets these values of the sampler."""
    operations = [{"op": "set", "node": sampler(panel)["id"], "values": values}]
    provider.queue(Script([tool_call("editWorkflow", {"operations": operations})]), "Changed.")
    panel.ask("Change the sampler")
    expect(panel.answer).to_contain_text("Changed.")
    panel.idle()
    return panel.answer.locator(".ca-edited")


def take_back(panel: Panel) -> None:
    """Of the last answer; those before it may have been taken back already."""
    panel.answer.get_by_role("button", name="Undo this turn").click()
    expect(panel.answer.get_by_role("button", name="Redo")).to_be_enabled()


def test_a_change_is_a_card_with_the_values_before_and_after(
    panel: Panel, provider: ProviderThread
) -> None:
    before = sampler(panel)
    card = change(panel, provider, {"steps": before["steps"] + 7, "cfg": before["cfg"] + 1})
    expect(card.get_by_role("heading")).to_have_text("2 values changed")
    expect(card.locator(".ca-changes")).to_contain_text(str(before["steps"]))
    expect(card.locator(".ca-changes")).to_contain_text(str(before["steps"] + 7))
    expect(card).not_to_contain_text("editWorkflow")
    assert sampler(panel)["steps"] == before["steps"] + 7
    card.get_by_role("button", name=f"KSampler {before['id']}").click()
    assert panel.evaluate(SELECTED) == ["KSampler"]
    take_back(panel)


def test_undo_takes_all_changes_of_an_answer_back_at_once_and_redo_makes_them_again(
    panel: Panel, provider: ProviderThread
) -> None:
    before = sampler(panel)
    first = [{"op": "set", "node": before["id"], "values": {"steps": before["steps"] + 1}}]
    second = [{"op": "set", "node": before["id"], "values": {"cfg": before["cfg"] + 2}}]
    provider.queue(
        Script([tool_call("editWorkflow", {"operations": first})]),
        Script([tool_call("editWorkflow", {"operations": second})]),
        "Both.",
    )
    panel.ask("Change two things, one after the other")
    expect(panel.answer).to_contain_text("Both.")
    panel.idle()
    after = {**before, "steps": before["steps"] + 1, "cfg": before["cfg"] + 2}
    assert sampler(panel) == after
    expect(panel.answer.locator(".ca-edited")).to_have_count(2)
    steps = panel.evaluate(UNDO_STEPS)
    take_back(panel)
    assert sampler(panel) == before
    assert panel.evaluate(UNDO_STEPS) == steps + 1
    panel.reload()
    panel.button("Redo").click()
    expect(panel.button("Undo this turn")).to_be_enabled()
    assert sampler(panel) == after
    take_back(panel)
    assert sampler(panel) == before


def test_the_card_of_a_change_says_that_it_was_taken_back(
    panel: Panel, provider: ProviderThread
) -> None:
    before = sampler(panel)
    card = change(panel, provider, {"steps": before["steps"] + 7, "cfg": before["cfg"] + 1})
    title = card.get_by_role("heading")
    expect(title).to_have_text("2 values changed")
    take_back(panel)
    expect(title).to_have_text("Taken back: 2 values changed")
    named = panel.answer.get_by_role("group", name="Taken back: 2 values changed")
    expect(named).to_have_count(1)
    panel.reload()
    expect(title).to_have_text("Taken back: 2 values changed")
    panel.answer.get_by_role("button", name="Redo").click()
    expect(title).to_have_text("2 values changed")
    provider.queue(Script([tool_call("undoEdits")]), "Undone.")
    panel.ask("Take that back")
    expect(panel.answer).to_contain_text("Undone.")
    panel.idle()
    assert sampler(panel) == before
    first, second = panel.root.locator(".ca-edited").all()[-2:]
    for one in (first, second):
        expect(one.get_by_role("heading")).to_have_text("Taken back: 2 values changed")


def test_new_problems_are_shown_while_the_change_stands(
    panel: Panel, provider: ProviderThread
) -> None:
    operations = [{"op": "disconnect", "to": f"{sampler(panel)['id']}.model"}]
    provider.queue(Script([tool_call("editWorkflow", {"operations": operations})]), "Changed.")
    panel.ask("Take the model away")
    panel.idle()
    problems = panel.answer.locator(".ca-problems")
    expect(problems).to_be_visible()
    take_back(panel)
    expect(problems).to_be_hidden()
    panel.answer.get_by_role("button", name="Redo").click()
    expect(problems).to_be_visible()
    take_back(panel)


def test_what_was_changed_since_is_named_and_stays(
    panel: Panel, provider: ProviderThread, axe: str
) -> None:
    before = sampler(panel)
    change(panel, provider, {"cfg": before["cfg"] + 1})
    panel.evaluate(SET_CFG, before["cfg"] + 5)
    panel.button("Undo this turn").click()
    why = panel.answer.get_by_role("status")
    expect(why).to_contain_text(
        "Changed since, so nothing was done. Take back these later changes first"
    )
    for theme in ("light", "dark"):
        use_theme(panel, theme)
        assert violations(panel, axe) == [], theme
    why.get_by_role("button", name=before["id"]).click()
    assert panel.evaluate(SELECTED) == ["KSampler"]
    assert sampler(panel)["cfg"] == before["cfg"] + 5
    panel.evaluate(SET_CFG, before["cfg"] + 1)
    take_back(panel)
    assert sampler(panel) == before


def test_a_change_asks_first_where_the_chat_is_set_so(
    panel: Panel, provider: ProviderThread
) -> None:
    before = sampler(panel)
    panel.root.get_by_role("button", name="What asks you first").click()
    panel.root.get_by_role("button", name="Changes and runs").click()
    operations = [{"op": "set", "node": before["id"], "values": {"steps": before["steps"] + 3}}]
    provider.queue(Script([tool_call("editWorkflow", {"operations": operations})]), "Done.")
    panel.ask("More steps")
    card = panel.answer.get_by_role("group", name="Change the workflow?")
    expect(card.get_by_role("button", name="For this chat")).to_be_enabled()
    shown = card.locator(".ca-changes")
    expect(shown.locator(".ca-change__name")).to_have_text("steps")
    expect(shown.locator(".ca-change__values")).to_have_text(
        f"{before['steps']} {before['steps'] + 3}"
    )
    assert sampler(panel) == before
    card.get_by_role("button", name="For this chat").click()
    expect(panel.answer).to_contain_text("Done.")
    panel.idle()
    assert sampler(panel)["steps"] == before["steps"] + 3
    take_back(panel)
    change(panel, provider, {"steps": before["steps"] + 4})  # It does not ask again.
    take_back(panel)
    assert sampler(panel) == before


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_card_of_a_change_has_no_serious_fault(
    panel: Panel, provider: ProviderThread, axe: str, theme: str
) -> None:
    use_theme(panel, theme)
    try:
        before = sampler(panel)
        change(panel, provider, {"steps": before["steps"] + 1})
        assert violations(panel, axe) == []
        take_back(panel)
        assert violations(panel, axe) == []
    finally:
        use_theme(panel, "dark")
