"""What makes reading and writing easier: folded questions, wrapped and coloured code, large
pictures, commands that were mistyped, a stop before an answer, a wait that counts down."""

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import Route, expect
from plugin.tests.e2e.panel import SUBSCRIBE, Panel, tell_snapshot
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e

LONG = "\n".join(f"line {at} of a log" for at in range(60))
LINE = "seed = 7  # the same as before, and a comment that is wider than any side bar is"
CODE = f"```python\n{LINE}\n```"
WIDE = """() => [...document.querySelectorAll('.ca-code pre')]
    .map(one => one.scrollWidth > one.clientWidth)"""


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(out, "PNG")
    return out.getvalue()


def test_a_long_question_is_folded(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("Fine.")
    panel.ask(LONG)
    panel.idle()
    bubble = panel.articles.first.locator(".ca-bubble__text")
    folded = bubble.bounding_box()
    assert folded is not None and folded["height"] < 220
    panel.articles.first.get_by_role("button", name="Show more").click()
    whole = bubble.bounding_box()
    assert whole is not None and whole["height"] > 1000
    assert whole["y"] == folded["y"], "what is unfolded begins where it was"
    panel.articles.first.get_by_role("button", name="Show less").click()
    expect(panel.articles.first.get_by_role("button", name="Show more")).to_be_visible()


def test_a_question_that_is_unfolded_stays_so_while_it_is_answered_again(
    panel: Panel, provider: ProviderThread
) -> None:
    rest = new_wait()
    provider.queue("Fine.", "Better.", Script([{"wait": rest}, {"text": "Best."}]))
    panel.ask("A log")
    panel.idle()
    question = panel.articles.first
    question.hover()
    question.get_by_role("button", name="Edit").click()
    panel.page.get_by_role("textbox", name="Edit what you asked").fill(LONG)
    panel.button("Ask again").click()
    expect(panel.answer).to_contain_text("Better.")
    panel.idle()
    expect(question).to_contain_text("2 of 2")
    question.get_by_role("button", name="Show more").click()
    panel.button("Answer again").click()
    provider.reached(rest)
    expect(panel.stop).to_be_visible()
    expect(question.get_by_role("button", name="Earlier version")).to_be_disabled()
    unfolded = question.locator("[aria-expanded]")
    expect(unfolded).to_have_attribute("aria-expanded", "true")
    provider.release(rest)
    expect(panel.answer).to_contain_text("Best.")
    panel.idle()
    expect(question.get_by_role("button", name="Earlier version")).to_be_enabled()
    expect(unfolded).to_have_attribute("aria-expanded", "true")


def test_a_question_that_is_unfolded_stays_so_when_the_chat_comes_anew(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Yes.")
    panel.ask("A chat of this tab")
    panel.idle()
    shown = 0
    marks = [LONG]

    def snapshot(route: Route) -> None:
        nonlocal shown
        shown += 1
        said = [{"type": "text", "text": "\n".join(marks)}]
        tell_snapshot(route, messages=[{"id": "u", "role": "user", "parts": said}])

    panel.page.route(SUBSCRIBE, snapshot)
    try:
        panel.reload()
        panel.articles.first.get_by_role("button", name="Show more").click()
        bubble = panel.articles.first.locator(".ca-bubble").element_handle()
        # The panel asks again for a stream that has ended.
        seen = shown
        while shown < seen + 2:
            panel.drawn()
        assert bubble.evaluate("bubble => bubble.isConnected")
        unfolded = panel.articles.first.locator("[aria-expanded]")
        expect(unfolded).to_have_attribute("aria-expanded", "true")
        marks.append("and one more")
        expect(panel.articles.first).to_contain_text("and one more")
    finally:
        panel.page.unroute(SUBSCRIBE)
        panel.reload()


def test_code_is_coloured_and_its_lines_wrap_for_all_blocks(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(f"{CODE}\n\nand\n\n{CODE}")
    panel.ask("Code?")
    panel.idle()
    expect(panel.answer.locator(".ca-hl-number").first).to_have_text("7")
    expect(panel.answer.locator(".ca-hl-comment").first).to_contain_text("# the same as before")
    assert panel.evaluate(WIDE) == [True, True]
    wrap = panel.answer.get_by_role("button", name="Wrap")
    wrap.first.click()
    assert panel.evaluate(WIDE) == [False, False]
    expect(wrap.last).to_have_attribute("aria-pressed", "true")
    wrap.last.click()
    assert panel.evaluate(WIDE) == [True, True]


def test_a_picture_opens_large_and_closes_with_escape(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("A red one.")
    panel.root.locator(".ca-composer input[type=file]").set_input_files(
        {"name": "red.png", "mimeType": "image/png", "buffer": picture()}
    )
    expect(panel.root.locator(".ca-composer .ca-file")).to_be_visible()
    panel.ask("Which colour?")
    panel.idle()
    small = panel.articles.first.get_by_role("button", name=re.compile("^Enlarge"))
    small.click()
    large = panel.page.get_by_role("dialog", name=re.compile("red.png"))
    expect(large).to_be_visible()
    panel.page.keyboard.press("Escape")
    expect(large).to_have_count(0)
    expect(small).to_be_focused()
    small.press("Enter")
    expect(large).to_be_visible()
    panel.page.mouse.click(20, 20)
    expect(large).to_have_count(0)


def test_a_mistyped_command_is_not_sent_to_the_model(
    panel: Panel, provider: ProviderThread
) -> None:
    panel.ask("/contxt")
    expect(panel.answer).to_contain_text("There is no command /contxt. Did you mean /context?")
    panel.idle()
    panel.ask("/foo bar")
    expect(panel.answer).to_contain_text("There is no command /foo. /help lists all commands.")
    panel.idle()
    assert provider.requests == []
    provider.queue("Foo?")
    panel.ask("Well, /foo")
    expect(panel.answer).to_contain_text("Foo?")
    panel.idle()
    assert provider.last_messages[-1]["content"] == "Well, /foo"


def test_a_stop_before_an_answer_offers_to_ask_again(
    panel: Panel, provider: ProviderThread
) -> None:
    rest = new_wait()
    provider.queue(Script([{"wait": rest}]))
    panel.ask("Hello?")
    provider.reached(rest)
    panel.stop.click()
    expect(panel.answer).to_contain_text("Stopped")
    expect(panel.answer.locator(".ca-notice").get_by_role("button")).to_have_text(["Answer again"])
    provider.release(rest)


def test_a_wait_counts_down(panel: Panel, provider: ProviderThread) -> None:
    busy = {"error": {"message": "Rate limit reached for requests"}}
    rest = new_wait()
    refusal = Script(status=429, body=busy, headers={"Retry-After": "4"})
    provider.queue(refusal, Script([{"wait": rest}, {"text": "There."}]))
    panel.ask("Hello?")
    expect(panel.answer).to_contain_text("Trying again in 4 s")
    expect(panel.answer).to_contain_text(re.compile("Trying again in [12] s"))
    # The next try has begun.
    expect(panel.answer.get_by_text(re.compile("Trying again"))).to_be_hidden()
    provider.release(rest)
    expect(panel.answer).to_contain_text("There.")
    panel.idle()


def test_the_times_of_steps_stay_after_a_reload(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([{"reasoning": "hm"}, {"text": "So it is."}]))
    panel.ask("Why?")
    panel.idle()
    thought = panel.answer.get_by_text(re.compile(r"^Thought for "))
    expect(thought).to_be_visible()
    panel.reload()
    expect(thought).to_be_visible()
