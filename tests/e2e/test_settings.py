"""Providers and models: the first start, a refused key, a provider's form and its test, another
model.

Each test has a preview of its own, since settings belong to the whole installation.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from plugin.tests.e2e.conftest import configured
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, running_provider
from plugin.tests.hosts import running_preview
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

NOTHING = {"ASSISTANT_DISCOVER": "0"}
KEY = "right-key"
MODELS = re.compile("/assistant/models")


@contextmanager
def fresh_panel(browser: Browser, folder: Path, environ: dict[str, str]) -> Iterator[Panel]:
    with running_preview(environ, folder) as url, opened_panel(browser, url) as panel:
        yield panel


@pytest.fixture
def locked_provider() -> Iterator[ProviderThread]:
    """A provider that requires `KEY`."""
    with running_provider(key=KEY) as running:
        yield running


def field(panel: Panel, name: str) -> None:
    expect(panel.root.get_by_label(name, exact=True)).to_be_visible()


def fill(panel: Panel, **values: str) -> None:
    for name, value in values.items():
        panel.root.get_by_label(name.replace("_", " ").capitalize(), exact=True).fill(value)


def test_without_a_model_the_first_screen_leads_to_one(
    browser: Browser, locked_provider: ProviderThread, tmp_path: Path
) -> None:
    with fresh_panel(browser, tmp_path, NOTHING) as panel:
        expect(panel.root.get_by_text("Choose where answers come from")).to_be_visible()
        panel.button("Set up a provider").click()
        fill(panel, name="mine", address=locked_provider.base_url, key=KEY, model="scripted")
        panel.button("Save").click()
        expect(panel.message).to_be_visible()
        locked_provider.queue("Hello from your provider.")
        panel.ask("Hello")
        expect(panel.answer).to_contain_text("Hello from your provider.")
        panel.idle()


def test_a_provider_is_added_with_its_models_listed_and_the_question_answered(
    browser: Browser, locked_provider: ProviderThread, tmp_path: Path
) -> None:
    """Three clicks: the settings, a model of the list, Save."""
    with fresh_panel(browser, tmp_path, NOTHING) as panel:
        panel.ask("Hello?")
        panel.answer.get_by_role("button", name="Open settings").click()
        fill(panel, address=locked_provider.base_url)
        fill(panel, key=KEY)
        models = panel.root.get_by_role("group", name="Models of this server")
        models.get_by_role("button", name="scripted").click()
        expect(panel.root.get_by_label("Model", exact=True)).to_have_value("scripted")
        locked_provider.queue("Yes?")
        panel.button("Save").click()
        expect(panel.answer).to_contain_text("Yes?")
        panel.idle()
        expect(panel.root.get_by_role("group", name="No model is set up yet")).to_have_count(0)


def test_a_key_that_is_refused_is_told_at_its_field_before_saving(
    browser: Browser, locked_provider: ProviderThread, tmp_path: Path
) -> None:
    with fresh_panel(browser, tmp_path, NOTHING) as panel:
        panel.button("Set up a provider").click()
        fill(panel, address=locked_provider.base_url)
        # The form is the mend: nothing beside it says once more that there is no provider.
        for said in ("Needs attention", "No provider is set up yet."):
            expect(panel.root.get_by_text(said)).to_have_count(0)
        fill(panel, key="wrong")
        key = panel.root.get_by_label("Key", exact=True)
        expect(key).to_have_attribute("aria-invalid", "true")
        panel.button("Save").click()
        expect(panel.root.get_by_text("Model is missing.")).to_be_visible()
        expect(key).to_have_attribute("aria-invalid", "true")
        fill(panel, key=KEY)
        expect(panel.root.get_by_label("Model", exact=True)).to_have_value("scripted")
        expect(panel.root.get_by_text("Model is missing.")).to_have_count(0)
        fill(panel, key="wrong")
        expect(key).to_have_attribute("aria-invalid", "true")
        problem = panel.root.locator(f"#{key.get_attribute('aria-describedby')}")
        expect(problem).to_contain_text("key")


def test_a_question_without_a_model_gets_a_card_that_leads_to_the_settings(
    browser: Browser, tmp_path: Path
) -> None:
    with fresh_panel(browser, tmp_path, NOTHING) as panel:
        panel.ask("Hello?")
        card = panel.answer.get_by_role("group", name="No model is set up yet")
        card.get_by_role("button").first.click()
        expect(panel.button("Add provider").or_(panel.button("Save"))).to_be_visible()


def test_an_address_that_cannot_be_used_is_told_before_and_after_a_question(
    browser: Browser, tmp_path: Path
) -> None:
    environ = {**NOTHING, "OPENAI_API_KEY": "sk-0123456789", "OPENAI_BASE_URL": "localhost:11434"}
    with fresh_panel(browser, tmp_path, environ) as panel:
        problems = "OPENAI_BASE_URL is 'localhost:11434' and must be a URL"
        expect(panel.root).to_contain_text(problems)
        panel.ask("Hello?")
        expect(panel.answer).to_contain_text("because of OPENAI_BASE_URL")
        expect(panel.answer).to_contain_text("or choose another provider")


def test_a_refused_key_is_entered_again_and_the_question_answered(
    browser: Browser, locked_provider: ProviderThread, tmp_path: Path
) -> None:
    environ = {**configured(locked_provider), "OPENAI_API_KEY": "wrong-key"}
    with fresh_panel(browser, tmp_path, environ) as panel:
        panel.ask("Hello")
        expect(panel.answer.get_by_role("group", name="The key was refused")).to_be_visible()
        assert "wrong-key" not in panel.page.content()
        panel.button("Enter key").click()
        key = panel.root.get_by_label("Key", exact=True)
        expect(key).to_be_focused()
        expect(panel.root.get_by_label("Address", exact=True)).to_have_value(
            locked_provider.base_url
        )
        key.fill(KEY)
        locked_provider.queue("The key fits.")
        panel.button("Save").click()
        expect(panel.answer).to_contain_text("The key fits.")
        panel.idle()
        assert KEY not in panel.page.content()


def test_a_provider_is_tested_with_a_chat_and_a_tool_call(
    browser: Browser, locked_provider: ProviderThread, tmp_path: Path
) -> None:
    environ = {**configured(locked_provider), "OPENAI_API_KEY": KEY}
    with fresh_panel(browser, tmp_path, environ) as panel:
        panel.button("Settings").click()
        locked_provider.queue("Yes.", Script([tool_call("ping", {"word": "pong"})]))
        panel.button("Test").click()
        outcome = panel.root.get_by_role("status")
        expect(outcome.get_by_text("Chat", exact=True)).to_be_visible()
        expect(outcome.get_by_text("Tools", exact=True)).to_be_visible()


def test_a_wrong_key_is_said_by_the_test_before_it_is_saved(
    browser: Browser, locked_provider: ProviderThread, tmp_path: Path
) -> None:
    with fresh_panel(browser, tmp_path, NOTHING) as panel:
        panel.button("Set up a provider").click()
        fill(panel, name="mine", address=locked_provider.base_url, key="wrong", model="scripted")
        panel.button("Test").click()
        outcome = panel.root.get_by_role("form", name="New provider").locator(".ca-test")
        expect(outcome).to_contain_text("key")
        expect(panel.root.get_by_label("Name", exact=True)).to_have_value("mine")


def test_an_incomplete_provider_is_not_saved_and_says_what_is_missing(
    browser: Browser, tmp_path: Path
) -> None:
    with fresh_panel(browser, tmp_path, NOTHING) as panel:
        panel.button("Set up a provider").click()
        fill(panel, name="mine", address="example")
        panel.button("Save").click()
        address = panel.root.get_by_label("Address", exact=True)
        expect(address).to_be_focused()
        expect(address).to_have_attribute("aria-invalid", "true")
        problem = panel.root.locator(f"#{address.get_attribute('aria-describedby')}")
        expect(problem).to_contain_text("http://")
        fill(panel, address="http://127.0.0.1:9/v1")
        expect(address).not_to_have_attribute("aria-invalid", "true")


def test_a_long_name_of_a_model_leaves_what_the_model_can_do_in_sight(panel: Panel) -> None:
    name = "meta-llama/llama-3.2-90b-vision-instruct-abliterated:free"
    models = [{"id": name, "vision": True, "tools": False}]
    panel.page.route(MODELS, lambda route: route.fulfill(json={"models": models}))
    panel.evaluate("() => document.querySelector('.ca-panel').style.width = '320px'")
    panel.root.get_by_role("button", name=re.compile("^Model:")).click()
    row = panel.page.get_by_role("button", name=name)
    expect(row).to_be_visible()
    for part in row.locator("span").filter(has_text=re.compile(r"\w")).all():
        assert part.evaluate("one => one.scrollWidth <= one.clientWidth + 1"), part.inner_text()
        expect(part).to_be_in_viewport(ratio=1)
    panel.page.keyboard.press("Escape")
    panel.evaluate("() => document.querySelector('.ca-panel').style.width = ''")
    panel.page.unroute(MODELS)


def test_another_model_is_chosen_and_asked(
    browser: Browser, shared_provider: ProviderThread, tmp_path: Path
) -> None:
    shared_provider.start_over()
    with fresh_panel(browser, tmp_path, configured(shared_provider)) as panel:
        panel.root.get_by_role("button", name="Model: scripted").click()
        picker = panel.page.get_by_role("dialog", name="Choose model")
        picker.get_by_role("button", name="scripted-large").click()
        expect(panel.root.get_by_role("button", name="Model: scripted-large")).to_be_visible()
        shared_provider.queue("From the large one.")
        panel.ask("Who are you?")
        expect(panel.answer).to_contain_text("From the large one.")
        panel.idle()
        assert shared_provider.requests[-1].body["model"] == "scripted-large"
