"""Long chats and long answers: the panel draws only the changed parts. The tests count, and never
measure time."""

import re
from typing import Any

import pytest
from playwright.sync_api import Request, expect
from plugin.tests.e2e.long_chat import import_chat, open_chat
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.e2e.reading import reading, slowed
from plugin.tests.providers import Script

pytestmark = pytest.mark.e2e

MESSAGES = 10_000
MOST_SHOWN = 200  # articles in the document
CHUNKS = 10_000
# Counts changes in the log outside of the last answer, and all drawings.
COUNT_CHANGES = """() => {
    const counts = window.changes = {elsewhere: 0, drawings: 0}
    const log = document.querySelector('.ca-panel [role=log]')
    const last = [...log.querySelectorAll('article')].at(-1)
    new MutationObserver(records => {
        counts.drawings += 1
        for (const {target} of records) {
            const article = (target.parentElement ?? target).closest('article')
            if (article && article !== last) counts.elsewhere += 1
        }
    }).observe(log, {childList: true, characterData: true, attributes: true, subtree: true})
}"""
# The blocks of the last answer that are complete: they must stay the same elements.
KEEP_BLOCKS = """() => {
    const last = [...document.querySelectorAll('.ca-panel article')].at(-1)
    window.kept = [...last.querySelectorAll('.ca-block')].slice(0, -1)
    return window.kept.length
}"""


def conversation(length: int, kind: str = "long") -> list[dict[str, Any]]:
    """`length` messages, the user's and the assistant's in turn, the last one the user's."""
    roles = ("assistant", "user")
    return [
        {
            "id": f"m{number}",
            "role": roles[number % 2],
            "parts": [{"type": "text", "text": f"Message {number} of a {kind} chat."}],
        }
        for number in range(1, length + 1)
    ]


# The number of messages in the document, and the text of the first message.
SHOWN = """() => {
    const articles = [...document.querySelectorAll('.ca-panel [role=log] article')]
    const [first] = articles
    const text = first.querySelector('.ca-bubble__text, .ca-markdown')?.textContent ?? ''
    return {count: articles.length, first: text.trim()}
}"""
# One step of a wheel towards the top of the log, and two frames to draw what comes.
SCROLL_UP = """async () => {
    const log = document.querySelector('.ca-panel [role=log]')
    log.scrollTop -= 900
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
    return log.scrollTop
}"""


