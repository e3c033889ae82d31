"""A conversation in the panel: a question, its streamed answer, and the actions on messages."""

import base64
import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, failure, text, tool_call

pytestmark = pytest.mark.e2e

NODES = "() => window.app.rootGraph.nodes.map(node => node.id)"


def test_the_first_answer_stands_below_the_question(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("A **checkpoint** holds the model.")
    panel.ask("What is a checkpoint?")
    expect(panel.articles).to_have_count(2)
    expect(panel.articles.first).to_contain_text("What is a checkpoint?")
    expect(panel.answer.locator("strong")).to_have_text("checkpoint")
    panel.idle()
    expect(panel.message).to_have_value("")


def test_an_answer_is_seen_before_it_ends(panel: Panel, provider: ProviderThread) -> None:
    rest = new_wait()
    provider.queue(Script([{"text": "The beginning"}, {"wait": rest}, {"text": " and the end."}]))
    panel.ask("Tell me")
    expect(panel.answer).to_contain_text("The beginning")
    expect(panel.stop).to_be_visible()
    assert "the end" not in panel.answer.inner_text()
    provider.release(rest)
    expect(panel.answer).to_contain_text("The beginning and the end.")


def test_shift_enter_breaks_the_line_and_send_sends_it(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Two lines.")
    panel.message.press_sequentially("one")
    panel.message.press("Shift+Enter")
    panel.message.press_sequentially("two")
    expect(panel.articles).to_have_count(0)
    panel.send.click()
    expect(panel.answer).to_contain_text("Two lines.")
    assert provider.last_messages[-1]["content"].startswith("one\ntwo")


def test_stop_keeps_what_was_written_and_closes_the_models_stream(
    panel: Panel, provider: ProviderThread
) -> None:
    never = new_wait()
    provider.queue(Script([{"text": "Half of an"}, {"wait": never}]))
    panel.ask("Write a lot")
    expect(panel.answer).to_contain_text("Half of an")
    panel.stop.click()
    provider.client_left()
    panel.idle()
    expect(panel.answer).to_contain_text("Half of an")
    expect(panel.answer).to_contain_text("Stopped")


def test_a_stopped_answer_is_continued(panel: Panel, provider: ProviderThread) -> None:
    never = new_wait()
    provider.queue(Script([{"text": "First half,"}, {"wait": never}]), "second half.")
    panel.ask("Write two halves")
    expect(panel.answer).to_contain_text("First half,")
    panel.stop.click()
    panel.button("Continue").click()
    expect(panel.answer).to_contain_text("second half.")
    assert any("First half," in str(message["content"]) for message in provider.last_messages)


def test_an_answer_that_breaks_off_can_be_continued(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([{"text": "It begins with"}, {"cut": True}]), "and goes on.")
    panel.ask("Explain")
    expect(panel.answer).to_contain_text("It begins with")
    panel.button("Continue").click()
    expect(panel.answer).to_contain_text("and goes on.")


def test_an_answer_at_the_length_limit_says_so(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(text("Too long to", finish="length"))
    panel.ask("Explain everything")
    panel.idle()
    expect(panel.answer).to_contain_text("length limit")
    expect(panel.button("Continue")).to_be_visible()


def test_answer_again_replaces_the_answer(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("The first try.", "The second try.")
    panel.ask("Roll a die")
    expect(panel.answer).to_contain_text("The first try.")
    panel.idle()
    panel.button("Answer again").click()
    expect(panel.answer).to_contain_text("The second try.")
    expect(panel.articles).to_have_count(2)
    assert "The first try." not in json.dumps(provider.last_messages)


def test_an_edited_question_is_asked_instead(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("About cats.", "About dogs.")
    panel.ask("Tell me about cats")
    expect(panel.answer).to_contain_text("About cats.")
    panel.idle()
    panel.button("Edit").click()
    editor = panel.page.get_by_role("textbox", name="Edit what you asked")
    expect(editor).to_have_value("Tell me about cats")
    editor.fill("Tell me about dogs")
    panel.button("Ask again").click()
    expect(panel.answer).to_contain_text("About dogs.")
    expect(panel.articles).to_have_count(2)
    assert "cats" not in json.dumps(provider.last_messages)


# Makes the answer so high that it ends where the log ends.
FILL = """log => {
    const last = [...log.querySelectorAll('article')].at(-1)
    const free = log.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom
    last.style.paddingBottom = `${free - 30}px`
}"""


def test_an_earlier_question_is_edited_in_sight_of_a_reader_at_the_end(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("It fills the log.")
    panel.ask("How long is it?")
    panel.idle()
    panel.log.evaluate(FILL)
    panel.scroll_end()
    panel.articles.first.locator(".ca-bubble").hover()
    panel.button("Edit").click()
    panel.scroll_end()
    editor = panel.page.get_by_role("textbox", name="Edit what you asked")
    expect(editor).to_be_in_viewport(ratio=1)
    editor.press("Escape")


def test_a_failed_answer_is_tried_again(panel: Panel, provider: ProviderThread) -> None:
    refusal = Script(status=400, body={"error": {"message": "strange request"}})
    provider.queue(refusal, "Now it works.")
    panel.ask("Try this")
    panel.button("Retry").click()
    expect(panel.answer).to_contain_text("Now it works.")


def test_an_answer_is_copied_as_markdown(panel: Panel, provider: ProviderThread) -> None:
    answer = "Use **euler**:\n\n```python\nsteps = 8\n```\n"
    provider.queue(answer)
    panel.ask("Which sampler?")
    panel.idle()
    panel.answer.get_by_role("button", name="Copy").last.click()
    expect(panel.answer.get_by_role("button", name="Copied")).to_be_visible()
    assert panel.evaluate("() => navigator.clipboard.readText()").strip() == answer.strip()


def test_code_is_copied_without_its_fence(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("```python\nsteps = 8\n```\n")
    panel.ask("Show me code")
    panel.idle()
    panel.answer.get_by_role("button", name="Copy").first.click()
    panel.page.wait_for_function(
        "() => navigator.clipboard.readText().then(text => text === 'steps = 8')"
    )


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


def test_an_image_and_a_text_file_reach_the_model(
    panel: Panel, provider: ProviderThread, tmp_path: Path
) -> None:
    image, notes = tmp_path / "dot.png", tmp_path / "notes.txt"
    image.write_bytes(base64.b64decode(PIXEL))
    notes.write_text("the answer is 42", encoding="utf-8")
    provider.queue("I see a dot.")
    with panel.page.expect_file_chooser() as chooser:
        panel.button("Attach images or text files").click()
    chooser.value.set_files([image, notes])
    expect(panel.button("Remove dot.png")).to_be_visible()
    panel.ask("What is this?")
    expect(panel.answer).to_contain_text("I see a dot.")
    picture = panel.articles.first.get_by_role("button", name="Enlarge: Attached picture: dot.png")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 1)
    content = provider.last_messages[-1]["content"]
    assert any(
        part["type"] == "image_url" and part["image_url"]["url"].endswith(PIXEL[-40:])
        for part in content
    )
    assert "the answer is 42" in json.dumps(content)


PASTE = """([box, base64]) => {
    const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File([bytes], 'pasted.png', {type: 'image/png'}))
    const options = {clipboardData, bubbles: true, cancelable: true}
    box.dispatchEvent(new ClipboardEvent('paste', options))
}"""


def test_a_pasted_picture_is_attached_and_can_be_taken_off(panel: Panel) -> None:
    nodes = panel.evaluate(NODES)
    panel.evaluate(PASTE, [panel.message.element_handle(), PIXEL])
    remove = panel.button("Remove pasted.png")
    remove.click()
    expect(remove).to_have_count(0)
    assert panel.evaluate(NODES) == nodes, "the canvas took the picture as a node"


def test_keys_in_the_panel_do_nothing_to_the_canvas(panel: Panel) -> None:
    nodes = panel.evaluate(NODES)
    panel.evaluate("() => window.app.canvas.selectNodes(window.app.rootGraph.nodes)")
    panel.message.fill("words")
    for keys in ("Delete", "Backspace", "ControlOrMeta+a", "ControlOrMeta+x", "ControlOrMeta+z"):
        panel.message.press(keys)
    panel.button("New chat").press("Delete")
    assert panel.evaluate(NODES) == nodes
    panel.evaluate("() => window.app.canvas.deselectAll()")
    panel.message.fill("")


def test_the_open_workflow_goes_with_the_question(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([tool_call("getWorkflowInfo")]), "It samples with KSampler.")
    panel.ask("Explain this workflow")
    expect(panel.answer).to_contain_text("It samples with KSampler.")
    result = provider.last_messages[-1]
    assert result["role"] == "tool"
    assert "KSampler" in result["content"]


def test_reasoning_folds_away(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([{"reasoning": "They want a cat."}, {"text": "A cat."}]))
    panel.ask("Draw")
    expect(panel.answer).to_contain_text("A cat.")
    thought = panel.answer.get_by_text("Thought")
    expect(panel.answer.get_by_text("They want a cat.")).to_be_hidden()
    thought.click()
    expect(panel.answer.get_by_text("They want a cat.")).to_be_visible()


SAY_ELSEWHERE = """async () => {
    const chat = localStorage.getItem('comfyui-assistant.chat')
    const message = {id: 'elsewhere', role: 'user', parts: [{type: 'text', text: 'From elsewhere'}]}
    await fetch(`/api/chats/${chat}/commands`, {method: 'POST',
        headers: {'Content-Type': 'application/json'},
        body: JSON.stringify({type: 'user_message', message})})
}"""
SCROLLED = "log => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight)"


def test_what_is_asked_in_another_tab_does_not_take_the_reader_from_the_place(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("A line of many.\n\n" * 80)
    panel.ask("At length")
    expect(panel.answer).to_contain_text("A line of many.")
    panel.idle()
    panel.scroll_end()
    assert panel.log.evaluate(SCROLLED) == 0
    panel.log.hover()
    panel.page.mouse.wheel(0, -1200)
    latest = panel.button("Jump to latest")
    expect(latest).to_be_visible()
    panel.scroll_end()
    before = panel.log.evaluate("log => log.scrollTop")
    provider.queue("To elsewhere.")
    panel.evaluate(SAY_ELSEWHERE)
    expect(panel.answer).to_contain_text("To elsewhere.")
    panel.idle()
    panel.scroll_end()
    assert panel.log.evaluate("log => log.scrollTop") == before
    latest.click()
    expect(latest).to_be_hidden()


def test_a_notice_about_waiting_shows_its_newest_text_and_goes(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(
        *(failure(429, "Busy", headers={"Retry-After": seconds}) for seconds in ("2", "3")),
        "Here.",
    )
    panel.ask("Hi")
    expect(panel.root.get_by_text("Trying again in 2 s.")).to_be_visible()
    expect(panel.root.get_by_text("Trying again in 3 s.")).to_be_visible()
    expect(panel.root.get_by_text("Trying again in 2 s.")).to_have_count(0)
    expect(panel.answer).to_contain_text("Here.")
    expect(panel.root.get_by_text("Trying again")).to_be_hidden()
