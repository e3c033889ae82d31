"""The edits of an answer are taken back and made again on the canvas, and another version of an
answer offers the workflow that it had."""

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.canvas import Canvas
from plugin.tests.e2e.editing import SET_VALUE, asked, edit
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread

pytestmark = pytest.mark.e2e


def test_a_turn_is_taken_back_and_made_again_on_the_canvas(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    before = canvas.state()
    more = [{"op": "set", "node": "5", "values": {"width": 1024}}]
    asked(own, provider, edit(), edit(more), "Done.")
    own.idle()
    canvas.settle()
    after = canvas.state()
    own.button("Undo this turn").click()
    expect(own.button("Redo")).to_be_visible()
    canvas.settle()
    assert canvas.state() == before
    own.button("Redo").click()
    expect(own.button("Undo this turn")).to_be_visible()
    canvas.settle()
    assert canvas.state() == after
    # Both are undo steps of their own.
    canvas.undo()
    assert canvas.state() == before


def test_a_turn_is_not_taken_back_over_a_change_of_the_same_node(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    asked(own, provider)
    own.idle()
    own.evaluate(SET_VALUE, [3, "steps", 44])
    before = canvas.state()
    own.button("Undo this turn").click()
    expect(own.answer).to_contain_text("Changed since")
    assert canvas.state() == before


def test_another_version_offers_the_workflow_that_it_had(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    asked(own, provider)
    own.idle()
    canvas.settle()
    after = canvas.state()
    set_steps = [{"op": "set", "node": "3", "values": {"steps": 12}}]
    provider.queue(edit(set_steps), "Twelve steps.")
    own.button("Answer again").last.click()
    expect(own.answer).to_contain_text("Twelve steps.")
    own.idle()
    canvas.settle()
    now = canvas.state()
    own.button("Earlier version").last.click()
    expect(own.answer).to_contain_text("Done.")
    expect(own.root).to_contain_text("The workflow was another one here.")
    assert canvas.state() == now
    own.button("Bring the canvas to what it was here").click()
    expect(own.root.get_by_text("The workflow was another one here.")).to_have_count(0)
    canvas.settle()
    assert canvas.state() == after
    canvas.undo()
    assert canvas.state() == now
