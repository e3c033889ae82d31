"""The list of chats: search, rename, pin, delete, restore, and updates in every tab."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Route, expect
from plugin.tests.e2e.conftest import configured
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.hosts import running_preview
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def library(
    browser: Browser, shared_provider: ProviderThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Panel]:
    """A panel with no chats but those of this module."""
    with (
        running_preview(configured(shared_provider), tmp_path_factory.mktemp("library")) as url,
        opened_panel(browser, url) as panel,
    ):
        yield panel


def a_chat(panel: Panel, provider: ProviderThread, asked: str, answer: str) -> None:
    panel.new_chat()
    provider.queue(answer)
    panel.ask(asked)
    expect(panel.answer).to_contain_text(answer)
    panel.idle()


def opened_list(panel: Panel) -> None:
    panel.button("Chats").click()
    expect(panel.root.get_by_role("searchbox", name="Search all chats")).to_be_focused()


def row(panel: Panel, title: str) -> Locator:
    return panel.root.get_by_role("button", name=re.compile(f"^{re.escape(title)}"))


def choose(panel: Panel, title: str, what: str) -> None:
    row(panel, title).hover()
    panel.button(f"Options of {title}").click()
    panel.page.get_by_role("menuitem", name=what, exact=True).click()


def test_a_chat_is_found_by_a_word_in_it_and_opens_there(
    library: Panel, provider: ProviderThread
) -> None:
    a_chat(library, provider, "Which light is soft?", "A large window gives soft light.")
    a_chat(library, provider, "Something else", "Nothing about it.")
    opened_list(library)
    library.page.keyboard.type("window")
    group = library.root.get_by_role("region", name="Which light is soft?")
    expect(group.get_by_role("heading")).to_have_text("Which light is soft?")
    found = group.get_by_role("button", name=re.compile("^Assistant"))
    expect(found.locator("mark")).to_have_text("window")
    found.click()
    expect(library.answer).to_contain_text("A large window")
    expect(library.answer).to_be_focused()
    expect(library.answer).to_be_in_viewport()


def test_a_search_without_a_hit_says_so_and_ends_with_escape(library: Panel) -> None:
    opened_list(library)
    library.page.keyboard.type("xylophone")
    expect(library.root.get_by_text("No message has all the words of “xylophone”.")).to_be_visible()
    library.page.keyboard.press("Escape")
    expect(library.root.get_by_role("heading", name="Today")).to_be_visible()
    library.page.keyboard.press("Escape")
    expect(library.message).to_be_visible()


NEWEST = "async () => (await (await fetch('/api/chats')).json()).chats[0].id"


# Where the words begin, and how far the text stands below the ring around the list of days.
CLEAN_UP_LOOK = """card => {
    const words = one => {
        const range = document.createRange()
        range.selectNodeContents(one)
        return Math.round(range.getBoundingClientRect().left)
    }
    const bottom = card.querySelector('select').getBoundingClientRect().bottom
    return {
        lefts: new Set([...card.querySelectorAll('p, .ca-actions button:not([hidden])')]
            .map(words)).size,
        below: card.querySelector('[role=status]').getBoundingClientRect().top - bottom - 4,
    }
}"""


def test_a_clean_up_that_finds_nothing_says_so_and_closes(library: Panel) -> None:
    opened_list(library)
    library.button("More").click()
    library.page.get_by_role("menuitem", name="Clean up old chats", exact=True).click()
    card = library.root.get_by_role("region", name="Clean up old chats")
    expect(card.get_by_role("status")).to_contain_text("No chat is that old")
    look = card.evaluate(CLEAN_UP_LOOK)
    assert look["lefts"] == 1
    assert look["below"] >= 0
    expect(card.get_by_role("button", name=re.compile("^Delete"))).to_have_count(0)
    card.get_by_role("combobox", name="Not changed for").select_option("30 days")
    expect(card.get_by_role("status")).to_contain_text("No chat is that old")
    card.get_by_role("button", name="Cancel").click()
    expect(card).to_have_count(0)
    expect(library.button("More")).to_be_focused()
    library.button("Back to the chat").click()


def test_old_chats_are_deleted_after_a_look_and_brought_back(
    library: Panel, provider: ProviderThread
) -> None:
    """The server's answer says that the chat is old: no chat of a test is."""
    a_chat(library, provider, "An old talk", "Long ago.")
    library.new_chat()
    identity = library.evaluate(NEWEST)
    deleted: list[bool] = []

    def answer(route: Route) -> None:
        dry = json.loads(route.request.post_data or "")["dry_run"]
        deleted.append(not dry)
        if not dry:
            library.evaluate("id => fetch(`/api/chats/${id}`, {method: 'DELETE'})", identity)
        old = [{"id": identity, "title": "An old talk", "updated": "2020-01-01T00:00:00Z"}]
        route.fulfill(json={"chats": old, "deleted": int(not dry), "dry_run": dry})

    library.page.route("**/api/chats/cleanup", answer)
    opened_list(library)
    library.button("More").click()
    library.page.get_by_role("menuitem", name="Clean up old chats", exact=True).click()
    card = library.root.get_by_role("region", name="Clean up old chats")
    expect(card.get_by_role("listitem")).to_have_text("An old talk")
    card.get_by_role("button", name="Delete 1 chat").click()
    expect(row(library, "An old talk")).to_have_count(0)
    library.button("Undo").click()
    expect(row(library, "An old talk")).to_be_visible()
    assert deleted == [False, True]
    library.page.unroute("**/api/chats/cleanup")
    library.button("Back to the chat").click()


