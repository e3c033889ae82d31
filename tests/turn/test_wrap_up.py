"""The model reads a note to finish when a turn fills the window (R30)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.context.notes import WRAP_UP_TEXT
from plugin.assistant.context.window import Window
from plugin.assistant.turn.conversation import Conversation
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, text, tool_call
from plugin.tests.turn.watched_lock import WatchedLock

USABLE = Window(32_768, known=True).prompt
FULL = int(USABLE * 0.92)


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        yield running
        assert running.provider.unexpected == 0


def looking(used: int, output: int = 5) -> Script:
    """An answer that calls a tool; its request had `used` tokens."""
    usage = {"prompt_tokens": used, "completion_tokens": output}
    return Script([tool_call("listUserSkills")], usage=usage)


def notes(chat: Chatting) -> list[int]:
    """The places of the note in each request, all requests one after the other."""
    return [
        place
        for request in chat.provider.requests
        for place, message in enumerate(request.messages)
        if message["content"] == WRAP_UP_TEXT
    ]


async def test_after_a_request_that_nearly_filled_the_window_the_next_one_says_so_last(
    chat: Chatting,
) -> None:
    chat.provider.queue(looking(FULL), "Done.")
    stream = await chat.say("Look.")
    first, second = chat.provider.requests
    assert WRAP_UP_TEXT not in str(first.messages)
    assert second.messages[-1] == {"role": "user", "content": WRAP_UP_TEXT}
    assert WRAP_UP_TEXT not in second.messages[0]["content"]
    reports = [chunk["data"] for chunk in stream.of("data-context")]
    assert "LLM_WRAP_UP_SHARE" not in reports[0]["limits_applied"]
    assert "LLM_WRAP_UP_SHARE" in reports[2]["limits_applied"]


async def test_it_is_said_once_and_stays_at_its_place_for_the_turn(chat: Chatting) -> None:
    chat.provider.queue(looking(FULL), looking(FULL), looking(FULL), "Done.")
    await chat.say("Look.")
    requests = chat.provider.requests
    assert len(set(notes(chat))) == 1
    assert len(notes(chat)) == 3
    assert requests[2].messages[: len(requests[1].messages)] == requests[1].messages


async def test_the_event_loop_does_not_wait_for_the_conversation(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = WatchedLock()
    made = Conversation.__init__

    def watched(conversation: Conversation, *arguments: Any, **named: Any) -> None:
        made(conversation, *arguments, **named)
        monkeypatch.setattr(conversation, "lock", lock)

    monkeypatch.setattr(Conversation, "__init__", watched)
    chat.provider.queue(looking(FULL), "Done.")
    await chat.say("Look.")
    assert notes(chat)
    assert lock.taken_in_loop == 0


async def test_the_answer_counts_to_what_the_next_request_will_have(chat: Chatting) -> None:
    chat.provider.queue(looking(int(USABLE * 0.85), output=int(USABLE * 0.06)), "Done.")
    await chat.say("Look.")
    assert notes(chat)


async def test_with_room_left_nothing_is_said(chat: Chatting) -> None:
    chat.provider.queue(looking(int(USABLE * 0.85)), "Done.")
    await chat.say("Look.")
    assert not notes(chat)


async def test_the_next_turn_has_no_note_to_finish(chat: Chatting) -> None:
    chat.provider.queue(looking(FULL), text("Done.", usage={"prompt_tokens": FULL}), "Hello.")
    await chat.say("Look.")
    await chat.say("And now?")
    assert WRAP_UP_TEXT not in str(chat.provider.requests[-1].messages)


async def test_a_turn_before_which_much_was_said_is_cut_instead(chat: Chatting) -> None:
    for number in range(8):
        chat.provider.queue(f"Answer {number}. " + "A long tale of nodes. " * 60)
        await chat.say(f"Question {number}")
    chat.provider.queue(looking(FULL), "Done.")
    await chat.say("Look.")
    assert not notes(chat)


async def test_switched_off_it_is_never_said(tmp_path: Path) -> None:
    environ: dict[str, Any] = {"LLM_WRAP_UP_SHARE": "0"}
    async with chatting(tmp_path, environ) as chat:
        chat.provider.queue(looking(USABLE * 2), "Done.")
        await chat.say("Look.")
        assert not notes(chat)
