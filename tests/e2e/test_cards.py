"""Cards in an answer, the mode of approval, and texts that go into a prompt node."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect
from plugin.tests.e2e.panel import Panel, texts
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.e2e.test_accessibility import use_theme, violations
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

SKILL = {"name": "soft light", "description": "Soft light.", "instructions": "Use soft light."}
OPTIONS = [
    {"label": "Natural skin", "description": "4x UltraSharp at half strength"},
    {"label": "Crisp edges"},
    {"label": "As it is"},
]
QUESTION = "Which look should the upscale keep?"
SELECT = """(type) => {
    const found = app.rootGraph.nodes.filter((node) => node.type === type)
    app.canvas.deselectAll()
    if (type) app.canvas.select(found[0])
    document.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}))
    return found.length
}"""
PROMPT_TEXT = """() => app.rootGraph.nodes.find((node) => node.type === 'CLIPTextEncode')
    .widgets.find((widget) => widget.name === 'text').value"""
UNDO = "() => app.extensionManager.workflow.activeWorkflow.changeTracker.undo()"
PARAMS = """async () => {
    const [{id}] = (await (await fetch('/api/chats?limit=1')).json()).chats
    return (await (await fetch(`/api/chats/${id}`)).json()).params
}"""


def answers_seen(provider: ProviderThread) -> str:
    """The result of the last tool call, as the model read it."""
    return str([one["content"] for one in provider.last_messages if one["role"] == "tool"][-1])


def ask_to_save(panel: Panel, provider: ProviderThread, after: str) -> Locator:
    provider.queue(Script([tool_call("createUserSkill", SKILL)]), after)
    panel.ask("Remember the light")
    card = panel.answer.get_by_role("group", name="Save this skill?")
    expect(card.get_by_role("button", name="Once")).to_be_enabled()
    return card


def ask_user(panel: Panel, provider: ProviderThread, **more: Any) -> Locator:
    arguments = {"question": QUESTION, "options": OPTIONS, **more}
    provider.queue(Script([tool_call("askUser", arguments)]), "Good.")
    panel.ask("Upscale it")
    card = panel.answer.get_by_role("group", name="The assistant asks")
    expect(card).to_contain_text(QUESTION)
    panel.at_rest()
    return card


NEW = re.compile("ca-card--new")
TYPE_WHEN_IT_COMES = """() => document.addEventListener('focusin', function press({target}) {
    if (!target.matches('.ca-card--question')) return
    document.removeEventListener('focusin', press)
    target.dispatchEvent(new KeyboardEvent('keydown', {key: '2', bubbles: true, cancelable: true}))
})"""


def done(panel: Panel, words: str = "Good.") -> None:
    expect(panel.answer).to_contain_text(words)
    panel.idle()


def test_a_decision_says_in_one_sentence_what_will_happen(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_to_save(panel, provider, "Then not.")
    expect(card).to_contain_text('Saves the skill "soft light" among your skills, for all chats.')
    assert texts(card.get_by_role("toolbar").get_by_role("button")) == ["Once", "No"]
    card.get_by_role("button", name="No", exact=True).click()
    done(panel, "Then not.")


def test_what_to_do_instead_reaches_the_model(panel: Panel, provider: ProviderThread) -> None:
    card = ask_to_save(panel, provider, "Warm light it is.")
    box = card.get_by_placeholder("No, instead …")
    box.fill("call it warm light")
    box.press("Enter")
    done(panel, "Warm light it is.")
    assert "call it warm light" in answers_seen(provider)
    expect(panel.answer.get_by_text("declined", exact=True)).to_be_visible()


def test_what_to_do_instead_goes_back_to_its_own_chat(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_to_save(panel, provider, "Then not.")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "reject_tools" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    panel.page.route("**/commands", hold)
    try:
        box = card.get_by_placeholder("No, instead …")
        box.fill("call it warm light")
        box.press("Enter")
        while not held:
            panel.drawn()
        panel.new_chat()
        with panel.page.expect_event("requestfailed"):
            held[0].abort()
        panel.drawn()
        expect(panel.message).to_have_value("")
    finally:
        panel.page.unroute("**/commands")
    panel.button("Chats").click()
    panel.button(re.compile("^Remember the light")).first.click()
    expect(panel.message).to_have_value("call it warm light")
    panel.message.fill("")
    card.get_by_role("button", name="No", exact=True).click()
    done(panel, "Then not.")


def test_no_key_decides_by_accident(panel: Panel, provider: ProviderThread) -> None:
    """The question gets the focus of the empty text box; its buttons are one key further."""
    card = ask_to_save(panel, provider, "Saved.")
    expect(card).to_be_focused()
    panel.page.keyboard.press("Enter")
    panel.page.keyboard.press("Space")
    expect(card.get_by_role("button", name="Once")).to_be_visible()
    panel.page.keyboard.press("ArrowDown")
    expect(card.get_by_role("button", name="Once")).to_be_focused()
    panel.page.keyboard.press("ArrowRight")
    expect(card.get_by_role("button", name="No", exact=True)).to_be_focused()
    panel.page.keyboard.press("Enter")
    done(panel, "Saved.")
    expect(panel.message).to_be_focused()


def test_a_question_does_not_take_the_focus_of_a_text_that_is_typed(
    panel: Panel, provider: ProviderThread
) -> None:
    held = new_wait()
    provider.queue(Script([{"wait": held}, tool_call("createUserSkill", SKILL)]), "Then not.")
    panel.ask("Remember the light")
    panel.message.fill("half a tho")
    provider.release(held)
    card = panel.answer.get_by_role("group", name="Save this skill?")
    expect(card.get_by_role("button", name="No", exact=True)).to_be_enabled()
    expect(panel.message).to_be_focused()
    panel.message.fill("")
    card.get_by_role("button", name="No", exact=True).click()
    done(panel, "Then not.")


def test_a_question_is_answered_by_a_click(panel: Panel, provider: ProviderThread) -> None:
    card = ask_user(panel, provider)
    card.get_by_role("radio", name="Crisp edges").click()
    done(panel)
    assert "Crisp edges" in answers_seen(provider)
    expect(card).to_contain_text("Crisp edges")
    expect(card).not_to_contain_text("Natural skin")


def test_a_digit_that_is_typed_when_a_question_comes_does_not_answer_it(
    panel: Panel, provider: ProviderThread
) -> None:
    """The person has begun "2 times larger" in the text box."""
    panel.evaluate(TYPE_WHEN_IT_COMES)
    card = ask_user(panel, provider)
    expect(panel.message).to_be_focused()
    expect(card.get_by_role("radio")).to_have_count(3)
    card.get_by_role("radio", name="Crisp edges").click()
    done(panel)


def test_a_question_is_answered_by_keys(panel: Panel, provider: ProviderThread) -> None:
    card = ask_user(panel, provider)
    expect(card).to_be_focused()
    expect(card).not_to_have_class(NEW)
    panel.page.keyboard.press("3")
    done(panel)
    assert "As it is" in answers_seen(provider)
    card = ask_user(panel, provider)
    expect(card).to_be_focused()
    panel.page.keyboard.press("ArrowDown")
    panel.page.keyboard.press("ArrowDown")
    panel.page.keyboard.press("Enter")
    done(panel)
    assert "Crisp edges" in answers_seen(provider)


def test_several_options_and_a_text_are_sent_together(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_user(panel, provider, multiple=True)
    expect(card).to_be_focused()
    expect(card).not_to_have_class(NEW)
    panel.page.keyboard.press("1")
    panel.page.keyboard.press("3")
    expect(card.get_by_role("checkbox", checked=True)).to_have_count(2)
    card.get_by_placeholder("Something else …").fill("and keep the grain")
    card.get_by_role("button", name="Answer").click()
    done(panel)
    seen = answers_seen(provider)
    assert all(one in seen for one in ("Natural skin", "As it is", "and keep the grain"))
    expect(card).to_contain_text("and keep the grain")


def test_only_the_offered_options_where_nothing_else_is_allowed(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_user(panel, provider, allow_other=False)
    expect(card.get_by_role("textbox")).to_have_count(0)
    card.get_by_role("radio").first.click()
    done(panel)


def test_a_message_answers_a_question(panel: Panel, provider: ProviderThread) -> None:
    card = ask_user(panel, provider)
    panel.ask("Something painterly")
    done(panel)
    assert "Something painterly" in answers_seen(provider)
    expect(card).to_contain_text("Something painterly")
    expect(panel.articles).to_have_count(2)


def test_an_answered_question_and_an_open_one_outlive_a_reload(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_user(panel, provider)
    panel.reload()
    card.get_by_role("radio", name="Natural skin").click()
    done(panel)
    panel.reload()
    expect(card).to_contain_text("Natural skin")
    expect(card.get_by_role("radio")).to_have_count(0)


def plan(*states: str) -> Mapping[str, Any]:
    steps = zip(("Read the workflow", "Swap the sampler", "Run it"), states, strict=True)
    return tool_call("updatePlan", {"steps": [{"text": t, "state": s} for t, s in steps]})


def test_a_plan_is_one_live_card_at_the_top(panel: Panel, provider: ProviderThread) -> None:
    held = new_wait()
    provider.queue(
        Script([plan("doing", "open", "open")]),
        Script([{"text": "I look."}, tool_call("getWorkflowInfo")]),
        Script([plan("done", "doing", "dropped")]),
        Script([{"wait": held}, plan("done", "done", "dropped")]),
        "All done.",
    )
    panel.ask("Do it all")
    card = panel.answer.locator(".ca-plan")
    expect(card).to_contain_text("1 of 2")
    expect(card.locator("[aria-current=step]")).to_contain_text("Swap the sampler")
    provider.release(held)
    done(panel, "All done.")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("2 of 2")
    expect(panel.answer).not_to_contain_text("Updated the plan")
    said = panel.answer.inner_text()
    assert said.index("Plan") < said.index("I look.") < said.index("All done.")


def test_a_prompt_goes_into_the_selected_node_as_one_undo_step(
    panel: Panel, provider: ProviderThread
) -> None:
    said = "Try this:\n\n```text\na fisherman, soft window light\n```\n\nIt is soft."
    provider.queue(Script([{"reasoning": "A **portrait**."}, {"text": said}]))
    panel.ask("Write a prompt")
    panel.idle()
    panel.answer.get_by_text("Thought").click()
    expect(panel.answer.get_by_text("portrait")).to_be_visible()
    before = panel.evaluate(PROMPT_TEXT)
    put = panel.answer.get_by_role("button", name="put this text into the selected prompt node")
    panel.evaluate(SELECT, "")
    expect(put.first).to_have_attribute("aria-disabled", "true")
    expect(put.first).to_have_attribute(
        "title", "Select a node with a text box on the canvas first"
    )
    panel.evaluate(SELECT, "KSampler")
    expect(put.first).to_have_attribute("title", "“KSampler” has no text box for a prompt")
    put.first.click(force=True)  # Playwright waits for what is disabled.
    assert panel.evaluate(PROMPT_TEXT) == before

    panel.evaluate(SELECT, "CLIPTextEncode")
    expect(put.first).to_have_attribute("aria-disabled", "false")
    put.first.click()
    expect(panel.answer).to_contain_text("Put in")
    assert panel.evaluate(PROMPT_TEXT) == "a fisherman, soft window light"
    panel.evaluate(UNDO)
    assert panel.evaluate(PROMPT_TEXT) == before

    # The whole answer, as it is read.
    panel.evaluate(SELECT, "CLIPTextEncode")
    panel.answer.hover()
    put.last.click()
    whole = "Try this:\n\na fisherman, soft window light\n\nIt is soft."
    assert panel.evaluate(PROMPT_TEXT) == whole
    panel.evaluate(UNDO)
    assert panel.evaluate(PROMPT_TEXT) == before


def test_what_asks_first_is_chosen_beside_the_model(panel: Panel, provider: ProviderThread) -> None:
    mode = panel.root.get_by_role("button", name="What asks you first")
    expect(mode).to_have_accessible_name("What asks you first: Runs")
    mode.click()
    dialog = panel.page.get_by_role("dialog", name="What asks you first")
    dialog.get_by_role("button", name="Changes and runs").click()
    expect(mode).to_contain_text("asks")
    provider.queue("Yes.")
    panel.ask("A chat that asks")
    panel.idle()
    assert panel.evaluate(PARAMS)["approval"] == "ask"

    mode.click()
    dialog.get_by_role("button", name="Runs beyond a budget").click()
    runs = dialog.get_by_role("spinbutton", name="Runs")
    expect(runs).to_be_focused()
    runs.fill("0")
    runs.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    runs.fill("5")
    dialog.get_by_role("spinbutton", name="Minutes").fill("20")
    dialog.get_by_role("button", name="Allow").click()
    expect(dialog).to_be_hidden()
    expect(mode).to_have_accessible_name(re.compile("budget \\(5 runs left, until"))
    assert panel.evaluate(PARAMS)["budget"] == {"runs": 5, "minutes": 20}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_cards_have_no_serious_fault(
    panel: Panel, provider: ProviderThread, axe: str, theme: str
) -> None:
    use_theme(panel, theme)
    try:
        provider.queue(
            Script([plan("done", "doing", "open")]),
            Script([tool_call("createUserSkill", SKILL)]),
            Script([tool_call("askUser", {"question": QUESTION, "options": OPTIONS})]),
            "```text\na prompt\n```",
        )
        panel.ask("Do it all")
        expect(panel.button("Once")).to_be_enabled()
        assert violations(panel, axe) == [], "decision"
        panel.button("No").click()
        card = panel.answer.get_by_role("group", name="The assistant asks")
        expect(card.get_by_role("radio").first).to_be_enabled()
        assert violations(panel, axe) == [], "question"
        card.get_by_role("radio").first.click()
        panel.idle()
        assert violations(panel, axe) == [], "answered"
        panel.root.get_by_role("button", name="What asks you first").click()
        assert violations(panel, axe) == [], "mode"
        panel.page.keyboard.press("Escape")
    finally:
        use_theme(panel, "dark")
