"""The panel in side bars of different widths: what is cut there, and what stands in one column."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

WIDTHS = (320, 420, 700)
SET_WIDTH = "width => { document.querySelector('.ca-panel').style.width = width }"
IS_WHOLE = "one => one.scrollWidth <= one.clientWidth"
SIDEWAYS = "page => page.scrollWidth - page.clientWidth"
TWO_NODES = """() => ['width', 'sampler_name'].map(name => String(app.rootGraph.nodes.find(node =>
    node.widgets?.some(widget => widget.name === name)).id))"""
LEFT_EDGES = """list => [...new Set([...list.querySelectorAll('.ca-change__name')]
    .map(name => Math.round(name.getBoundingClientRect().left)))]"""


@pytest.fixture
def sized(panel: Panel) -> Iterator[Panel]:
    """The panel with the width of the smallest side bar."""
    panel.evaluate(SET_WIDTH, "320px")
    yield panel
    panel.evaluate(SET_WIDTH, "")


def title(panel: Panel) -> Locator:
    return panel.root.locator(".ca-header__title")


def answered(panel: Panel, provider: ProviderThread, question: str) -> None:
    provider.queue("Yes.")
    panel.ask(question)
    panel.idle()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways(sized: Panel, provider: ProviderThread, width: int) -> None:
    sized.evaluate(SET_WIDTH, f"{width}px")
    answered(sized, provider, "One?")
    sized.button("Chats").click()
    expect(sized.root.locator(".ca-entry").first).to_be_visible()
    assert sized.root.locator(".ca-page:visible").evaluate(SIDEWAYS) == 0
    for page in ("Skills", "Memory"):
        sized.button("Menu").click()
        sized.page.get_by_role("menuitem", name=page, exact=True).click()
        expect(sized.root.get_by_role("heading", name=page, exact=True)).to_be_visible()
        assert sized.root.locator(".ca-page:visible").evaluate(SIDEWAYS) == 0, page
    sized.button("Back to the chat").click()


def test_the_title_of_a_chat_is_read_in_full_where_it_is_cut(
    sized: Panel, provider: ProviderThread
) -> None:
    question = "Which sampler keeps the skin of portraits natural"
    answered(sized, provider, question)
    expect(title(sized)).to_have_text(question)
    expect(title(sized)).to_have_attribute("title", question)


def test_the_titles_of_the_pages_are_not_cut(sized: Panel, provider: ProviderThread) -> None:
    answered(sized, provider, "One?")
    sized.button("Settings").click()
    sized.button("Show all my data").click()
    expect(title(sized)).to_have_text("All my data")
    assert title(sized).evaluate(IS_WHOLE)
    sized.button("Chats").click()
    sized.button(re.compile("^Options of")).first.click()
    sized.page.get_by_role("menuitem", name="Share for help").click()
    expect(title(sized)).to_have_text("Share for help")
    assert title(sized).evaluate(IS_WHOLE)
    sized.button("Back to the chats").click()
    sized.button("Back to the chat").click()


def test_the_short_name_of_a_model_is_not_cut_beside_the_meter(
    sized: Panel, provider: ProviderThread
) -> None:
    answered(sized, provider, "One?")
    expect(sized.button(re.compile("^Context:"))).to_be_visible()
    model = sized.button(re.compile("^Model: scripted"))
    expect(model).to_have_text("scripted")
    assert model.evaluate(IS_WHOLE)


def test_the_names_of_what_changed_stand_in_one_column(
    sized: Panel, provider: ProviderThread
) -> None:
    size, sampler = sized.evaluate(TWO_NODES)
    operations = [
        {"op": "set", "node": size, "values": {"width": 1280, "height": 1280}},
        {"op": "set", "node": sampler, "values": {"sampler_name": "euler", "steps": 12}},
    ]
    provider.queue(Script([tool_call("editWorkflow", {"operations": operations})]), "Done.")
    sized.ask("Larger, with another sampler")
    expect(sized.answer).to_contain_text("Done.")
    sized.idle()
    changes = sized.answer.locator(".ca-changes")
    expect(changes.locator(".ca-change__name")).to_have_count(4)
    for width in WIDTHS:
        sized.evaluate(SET_WIDTH, f"{width}px")
        assert len(changes.evaluate(LEFT_EDGES)) == 1, width
    sized.button("Undo this turn").click()
    expect(sized.button("Redo")).to_be_enabled()


CHIP_ENDS = """selector => {
    const chip = document.querySelector(`.ca-panel ${selector} .ca-file`).getBoundingClientRect()
    const box = document.querySelector(`.ca-panel ${selector}`).getBoundingClientRect()
    return box.right - chip.right
}"""


def test_the_chip_of_a_file_ends_within_its_box(sized: Panel, provider: ProviderThread) -> None:
    name = f"notes_about_{'prompts_' * 8}.txt"
    with sized.page.expect_file_chooser() as chosen:
        sized.button("Attach images or text files").click()
    chosen.value.set_files({"name": name, "mimeType": "text/plain", "buffer": b"soft light " * 400})
    expect(sized.root.locator(".ca-composer .ca-file__size")).to_have_text("about 1,100 tokens")
    assert sized.evaluate(CHIP_ENDS, ".ca-composer") > 0
    answered(sized, provider, "Read this")
    assert sized.evaluate(CHIP_ENDS, ".ca-bubble") > 0


CUT_ROWS = """() => [...document.querySelectorAll('.ca-slash__text')]
    .filter(row => row.scrollWidth > row.clientWidth).map(row => row.textContent)"""


def test_what_a_command_does_is_read_in_full(sized: Panel) -> None:
    sized.message.press("/")
    expect(sized.options.first).to_be_visible()
    assert sized.evaluate(CUT_ROWS) == []
    sized.message.press("Escape")
    sized.message.fill("")
