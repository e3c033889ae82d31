"""Keys: while a person works in the panel, none reaches ComfyUI, whose letters open its tabs."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, failure, tool_call

pytestmark = pytest.mark.e2e

SKILL = {"name": "n", "description": "d", "instructions": "i"}
WORD = "want"  # its letters open tabs of ComfyUI: w, a, n


def type_blind(panel: Panel) -> None:
    """Types without a look at where the focus is, as a person does after a click."""
    panel.drawn()
    panel.page.keyboard.type(WORD)
    expect(panel.message).to_have_value(WORD)
    panel.message.fill("")


def after_retry(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(failure(400, "no"), "Better.")
    panel.ask("Why?")
    panel.button("Retry").click()
    type_blind(panel)


def after_continue(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([{"text": "One"}], finish="length"), "Two.")
    panel.ask("Why?")
    panel.button("Continue").click()
    type_blind(panel)


def after_answer_again(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("One.", "Two.")
    panel.ask("Why?")
    panel.idle()
    panel.button("Answer again").click()
    type_blind(panel)


def after_a_decision(name: str) -> Callable[[Panel, ProviderThread], None]:
    def decide(panel: Panel, provider: ProviderThread) -> None:
        provider.queue(Script([tool_call("createUserSkill", SKILL)]), "Done.")
        panel.ask("Keep it")
        panel.button(name).click()
        type_blind(panel)
        expect(panel.answer).to_contain_text("Done.")

    return decide


def after_an_edit(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("One.", "Two.")
    panel.ask("Why?")
    panel.idle()
    panel.articles.first.hover()
    panel.button("Edit").click()
    panel.page.keyboard.press("Enter")
    type_blind(panel)


def after_a_click_between_controls(panel: Panel, provider: ProviderThread) -> None:
    panel.root.locator(".ca-dock").click(position={"x": 2, "y": 2})
    type_blind(panel)


def after_a_click_on_the_answer(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("One.")
    panel.ask("Why?")
    panel.idle()
    panel.answer.get_by_text("One.").click()
    type_blind(panel)


@pytest.mark.parametrize(
    "work",
    [
        after_retry,
        after_continue,
        after_answer_again,
        after_a_decision("Once"),
        after_a_decision("No"),
        after_an_edit,
        after_a_click_between_controls,
        after_a_click_on_the_answer,
    ],
    ids=lambda work: work.__qualname__.split(".")[0],
)
def test_what_is_typed_next_is_in_the_text_box(
    panel: Panel, provider: ProviderThread, work: Callable[[Panel, ProviderThread], None]
) -> None:
    work(panel, provider)
    panel.idle() if panel.articles.count() else panel.at_rest()


def test_after_an_undo_the_panel_keeps_the_keys(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("One.")
    panel.ask("A chat to delete and have back")
    panel.idle()
    panel.button("Chats").click()
    row = panel.root.locator(".ca-entry").first
    row.hover()
    row.get_by_role("button", name="Options of").click()
    panel.page.get_by_role("menuitem", name="Delete").click()
    panel.button("Undo").click()
    expect(panel.root.get_by_text("was deleted.")).to_be_hidden()
    panel.page.keyboard.type(WORD)
    expect(panel.root).to_be_visible()
    panel.button("Back to the chat").click()


def test_a_click_on_the_canvas_gives_comfyui_its_keys_back(panel: Panel) -> None:
    panel.message.click()
    panel.page.locator("#graph-canvas").click(position={"x": 1000, "y": 600})
    expect(panel.message).not_to_be_focused()
    panel.page.keyboard.press("w")
    expect(panel.root).to_have_count(0)
    panel.open()


SELECT_SAMPLER = """() => {
    app.canvas.deselectAll()
    app.canvas.select(app.rootGraph.nodes.find(({type}) => type === 'KSampler'))
}"""
MODES = "() => app.rootGraph.nodes.map(({mode}) => mode)"


@pytest.mark.parametrize("key", ["Control+b", "Control+m", "Meta+b"])
@pytest.mark.parametrize("place", ["Message", "Menu"])
def test_a_command_of_the_canvas_changes_no_node_from_the_panel(
    panel: Panel, place: str, key: str
) -> None:
    """Ctrl + B would bypass the selected node, Ctrl + M mute it."""
    panel.evaluate(SELECT_SAMPLER)
    before = panel.evaluate(MODES)
    panel.root.get_by_label(place, exact=True).focus()
    panel.page.keyboard.press(key)
    panel.drawn()
    assert panel.evaluate(MODES) == before
    panel.evaluate("() => app.canvas.deselectAll()")


def test_comfyui_weighs_no_word_in_the_text_box(panel: Panel) -> None:
    """In its own text fields Ctrl + arrow writes "(light:1.05)"."""
    panel.message.fill("soft light")
    panel.message.press("Control+ArrowUp")
    panel.message.press("Meta+ArrowUp")
    panel.drawn()
    expect(panel.message).to_have_value("soft light")
    panel.message.fill("")


def test_the_workflow_is_saved_from_the_panel(panel: Panel) -> None:
    """Otherwise the browser would save its page."""
    panel.message.focus()
    panel.page.keyboard.press("Control+s")
    dialog = panel.page.get_by_role("dialog").filter(has_text="Save")
    expect(dialog).to_be_visible()
    panel.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_escape_stops_the_answer(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([{"text": "Begun"}, {"wait": new_wait()}]))
    panel.ask("Count")
    expect(panel.answer).to_contain_text("Begun")
    panel.page.keyboard.press("Escape")
    expect(panel.answer).to_contain_text("Stopped")
    provider.client_left()


def test_an_arrow_recalls_what_was_asked(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("One.", "Two.")
    for question in ("First question", "Second question"):
        panel.ask(question)
        panel.idle()
    for key, shown in (
        ("ArrowUp", "Second question"),
        ("ArrowUp", "First question"),
        ("ArrowUp", "First question"),
        ("ArrowDown", "Second question"),
        ("ArrowDown", ""),
    ):
        panel.message.press(key)
        expect(panel.message).to_have_value(shown)
    panel.message.fill("mine")
    panel.message.press("ArrowUp")
    expect(panel.message).to_have_value("mine")
    panel.message.fill("")


@pytest.fixture
def opened(browser: Browser, url: str) -> Iterator[Panel]:
    with opened_panel(browser, url) as panel:
        yield panel


def test_one_key_opens_the_panel_goes_on_in_it_and_closes_it(opened: Panel) -> None:
    panel = opened
    expect(panel.message).to_be_focused()
    panel.page.keyboard.press("Alt+a")
    expect(panel.root).to_have_count(0)
    panel.page.keyboard.press("Alt+a")
    expect(panel.message).to_be_focused()
    panel.page.locator("#graph-canvas").click(position={"x": 1000, "y": 600})
    expect(panel.message).not_to_be_focused()
    panel.page.keyboard.press("Alt+a")
    expect(panel.message).to_be_focused()
