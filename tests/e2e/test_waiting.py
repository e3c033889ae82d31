"""What a person sees while the model works, and when a step or an answer did not end well."""

import re

import pytest
from playwright.sync_api import FilePayload, expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.e2e.test_comfort import picture
from plugin.tests.providers import Script, failure, tool_call

pytestmark = pytest.mark.e2e

BACKGROUND = "button => getComputedStyle(button).backgroundColor"
SKILL = {"name": "n", "description": "d", "instructions": "i"}
# Among as many of the latest chats as the page looks through.
WAITING_CHATS = """async () => {
    const {chats} = await (await fetch('/api/chats?limit=30')).json()
    return chats.filter(({state}) => ['paused', 'waiting_user_input'].includes(state)).length
}"""
# The places of the waiting line, and of the first words of the answer, in each painted frame.
WATCH_PLACES = """() => {
    window.places = {wait: [], text: []}
    const log = document.querySelector('.ca-panel [role=log]')
    const look = () => {
        const top = log.getBoundingClientRect().top
        const place = element => Math.round(element.getBoundingClientRect().top - top)
        const wait = log.querySelector('.ca-wait')
        const text = log.querySelector('.ca-markdown')
        if (text) places.text.push(place(text))
        else if (wait?.checkVisibility()) places.wait.push(place(wait))
        requestAnimationFrame(look)
    }
    look()
}"""


@pytest.mark.parametrize("status", [400, 500])
def test_the_providers_own_words_are_shown_at_once(
    panel: Panel, provider: ProviderThread, status: int
) -> None:
    provider.queue(*[failure(status, "The frobnicator is on fire.")] * (1 if status == 400 else 3))
    panel.ask("Why?")
    expect(panel.answer.get_by_text("The frobnicator is on fire.")).to_be_visible(timeout=60_000)
    provider.start_over()


