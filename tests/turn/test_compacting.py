"""What is cut and summarised after a turn and before a request, and what readers see of it, over
HTTP against the scripted provider (R21, R57)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.context.summary.text import MARKER
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, failure
from plugin.tests.routes.test_subscribe import Panel
from plugin.tests.turn.idling import TOLD

GOAL = "- Goal: a fox in the snow"
WAITING = Script([{"text": TOLD}, {"wait": "on"}])
MODEL = {"LLM_SUMMARY": "model"}
BY_RULE = {"LLM_SUMMARY": "extractive"}
OVERFLOW = failure(400, "This model's maximum context length is 8192 tokens, you asked for more.")
BY_LIMIT: Mapping[str, Mapping[str, str]] = {
    "messages": {"LLM_HISTORY_MAX_MESSAGES": "10"},
    "turns": {"LLM_HISTORY_MAX_MESSAGES": "0", "LLM_SUMMARY_MAX_TURNS": "4"},
    "tokens": {"LLM_HISTORY_MAX_MESSAGES": "0", "LLM_SUMMARY_MAX_TOKENS": "6000"},
}


def said(chat: Chatting, number: int = -1) -> str:
    """All messages of a request as one text."""
    return "\n".join(str(m["content"]) for m in chat.provider.requests[number].messages)


def history(turns: int) -> list[dict[str, Any]]:
    """A chat of `turns` answered turns, from another program."""
    return [
        {
            "id": f"{role}{turn}",
            "role": role,
            "parts": [{"type": "text", "text": f"Number {turn}: " + f"word{turn} " * 80}],
        }
        for turn in range(turns)
        for role in ("user", "assistant")
    ]


async def ask(chat: Chatting, turns: int) -> Any:
    """Sends a list of messages to a new chat; its first request cuts what is too much."""
    return await chat.post({"id": "c1", "messages": [*history(turns), chat.user("And now?")]})


async def talk(chat: Chatting, turns: int) -> None:
    for turn in range(turns):
        chat.provider.queue(f"Answer {turn}: " + f"fact{turn} " * 80)
        await chat.say(f"Question {turn}: " + f"word{turn} " * 80)


async def compacting(chat: Chatting) -> Any:
    """What a list, one chat and a snapshot say, which is the same."""
    async with chat.client.get("/api/chats") as response:
        (entry,) = (await response.json())["chats"]
    async with chat.client.get("/api/chats/subscribe") as stream:
        (listed,) = (await Panel(chat, None).until(stream, "snapshot"))["chats"]
    async with chat.client.get("/api/chats/subscribe?chat_id=c1") as stream:
        snapshot = await Panel(chat).until(stream, "snapshot")
    found = (await chat.stored())["compacting"]
    assert entry["compacting"] == listed["compacting"] == snapshot["chat"]["compacting"] == found
    return found


def phases(panel: Panel) -> list[Any]:
    """The values of `compacting` that a reader got, in their order."""
    updates = [event["chat"] for event in panel.seen if event["type"] == "thread_updated"]
    return [chat["compacting"] for chat in updates if "compacting" in chat]


async def test_a_request_waits_for_the_models_summary_of_its_cut(tmp_path: Path) -> None:
    async with chatting(tmp_path, MODEL) as chat:
        chat.provider.queue(WAITING, "The answer")
        asking = asyncio.create_task(ask(chat, 14))
        await chat.provider.reached("on")
        assert len(chat.provider.requests) == 1
        assert (await chat.stored())["state"] == "generating"
        assert await compacting(chat) == {"phase": "summarising", "reason": "messages"}
        chat.provider.release("on")
        assert (await asking).text == "The answer"
        assert GOAL in said(chat)
        assert await compacting(chat) is None


async def test_with_auto_no_request_waits_for_a_model(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_SUMMARY": "auto"}) as chat:
        chat.provider.queue("The answer")
        assert (await ask(chat, 14)).text == "The answer"
        assert MARKER in said(chat)


@pytest.mark.parametrize("script", [WAITING, failure(400, "no"), Script([{"text": "Sorry."}])])
async def test_a_model_that_is_slow_or_fails_leaves_the_summary_by_rule(
    tmp_path: Path, script: Script
) -> None:
    async with chatting(tmp_path, {**MODEL, "LLM_SUMMARY_TIMEOUT": "0.3"}) as chat:
        chat.provider.queue(script, "The answer")
        assert (await ask(chat, 14)).text == "The answer"
        assert MARKER in said(chat)
        assert "Number 3" in said(chat)
        assert "a fox in the snow" not in said(chat)
        assert await compacting(chat) is None


async def test_a_turn_can_be_stopped_while_it_waits_for_a_summary(tmp_path: Path) -> None:
    async with chatting(tmp_path, MODEL) as chat:
        chat.provider.queue(WAITING)
        asking = asyncio.create_task(ask(chat, 14))
        await chat.provider.reached("on")
        await chat.command(type="abort")
        assert (await asking).of("abort")
        assert await compacting(chat) is None
        assert (await chat.stored())["state"] == "idle"


async def test_without_summaries_the_limits_that_ask_for_one_do_not_cut(tmp_path: Path) -> None:
    limits = {"LLM_SUMMARY_MAX_TURNS": "2", "LLM_SUMMARY_MAX_MESSAGES": "3"}
    off = {"LLM_SUMMARY": "off", "LLM_HISTORY_MAX_MESSAGES": "0", **limits}
    async with chatting(tmp_path, off) as chat:
        await talk(chat, 6)
        assert all(f"Question {turn}" in said(chat) for turn in range(6))


async def test_without_summaries_the_limit_of_messages_cuts_by_handle_only(tmp_path: Path) -> None:
    off = {"LLM_SUMMARY": "off", "LLM_HISTORY_MAX_MESSAGES": "6"}
    async with chatting(tmp_path, off) as chat:
        await talk(chat, 6)
        assert "Question 1" not in said(chat)
        assert MARKER not in said(chat)
        async with chat.client.get("/api/chats/c1/context") as response:
            report = (await response.json())["report"]
        assert report["left_out"] and report["parts"]["summary"]["tokens"] == 0


@pytest.mark.parametrize("reason", BY_LIMIT)
async def test_what_is_due_is_cut_and_stored_when_the_turn_has_ended(
    tmp_path: Path, reason: str
) -> None:
    async with chatting(tmp_path, {**BY_RULE, **BY_LIMIT[reason]}) as chat:
        panel = Panel(chat)
        await talk(chat, 1)
        async with panel.connected() as stream:
            asking = asyncio.create_task(talk(chat, 4))
            told = await panel.until(stream, "context_compacted")
            await asking
            requests = len(chat.provider.requests)
            # No request made the cut, and the turn has ended before it.
            assert told["report"]["cuts"] == 1 and told["report"]["request"] == 0
            assert panel.state is not None and panel.state["runtime"]["state"] == "idle"
            await panel.until(stream, "thread_updated", chat={"compacting": None})
            assert phases(panel) == [{"phase": "committing", "reason": reason}, None]
            store = chat.assistant.space_of("default").chats
            committed = (await store.projections("c1")).cuts
            assert len(committed) == 1
            chat.provider.queue("The answer")
            answered = await chat.say("And now?")
        assert len(chat.provider.requests) == requests + 1
        assert answered.of("data-context")[0]["data"]["cuts"] == 1
        assert (await store.projections("c1")).cuts == committed


async def test_the_next_request_has_the_model_s_text_and_waits_for_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, **BY_LIMIT["messages"]}) as chat:
        panel = Panel(chat)
        await talk(chat, 4)
        async with panel.connected() as stream:
            chat.provider.queue("Answer 5", WAITING)
            answered = await chat.say("Question 5")
            assert answered.text == "Answer 5"
            await chat.provider.reached("on")
            assert await compacting(chat) == {"phase": "summarising", "reason": "messages"}
            assert (await chat.stored())["state"] == "idle"
            chat.provider.release("on")
            await panel.until(stream, "thread_updated", chat={"compacting": None})
            ends = [{"phase": "summarising", "reason": "messages"}]
            while phases(panel)[-1] is not None or ends[0] not in phases(panel):
                await panel.until(stream, "thread_updated")
        chat.provider.queue("The answer")
        await chat.say("And now?")
        assert GOAL in said(chat)
        assert len(chat.provider.requests) == 7


async def test_a_new_turn_ends_the_work_on_the_summary(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, **BY_LIMIT["messages"]}) as chat:
        await talk(chat, 4)
        chat.provider.queue("Answer 5", WAITING)
        await chat.say("Question 5")
        await chat.provider.reached("on")
        chat.provider.queue(TOLD, "The answer")
        assert (await chat.say("And now?")).text == "The answer"
        assert GOAL in said(chat)
        assert await compacting(chat) is None


async def test_an_overflow_and_the_summary_after_it_are_shown(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, "LLM_HISTORY_MAX_MESSAGES": "0"}) as chat:
        chat.provider.queue("Hi")
        await chat.say("Hello")
        panel = Panel(chat)
        async with panel.connected() as stream:
            await panel.until(stream, "snapshot")
            for turn in range(3):
                chat.provider.queue(f"Answer {turn}: " + f"fact{turn} " * 300)
                await chat.say(f"Question {turn}: " + f"word{turn} " * 300)
            chat.provider.queue(OVERFLOW, TOLD, "The answer")
            answered = await chat.say("And now?")
            assert answered.text == "The answer"
            await panel.until(stream, "thread_updated", chat={"state": "idle"})
            while phases(panel)[-1:] != [None]:
                await panel.until(stream, "thread_updated")
        assert phases(panel)[:3] == [
            {"phase": "committing", "reason": "overflow"},
            {"phase": "summarising", "reason": "overflow"},
            {"phase": "committing", "reason": "overflow"},
        ]
        assert GOAL in said(chat)


@pytest.mark.parametrize("as_message", [False, True])
async def test_a_compaction_by_the_user_is_shown(tmp_path: Path, as_message: bool) -> None:
    async with chatting(tmp_path) as chat:
        await talk(chat, 8)
        panel = Panel(chat)
        async with panel.connected() as stream:
            await panel.until(stream, "snapshot")
            chat.provider.queue(WAITING)
            work = chat.say("/compact") if as_message else chat.command(type="compact")
            asking = asyncio.ensure_future(work)  # type: ignore[arg-type]
            await chat.provider.reached("on")
            assert await compacting(chat) == {"phase": "summarising", "reason": "user"}
            chat.provider.release("on")
            await asking
            while phases(panel)[-1:] != [None]:
                await panel.until(stream, "thread_updated")
        assert phases(panel) == [
            {"phase": "summarising", "reason": "user"},
            {"phase": "committing", "reason": "user"},
            None,
        ]
