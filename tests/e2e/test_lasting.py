"""A turn goes on, and its chat is kept, through reload, closed tab, other chat and server
restart."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect
from plugin.tests.e2e.conftest import configured
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.hosts import running_preview
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e


@contextmanager
def answer_in_halves(panel: Panel, provider: ProviderThread) -> Iterator[None]:
    """The first half of the answer is on the screen; the second half comes when the block ends."""
    rest = new_wait()
    provider.queue(Script([{"text": "First half,"}, {"wait": rest}, {"text": " second half."}]))
    panel.ask("Two halves, please")
    expect(panel.answer).to_contain_text("First half,")
    try:
        yield
    finally:
        provider.release(rest)


def expect_the_whole_answer(panel: Panel) -> None:
    expect(panel.answer).to_contain_text("First half, second half.")
    expect(panel.articles).to_have_count(2)
    panel.idle()


def test_a_reload_in_mid_answer_loses_nothing(panel: Panel, provider: ProviderThread) -> None:
    with answer_in_halves(panel, provider):
        panel.reload()
        expect(panel.answer).to_contain_text("First half,")
        expect(panel.stop).to_be_visible()
    expect_the_whole_answer(panel)


def test_a_closed_tab_in_mid_answer_loses_nothing(panel: Panel, provider: ProviderThread) -> None:
    with answer_in_halves(panel, provider):
        panel.tab.click()
        expect(panel.message).to_have_count(0)
        panel.open()
        expect(panel.answer).to_contain_text("First half,")
        expect(panel.stop).to_be_visible()
    expect_the_whole_answer(panel)


def test_an_answer_that_ends_while_the_tab_is_closed_is_there_afterwards(
    panel: Panel, provider: ProviderThread
) -> None:
    with answer_in_halves(panel, provider):
        panel.tab.click()
        expect(panel.message).to_have_count(0)
    panel.page.wait_for_function(
        "() => fetch('/api/chats').then(answer => answer.json())"
        ".then(({chats}) => chats[0].state === 'idle')"
    )
    panel.open()
    expect_the_whole_answer(panel)


def test_another_chat_does_not_stop_the_turn(panel: Panel, provider: ProviderThread) -> None:
    with answer_in_halves(panel, provider):
        panel.new_chat()
        provider.queue("An answer elsewhere.")
        panel.ask("Something else")
        expect(panel.answer).to_contain_text("An answer elsewhere.")
        panel.button("Chats").click()
        panel.button("Two halves, please running").first.click()
        expect(panel.answer).to_contain_text("First half,")
    expect_the_whole_answer(panel)


def test_what_was_typed_survives_a_reload(panel: Panel) -> None:
    panel.message.fill("half a thought")
    panel.reload()
    expect(panel.message).to_have_value("half a thought")
    panel.message.fill("")


def test_a_chat_survives_the_servers_restart(
    browser: Browser, provider: ProviderThread, tmp_path: Path
) -> None:
    """ComfyUI stops during an answer and starts again; the open page reconnects by itself."""
    never = new_wait()
    environ = configured(provider)
    with running_preview(environ, tmp_path) as url:
        page = opened_panel(browser, url)
        panel = page.__enter__()
        provider.queue("The first answer.", Script([{"text": "Half of"}, {"wait": never}]))
        panel.ask("One")
        expect(panel.answer).to_contain_text("The first answer.")
        panel.idle()
        panel.ask("Two")
        expect(panel.answer).to_contain_text("Half of")
    with running_preview(environ, tmp_path, urlsplit(url).port or 0):
        panel.idle()
        expect(panel.articles.nth(1)).to_contain_text("The first answer.")
        expect(panel.answer).to_contain_text("Half of")
        provider.queue("The third answer.")
        panel.ask("Three")
        expect(panel.answer).to_contain_text("The third answer.")
        page.__exit__(None, None, None)
