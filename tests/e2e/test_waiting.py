"""What a person sees while the model works, and when a step or an answer did not end well."""

import re

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, failure, tool_call

pytestmark = pytest.mark.e2e

SKILL = {"name": "n", "description": "d", "instructions": "i"}
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
    provider.release(held)
    thinking = panel.answer.get_by_text("Thinking…")
    expect(panel.answer).to_contain_text(re.compile(r"Thinking…\s*[3-9] s"))
    thinking.click()
    expect(panel.answer.get_by_text("First thought.")).to_be_visible()
    provider.release(thought)
    panel.idle()
    expect(panel.answer).not_to_contain_text("Thinking")


def test_a_declined_step_says_so_and_no_other_answer_is_offered_while_it_waits(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("createUserSkill", SKILL)]), "As you like.")
    panel.ask("Keep it")
    expect(panel.button("Not now")).to_be_enabled()
    panel.at_rest()
    expect(panel.button("Answer again")).to_have_count(0)
    panel.button("Not now").click()
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
    expect(panel.button("Not now")).to_be_enabled()
    panel.articles.first.hover()
    panel.button("Edit").click()
    panel.page.keyboard.press("Enter")
    expect(panel.answer).to_contain_text("Another answer.")
    panel.idle()
    panel.button("Earlier version").click()
    expect(panel.answer.get_by_text("not run", exact=True)).to_be_visible()
    panel.answer.locator("summary", has_text="not run").click()
    expect(panel.answer.get_by_text("before you decided")).to_be_visible()
