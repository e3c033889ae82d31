"""Branches: an edited question, another answer, switching between versions, and a branch as a new
chat."""

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread

pytestmark = pytest.mark.e2e


def two_turns(panel: Panel, provider: ProviderThread) -> None:
    for number in ("one", "two"):
        provider.queue(f"Answer {number}.")
        panel.ask(f"Question {number}")
        expect(panel.answer).to_contain_text(f"Answer {number}.")
        panel.idle()


def test_an_earlier_question_is_asked_differently_and_both_versions_stay(
    panel: Panel, provider: ProviderThread
) -> None:
    two_turns(panel, provider)
    first = panel.articles.first
    first.hover()
    first.get_by_role("button", name="Edit").click()
    panel.page.get_by_role("textbox", name="Edit what you asked").fill("Question three")
    provider.queue("Answer three.")
    panel.button("Ask again").click()
    expect(panel.answer).to_contain_text("Answer three.")
    expect(panel.articles).to_have_count(2)
    panel.idle()
    expect(first).to_contain_text("2 of 2")
    first.get_by_role("button", name="Earlier version").click()
    expect(panel.answer).to_contain_text("Answer two.")
    expect(panel.articles).to_have_count(4)
    expect(first).to_contain_text("1 of 2")
    expect(first.get_by_role("button", name="Later version")).to_be_focused()
    panel.page.keyboard.press("Enter")
    expect(panel.answer).to_contain_text("Answer three.")


def test_each_answer_to_the_same_question_can_be_had_back(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Heads.", "Tails.")
    panel.ask("Flip a coin")
    expect(panel.answer).to_contain_text("Heads.")
    panel.idle()
    panel.button("Answer again").click()
    expect(panel.answer).to_contain_text("Tails.")
    panel.idle()
    expect(panel.answer).to_contain_text("2 of 2")
    panel.button("Earlier version").click()
    expect(panel.answer).to_contain_text("Heads.")
    panel.reload()
    expect(panel.answer).to_contain_text("Heads.")
    expect(panel.answer).to_contain_text("1 of 2")


def test_a_branch_is_a_chat_of_its_own_that_ends_at_the_message(
    panel: Panel, provider: ProviderThread
) -> None:
    two_turns(panel, provider)
    second = panel.articles.nth(1)
    second.hover()
    second.get_by_role("button", name="Branch from here").click()
    expect(panel.articles).to_have_count(2)
    expect(panel.root.get_by_role("heading", name="(branch)")).to_be_visible()
    provider.queue("Elsewhere.")
    panel.ask("Another way")
    expect(panel.answer).to_contain_text("Elsewhere.")
    panel.idle()
    assert any("Answer one." in str(message) for message in provider.last_messages)
    assert "Answer two." not in str(provider.last_messages)