def test_the_providers_own_words_about_a_key_are_one_click_below(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(failure(401, "Incorrect key, says the frobnicator."))
    panel.ask("Why?")
    words = panel.answer.get_by_text("Incorrect key, says the frobnicator.")
    expect(panel.button("Enter key")).to_be_visible()
    expect(words).to_be_hidden()
    panel.answer.get_by_text("What the provider said").click()
    expect(words).to_be_visible()
    expect(panel.answer.locator("details pre")).to_have_text("Incorrect key, says the frobnicator.")


def test_a_command_that_fails_says_so_in_sight(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("\n\n".join(f"Paragraph {number}." for number in range(60)))
    panel.ask("Why?")
    panel.idle()
    panel.scroll_end()
    away = "**/commands"
    panel.page.route(away, lambda route: route.abort())
    try:
        panel.answer.get_by_role("button", name="Branch from here").click()
        card = panel.log.get_by_role("group", name="ComfyUI is not reachable")
        expect(card).to_be_in_viewport(ratio=1)
        card.get_by_role("button", name="Close").click()
        expect(card).to_have_count(0)
    finally:
        panel.page.unroute(away)


def test_a_refused_attachment_is_removed_in_the_question(
    panel: Panel, provider: ProviderThread
) -> None:
    red: FilePayload = {"name": "red.png", "mimeType": "image/png", "buffer": picture()}
    green: FilePayload = {"name": "green.png", "mimeType": "image/png", "buffer": picture()}
    panel.root.locator(".ca-composer input[type=file]").set_input_files([red, green])
    expect(panel.root.locator(".ca-composer .ca-file")).to_have_count(2)
    provider.queue(Script(status=413))
    panel.ask("Which colour?")
    expect(panel.answer).to_contain_text("send it with smaller or fewer attachments")
    expect(panel.button("New chat")).to_have_count(1)  # in the header
    panel.answer.get_by_role("button", name="Remove attachment").click()
    question = panel.articles.first
    remove = question.get_by_role("button", name="Remove red.png")
    expect(remove).to_be_focused()
    plain = question.get_by_role("button", name="Cancel").evaluate(BACKGROUND)
    assert panel.button("Remove attachment").evaluate(BACKGROUND) == plain
    assert question.get_by_role("button", name="Ask again").evaluate(BACKGROUND) != plain
    remove.click()
    expect(question.get_by_role("textbox")).to_be_focused()
    provider.queue("Green.")
    question.get_by_role("textbox").press("Enter")
    expect(panel.answer).to_contain_text("Green.")
    panel.idle()
    pictures = panel.articles.first.get_by_role("button", name=re.compile("^Enlarge"))
    expect(pictures).to_have_count(1)
    sent = [part["type"] for part in provider.last_messages[-1]["content"]]
    assert sent.count("image_url") == 1


def test_the_waiting_line_stays_in_its_place_until_the_answer_takes_it(
    panel: Panel, provider: ProviderThread
) -> None:
    held, more = new_wait(), new_wait()
    provider.queue(Script([{"wait": held}, {"text": "Here "}, {"wait": more}, {"text": "it is."}]))
    panel.evaluate(WATCH_PLACES)
    panel.ask("Why?")
    provider.reached(held)
    expect(panel.log.get_by_text(re.compile("Waiting for"))).to_be_visible()
    panel.page.wait_for_function("() => places.wait.length > 20")
    provider.release(held)
    expect(panel.answer).to_contain_text("Here")
    provider.release(more)
    panel.idle()
    places = panel.evaluate("() => window.places")
    assert len(set(places["wait"])) == 1, places["wait"]
    assert abs(places["text"][0] - places["wait"][0]) <= 4


def test_a_wait_counts_its_seconds(panel: Panel, provider: ProviderThread) -> None:
    held, thought = new_wait(), new_wait()
    provider.queue(
        Script(
            [{"wait": held}, {"reasoning": "First thought."}, {"wait": thought}, {"text": "So."}]
        )
    )
    panel.ask("Why?")
    expect(panel.log).to_contain_text(re.compile(r"Waiting for scripted…\s*[3-9] s"))
    # In a narrow side bar, the time and its unit stay together.
    expect(panel.log.locator(".ca-wait .ca-elapsed")).to_have_css("white-space", "nowrap")
    provider.release(held)
    thinking = panel.answer.get_by_text("Thinking…")
    expect(panel.answer).to_contain_text(re.compile(r"Thinking…\s*[3-9] s"))
    thinking.click()
    expect(panel.answer.get_by_text("First thought.")).to_be_visible()
    provider.release(thought)
    panel.idle()
    expect(panel.answer).not_to_contain_text("Thinking")


def test_thoughts_have_no_raw_marks_while_they_grow_and_afterwards(
    panel: Panel, provider: ProviderThread
) -> None:
    more, rest = new_wait(), new_wait()
    said = ["**Planning the change**\n\nThe `seed` is *fixed*, **so", " it stays** that way."]
    steps = [{"reasoning": said[0]}, {"wait": more}, {"reasoning": said[1]}, {"wait": rest}]
    provider.queue(Script([*steps, {"text": "It **stays**."}]))
    panel.ask("Why?")
    panel.answer.get_by_text("Thinking…").click()
    thoughts = panel.answer.locator(".ca-reasoning")
    for held, strong in ((more, "so"), (rest, "so it stays")):
        expect(thoughts.locator("strong")).to_have_text(["Planning the change", strong])
        expect(thoughts).not_to_contain_text(re.compile(r"[*`]"))
        provider.release(held)
    panel.idle()
    expect(thoughts.locator("code")).to_have_text("seed")
    expect(thoughts).not_to_contain_text(re.compile(r"[*`]"))


def test_a_declined_step_says_so_and_no_other_answer_is_offered_while_it_waits(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("createUserSkill", SKILL)]), "As you like.")
    panel.ask("Keep it")
    expect(panel.button("No")).to_be_enabled()
    panel.at_rest()
    expect(panel.button("Answer again")).to_have_count(0)
    panel.button("No").click()
    expect(panel.answer).to_contain_text("As you like.")
    panel.idle()
    expect(panel.answer.get_by_text("declined", exact=True)).to_be_visible()
    expect(panel.button("Answer again")).to_have_count(1)
    panel.answer.locator("summary", has_text="declined").click()
    expect(panel.answer.get_by_text("You declined this step")).to_be_visible()


def test_a_step_that_was_overtaken_is_not_called_declined(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("createUserSkill", SKILL)]), "Another answer.")
    panel.ask("Keep it")
    expect(panel.button("No")).to_be_enabled()
    panel.articles.first.hover()
    panel.button("Edit").click()
    panel.page.keyboard.press("Enter")
    expect(panel.answer).to_contain_text("Another answer.")
    panel.idle()
    panel.button("Earlier version").click()
    expect(panel.answer.get_by_text("not run", exact=True)).to_be_visible()
    panel.answer.locator("summary", has_text="not run").click()
    expect(panel.answer.get_by_text("before you decided")).to_be_visible()


def test_the_icon_says_that_a_step_waits_while_the_panel_is_closed(
    panel: Panel, provider: ProviderThread
) -> None:
    held = new_wait()
    badge = panel.page.get_by_test_id("comfyui-assistant-tab-button").locator(".sidebar-icon-badge")
    provider.queue(Script([{"wait": held}, tool_call("createUserSkill", SKILL)]), "Done.")
    panel.ask("Keep it")
    provider.reached(held)
    panel.button("Close").click()
    expect(panel.root).to_have_count(0)
    expect(badge).to_have_count(0)
    provider.release(held)
    expect(badge).to_have_text("1")
    panel.page.reload()
    panel.ready()
    # Until the panel is opened it counts chats, and those of other tests may wait, too.
    expect(badge).to_have_text(str(panel.evaluate(WAITING_CHATS)))
    panel.open()
    expect(badge).to_have_count(0)
    panel.button("Once").click()
    expect(panel.answer).to_contain_text("Done.")
    panel.idle()