def test_a_chat_is_renamed_in_its_place(library: Panel, provider: ProviderThread) -> None:
    a_chat(library, provider, "Name me", "Gladly.")
    opened_list(library)
    choose(library, "Name me", "Rename")
    field = library.root.get_by_role("textbox", name="Name of the chat")
    expect(field).to_have_value("Name me")
    field.fill("Named")
    field.press("Enter")
    row(library, "Named").click()
    expect(library.root.get_by_role("heading", name="Named")).to_be_visible()


def test_a_pinned_chat_stands_on_top(library: Panel, provider: ProviderThread) -> None:
    a_chat(library, provider, "Keep me", "Here.")
    a_chat(library, provider, "A newer one", "There.")
    opened_list(library)
    choose(library, "Keep me", "Pin")
    expect(library.root.get_by_role("heading", name="Pinned")).to_be_visible()
    first = library.root.locator(".ca-list").get_by_role("button").first
    expect(first).to_contain_text("Keep me")
    choose(library, "Keep me", "Unpin")
    expect(library.root.get_by_role("heading", name="Pinned")).to_have_count(0)
    library.button("Back to the chat").click()


def test_the_open_chat_is_deleted_without_leaving_the_list_and_goes_on_after_undo(
    library: Panel, provider: ProviderThread
) -> None:
    a_chat(library, provider, "Open and deleted", "Here.")
    opened_list(library)
    choose(library, "Open and deleted", "Delete")
    expect(row(library, "Open and deleted")).to_have_count(0)
    expect(library.root.get_by_role("searchbox", name="Search all chats")).to_be_visible()
    library.button("Undo").click()
    row(library, "Open and deleted").click()
    provider.queue("Still here.")
    library.ask("Are you there?")
    expect(library.answer).to_contain_text("Still here.")
    library.idle()


def test_a_deleted_chat_comes_back_with_undo(library: Panel, provider: ProviderThread) -> None:
    a_chat(library, provider, "Delete me", "Really?")
    opened_list(library)
    choose(library, "Delete me", "Delete")
    expect(row(library, "Delete me")).to_have_count(0)
    library.button("Undo").click()
    row(library, "Delete me").click()
    expect(library.answer).to_contain_text("Really?")


def test_the_menu_works_by_keys_and_gives_the_focus_back(
    library: Panel, provider: ProviderThread
) -> None:
    a_chat(library, provider, "By keys", "Yes.")
    opened_list(library)
    options = library.button("Options of By keys")
    options.focus()
    library.page.keyboard.press("Enter")
    expect(library.page.get_by_role("menuitem", name="Rename")).to_be_focused()
    library.page.keyboard.press("ArrowUp")
    expect(library.page.get_by_role("menuitem", name="Delete")).to_be_focused()
    library.page.keyboard.press("Escape")
    expect(options).to_be_focused()
    library.button("Back to the chat").click()


def test_a_chat_is_exported_and_imported_again(library: Panel, provider: ProviderThread) -> None:
    a_chat(library, provider, "Take me along", "With pleasure.")
    opened_list(library)
    with library.page.expect_download() as saved:
        choose(library, "Take me along", "Export as trajectory")
    path = saved.value.path()
    assert saved.value.suggested_filename.endswith(".json")
    assert "With pleasure." in json.dumps(json.loads(path.read_text(encoding="utf-8")))
    library.button("More").click()
    with library.page.expect_file_chooser() as chooser:
        library.page.get_by_role("menuitem", name="Import a chat").click()
    chooser.value.set_files(
        {"name": "chat.json", "mimeType": "application/json", "buffer": path.read_bytes()}
    )
    expect(library.root.get_by_text("The chat was imported.")).to_be_visible()
    expect(library.answer).to_contain_text("With pleasure.")


