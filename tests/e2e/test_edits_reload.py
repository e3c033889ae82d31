"""An edit is carried out once, whatever becomes of the panel: closed, loaded again before, while
and after the edit, or open twice."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect
from plugin.tests.e2e.canvas import Canvas
from plugin.tests.e2e.editing import (
    CAN_HEAR,
    COMMANDS,
    DEAF,
    UPSCALED,
    asked,
    edit,
    held_before_the_edit,
    result,
    upscalers,
)
from plugin.tests.e2e.graphs import text_to_image
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e


def carried_out_after_the_return(panel: Panel, canvas: Canvas) -> None:
    """Goes back to the page that was left: its edit is made once, with nobody opening the panel."""
    panel.page.go_back()
    panel.ready()
    panel.page.wait_for_function(UPSCALED)
    panel.open()
    panel.idle()
    expect(panel.answer).to_contain_text("Done.")
    assert upscalers(canvas) == 1


def test_an_edit_goes_on_while_the_panel_is_closed(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = held_before_the_edit(own, provider, "Done.")
    own.tab.click()
    expect(own.message).to_have_count(0)
    provider.release(rest)
    own.page.wait_for_function(UPSCALED)
    own.open()
    own.idle()
    expect(own.answer).to_contain_text("Done.")
    assert upscalers(canvas) == 1


def test_a_reload_before_the_edit_carries_it_out_once(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = held_before_the_edit(own, provider, "Done.")
    # The page is gone when the call is handed over; nobody opens the panel after the reload.
    own.page.goto("about:blank")
    provider.release(rest)
    carried_out_after_the_return(own, canvas)


def test_a_page_that_was_left_before_it_heard_of_its_turn_goes_on(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    own.evaluate(CAN_HEAR)
    own.evaluate(DEAF)
    with own.page.expect_response("**/api/chat") as taken:
        rest = held_before_the_edit(own, provider, "Done.")
    taken.value.finished()
    own.drawn()
    own.page.goto("about:blank")
    provider.release(rest)
    carried_out_after_the_return(own, canvas)


def test_a_page_that_was_left_before_it_heard_of_a_decision_goes_on(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    own.evaluate(CAN_HEAR)
    own.root.get_by_role("button", name="What asks you first").click()
    dialog = own.page.get_by_role("dialog", name="What asks you first")
    dialog.get_by_role("button", name="Changes and runs").click()
    asked(own, provider)
    expect(own.button("Once")).to_be_enabled()
    own.evaluate(DEAF)
    with own.page.expect_response(COMMANDS) as taken:
        own.button("Once").click()
    taken.value.finished()
    own.drawn()
    assert upscalers(canvas) == 0
    own.page.goto("about:blank")
    carried_out_after_the_return(own, canvas)


def test_a_reload_before_the_result_has_arrived_sends_it_again(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    dropped: list[Any] = []

    def drop(route: Route) -> None:
        sent = route.request.post_data_json or {}
        if sent.get("type") == "tool_result":
            dropped.append(sent)
            route.abort()
        else:
            route.continue_()

    own.page.route(COMMANDS, drop)
    asked(own, provider)
    own.page.wait_for_function(UPSCALED)
    own.drawn()
    own.page.unroute(COMMANDS)
    own.reload()
    own.idle()
    expect(own.answer).to_contain_text("Done.")
    assert dropped
    assert "error" not in result(provider)
    assert upscalers(canvas) == 1


def test_an_edit_whose_turn_was_stopped_before_its_result_arrived_is_taken_back_after_a_reload(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    def drop(route: Route) -> None:
        sent = route.request.post_data_json or {}
        if sent.get("type") == "tool_result":
            route.abort()
        else:
            route.continue_()

    own.page.route(COMMANDS, drop)
    asked(own, provider, edit())
    own.page.wait_for_function(UPSCALED)
    own.stop.click()
    own.idle()
    own.page.goto("about:blank")
    own.page.unroute(COMMANDS)
    own.page.go_back()
    own.ready()
    own.open()
    own.page.wait_for_function(f"() => !({UPSCALED})()")
    assert upscalers(canvas) == 0


def test_a_reload_after_the_result_was_taken_does_nothing_twice(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    rest = new_wait()
    asked(own, provider, edit(), Script([{"wait": rest}, {"text": "Done."}]))
    provider.reached(rest)
    after = canvas.state()
    own.reload()
    provider.release(rest)
    own.idle()
    expect(own.answer).to_contain_text("Done.")
    canvas.settle()
    assert canvas.state() == after


def test_an_edit_that_was_undone_on_the_canvas_does_not_come_back_by_a_reload(
    own: Panel, canvas: Canvas, provider: ProviderThread
) -> None:
    asked(own, provider)
    own.page.wait_for_function(UPSCALED)
    canvas.undo()
    assert upscalers(canvas) == 0
    own.reload()
    own.idle()
    canvas.settle()
    assert upscalers(canvas) == 0


def test_of_two_panels_only_the_one_that_asked_edits(
    own: Panel, canvas: Canvas, provider: ProviderThread, browser: Browser, url: str
) -> None:
    provider.queue("Yes.")
    own.ask("A chat for two")
    own.idle()
    chat = own.evaluate("() => localStorage.getItem('comfyui-assistant.chat')")
    stored = [{"name": "comfyui-assistant.chat", "value": chat}]
    state = {"cookies": [], "origins": [{"origin": url.rstrip("/"), "localStorage": stored}]}
    with opened_panel(browser, url, storage_state=state) as second:
        other = Canvas(second)
        other.load(text_to_image(), "tower")
        other.settle()
        expect(second.log).to_contain_text("A chat for two")
        before = other.state()
        asked(own, provider)
        own.idle()
        second.idle()
        expect(second.answer).to_contain_text("Done.")
        assert other.state() == before
    assert upscalers(canvas) == 1
