"""A chat of 1,000 turns: the kept messages, the summary and the look-ups, as the panel shows
them."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect
from plugin.tests.e2e.conftest import configured
from plugin.tests.e2e.long_chat import EVERY, SEED, import_chat, open_chat, picture_session
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.hosts import running_preview
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

TURNS = 1000
ROWS = 2 * TURNS + 2 * TURNS // EVERY  # a look is two messages: a call, its result
MOST_RECENT = 60  # of the rows


@pytest.fixture(scope="module")
def long_chat(
    browser: Browser, shared_provider: ProviderThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Panel]:
    """The panel with a chat of 1,000 turns, the last of them just answered."""
    shared_provider.start_over()
    environ, folder = configured(shared_provider), tmp_path_factory.mktemp("long")
    with running_preview(environ, folder) as url, opened_panel(browser, url) as panel:
        shared_provider.queue("Keep it, and raise the steps.")
        import_chat(url, "long", picture_session(TURNS))
        open_chat(panel, "long")
        expect(panel.answer).to_contain_text("raise the steps")
        yield panel


def opened_report(panel: Panel) -> Locator:
    panel.root.get_by_role("button", name="Show what the model sees").click()
    return panel.page.get_by_role("dialog", name="What the model sees")


def test_the_meter_of_a_long_chat_says_what_was_summarised_and_that_nothing_is_lost(
    long_chat: Panel, provider: ProviderThread
) -> None:
    report = opened_report(long_chat)
    summary = report.get_by_text(re.compile(r"Summary of [\d,]+ earlier messages"))
    expect(summary).to_be_visible()
    count = int(re.sub(r"\D", "", summary.inner_text()))
    assert ROWS - MOST_RECENT < count < ROWS
    expect(report).to_contain_text("Nothing is lost")
    expect(report).to_contain_text("The next summary comes when one of these limits is passed:")
    expect(report).to_contain_text("LLM_HISTORY_MAX_MESSAGES")
    expect(report).to_contain_text("The next turn meets")
    report.get_by_role("button", name="Show details").click()
    expect(report).to_contain_text("Not sent in full")
    long_chat.page.keyboard.press("Escape")


def test_what_was_said_on_the_first_page_is_found_and_shown(
    long_chat: Panel, provider: ProviderThread
) -> None:
    query = {"query": "seed of the portrait of the violin player"}
    provider.queue(Script([tool_call("history_search", query)]), f"It was {SEED}.")
    long_chat.ask("Which seed did the portrait of the violin player have, long ago?")
    expect(long_chat.answer).to_contain_text(str(SEED))
    long_chat.idle()
    first, second = provider.requests
    # It stands before the question without a tool call, and the tool finds it as well.
    assert str(SEED) in str(first.messages[-2]["content"])
    assert str(SEED) in str(second.messages[-1]["content"])
    step = long_chat.answer.get_by_text("Looked through this chat")
    step.click()
    expect(long_chat.answer.locator("details")).to_contain_text(str(SEED))


def test_a_recalled_range_hides_its_handle_under_the_step(
    long_chat: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("recall_result", {"handle": "r14-15"})]), "As it was.")
    long_chat.ask("Read me what we said about the violin again")
    expect(long_chat.answer).to_contain_text("As it was.")
    long_chat.idle()
    step = long_chat.answer.get_by_role("group").filter(has_text="Looked something up again")
    expect(step.locator("summary")).not_to_contain_text("r14-15")
    step.locator("summary").click()
    expect(step).to_contain_text("r14-15")
    expect(step).to_contain_text(str(SEED))


def test_the_servers_commands_answer_quietly_in_the_chat(
    long_chat: Panel, provider: ProviderThread
) -> None:
    long_chat.message.press_sequentially("/tok")
    long_chat.message.press("Enter")
    expect(long_chat.answer).to_contain_text("This chat has used these tokens so far")
    expect(long_chat.answer.get_by_role("button", name="Answer again")).to_have_count(0)
    long_chat.ask("/context")
    expect(long_chat.answer).to_contain_text("A summary stands for")
    assert provider.requests == []


def test_a_summary_is_made_on_demand_and_the_meter_follows(
    long_chat: Panel, provider: ProviderThread
) -> None:
    said = {"text": "Goal: pictures of a fox.\nNext step: raise the steps."}
    provider.queue(Script([said, {"wait": "summary"}]))
    opened_report(long_chat).get_by_role("button", name="Summarise now").click()
    summarising = long_chat.root.get_by_text("Summarising earlier messages")
    expect(summarising).to_be_visible()
    provider.release("summary")
    expect(summarising).to_have_count(0)
    expect(long_chat.answer).to_contain_text(re.compile("(are|were) summarised"))
    long_chat.idle()
    assert "summarised" in long_chat.answer.inner_text()
    report = opened_report(long_chat)
    expect(report).to_contain_text(re.compile(r"Summary of [\d,]+ earlier messages"))
    long_chat.page.keyboard.press("Escape")
