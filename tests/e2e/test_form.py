"""The rules of form (docs/panel.md): the panel looks like a part of ComfyUI, and stands still."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.e2e.test_accessibility import themed, violations
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e
__all__ = ["themed"]

SIDE = 16  # pixels from the panel's edge to text, cards and fields
TABLE = """| Sampler | Steps | Use it for |
|:---|---:|:---|
| `dpmpp_2m` | 25 | portraits with soft light and much detail in skin and hair |
| `euler_ancestral` | 30 | fast looks at a prompt before a longer run |
"""
ANSWER = f"""## Two samplers

Both are fine, **see** the table.

{TABLE}
```python
print("seed", 7)
```
"""
SKILL = {"name": "n", "description": "d", "instructions": "i"}
HEADER = """selector => {
    const header = document.querySelector(selector)
    const {height} = header.getBoundingClientRect()
    const text = document.createTreeWalker(header, NodeFilter.SHOW_TEXT,
        node => node.data.trim() ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP).nextNode()
    const range = document.createRange()
    range.selectNodeContents(text)
    const {fontSize, fontWeight} = getComputedStyle(text.parentElement)
    const {borderBottomWidth} = getComputedStyle(header)
    const left = range.getBoundingClientRect().left - header.getBoundingClientRect().left
    return {height, fontSize, fontWeight, borderBottomWidth, left}
}"""


@pytest.fixture
def narrow(panel: Panel) -> Iterator[Panel]:
    """The panel with the width of the smallest side bar."""
    panel.evaluate("() => document.querySelector('.ca-panel').style.width = '320px'")
    yield panel
    panel.evaluate("() => document.querySelector('.ca-panel').style.width = ''")


def answered(panel: Panel, provider: ProviderThread, answer: str = ANSWER) -> None:
    provider.queue(Script([{"text": "I look."}, tool_call("getWorkflowInfo")]), answer)
    panel.ask("Which sampler?")
    expect(panel.answer).to_contain_text(re.compile(r"\w+"))
    panel.idle()


def test_the_header_is_as_high_as_those_of_comfyui(panel: Panel) -> None:
    panel.page.get_by_role("button", name=re.compile("^Workflows")).first.click()
    host = panel.page.locator(".comfy-vue-side-bar-header > div").first
    expect(host).to_be_visible()
    theirs = panel.evaluate(HEADER, ".comfy-vue-side-bar-header > div")
    panel.open()
    assert panel.evaluate(HEADER, ".ca-header") == theirs


EDGES = """selectors => {
    const panel = document.querySelector('.ca-panel').getBoundingClientRect().left
    const edges = {}
    for (const selector of selectors) for (const one of document.querySelectorAll(selector)) {
        if (!one.checkVisibility()) continue
        const box = one.getBoundingClientRect()
        const style = getComputedStyle(one)
        const drawn = parseFloat(style.borderLeftWidth) > 0 || one.matches('.ca-button')
        edges[selector] = Math.round(box.left - panel + (drawn ? 0 : parseFloat(style.paddingLeft)))
    }
    return edges
}"""
CHAT_EDGES = (
    ".ca-header__title",
    ".ca-markdown",
    ".ca-step__mark",
    ".ca-code",
    ".ca-table",
    ".ca-card",
    ".ca-composer",
)
PAGE_EDGES = (
    ".ca-caption",
    ".ca-search__box",
    ".ca-row",
    ".ca-provider",
    ".ca-add",
    ".ca-page > .ca-quiet",
    ".ca-data",
    ".ca-data + .ca-quiet + .ca-actions",
)


RIGHT_EDGES = """selectors => {
    const panel = document.querySelector('.ca-panel').getBoundingClientRect().right
    return selectors.map(selector =>
        Math.round(panel - document.querySelector(selector).getBoundingClientRect().right))
}"""


def test_the_room_of_a_scrollbar_is_taken_from_the_side(
    panel: Panel, provider: ProviderThread
) -> None:
    answered(panel, provider)
    edges = panel.evaluate(RIGHT_EDGES, [".ca-bubble", ".ca-code", ".ca-composer"])
    assert edges == [SIDE, SIDE, SIDE]


def test_texts_cards_and_fields_have_one_left_edge(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(
        Script([{"text": ANSWER}, tool_call("getWorkflowInfo")]),
        Script(
            [tool_call("createUserSkill", {"name": "n", "description": "d", "instructions": "i"})]
        ),
    )
    panel.ask("Help me")
    expect(panel.answer.get_by_role("group", name="Save this skill?")).to_be_visible()
    panel.idle()
    edges = panel.evaluate(EDGES, list(CHAT_EDGES))
    assert edges == dict.fromkeys(CHAT_EDGES, SIDE)
    seen: dict[str, int] = {}
    for page in ("Chats", "Settings"):
        panel.button(page).click()
        expect(panel.root.get_by_role("heading", name=page)).to_be_visible()
        expect(panel.root.locator(":is(.ca-row, .ca-provider):visible").first).to_be_visible()
        seen |= panel.evaluate(EDGES, list(PAGE_EDGES))
        if page == "Settings":
            panel.button("Show all my data").click()
            expect(panel.root.locator(".ca-data dt").first).to_be_visible()
            seen |= panel.evaluate(EDGES, list(PAGE_EDGES))
            panel.page.keyboard.press("Escape")
        panel.button("Back to the chat").click()
    assert seen == dict.fromkeys(PAGE_EDGES, SIDE)


SCROLLERS = """() => [...document.querySelectorAll('.ca-panel *')]
    .filter(one => one.checkVisibility())
    .filter(one => /auto|scroll/.test(
        getComputedStyle(one).overflowY + getComputedStyle(one).overflowX))
    .map(one => ({is: one.className, color: getComputedStyle(one).scrollbarColor,
        width: getComputedStyle(one).scrollbarWidth,
        gutter: getComputedStyle(one).scrollbarGutter}))"""
PAGES = ("ca-log", "ca-page", "ca-welcome")


def test_scrollbars_are_thin_and_without_a_track(panel: Panel, provider: ProviderThread) -> None:
    answered(panel, provider)
    found = panel.evaluate(SCROLLERS)
    panel.button("Settings").click()
    expect(panel.root.locator(".ca-provider").first).to_be_visible()
    found += panel.evaluate(SCROLLERS)
    panel.button("Back to the chat").click()
    assert found
    for one in found:
        assert one["width"] == "thin", one
        assert one["color"].endswith("rgba(0, 0, 0, 0)"), one
        if set(one["is"].split()) & set(PAGES):
            assert one["gutter"] == "stable", one


GAPS = """() => {
    const bubbles = [...document.querySelectorAll('.ca-panel .ca-bubble')]
    const parts = [...document.querySelectorAll('.ca-panel .ca-parts')]
    const top = one => one.getBoundingClientRect().top
    const bottom = one => one.getBoundingClientRect().bottom
    return {before: Math.round(top(bubbles[1]) - bottom(parts[0])),
        after: Math.round(top(parts[1]) - bottom(bubbles[1]))}
}"""


def test_a_turn_begins_after_a_larger_gap_than_its_answer(
    panel: Panel, provider: ProviderThread
) -> None:
    for question in ("One?", "Two?"):
        provider.queue("Yes.")
        panel.ask(question)
        panel.idle()
    gaps = panel.evaluate(GAPS)
    assert gaps["before"] == 32
    assert 12 <= gaps["after"] <= 16


ERROR_GAP = """() => document.querySelector('.ca-panel .ca-card--error').getBoundingClientRect().top
    - document.querySelector('.ca-panel .ca-bubble').getBoundingClientRect().bottom"""


def test_an_error_without_an_answer_stands_where_the_answer_would(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script(status=400, body={"error": {"message": "no"}}))
    panel.ask("One?")
    expect(panel.button("Retry")).to_be_visible()
    panel.idle()
    assert panel.evaluate(ERROR_GAP) == 14


TABLE_LOOK = """() => {
    const table = document.querySelector('.ca-panel .ca-table table')
    const cells = [...table.querySelectorAll('td')]
    return {height: table.getBoundingClientRect().height,
        widest: Math.max(...cells.map(cell => cell.getBoundingClientRect().width)),
        align: cells.slice(0, 3).map(cell => getComputedStyle(cell).textAlign)}
}"""


def test_a_table_is_read_in_a_narrow_side_bar(narrow: Panel, provider: ProviderThread) -> None:
    answered(narrow, provider)
    look = narrow.evaluate(TABLE_LOOK)
    # Three lines for the longest cell, in rows of at most 24 characters' width.
    assert look["height"] < 200
    assert look["widest"] < 240
    assert look["align"][1] in ("right", "end", "-webkit-right")
    assert look["align"][0] in ("left", "start", "-webkit-left")


# Words on the screen: the row of an answer's buttons goes down with the answer's end, unseen.
WATCH_SHIFTS = """() => {
    const isRead = text => text.data.trim()
        && text.parentElement.checkVisibility({checkOpacity: true})
    const hasWords = node => {
        const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT)
        for (let text = node.data ? node : texts.nextNode(); text; text = texts.nextNode())
            if (isRead(text)) return true
        return false
    }
    window.shifts = []
    window.shiftWatch?.disconnect()
    window.shiftWatch = new PerformanceObserver(list => {
        for (const entry of list.getEntries())
            for (const {node, previousRect, currentRect} of entry.sources)
                if (node?.parentElement?.closest('.ca-panel .ca-log') && hasWords(node))
                    window.shifts.push(`${node.nodeName} ${node.className} `
                        + `${Math.round(previousRect.y)} to ${Math.round(currentRect.y)}`)
    })
    window.shiftWatch.observe({type: 'layout-shift', buffered: false})
}"""


@pytest.mark.parametrize(("before", "scrolls"), [("Yes.", False), (ANSWER * 2, True)])
def test_nothing_shifts_when_a_stream_begins(
    panel: Panel, provider: ProviderThread, before: str, scrolls: bool
) -> None:
    answered(panel, provider, before)
    first, rest = new_wait(), new_wait()
    begins = [{"wait": first}, {"text": "It begins "}, {"wait": rest}, {"text": "and ends."}]
    provider.queue(Script(begins))
    panel.ask("And now?")
    expect(panel.articles).to_have_count(4)
    panel.scroll_end()
    assert panel.log.evaluate("log => log.scrollHeight > log.clientHeight") == scrolls
    panel.evaluate(WATCH_SHIFTS)
    provider.release(first)
    expect(panel.answer).to_contain_text("It begins")
    provider.release(rest)
    panel.idle()
    panel.scroll_end()
    assert panel.evaluate("() => window.shifts") == []


LEVELS = """() => [...document.querySelectorAll('.ca-panel :is(h1, h2, h3, h4, h5, h6)')]
    .filter(one => one.checkVisibility())
    .map(one => [one.localName, Boolean(one.closest('.ca-markdown'))])"""


def test_a_quote_after_a_list_has_the_gap_of_all_blocks(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Two:\n\n1. one\n2. two\n\n> A quote.")
    panel.ask("Count")
    panel.idle()
    gap = """answer => answer.querySelector('blockquote').getBoundingClientRect().top
        - answer.querySelector('ol').getBoundingClientRect().bottom"""
    assert panel.answer.evaluate(gap) == 8


def test_the_headings_of_an_answer_stand_below_those_of_the_panel(
    panel: Panel, provider: ProviderThread
) -> None:
    answered(panel, provider, "# One\n\n## Two\n\n### Three")
    levels: list[list[Any]] = panel.evaluate(LEVELS)
    assert [name for name, inside in levels if not inside] == ["h2"]
    assert [name for name, inside in levels if inside] == ["h3", "h4", "h5"]


TAB_STOPS = """() => [...document.querySelectorAll('.ca-panel .ca-message')].map(message =>
    [...message.querySelectorAll('button, a[href], [tabindex="0"]')]
        .filter(one => one.checkVisibility() && one.tabIndex >= 0 && !one.disabled).length)"""


def test_the_buttons_of_a_message_are_one_tab_stop(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("Yes.")
    panel.ask("One?")
    panel.idle()
    assert panel.evaluate(TAB_STOPS) == [1, 1]
    tools = panel.answer.get_by_role("toolbar")
    tools.get_by_role("button", name="Copy").focus()
    panel.page.keyboard.press("ArrowRight")
    expect(tools.get_by_role("button", name="Answer again")).to_be_focused()
    panel.page.keyboard.press("End")
    expect(tools.get_by_role("button", name="Branch from here")).to_be_focused()
    assert panel.evaluate(TAB_STOPS) == [1, 1]


def test_what_goes_on_is_the_accent_and_can_be_read(
    themed: Panel, provider: ProviderThread, axe: str
) -> None:
    """*Send now*, and without a message that waits *Continue*, in both themes."""
    panel = themed
    rest = new_wait()
    provider.queue(Script([{"text": "It begins "}, {"wait": rest}]))
    panel.ask("Tell me")
    expect(panel.answer).to_contain_text("It begins")
    panel.ask("And then?")
    expect(panel.root.get_by_text("And then?")).to_be_visible()
    panel.stop.click()
    accent = re.compile("ca-button--primary")
    expect(panel.button("Send now")).to_have_class(accent)
    expect(panel.button("Continue")).not_to_have_class(accent)
    provider.release(rest)
    assert violations(panel, axe) == []
    panel.button(re.compile("^Take back")).click()
    panel.message.fill("")
    expect(panel.button("Continue")).to_have_class(accent)
    assert violations(panel, axe) == []


def test_the_text_has_the_size_that_comfyui_is_set_to(panel: Panel) -> None:
    size = "() => getComputedStyle(document.querySelector('.ca-composer__text')).fontSize"
    setting = """size => window.app.extensionManager.setting.set(
        'Comfy.TextareaWidget.FontSize', size)"""
    assert panel.evaluate(size) == "14px"
    panel.evaluate(setting, 14)
    panel.page.wait_for_function(f"() => ({size})() === '18px'")
    panel.evaluate(setting, 10)
    panel.page.wait_for_function(f"() => ({size})() === '14px'")
