"""Passages for the user's message are found among the messages that requests leave out (R56)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.assistant.context.notes import RECALLED
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call

SECRET = "We painted the lighthouse in vermilion."
SETTINGS = {"LLM_RECALL_TOKENS": "600", "LLM_SUMMARY": "off"}


async def long_chat(chat: Chatting) -> None:
    chat.provider.queue(SECRET)
    await chat.say("What colour did it get?")
    for number in range(14):
        chat.provider.queue(f"Answer {number}")
        await chat.say(f"Something else {number}")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path, SETTINGS) as running:
        await long_chat(running)
        yield running
        assert running.provider.unexpected == 0


def recalled(chat: Chatting, request: int = -1) -> list[str]:
    """The recalled text of a request, of the last one by default."""
    contents = [message["content"] for message in chat.provider.requests[request].messages]
    return [text for text in contents if text and text.startswith(RECALLED.heading)]


async def test_a_passage_that_fits_the_message_stands_before_it(chat: Chatting) -> None:
    chat.provider.queue("Vermilion.")
    stream = await chat.say("Which red was the lighthouse?")
    messages = chat.provider.requests[-1].messages
    assert messages[-1]["content"] == "Which red was the lighthouse?"
    assert messages[-2]["content"].startswith(RECALLED.heading)
    assert SECRET in messages[-2]["content"]
    assert stream.of("data-context")[0]["data"]["parts"]["recalled"]["tokens"] > 0


async def test_it_stays_the_same_for_the_turn_and_goes_with_it(chat: Chatting) -> None:
    chat.provider.queue(Script([tool_call("listUserSkills")]), "Vermilion.")
    await chat.say("Which red was the lighthouse?")
    first, second = (recalled(chat, request) for request in (-2, -1))
    assert len(first) == 1
    assert first == second
    chat.provider.queue("Fine.")
    await chat.say("zzz")
    assert not recalled(chat)


async def test_nothing_is_recalled_where_nothing_fits(chat: Chatting) -> None:
    chat.provider.queue("Sorry.")
    await chat.say("xylophone?")
    assert not recalled(chat)


async def test_it_is_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_SUMMARY": "off"}) as chat:
        await long_chat(chat)
        chat.provider.queue("No idea.")
        await chat.say("Which red was the lighthouse?")
        assert not recalled(chat)
