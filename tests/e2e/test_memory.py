"""Memory in the panel: the page, notes under answers, cards with undo, temporary chats."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect
from plugin.tests.e2e.conftest import configured
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.e2e.test_accessibility import use_theme, violations
from plugin.tests.e2e.test_chats import opened_list
from plugin.tests.hosts import running_preview
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

SEND = """async ([method, path, body]) => {
    const sent = await fetch(`/api${path}`, {method, body: body && JSON.stringify(body),
        headers: body ? {'Content-Type': 'application/json'} : {}})
    return sent.status === 204 ? null : sent.json()
}"""
CLEAR = """async () => {
    for (const [path, list, id] of [['/memories?superseded=true', 'memories', 'id'],
            ['/user-context/rules', 'rules', 'id'],
            ['/user-context/preferences', 'preferences', 'key']]) {
        const found = (await (await fetch(`/api${path}`)).json())[list]
        const root = path.split('?')[0]
        for (const one of found) await fetch(`/api${root}/${one[id]}`, {method: 'DELETE'})
    }
}"""
TOO_WIDE = """() => [...document.querySelectorAll('.ca-panel .ca-page')]
    .filter(page => page.offsetParent && page.scrollWidth > page.clientWidth + 1).length"""
# Lines of facts that begin with the dot between two facts.
DOT_FIRST = """() => [...document.querySelectorAll('.ca-memory__facts')].filter(line =>
    [...line.children].some((fact, at) => at > 0
        && fact.offsetLeft <= line.firstElementChild.offsetLeft
        && getComputedStyle(fact, '::before').content !== 'none')).length"""
TWO_LINES_OF_FACTS = """() => {
    const facts = document.querySelector('.ca-memory__facts')
    return facts !== null && facts.offsetHeight > 30
}"""
SAID = "I always want 4:5 portraits"


@pytest.fixture(scope="module")
def opened(
    browser: Browser, shared_provider: ProviderThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Panel]:
    """A panel of its own. In the mode `manual` no model is asked unless a test wants it."""
    environ = configured(shared_provider)
    with (
        running_preview(environ, tmp_path_factory.mktemp("memory")) as url,
        opened_panel(browser, url, viewport={"width": 1100, "height": 900}) as panel,
    ):
        yield panel


@pytest.fixture
def house(opened: Panel, provider: ProviderThread) -> Panel:
    """The panel with a new chat, and nothing remembered."""
    opened.evaluate(CLEAR)
    opened.new_chat()
    return opened


def send(panel: Panel, method: str, path: str, **body: object) -> Any:
    return panel.evaluate(SEND, [method, path, body or None])


def open_page(panel: Panel) -> None:
    panel.button("Menu").click()
    panel.page.get_by_role("menuitem", name="Memory", exact=True).click()
    expect(panel.root.get_by_role("switch", name="Remember across chats")).to_be_enabled()


def choose(panel: Panel, options: str | re.Pattern[str], what: str) -> None:
    panel.button(options).click()
    panel.page.get_by_role("menuitem", name=what, exact=True).click()


def expect_rules(panel: Panel, *texts: str) -> None:
    rows = panel.root.get_by_role("list", name="Rules, in their order").get_by_role("listitem")
    expect(rows).to_have_text(list(texts))
    stored = send(panel, "GET", "/user-context/rules")["rules"]
    assert [rule["text"] for rule in stored] == list(texts)


def memories(panel: Panel) -> Locator:
    return panel.root.get_by_role("list", name="Remembered", exact=True).locator(".ca-memory")


def remember(panel: Panel, provider: ProviderThread, text: str = SAID) -> None:
    """The model keeps what the user says."""
    call = tool_call("memory_write", {"text": text, "quote": text, "kind": "preference"})
    provider.queue(Script([call]), "I will.")
    panel.ask(f"{text}, please.")
    expect(panel.answer).to_contain_text("I will.")
    panel.idle()


def kept_card(panel: Panel) -> Locator:
    return panel.answer.get_by_role("region", name="Remembered")


def test_rules_are_added_edited_ordered_deleted_and_brought_back(house: Panel) -> None:
    open_page(house)
    expect(house.root.get_by_text("Nothing yet. For example:")).to_be_visible()
    field = house.root.get_by_role("textbox", name="A new rule")
    for number, text in enumerate(("Use metric units", "Answer briefly", "Never guess"), 1):
        field.fill(text)
        field.press("Enter")
        expect(house.root.locator(".ca-statement")).to_have_count(number)
    expect(field).to_be_focused()
    expect_rules(house, "Use metric units", "Answer briefly", "Never guess")

    choose(house, "Options of the rule: Never guess", "Move up")
    expect(house.root.get_by_text("Now in place 2 of 3")).to_be_attached()
    expect(house.button("Options of the rule: Never guess")).to_be_focused()
    expect_rules(house, "Use metric units", "Never guess", "Answer briefly")

    choose(house, "Options of the rule: Answer briefly", "Edit")
    box = house.root.get_by_role("textbox", name="Text of the rule")
    expect(box).to_be_focused()
    box.fill("Be brief")
    box.press("Escape")
    expect(house.button("Options of the rule: Answer briefly")).to_be_focused()
    choose(house, "Options of the rule: Answer briefly", "Edit")
    box.fill("Be brief")
    box.press("Enter")
    expect(house.button("Options of the rule: Be brief")).to_be_focused()

    choose(house, "Options of the rule: Never guess", "Delete")
    expect(house.root.locator(".ca-statement")).to_have_count(2)
    expect(house.button("Options of the rule: Be brief")).to_be_focused()
    house.button("Undo").click()
    expect(house.root.locator(".ca-statement")).to_have_count(3)
    expect_rules(house, "Use metric units", "Never guess", "Be brief")


def test_a_preference_is_added_changed_and_deleted(house: Panel) -> None:
    open_page(house)
    house.button("Add a preference").click()
    expect(house.root.get_by_label("Preference for", exact=True)).to_be_focused()
    house.root.get_by_label("Preference for", exact=True).fill("a/b")
    house.root.get_by_label("Value", exact=True).fill("euler")
    house.page.keyboard.press("Enter")
    expect(house.root.get_by_role("alert").filter(has_text="A name has")).to_be_visible()
    house.root.get_by_label("Preference for", exact=True).fill("sampler")
    house.page.keyboard.press("Enter")
    expect(house.root.locator(".ca-statement")).to_have_text("samplereuler")
    choose(house, "Options of the preference sampler", "Edit")
    box = house.root.get_by_role("textbox", name="Value of sampler")
    box.fill("dpmpp_2m")
    box.press("Enter")
    expect(house.root.locator(".ca-statement")).to_have_text("samplerdpmpp_2m")
    choose(house, "Options of the preference sampler", "Delete")
    expect(house.root.locator(".ca-statement")).to_have_count(0)
    house.button("Undo").click()
    expect(house.root.locator(".ca-statement")).to_have_text("samplerdpmpp_2m")


def test_memories_are_searched_filtered_changed_pinned_and_forgotten(
    house: Panel, axe: str
) -> None:
    for kind, text in (
        ("fact", "My favourite seed is 42"),
        ("fact", "My favourite seed is 43"),
        ("entity", "Mira is a sailor"),
        ("preference", "I prefer soft window light"),
    ):
        send(house, "POST", "/memories", text=text, kind=kind)
    house.ask("/memory")
    rows = memories(house)
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("I prefer soft window light")
    house.root.get_by_text("Replaced an earlier one").click()
    expect(rows.nth(2)).to_contain_text("My favourite seed is 42")
    for theme in ("light", "dark"):
        use_theme(house, theme)
        assert violations(house, axe) == [], theme

    house.root.get_by_role("searchbox", name="Search what is remembered").fill("sailor")
    expect(rows).to_have_count(1)
    expect(house.root.get_by_text("1 memory", exact=True)).to_be_visible()
    house.root.get_by_role("searchbox").fill("zebra")
    expect(house.root.get_by_text("Nothing that is remembered fits “zebra”.")).to_be_visible()
    house.page.keyboard.press("Escape")
    expect(rows).to_have_count(3)

    house.button("Facts").click()
    expect(rows).to_have_count(1)
    expect(house.button("Facts")).to_have_attribute("aria-pressed", "true")
    house.button("All").click()
    expect(rows).to_have_count(3)

    choose(house, "Options of the memory: Mira is a sailor", "Edit")
    box = house.root.get_by_role("textbox", name="Text of the memory")
    box.fill("Mira is a pilot")
    house.root.get_by_role("combobox", name="Kind").select_option("fact")
    house.button("Save").click()
    expect(house.button("Options of the memory: Mira is a pilot")).to_be_focused()
    choose(house, "Options of the memory: Mira is a pilot", "Pin")
    expect(rows.nth(0)).to_contain_text("Mira is a pilot")
    expect(rows.nth(0)).to_contain_text("Pinned")
    stored = send(house, "GET", "/memories?q=pilot")["memories"]
    assert [(one["text"], one["kind"], one["pinned"]) for one in stored] == [
        ("Mira is a pilot", "fact", True)
    ]

    choose(house, "Options of the memory: Mira is a pilot", "Delete")
    expect(rows).to_have_count(2)
    expect(house.button("Options of the memory: I prefer soft window light")).to_be_focused()
    assert send(house, "GET", "/memories?q=pilot")["memories"] == []
    house.button("Undo").click()
    expect(rows).to_have_count(3)
    house.root.get_by_text("Replaced an earlier one").click()
    house.button("Delete: My favourite seed is 42").click()
    expect(house.root.get_by_text("Replaced an earlier one")).to_have_count(0)


def test_the_page_fits_a_narrow_side_bar(house: Panel) -> None:
    send(house, "POST", "/memories", text="The model is " + "juggernaut_xl_" * 12, kind="fact")
    send(house, "POST", "/user-context/rules", text="Use " + "very_long_words_" * 12)
    open_page(house)
    for width in (320, 400, 700):
        house.evaluate(
            "width => { document.querySelector('.ca-panel').style.width = `${width}px` }", width
        )
        house.drawn()
        assert house.evaluate(TOO_WIDE) == 0, width
    house.evaluate("() => { document.querySelector('.ca-panel').style.width = '' }")


def test_no_line_of_facts_begins_with_a_dot(house: Panel) -> None:
    text = "I prefer soft window light to studio light"
    send(house, "POST", "/memories", text=text, kind="preference", pinned=True)
    open_page(house)
    house.evaluate("() => { document.querySelector('.ca-panel').style.width = '300px' }")
    # The list of the visit before is shown until the new one is there.
    house.page.wait_for_function(TWO_LINES_OF_FACTS)
    assert house.evaluate(DOT_FIRST) == 0
    house.evaluate("() => { document.querySelector('.ca-panel').style.width = '' }")


def test_memory_is_switched_off_and_the_installation_has_the_last_word(
    house: Panel, axe: str
) -> None:
    open_page(house)
    on = house.root.get_by_role("switch", name="Remember across chats")
    itself = house.root.get_by_role("switch", name="Notice by itself what lasts")
    expect(on).to_have_attribute("aria-checked", "true")
    expect(itself).to_have_attribute("aria-checked", "false")
    itself.click()
    expect(house.root.get_by_text("ASSISTANT_MEMORY is “manual”")).to_be_visible()
    for theme in ("light", "dark"):
        use_theme(house, theme)
        assert violations(house, axe) == [], theme
    expect(itself).to_have_attribute("aria-checked", "false")
    on.click()
    expect(house.root.get_by_text("Nothing is remembered, and nothing")).to_be_visible()
    expect(itself).to_be_disabled()
    assert send(house, "GET", "/memories/settings") == {"mode": "off"}
    on.click()
    expect(on).to_have_attribute("aria-checked", "true")
    assert send(house, "GET", "/memories/settings") == {"mode": "manual"}


def test_what_was_remembered_has_undo_and_shows_where_it_is_used(
    house: Panel, provider: ProviderThread, axe: str
) -> None:
    remember(house, provider)
    card = kept_card(house)
    expect(card).to_contain_text(SAID)
    expect(house.answer.locator(".ca-step")).to_have_count(0)
    # The first time the card says what is kept and where.
    expect(card).to_contain_text("the computer that runs ComfyUI")
    assert violations(house, axe) == []
    house.button("Understood").click()
    expect(card).not_to_contain_text("the computer that runs ComfyUI")

    house.button(f"Undo: do not remember {SAID}").click()
    expect(card).to_contain_text("Taken back")
    assert send(house, "GET", "/memories")["memories"] == []
    house.reload()
    expect(kept_card(house)).to_contain_text("Taken back")
    house.new_chat()
    remember(house, provider)
    asked = house.articles.first

    house.new_chat()
    provider.queue("896 × 1120.")
    house.ask("How large are portraits that I always want?")
    house.idle()
    house.answer.get_by_text("Used 1 memory").click()
    house.button(SAID).click()
    expect(memories(house)).to_have_count(1)
    expect(memories(house).first).to_be_focused()
    memories(house).first.get_by_role("button", name="Said in a chat").click()
    expect(house.root.locator(".ca-message--found")).to_contain_text(f"{SAID}, please.")
    expect(asked).to_be_focused()
    # A memory of this chat is told as gone where it was used.
    open_page(house)
    choose(house, f"Options of the memory: {SAID}", "Delete")
    house.button("Back to the chat").click()
    expect(kept_card(house)).to_contain_text("Taken back")


def test_a_memory_without_the_users_words_is_asked_about(
    house: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("memory_write", {"text": "The user has 12 GB"})]), "Then not.")
    house.ask("Keep in mind what card I have")
    card = house.answer.get_by_role("group", name="Remember this?")
    expect(card).to_contain_text("Remembers in all chats: The user has 12 GB")
    expect(card.get_by_role("button", name="For this chat")).to_have_count(0)
    card.get_by_role("button", name="No", exact=True).click()
    expect(house.answer).to_contain_text("Then not.")
    house.idle()
    assert send(house, "GET", "/memories")["memories"] == []


def test_what_a_model_learned_after_the_answer_has_a_card_with_undo(
    house: Panel, provider: ProviderThread
) -> None:
    provider.queue("Fine.")
    house.ask("From now on I want all my portraits in 4:5")
    house.idle()
    quote = "I want all my portraits in 4:5"
    found = [{"text": quote, "quote": quote, "kind": "preference", "entities": []}]
    provider.queue(json.dumps({"memories": found}))
    chat = send(house, "GET", "/chats")["chats"][0]["id"]
    send(house, "POST", "/memories/extract", chat_id=chat)
    expect(kept_card(house)).to_contain_text(quote)
    house.button(f"Undo: do not remember {quote}").click()
    expect(kept_card(house)).to_contain_text("Taken back")
    assert send(house, "GET", "/memories")["memories"] == []


def test_nothing_of_a_temporary_chat_stays(house: Panel, provider: ProviderThread) -> None:
    before = send(house, "GET", "/chats")["chats"]
    house.button("Menu").click()
    house.page.get_by_role("menuitem", name="Temporary chat").click()
    expect(house.root.get_by_role("heading", name="Temporary chat")).to_be_visible()
    sign = house.root.get_by_role("note").filter(has_text="Nothing of this chat is saved")
    expect(sign).to_be_visible()
    call = tool_call("memory_write", {"text": SAID, "quote": SAID})
    provider.queue(Script([call]), "Only here.", "Still here.")
    house.ask(SAID)
    # What could not be kept is not asked about.
    expect(house.answer).to_contain_text("Only here.")
    house.idle()
    house.ask("And now?")
    expect(house.answer).to_contain_text("Still here.")
    house.idle()
    house.message.fill("half a question")
    assert send(house, "GET", "/chats")["chats"] == before
    assert send(house, "GET", "/memories")["memories"] == []
    kept = house.evaluate("() => JSON.stringify(Object.entries(localStorage))")
    assert SAID not in kept and "half a question" not in kept
    expect(sign).to_be_visible()
    house.new_chat()
    expect(sign).to_be_hidden()
    expect(house.root.get_by_text("The temporary chat is gone.")).to_be_visible()
    expect(house.message).to_have_value("")
    assert send(house, "GET", "/chats")["chats"] == before


def test_a_reload_ends_a_temporary_chat_on_the_server(
    house: Panel, provider: ProviderThread
) -> None:
    house.button("Menu").click()
    house.page.get_by_role("menuitem", name="Temporary chat").click()
    provider.queue("Yes.")
    with house.page.expect_request(re.compile("/chats/subscribe")) as seen:
        house.ask("Are you there?")
    house.idle()
    found = re.search(r"chat_id=([\w-]+)", seen.value.url)
    assert found is not None
    assert send(house, "GET", f"/chats/{found[1]}")["messages"]
    house.reload()
    expect(house.articles).to_have_count(0)
    expect(house.root.get_by_role("note")).to_be_hidden()
    assert "error" in send(house, "GET", f"/chats/{found[1]}")


def test_deleting_a_chat_asks_about_what_was_learned_from_it(
    house: Panel, provider: ProviderThread
) -> None:
    remember(house, provider)
    opened_list(house)
    house.root.locator(".ca-entry").first.hover()
    # Chats of other tests have the same name: the newest is the first.
    house.root.locator(".ca-entry").first.get_by_role("button", name=re.compile("Options")).click()
    house.page.get_by_role("menuitem", name="Delete", exact=True).click()
    toast = house.root.get_by_role("status").filter(has_text="was deleted")
    expect(toast).to_contain_text("1 memory from it stays.")
    assert len(send(house, "GET", "/memories")["memories"]) == 1
    house.button("Forget it, too").click()
    gone = house.root.get_by_role("status").filter(has_text="and 1 memory from it were deleted")
    expect(gone).to_be_visible()
    assert send(house, "GET", "/memories")["memories"] == []
    # The toast goes before the answer comes.
    with house.page.expect_response(re.compile(r"/chats/[^/]+/restore$")):
        house.button("Undo").click()
    expect(gone).to_be_hidden()
    assert [one["text"] for one in send(house, "GET", "/memories")["memories"]] == [SAID]
    # All my data counts it.
    house.button("Settings").click()
    house.button("Show all my data").click()
    expect(house.root.get_by_text("1 memory", exact=True)).to_be_visible()
