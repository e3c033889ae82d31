"""The composer: commands and skills by keyboard, the context meter, and the order of the Tab
key."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect
from plugin.tests.e2e.panel import Panel, texts
from plugin.tests.e2e.provider import ProviderThread

pytestmark = pytest.mark.e2e

ACTIVE = """() => {
    const box = document.activeElement
    return document.getElementById(box.getAttribute('aria-activedescendant'))?.textContent ?? ''
}"""


def test_a_slash_lists_commands_and_a_command_runs_by_keyboard_alone(panel: Panel) -> None:
    panel.message.press("/")
    expect(panel.options.first).to_be_visible()
    listed = texts(panel.options)
    assert any(row.startswith("/new") for row in listed)
    panel.message.press_sequentially("he")
    expect(panel.options).to_have_count(1)
    assert "/help" in panel.evaluate(ACTIVE)
    panel.message.press("Enter")
    expect(panel.answer).to_contain_text("Shift + Enter")
    expect(panel.message).to_be_focused()


def test_arrows_choose_and_escape_closes_the_list(panel: Panel) -> None:
    panel.message.press("/")
    expect(panel.options.first).to_be_visible()
    first = panel.evaluate(ACTIVE)
    panel.message.press("ArrowDown")
    assert panel.evaluate(ACTIVE) != first
    panel.message.press("ArrowUp")
    assert panel.evaluate(ACTIVE) == first
    panel.message.press("Escape")
    expect(panel.options).to_have_count(0)
    expect(panel.message).to_be_focused()
    panel.message.fill("")


def test_a_skill_is_chosen_by_keyboard_and_reaches_the_model(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Flux it is.")
    panel.message.press_sequentially("/flux")
    expect(panel.options).to_have_count(1)
    panel.message.press("Tab")
    expect(panel.message).to_have_value("/skill flux")
    panel.message.press("Shift+Enter")
    panel.message.press_sequentially("which sampler?")
    panel.message.press("Enter")
    expect(panel.answer).to_contain_text("Flux it is.")
    asked = str(provider.last_messages[-1]["content"])
    assert "which sampler?" in asked
    assert "Flux" in asked


def test_skills_that_come_late_complete_what_was_typed(panel: Panel) -> None:
    late = "**/api/system-context/skills"
    held: list[Route] = []
    panel.page.route(late, lambda route: held.append(route))
    panel.reload()
    panel.message.press_sequentially("/flux")
    while not held:
        panel.drawn()
    expect(panel.options).to_have_count(0)
    held[0].continue_()
    expect(panel.options).to_have_count(1)
    panel.page.unroute(late)
    panel.message.fill("")


def test_a_skill_of_the_page_stands_before_what_was_typed(panel: Panel) -> None:
    panel.message.fill("which sampler?")
    for skill, handle in (("Flux", "flux"), ("SDXL", "sdxl")):
        panel.button("Menu").click()
        panel.page.get_by_role("menuitem", name="Skills").click()
        panel.button(re.compile(f"^{skill}")).first.click()
        expect(panel.message).to_have_value(f"/skill {handle} which sampler?")
    panel.message.fill("")


def test_a_list_of_models_that_comes_late_does_not_disturb_typing(panel: Panel) -> None:
    late = "**/api/assistant/settings"
    held: list[Route] = []
    panel.page.route(late, lambda route: held.append(route))
    models = panel.page.get_by_role("dialog", name="Choose model")
    choose = panel.button(re.compile("Choose another$"))
    begins: tuple[Callable[[], None], ...] = (choose.click, lambda: panel.ask("/model"))
    try:
        for begin in begins:
            begin()
            while not held:
                panel.drawn()
            panel.message.press_sequentially("Hello")
            with panel.page.expect_response(late):
                held.pop().continue_()
            panel.drawn()
            expect(models).to_have_count(0)
            expect(panel.message).to_be_focused()
            panel.message.fill("")
    finally:
        panel.page.unroute(late)
    choose.click()
    expect(models).to_be_focused()
    panel.page.keyboard.press("Escape")


def test_the_chosen_skill_is_named_with_the_question(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Fine.")
    panel.ask("/skill 30_model_flux")
    panel.idle()
    panel.reload()
    expect(panel.articles.first).to_contain_text("Skill: ")


def test_what_looks_like_a_command_but_is_none_goes_to_the_model(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("That is a path.")
    panel.ask("/home/me/models is where they are")
    expect(panel.answer).to_contain_text("That is a path.")
    assert "/home/me/models" in str(provider.last_messages[-1]["content"])


def test_the_meter_opens_the_report_in_words(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("Short.")
    panel.ask("A question")
    panel.idle()
    meter = panel.root.get_by_role("button", name="Show what the model sees")
    meter.click()
    report = panel.page.get_by_role("dialog", name="What the model sees")
    for words in ("Rules and skills", "Tools", "Your message", "Everything in this chat was sent."):
        expect(report).to_contain_text(words)
    expect(report).to_contain_text("28,672 tokens")
    panel.page.keyboard.press("Escape")
    expect(report).to_be_hidden()
    expect(meter).to_be_focused()


# The control with the focus, and whether the focus changes the look of the control or of an element
# around it.
FOCUS = """() => {
    const at = document.activeElement
    const look = () => {
        let seen = ''
        for (let box = at; box && !box.matches('.ca-panel'); box = box.parentElement) {
            const {outline, boxShadow, borderColor} = getComputedStyle(box)
            seen += [outline, boxShadow, borderColor].join()
        }
        return seen
    }
    const focused = look()
    at.blur()
    const blurred = look()
    at.focus({focusVisible: true})
    return {
        name: at.getAttribute('aria-label') ?? at.textContent.trim(),
        inside: at.closest('.ca-panel') !== null,
        visible: focused !== blurred,
    }
}"""


def test_every_control_is_reached_by_tab_in_reading_order_and_shows_it(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("An answer.")
    panel.ask("A question")
    panel.idle()
    panel.button("New chat").focus()
    panel.page.keyboard.press("Shift+Tab")
    panel.page.keyboard.press("Tab")
    walked: list[str] = []
    while True:
        place = panel.evaluate(FOCUS)
        if not place["inside"]:
            break
        assert place["visible"], f"{place['name']} does not show its focus"
        walked.append(place["name"])
        assert len(walked) < 30, walked
        panel.page.keyboard.press("Tab")
    wanted = ["New chat", "Menu", "Chats", "Settings", "Close", "Conversation"]
    # The toolbar of a message is one stop: the arrow keys go from button to button.
    wanted += ["Copy", "Copy"]
    wanted += ["Message", "Attach images or text files"]
    assert walked[: len(wanted)] == wanted
    assert walked[-1] == "Send"
