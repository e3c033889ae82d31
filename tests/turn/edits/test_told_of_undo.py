"""What the model is told of edits that a person took back or made again: in the next requests, and
in the summary after a cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import ChatEdits
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.errors import StoreError
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.edits.panels import editing, set_steps, told, workflow

LINE = '[The user took back your changes of the workflow that answered "Edit"]'
STEPS = "steps=30"
BY_RULE = {"LLM_SUMMARY": "extractive", "LLM_HISTORY_MAX_MESSAGES": "16"}


async def edited(chat: Chatting) -> str:
    chat.provider.queue(Script([set_steps(30)]), "Done.")
    stream = await chat.say("Edit", workflow=workflow())
    return str(stream.chunks[0]["messageId"])


async def undo(chat: Chatting, message_id: str) -> None:
    await told(chat, type="undo_edits", message_id=message_id)


async def redo(chat: Chatting, message_id: str) -> None:
    await told(chat, type="redo_edits", message_id=message_id)


async def asked(chat: Chatting, text: str = "And now?") -> list[str]:
    """The texts of the request of a message."""
    chat.provider.queue("Fine.")
    await chat.say(text)
    return [str(one["content"]) for one in chat.provider.requests[-1].messages]


async def summary(chat: Chatting) -> str:
    return next(text for text in await asked(chat) if text.startswith(MARKER))


async def cut(chat: Chatting) -> None:
    """Talk until the edit is in the summary."""
    for number in range(20):
        texts = await asked(chat, f"Something else {number}: " + f"word{number} " * 60)
        if any(text.startswith(MARKER) for text in texts):
            return
    raise AssertionError("nothing was cut")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with editing(tmp_path, environ=BY_RULE) as chat:
        await chat.client.post("/api/chats", json={"id": "c1"})
        yield chat


async def test_each_turn_is_told_what_was_taken_back(chat: Chatting) -> None:
    answer = await edited(chat)
    assert LINE not in await asked(chat)
    await undo(chat, answer)
    for _ in range(2):
        texts = await asked(chat)
        assert texts[-2:] == [LINE, "And now?"] and texts.count(LINE) == 1
    await redo(chat, answer)
    assert LINE not in await asked(chat)


async def test_it_is_told_where_prompts_are_cached_as_well(tmp_path: Path) -> None:
    async with editing(tmp_path, environ={"LLM_PROMPT_CACHE": "auto"}) as chat:
        await chat.client.post("/api/chats", json={"id": "c1"})
        await undo(chat, await edited(chat))
        await asked(chat)
        assert LINE in await asked(chat)


async def test_the_summary_is_without_edits_that_were_taken_back_before_the_cut(
    chat: Chatting,
) -> None:
    await undo(chat, await edited(chat))
    await cut(chat)
    texts = await asked(chat)
    found = next(text for text in texts if text.startswith(MARKER))
    assert STEPS not in found and "edits that the user took back: r1" in found
    assert LINE not in texts, "the summary says it"


async def test_the_summary_follows_undo_and_redo_after_the_cut(tmp_path: Path) -> None:
    async with editing(tmp_path, environ=BY_RULE) as chat:
        answer = await edited(chat)
        await cut(chat)
        assert STEPS in await summary(chat)
        await undo(chat, answer)
        assert STEPS not in await summary(chat)
    async with editing(tmp_path, environ=BY_RULE) as chat:
        for _ in range(20):
            chat.user("a message from before the restart")
        assert STEPS not in await summary(chat)
        await redo(chat, answer)
        found = await summary(chat)
        assert STEPS in found and "took back" not in found


async def test_what_the_model_took_back_itself_is_in_its_calls(chat: Chatting) -> None:
    first = await edited(chat)
    chat.provider.queue(Script([tool_call("undoEdits", id="b1")]), "Taken back.")
    await chat.say("Undo that")
    assert not any("took back" in text for text in await asked(chat))
    await redo(chat, first)
    taken = '[The user took back your changes of the workflow that answered "Undo that"]'
    assert taken in await asked(chat)
    await cut(chat)
    assert STEPS in await summary(chat)


async def test_a_store_that_fails_does_not_stop_a_turn(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await undo(chat, await edited(chat))
    assert LINE in await asked(chat)

    async def fail(*_: Any) -> None:
        await asyncio.sleep(0)
        raise StoreError("The disk is full.")

    monkeypatch.setattr(ChatEdits, "taken_back_by_people", fail)
    assert LINE in await asked(chat), "as it was known last"
