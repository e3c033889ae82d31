"""Messages out of sight that the user's message asks for stand before it, without a tool call
(R56), and the search of the model finds them in the same way (R49)."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.context.notes import RECALLED
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call

SECRET = "We painted the lighthouse in vermilion."
NONE = {"LLM_SUMMARY": "off"}
AUTO = {"LLM_SUMMARY": "off", "LLM_PROMPT_CACHE": "auto", "LLM_CONTEXT_WINDOW": "17408"}
MODES = pytest.mark.parametrize("environ", [NONE, AUTO], ids=["none", "auto"])
QUESTION = "Which red was the lighthouse?"
LONG = "and so on " * 700


async def long_chat(chat: Chatting, more: str = "") -> None:
    chat.provider.queue("Hello, what now?", SECRET)
    await chat.say("Hi.")
    await chat.say("What colour did it get?")
    for number in range(14):
        chat.provider.queue(f"Answer {number} {more}")
        await chat.say(f"Something else {number}")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path, NONE) as running:
        await long_chat(running)
        yield running
        assert running.provider.unexpected == 0


def recalled(chat: Chatting, request: int = -1) -> list[str]:
    """The recalled text of a request, of the last one by default."""
    contents = [message["content"] for message in chat.provider.requests[request].messages]
    return [text for text in contents if text and text.startswith(RECALLED.heading)]


def spoken(chat: Chatting) -> list[dict[str, Any]]:
    """The last request without its system message."""
    return [m for m in chat.provider.requests[-1].messages if m["role"] != "system"]


@MODES
async def test_what_a_question_asks_for_stands_before_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    async with chatting(tmp_path, environ) as chat:
        await long_chat(chat, LONG)
        chat.provider.queue("Vermilion.")
        stream = await chat.say(QUESTION)
        assert spoken(chat)[-1]["content"] == QUESTION
        assert spoken(chat)[-2]["content"].startswith(RECALLED.heading)
        assert SECRET in spoken(chat)[-2]["content"]
        assert stream.of("data-context")[0]["data"]["parts"]["recalled"]["tokens"] > 0


async def test_it_stays_the_same_for_the_turn_and_goes_with_it(chat: Chatting) -> None:
    chat.provider.queue(Script([tool_call("listUserSkills")]), "Vermilion.")
    await chat.say(QUESTION)
    first, second = (recalled(chat, request) for request in (-2, -1))
    assert len(first) == 1
    assert first == second
    chat.provider.queue("Fine.")
    await chat.say("zzz")
    assert not recalled(chat)


async def test_where_prompts_are_cached_it_stays_also_after_a_restart(tmp_path: Path) -> None:
    async with chatting(tmp_path, AUTO) as chat:
        await long_chat(chat, LONG)
        chat.provider.queue("Vermilion.")
        await chat.say(QUESTION)
        before = spoken(chat)
        await chat.idle()
    async with chatting(tmp_path, AUTO) as again:
        again.provider.queue("You are welcome.")
        await again.post({"id": "c1", "message": {**again.user("Thanks."), "id": "later"}})
        assert len(recalled(again)) == 1
        assert spoken(again)[: len(before)] == before


async def test_a_question_comes_with_its_answer(chat: Chatting) -> None:
    chat.provider.queue("Vermilion.")
    await chat.say("What was the colour?")
    (text,) = recalled(chat)
    assert f"user: What colour did it get?\nassistant: {SECRET}" in text


async def test_days_stand_in_the_transcript(chat: Chatting) -> None:
    chat.provider.queue("Vermilion.")
    await chat.say(QUESTION)
    assert re.search(r"====\n\[20\d\d-\d\d-\d\d\]\n\w+: ", recalled(chat)[0])


@pytest.mark.parametrize(
    "text", ["xylophone?", "Make the lighthouse brighter.", "Thanks!", "And now?"]
)
async def test_nothing_is_recalled_where_nothing_is_asked_for(chat: Chatting, text: str) -> None:
    chat.provider.queue("Fine.")
    await chat.say(text)
    assert not recalled(chat)


async def test_it_can_be_switched_off(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**NONE, "LLM_RECALL_TOKENS": "0"}) as chat:
        await long_chat(chat)
        chat.provider.queue("No idea.")
        await chat.say(QUESTION)
        assert not recalled(chat)


async def test_the_request_that_cuts_shows_what_it_hides(tmp_path: Path) -> None:
    """A long chat that is opened for the first time is cut by the request that asks."""
    async with chatting(tmp_path, {**NONE, "LLM_HISTORY_MAX_MESSAGES": "0"}) as chat:
        await long_chat(chat)
    async with chatting(tmp_path, {**NONE, "LLM_HISTORY_MAX_MESSAGES": "12"}) as again:
        again.provider.queue("Vermilion.")
        await again.post({"id": "c1", "message": {**again.user(QUESTION), "id": "later"}})
        assert SECRET in recalled(again)[0]


# The model's own search


async def searched(chat: Chatting, query: str, question: str = "zzz") -> list[dict[str, Any]]:
    """The passages of the model's search in a turn that asks `question`."""
    chat.provider.queue(Script([tool_call("history_search", {"query": query})]), "Found.")
    await chat.say(question)
    (result,) = [m for m in chat.provider.requests[-1].messages if m["role"] == "tool"][-1:]
    found: list[dict[str, Any]] = json.loads(result["content"])["passages"]
    return found


async def test_a_search_gives_the_answer_of_the_question_that_it_found(chat: Chatting) -> None:
    best = (await searched(chat, "colour"))[0]
    assert best["text"].startswith(f"user: What colour did it get?\nassistant: {SECRET}")
    assert best["handle"].startswith("r2-")


async def test_a_search_shows_the_part_of_a_long_message_that_fits(tmp_path: Path) -> None:
    async with chatting(tmp_path, NONE) as chat:
        chat.provider.queue(f"{LONG} The secret word is vermilion. {LONG}")
        await chat.say("Tell me everything.")
        (best, *_) = await searched(chat, "vermilion")
        assert "The secret word is vermilion." in best["text"]
        assert len(best["text"]) < len(LONG)


async def test_the_question_that_is_asked_is_no_hit(chat: Chatting) -> None:
    found = await searched(chat, "purple elephants", "Where did I mention purple elephants?")
    assert not any("elephants" in passage["text"] for passage in found)
