"""All my data and sharing a chat, as a person does it."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from plugin.tests.e2e.conftest import configured
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.e2e.test_accessibility import use_theme, violations
from plugin.tests.e2e.test_chats import opened_list
from plugin.tests.hosts import running_preview

pytestmark = pytest.mark.e2e

ASKED = "My key is sk-abcdefghijklmnop1234, look at /home/annabel/fox.png"


@pytest.fixture(scope="module")
def house(
    browser: Browser, shared_provider: ProviderThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Panel]:
    """A panel with no chats but those of this module."""
    with (
        running_preview(configured(shared_provider), tmp_path_factory.mktemp("house")) as url,
        opened_panel(browser, url, viewport={"width": 1100, "height": 800}) as panel,
    ):
        yield panel


def asked(panel: Panel, provider: ProviderThread, question: str, answer: str) -> None:
    panel.new_chat()
    provider.queue(answer)
    panel.ask(question)
    expect(panel.answer).to_contain_text(answer)
    panel.idle()


def faultless(panel: Panel, axe: str) -> None:
    """No serious fault in either theme."""
    for theme in ("light", "dark"):
        use_theme(panel, theme)
        assert violations(panel, axe) == []


def test_a_chat_is_read_before_it_is_shared_and_opens_again(
    house: Panel, provider: ProviderThread, axe: str, tmp_path: Path
) -> None:
    asked(house, provider, ASKED, "Annabel, it is red.")
    opened_list(house)
    house.button(re.compile("^Options of My key is")).click()
    house.page.get_by_role("menuitem", name="Share for help").click()
    file = house.root.get_by_role("region", name="The file as it will be saved")
    expect(file).to_contain_text("look at [path]/fox.png")
    expect(file).to_contain_text("[user], it is red.")
    expect(file).not_to_contain_text("annabel")
    expect(house.root.get_by_role("status").filter(has_text="Taken out")).to_be_visible()
    faultless(house, axe)
    tick = house.root.get_by_role("checkbox", name=re.compile("Include the open workflow"))
    boxes = [one.bounding_box() for one in (tick, file)]
    assert len({box["x"] for box in boxes if box}) == 1, "the page has one left edge"
    tick.check()
    expect(file).to_contain_text("## Workflow")
    tick.uncheck()
    expect(file).not_to_contain_text("## Workflow")
    with house.page.expect_download() as saved:
        house.button("Save file").click()
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    assert path.suffix == ".md"
    assert path.read_text(encoding="utf-8") == file.text_content()
    house.button("Back to the chats").click()
    with house.page.expect_file_chooser() as chosen:
        house.button("More").click()
        house.page.get_by_role("menuitem", name="Import a chat").click()
    chosen.value.set_files(path)
    expect(house.articles).to_have_count(2)
    expect(house.answer).to_contain_text("[user], it is red.")


def test_tokens_stand_under_each_answer_after_the_command(
    house: Panel, provider: ProviderThread
) -> None:
    asked(house, provider, "How much?", "A little.")
    tokens = house.answer.get_by_text(re.compile("tokens read"))
    expect(tokens).to_be_hidden()
    first = house.articles.nth(1).get_by_text(re.compile("tokens read"))
    house.ask("/tokens on")
    expect(first).to_be_visible()
    house.idle()
    house.ask("/tokens off")
    expect(first).to_be_hidden()
    house.idle()


def test_a_command_saves_the_chat_under_the_name_that_was_typed(
    house: Panel, provider: ProviderThread
) -> None:
    asked(house, provider, "Keep this", "It is kept.")
    with house.page.expect_download() as saved:
        house.ask("/export talk.md")
    assert saved.value.suggested_filename == "talk.md"
    house.idle()
    expect(house.answer).to_contain_text("This chat as a file: talk.md.")
    with house.page.expect_download() as again:
        house.answer.get_by_role("button", name="talk.md").click()
    assert again.value.suggested_filename == "talk.md"
    assert "It is kept." in again.value.path().read_text(encoding="utf-8")
    house.ask("/export")
    house.idle()
    expect(house.answer).not_to_contain_text("/api")
    with house.page.expect_download() as listed:
        house.answer.get_by_role("button", name="JSON Lines").click()
    assert listed.value.suggested_filename.endswith(".jsonl")


def test_an_unknown_command_offers_the_nearest(house: Panel, provider: ProviderThread) -> None:
    house.new_chat()
    house.ask("/hepl me")
    expect(house.answer).to_contain_text("Did you mean /help?")
    house.idle()


def test_everything_is_counted_saved_and_deleted(
    house: Panel, provider: ProviderThread, axe: str, tmp_path: Path
) -> None:
    asked(house, provider, "Which light is soft?", "A large window.")
    house.button("Settings").click()
    house.button("Show all my data").click()
    expect(house.root.get_by_text(re.compile(r"\d+ chats, \d+ messages"))).to_be_visible()
    faultless(house, axe)
    with house.page.expect_download() as saved:
        house.button("Export everything").click()
    saved.value.save_as(tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert any("Which-light-is-soft" in name for name in archive.namelist())
    expect(house.root.get_by_text("The archive is among your downloads.")).to_be_visible()

    house.button("Delete everything…").click()
    question = house.root.get_by_role("alertdialog", name="Delete everything?")
    expect(question).to_contain_text("messages")
    expect(house.button("Keep everything")).to_be_focused()
    faultless(house, axe)
    house.page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(house.button("Delete everything…")).to_be_focused()

    # A chat that came meanwhile is not deleted unasked.
    house.evaluate(
        "() => fetch('/api/chats', {method: 'POST', body: '{}',"
        " headers: {'Content-Type': 'application/json'}})"
    )
    house.button("Delete everything…").click()
    house.button("Delete everything").click()
    expect(question).to_contain_text("Meanwhile something has changed")
    house.button("Delete everything").click()
    expect(house.root.get_by_text("Everything was deleted.")).to_be_visible()
    house.button("Start").click()
    house.button("Chats").click()
    expect(house.root.get_by_text("No chats yet.")).to_be_visible()
    house.page.keyboard.press("Escape")
    asked(house, provider, "Hello again", "As new.")
