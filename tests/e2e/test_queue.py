"""Messages that are sent during an answer: the queue shows them, can cancel them, and never loses
them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e


def waiting(panel: Panel) -> Locator:
    return panel.root.get_by_role("list", name="Waiting messages").get_by_role("listitem")


@contextmanager
def a_busy_chat(panel: Panel, provider: ProviderThread) -> Iterator[None]:
    """A chat whose first answer ends when the block ends."""
    rest = new_wait()
    provider.queue(Script([{"text": "Busy"}, {"wait": rest}, {"text": " no more."}]))
    panel.ask("First")
    expect(panel.answer).to_contain_text("Busy")
    try:
        yield
    finally:
        provider.release(rest)


def test_messages_wait_in_order_and_are_answered_one_after_the_other(
    panel: Panel, provider: ProviderThread
) -> None:
    with a_busy_chat(panel, provider):
        panel.ask("Second")
        panel.ask("Third")
        expect(waiting(panel)).to_have_count(2)
        expect(waiting(panel).first).to_contain_text("Second")
        expect(panel.articles).to_have_count(2)
        provider.queue("To the second.", "To the third.")
    expect(panel.answer).to_contain_text("To the third.")
    panel.idle()
    expect(waiting(panel)).to_have_count(0)
    expect(panel.articles).to_have_count(6)
    expect(panel.articles.nth(3)).to_contain_text("To the second.")


def test_a_message_that_waits_is_taken_back(panel: Panel, provider: ProviderThread) -> None:
    with a_busy_chat(panel, provider):
        panel.ask("Not this one")
        panel.button("Take back: Not this one").click()
        expect(waiting(panel)).to_have_count(0)
        expect(panel.message).to_have_value("Not this one")
        expect(panel.message).to_be_focused()
        panel.message.fill("")
    expect(panel.answer).to_contain_text("no more.")
    panel.idle()
    expect(panel.articles).to_have_count(2)


def test_after_a_stop_what_waits_is_sent_when_the_user_says_so(
    panel: Panel, provider: ProviderThread
) -> None:
    with a_busy_chat(panel, provider):
        panel.ask("Later")
        expect(waiting(panel)).to_have_count(1)
        panel.stop.click()
        expect(panel.root.get_by_text("1 message waits until you send it.")).to_be_visible()
        panel.idle()
        expect(panel.button("Continue")).to_be_visible()
        expect(panel.root.locator(".ca-button--primary:visible")).to_have_text(["Send now"])
        provider.queue("Now.")
        panel.button("Send now").click()
        expect(panel.answer).to_contain_text("Now.")
        panel.idle()


def test_what_waits_survives_a_reload(panel: Panel, provider: ProviderThread) -> None:
    with a_busy_chat(panel, provider):
        panel.ask("Still here")
        expect(waiting(panel)).to_have_count(1)
        panel.reload()
        expect(waiting(panel)).to_contain_text("Still here")
        provider.queue("Here.")
    expect(panel.answer).to_contain_text("Here.")
    panel.idle()


def test_an_edit_that_a_busy_chat_refuses_stays_and_the_reason_goes(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Zero.")
    panel.ask("Before")
    expect(panel.answer).to_contain_text("Zero.")
    panel.idle()
    panel.articles.first.hover()
    panel.articles.first.get_by_role("button", name="Edit").click()
    editor = panel.page.get_by_role("textbox", name="Edit what you asked")
    editor.fill("Said differently")
    refused = panel.root.get_by_text("This chat is already answering", exact=True)
    with a_busy_chat(panel, provider):
        editor.press("Enter")
        expect(refused).to_be_visible()
        expect(editor).to_have_value("Said differently")
    expect(panel.answer).to_contain_text("no more.")
    expect(refused).to_have_count(0)
    expect(editor).to_have_value("Said differently")
    editor.press("Escape")


def test_what_is_sent_while_comfyui_is_away_stays_in_sight_and_outlives_a_reload(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Ready.", "One.", "Two.", "Three.")
    panel.ask("Are you there?")
    panel.idle()
    away = re.compile(r"/api/(chat|chats/subscribe)(\?|$)")
    panel.page.route(away, lambda route: route.abort())
    # The event stream that is open ends only with the page.
    panel.reload()
    for question in ("First", "Second", "Third"):
        panel.ask(question)
    expect(panel.root.get_by_text("Not sent yet").first).to_be_visible()
    in_sight = panel.root.locator(".ca-log, .ca-queue")
    for _visit in range(2):
        for question in ("First", "Second", "Third"):
            expect(in_sight.get_by_text(question, exact=True)).to_be_visible()
        panel.reload()
    panel.page.unroute(away)
    for question, answer in (("First", "One."), ("Second", "Two."), ("Third", "Three.")):
        expect(panel.log.get_by_text(question, exact=True)).to_be_visible()
        expect(panel.log.get_by_text(answer, exact=True)).to_be_visible()
    panel.idle()
    asked = [str(request.messages[-1]["content"]) for request in provider.requests[1:]]
    assert asked == ["First", "Second", "Third"]
