"""What a reader sees does not move while they do not scroll, whatever the panel draws."""

import re
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Route, expect
from plugin.tests.e2e.long_chat import import_chat, open_chat
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.e2e.reading import reading, slowed
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e

MESSAGES = 600
SENTENCE = "The sampler keeps the seed while the steps change. "
CODE = "```python\n" + "\n".join(f"value_{line} = {line}" for line in range(9)) + "\n```"
TABLE = "| node | value |\n|---|---|\n" + "\n".join(f"| {row} | {row * 7} |" for row in range(4))
LIST = "\n".join(f"- item {item}\n  - below it" for item in range(3))
# What the messages say, in turn: from one line to more than a screen.
BODIES = (
    "Short.",
    SENTENCE * 6,
    "\n\n".join(SENTENCE * 2 for _ in range(3)),
    f"Code:\n\n{CODE}\n\nThat is it.",
    "Yes.",
    f"{TABLE}\n\n{LIST}",
    "\n\n".join(f"Block {block}. {SENTENCE}" for block in range(26)),
)
STEPS = (-1900, -260, -1200)  # pixels: wheels, keys and the scroll bar move by any distance
FIRST_SHOWN = """() => {
    const first = document.querySelector('.ca-panel [role=log] article')
    return (first.querySelector('.ca-bubble__text, .ca-markdown')?.textContent ?? '').trim()
}"""

# How far the log is from its end.
BELOW = "log => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight)"
# How far above the view an element of the log ends.
ABOVE = """element => {
    const log = element.closest('[role=log]')
    return log.getBoundingClientRect().top - element.getBoundingClientRect().bottom
}"""


def mixed_chat(length: int) -> list[dict[str, Any]]:
    """`length` messages of many heights, the user's and the assistant's in turn."""
    return [said(number, BODIES[number % len(BODIES)]) for number in range(1, length + 1)]


def said(number: int, body: str) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "role": ("assistant", "user")[number % 2],
        "parts": [{"type": "text", "text": f"Message {number}. {body}"}],
    }


@pytest.mark.parametrize("rate", [1])
def test_what_is_read_stays_in_its_place_in_every_frame_up_to_the_beginning(
    panel: Panel, url: str, provider: ProviderThread, rate: int
) -> None:
    chat = f"read-{rate}"
    provider.queue("The end.")
    import_chat(url, chat, mixed_chat(MESSAGES - 1))
    open_chat(panel, chat)
    expect(panel.answer).to_contain_text("The end.")
    panel.idle()
    with slowed(panel, rate), reading(panel) as reader:
        for step in range(MESSAGES):
            top = reader.scroll(STEPS[step % len(STEPS)])
            if top == 0:
                reader.read(6)
                if panel.evaluate(FIRST_SHOWN).startswith("Message 1."):
                    break
        else:
            pytest.fail("The beginning never came.")
        # And down again, into messages that have left the document.
        for _step in range(40):
            reader.scroll(1700)
    assert reader.jumps == []
    assert reader.compared > MESSAGES


