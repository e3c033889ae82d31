"""The notes above the composer: no connection, another workflow, a chat that is not saved, a
problem of the installation."""

import re

import pytest
from playwright.sync_api import Browser, Route, expect
from plugin.tests.e2e.panel import SUBSCRIBE, Panel, opened_panel, tell_snapshot
from plugin.tests.e2e.provider import ProviderThread

pytestmark = pytest.mark.e2e

NEW_WORKFLOW = "() => window.app.extensionManager.command.execute('Comfy.NewBlankWorkflow')"


def test_a_message_without_a_connection_is_sent_when_it_is_back(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    with opened_panel(browser, url) as panel:
        provider.queue("Hello.", "Here I am.")
        panel.ask("Hi")
        expect(panel.answer).to_contain_text("Hello.")
        panel.idle()
        panel.page.context.set_offline(True)
        panel.ask("Are you there?")
        expect(panel.root.get_by_text("Reconnecting…")).to_be_visible()
        expect(panel.button("Try now")).to_be_visible()
        expect(panel.answer).to_contain_text("Are you there?")
        panel.page.context.set_offline(False)
        expect(panel.answer).to_contain_text("Here I am.")
        expect(panel.articles).to_have_count(4)
        expect(panel.root.get_by_text("Reconnecting…")).to_have_count(0)
        panel.idle()


def test_a_chat_says_when_another_workflow_is_open(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    with opened_panel(browser, url) as panel:
        provider.queue("I see it.")
        panel.ask("Look at this")
        panel.idle()
        note = panel.root.get_by_text("This chat is about")
        expect(note).to_have_count(0)
        panel.evaluate(NEW_WORKFLOW)
        expect(note).to_be_visible()
        panel.button("Open a new chat for this workflow").click()
        expect(panel.articles).to_have_count(0)
        expect(note).to_have_count(0)


def unsaved(route: Route) -> None:
    """Answers with a chat that is not saved, and whose tool call waits for a closed panel."""
    said = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Keep this."}]}
    runtime = {
        "state": "waiting_client",
        "client_id": "a panel that is closed",
        "client_present": False,
        "waiting": ["t"],
        "saving": {"ok": False, "message": "the disk is full"},
    }
    tell_snapshot(route, messages=[said], runtime=runtime)


def test_a_chat_that_is_not_saved_says_why_and_one_that_waits_can_be_taken_over(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Yes.")
    panel.ask("A chat of this tab")
    panel.idle()
    panel.page.route(SUBSCRIBE, unsaved)
    try:
        panel.reload()
        saving = panel.root.get_by_text("This chat is not being saved: the disk is full")
        expect(saving).to_be_visible()
        with panel.page.expect_request(re.compile(r"/commands$")) as sent:
            panel.button("Go on here").click()
        command = sent.value.post_data_json
        assert command is not None and command["type"] == "take_over"
    finally:
        panel.page.unroute(SUBSCRIBE)
        panel.reload()


def test_a_problem_of_the_installation_is_said_in_a_chat_too(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    problem = {"code": "env_line", "message": "Line 3 of .env cannot be read."}

    def health(route: Route) -> None:
        answer = route.fetch().json()
        route.fulfill(json={**answer, "problems": [problem]})

    with opened_panel(browser, url) as panel:
        panel.page.route(re.compile(r"/assistant/health"), health)
        panel.reload()
        said = panel.root.get_by_text("Line 3 of .env cannot be read.")
        expect(said).to_be_visible()
        provider.queue("Yes.")
        panel.ask("A question")
        panel.idle()
        expect(said.locator("visible=true")).to_have_count(1)
        panel.button("Hide").click()
        expect(said.locator("visible=true")).to_have_count(0)
        panel.button("Settings").click()
        expect(said.locator("visible=true")).to_have_count(1)