def test_two_tabs_on_one_chat_say_the_same_word_by_word(
    library: Panel, browser: Browser, provider: ProviderThread
) -> None:
    a_chat(library, provider, "Both of you", "I am here.")
    with opened_panel(browser, library.url) as other:
        opened_list(other)
        row(other, "Both of you").click()
        expect(other.answer).to_contain_text("I am here.")
        rest = new_wait()
        provider.queue(Script([{"text": "Half"}, {"wait": rest}, {"text": " and half."}]))
        library.ask("Go on")
        expect(other.articles.nth(2)).to_contain_text("Go on")
        expect(other.answer).to_contain_text("Half")
        expect(other.stop).to_be_visible()
        provider.release(rest)
        for panel in (library, other):
            expect(panel.answer).to_contain_text("Half and half.")
            panel.idle()
        assert library.log.inner_text() == other.log.inner_text()


def test_a_running_chat_and_a_new_answer_are_marked_in_another_tabs_list(
    library: Panel, browser: Browser, provider: ProviderThread
) -> None:
    with opened_panel(browser, library.url) as other:
        opened_list(other)
        rest = new_wait()
        library.new_chat()
        provider.queue(Script([{"text": "Wait"}, {"wait": rest}]))
        library.ask("Watch me")
        expect(row(other, "Watch me")).to_contain_text("running")
        library.new_chat()
        provider.release(rest)
        expect(other.button(re.compile("New answer: ?Watch me"))).to_be_visible()
        other.button(re.compile("Watch me")).first.click()
        expect(other.answer).to_contain_text("Wait")


def test_what_is_typed_is_kept_with_its_chat(library: Panel, provider: ProviderThread) -> None:
    a_chat(library, provider, "Draft here", "Yes.")
    library.message.press_sequentially("half a sentence")
    library.new_chat()
    expect(library.message).to_have_value("")
    opened_list(library)
    row(library, "Draft here").click()
    expect(library.message).to_have_value("half a sentence")
    library.message.fill("")


def test_commands_open_and_delete_chats_from_where_they_are_typed(
    library: Panel, provider: ProviderThread
) -> None:
    a_chat(library, provider, "A lighthouse at night", "With a lamp.")
    library.new_chat()
    library.message.press_sequentially("/op")
    expect(library.options.first).to_contain_text("/open")
    library.page.keyboard.press("Tab")
    library.page.keyboard.type("lighthouse")
    library.page.keyboard.press("Enter")
    expect(library.articles.first).to_contain_text("A lighthouse at night")
    library.ask("/delete")
    expect(library.root.get_by_text("“A lighthouse at night” was deleted.")).to_be_visible()
    expect(library.articles).to_have_count(0)
    library.button("Undo").click()
    expect(library.articles.first).to_contain_text("A lighthouse at night")
    library.reload()
    expect(library.articles.first).to_contain_text("A lighthouse at night")


def test_results_of_further_letters_leave_the_chosen_result_in_focus(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("A walrus answers.")
    panel.ask("Where is the walrus?")
    panel.idle()
    held: list[Route] = []
    panel.page.route("**/api/chats/search?q=walrus&*", lambda route: held.append(route))
    panel.button("Chats").click()
    field = panel.root.get_by_role("searchbox", name="Search all chats")
    field.fill("walru")
    expect(panel.root.locator(".ca-found mark", has_text="walru").first).to_be_visible()
    with panel.page.expect_request("**/api/chats/search?q=walrus&*"):
        field.press("End")
        panel.page.keyboard.type("s")
    field.press("ArrowDown")
    expect(panel.root.locator(".ca-found .ca-row").first).to_be_focused()
    chosen = panel.evaluate("() => document.activeElement.textContent")
    with panel.page.expect_response("**/api/chats/search?q=walrus&*"):
        held[0].continue_()
    expect(
        panel.root.locator(".ca-found mark", has_text=re.compile("^walrus$")).first
    ).to_be_visible()
    panel.drawn()
    assert panel.evaluate("() => document.activeElement.textContent") == chosen
    panel.page.unroute("**/api/chats/search?q=walrus&*")
    field.fill("")
    panel.button("Back to the chat").click()
