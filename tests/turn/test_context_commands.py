"""`/context` and `/compact`, as messages in the chat and over HTTP (R32, R41)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call

LONG = "The sampler of the portrait is euler and its steps are twenty. " * 12
TURNS = 10


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path, {"LLM_SUMMARY": "extractive"}) as running:
        yield running
        assert running.provider.unexpected == 0


async def talk(chat: Chatting, turns: int = TURNS) -> None:
    for number in range(turns):
        chat.provider.queue(f"Answer {number}. {LONG}")
        await chat.say(f"Question {number}. {LONG}")


async def context(chat: Chatting, name: str = "c1") -> dict[str, Any]:
    async with chat.client.get(f"/api/chats/{name}/context") as response:
        assert response.status == 200
        body: dict[str, Any] = await response.json()
        return body


async def test_the_context_of_a_chat_is_its_last_request(chat: Chatting) -> None:
    await talk(chat, 2)
    told = await context(chat)
    assert told["report"]["messages_sent"] == 3
    assert told["report"]["phase"] == "answer"
    assert "Nothing was left out." in told["text"]


async def test_a_chat_that_sent_nothing_has_no_report(chat: Chatting) -> None:
    stream = await chat.say("/context")
    assert "sent nothing" in stream.text
    assert await context(chat) == {"report": None, "text": stream.text}


async def test_an_unknown_chat_has_no_context(chat: Chatting) -> None:
    assert (await chat.client.get("/api/chats/unknown/context")).status == 404


async def test_compact_as_a_command_summarises_without_a_message(chat: Chatting) -> None:
    await talk(chat)
    before = await context(chat)
    assert before["report"]["summarised"] == 0
    stored = await chat.stored()
    # The chat's own model is always asked by hand (R25).
    chat.provider.queue("Goal: a portrait with euler and twenty steps.")
    assert (await chat.command(type="compact", focus="the red hat")).status == 202
    assert "the red hat" in str(chat.provider.requests[-1].messages)
    after = await context(chat)
    assert after["report"]["summarised"] > 0
    assert after["report"]["total"]["tokens"] < before["report"]["total"]["tokens"]
    assert await chat.stored() == stored


async def test_what_was_compacted_stays_so_after_a_restart(tmp_path: Path) -> None:
    quiet = {"LLM_SUMMARY": "extractive"}
    async with chatting(tmp_path, quiet) as chat:
        await talk(chat)
        chat.provider.queue("Goal: a portrait.")
        await chat.command(type="compact")
        summarised = (await context(chat))["report"]["summarised"]
    async with chatting(tmp_path, quiet) as chat:
        chat.provider.queue("Good.")
        await chat.post({"id": "c1", "message": {**chat.user("Go on"), "id": "later"}})
        assert (await context(chat))["report"]["summarised"] == summarised


async def test_compact_as_a_message_sends_a_report(chat: Chatting) -> None:
    await talk(chat)
    chat.provider.queue("Goal: a portrait.")
    stream = await chat.say("/compact")
    (chunk,) = stream.of("data-context")
    assert chunk["data"]["summarised"] > 0
    assert chunk["data"] == (await context(chat))["report"]
    assert stream.message.metadata["command"] == "compact"


async def test_there_must_be_something_to_compact(chat: Chatting) -> None:
    await talk(chat, 1)
    refused = await chat.command(type="compact")
    assert refused.status == 409
    assert (await refused.json())["error"]["code"] == "nothing_to_compact"


async def test_compact_as_a_message_says_that_there_is_nothing_to_compact(chat: Chatting) -> None:
    await talk(chat, 1)
    stream = await chat.say("/compact")
    assert "There is nothing to compact" in stream.text


async def test_nothing_is_compacted_while_a_turn_runs(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "One "}, {"wait": "on"}, {"text": "two"}]))
    answered = chat.client.post(
        "/api/chat", json={"id": "c1", "message": chat.user("Write something")}
    )
    async with answered as response:
        await chat.provider.reached("on")
        refused = await chat.command(type="compact")
        assert refused.status == 409
        assert (await refused.json())["error"]["code"] == "turn_running"
        chat.provider.release("on")
        await response.read()


async def test_nothing_is_compacted_while_an_answer_waits_for_the_user(chat: Chatting) -> None:
    skill = {"name": "Fox", "description": "Foxes", "instructions": "Snow."}
    chat.provider.queue(Script([tool_call("createUserSkill", skill)]))
    await chat.say("Keep this")
    refused = await chat.command(type="compact")
    assert (await refused.json())["error"]["code"] == "turn_waits"


@pytest.mark.parametrize("more", [{"focus": 3}, {"ids": ["x"]}])
async def test_a_wrong_command_names_its_field(chat: Chatting, more: dict[str, Any]) -> None:
    await talk(chat, 1)
    refused = await chat.command(type="compact", **more)
    assert refused.status == 400
    assert (await refused.json())["error"]["where"] == next(iter(more))


async def test_help_names_every_command(chat: Chatting) -> None:
    stream = await chat.say("/help")
    for name in ("/skill", "/context", "/tokens", "/compact", "/help", "/new", "Shift + Enter"):
        assert name in stream.text


async def test_without_summaries_no_text_mentions_the_next_summary(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_SUMMARY": "off"}) as chat:
        chat.provider.queue("Hello")
        stream = await chat.say("Hi")
        assert stream.of("data-context")[-1]["data"]["next_trigger"] is None
        assert "next summary" not in (await chat.say("/context")).text


async def test_compact_without_summaries_mentions_no_summary(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_SUMMARY": "off"}) as chat:
        await talk(chat)
        answer = (await chat.say("/compact")).text
        assert "The older messages are not sent any more" in answer
        assert "summar" not in answer