def test_the_button_for_earlier_messages_stays_until_the_first_of_them_are_drawn(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    held: list[Route] = []
    panel.page.route("**/api/chats/read-button?*before=*", lambda route: held.append(route))
    provider.queue("The end.")
    messages = mixed_chat(81)
    # A chat opens with 50 messages; the last one before them is drawn in many frames.
    messages[31] = said(32, "\n\n".join(f"## {n}\n\n{SENTENCE}" for n in range(290)))
    import_chat(url, "read-button", messages)
    try:
        open_chat(panel, "read-button")
        expect(panel.answer).to_contain_text("The end.")
        panel.idle()
        with reading(panel) as reader:
            while reader.scroll(-100_000, 4) > 0 or not held:
                pass
            held.pop().continue_()
            panel.page.wait_for_function(f"({FIRST_SHOWN})().startsWith('Message 1.')")
        assert reader.jumps == []
        assert reader.compared > 10
    finally:
        panel.page.unroute("**/api/chats/read-button?*before=*")


def test_a_picture_that_loads_above_does_not_move_what_is_read(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    held: list[Route] = []
    panel.page.route("**/api/view?**", lambda route: held.append(route))
    provider.queue("The end.")
    tall = "\n\n".join(SENTENCE * 3 for _ in range(27))  # an answer: a long question is folded
    picture = "Look: ![a field](/api/view?filename=field.png) and so on."
    messages = [*mixed_chat(9), said(10, picture), said(11, SENTENCE), said(12, tall)]
    messages.append(said(13, SENTENCE))
    import_chat(url, "read-picture", messages)
    try:
        open_chat(panel, "read-picture")
        expect(panel.answer).to_contain_text("The end.")
        panel.idle()
        shown = panel.log.locator("img")
        with reading(panel) as reader:
            reader.scroll(-1500, 6)
            # Until the picture is less than 250 pixels above the view.
            while not held or shown.evaluate(ABOVE) > 250:
                reader.scroll(-150, 3)
            before = reader.read(4)
            body = BytesIO()
            Image.new("RGB", (300, 300), "green").save(body, "PNG")
            held.pop().fulfill(body=body.getvalue(), content_type="image/png")
            loaded = "img => img.naturalHeight === 300"
            panel.page.wait_for_function(loaded, arg=shown.element_handle())
            assert reader.read(4) >= before + 200
        assert reader.jumps == []
        assert reader.compared > 10
    finally:
        panel.page.unroute("**/api/view?**")


def test_earlier_messages_of_a_chat_do_not_wait_for_those_of_another_one(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    held: list[Route] = []
    slow = "**/api/chats/read-slow?*before=*"
    panel.page.route(slow, lambda route: held.append(route))
    for chat in ("read-slow", "read-quick"):
        provider.queue("The end.")
        messages = mixed_chat(81)
        messages[0] = said(1, f"Opens {chat}.")
        import_chat(url, chat, messages)
    try:
        open_chat(panel, "read-slow")
        expect(panel.answer).to_contain_text("The end.")
        with reading(panel) as reader:
            while not held:
                reader.scroll(-100_000, 4)
        panel.button("Chats").click()
        panel.button(re.compile("Opens read-quick")).first.click()
        expect(panel.answer).to_contain_text("The end.")
        expect(panel.articles).to_have_count(50)
        panel.button("Show earlier messages").click()
        expect(panel.articles).to_have_count(82)
    finally:
        for route in held:
            route.continue_()
        panel.page.unroute(slow)


def test_an_answer_that_streams_does_not_move_what_is_read(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    provider.queue("The end.")
    import_chat(url, "read-stream", mixed_chat(59))
    open_chat(panel, "read-stream")
    expect(panel.answer).to_contain_text("The end.")
    panel.idle()
    begun, ending = new_wait(), new_wait()
    words = [{"text": f"word {number} \n\n"} for number in range(300)]
    script = [{"text": "It begins. "}, {"wait": begun}, *words, {"wait": ending}, {"text": "done."}]
    provider.queue(Script(script))
    panel.ask("Write a long answer")
    expect(panel.answer).to_contain_text("It begins.")
    with reading(panel) as reader:
        # Near the end, and then further away from it.
        for by in (-25, -900):
            reader.scroll(by, 8)
        provider.release(begun)
        expect(panel.answer).to_contain_text("word 299")
        reader.read(8)
    provider.release(ending)
    expect(panel.answer).to_contain_text("done.")
    assert reader.jumps == []
    assert reader.compared > 10


def test_a_reader_who_scrolls_up_a_little_is_left_there_and_follows_again_at_the_end(
    panel: Panel, provider: ProviderThread
) -> None:
    first, second = new_wait(), new_wait()
    parts = [{"text": f"{SENTENCE}\n\n" * 20 + f"Part {part} ends.\n\n"} for part in range(3)]
    provider.queue(Script([parts[0], {"wait": first}, parts[1], {"wait": second}, parts[2]]))
    panel.ask("Write a long answer")
    expect(panel.answer).to_contain_text("Part 0 ends.")
    panel.scroll_end()
    assert panel.log.evaluate(BELOW) == 0
    # A wheel or a finger moves the log by few pixels in a frame.
    panel.log.evaluate("log => { log.scrollTop -= 10 }")
    panel.scroll_end()
    place = panel.log.evaluate("log => log.scrollTop")
    provider.release(first)
    expect(panel.answer).to_contain_text("Part 1 ends.")
    panel.scroll_end()
    assert panel.log.evaluate("log => log.scrollTop") == place
    panel.log.evaluate("log => { log.scrollTop = log.scrollHeight }")
    panel.scroll_end()
    provider.release(second)
    expect(panel.answer).to_contain_text("Part 2 ends.")
    panel.idle()
    panel.scroll_end()
    assert panel.log.evaluate(BELOW) == 0