def test_a_chat_of_10000_messages_opens_at_its_end_and_keeps_few_in_the_document(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    provider.queue("The last of all.")
    import_chat(url, "long-chat", conversation(MESSAGES - 1))
    open_chat(panel, "long-chat")
    expect(panel.answer).to_contain_text("The last of all.")
    expect(panel.answer).to_be_in_viewport()
    first = MESSAGES
    # Loads page after page from the server, until the panel must have removed the first pages.
    while first > MESSAGES - 3 * MOST_SHOWN:
        panel.evaluate(SCROLL_UP)
        shown = panel.evaluate(SHOWN)
        assert shown["count"] <= MOST_SHOWN
        if words := shown["first"].split():  # else the article is being built
            first = int(words[1])
    panel.button("Jump to latest").click()
    expect(panel.answer).to_contain_text("The last of all.")
    expect(panel.answer).to_be_in_viewport()
    assert panel.evaluate(SHOWN)["count"] <= MOST_SHOWN


SCROLL_DOWN = SCROLL_UP.replace("-= 900", "+= 900")
FAR = 2_000


def test_a_found_message_far_up_opens_with_the_page_around_it(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    provider.queue("The last of all.")
    import_chat(url, "far-chat", conversation(FAR - 1, "far"))
    open_chat(panel, "far-chat")
    expect(panel.answer).to_contain_text("The last of all.")
    asked: list[str] = []

    def see(request: Request) -> None:
        if "/chats/far-chat?" in request.url:
            asked.append(request.url.partition("?")[2])

    panel.page.on("request", see)
    panel.button("Chats").click()
    panel.page.keyboard.type('"message 100 of a far"')
    found = panel.root.get_by_role("button", name=re.compile("Message 100 of a far chat"))
    expect(found.locator("mark")).to_have_text("Message 100 of a far")
    panel.page.keyboard.press("ArrowDown")
    expect(found).to_be_focused()
    panel.page.keyboard.press("Enter")
    target = panel.articles.filter(has_text="Message 100 of a far chat.")
    expect(target).to_be_focused()
    expect(target).to_be_in_viewport()
    assert "around=m100" in asked[0]
    # Pages next to it may come as the reader scrolls, and no other ones.
    assert len(asked) <= 3
    last = 0
    while last < 250:
        panel.evaluate(SCROLL_DOWN)
        words = panel.articles.last.inner_text().split()
        last = next((int(word) for word in words if word.isdigit()), 0)
        assert panel.evaluate(SHOWN)["count"] <= MOST_SHOWN
    panel.button("Jump to latest").click()
    expect(panel.answer).to_contain_text("The last of all.")
    expect(panel.answer).to_be_in_viewport()
    panel.page.remove_listener("request", see)


# The number of messages loaded so far, from the one that the document begins with.
LOADED = f"""() => {{
    const {{first}} = ({SHOWN})()
    return {MESSAGES} - Number(first.split(' ')[1])
}}"""


@pytest.mark.parametrize("rate", [1, 4])
def test_what_is_read_stays_in_its_place_while_older_messages_come(
    panel: Panel, url: str, provider: ProviderThread, rate: int
) -> None:
    chat = f"older-{rate}"
    provider.queue("The end.")
    import_chat(url, chat, conversation(599))
    open_chat(panel, chat)
    expect(panel.answer).to_contain_text("The end.")
    panel.idle()
    with slowed(panel, rate), reading(panel) as reader:
        for _page in range(3):
            loaded = panel.evaluate(LOADED)
            # To 200 pixels below the top, where older messages are requested.
            reader.scroll(200 - reader.read(1))
            panel.page.wait_for_function(f"loaded => ({LOADED})() > loaded", arg=loaded)
            reader.read(10)
    assert reader.jumps == []
    assert reader.compared > 100


def test_only_the_last_block_changes_while_an_answer_streams_into_a_long_chat(
    panel: Panel, url: str, provider: ProviderThread
) -> None:
    provider.queue("Ready.")
    import_chat(url, "streaming-chat", conversation(59))
    open_chat(panel, "streaming-chat")
    expect(panel.answer).to_contain_text("Ready.")
    begun, more = new_wait(), new_wait()
    paragraph = [{"text": f"word {number} "} for number in range(200)]
    provider.queue(
        Script([
            {"text": "One paragraph.\n\nAnother.\n\nA third that grows "},
            {"wait": begun}, *paragraph, {"wait": more}, {"text": "the end."},
        ])
    )  # fmt: skip
    panel.ask("Write a long answer")
    expect(panel.answer).to_contain_text("A third that grows")
    panel.evaluate(COUNT_CHANGES)
    assert panel.evaluate(KEEP_BLOCKS) > 0
    provider.release(begun)
    expect(panel.answer).to_contain_text("word 199")
    assert panel.evaluate("() => window.changes.elsewhere") == 0
    assert panel.evaluate("() => window.kept.every(block => block.isConnected)")
    provider.release(more)
    expect(panel.answer).to_contain_text("the end.")


def test_10000_chunks_are_drawn_frame_by_frame_and_none_is_lost(
    panel: Panel, provider: ProviderThread
) -> None:
    begun, ending = new_wait(), new_wait()
    pieces = [
        {"text": f"word{number}" + (" " if number % 20 else ".\n\n")} for number in range(CHUNKS)
    ]
    provider.queue(Script([pieces[0], {"wait": begun}, *pieces[1:], {"wait": ending}]))
    panel.ask("Write a book")
    expect(panel.answer).to_contain_text("word0")
    panel.evaluate(COUNT_CHANGES)
    provider.release(begun)
    expect(panel.answer).to_contain_text(f"word{CHUNKS - 1}", timeout=60_000)
    changes = panel.evaluate("() => window.changes")
    provider.release(ending)
    panel.idle()
    # What is out of sight is not laid out and has no inner text.
    blocks = panel.answer.locator(".ca-markdown p").all_text_contents()
    words = " ".join(blocks).replace(".", " ").split()
    assert words == [f"word{number}" for number in range(CHUNKS)]
    assert changes["elsewhere"] == 0
    assert changes["drawings"] < CHUNKS / 4
