"""What is cut and summarised after a turn and before a request, and what readers see of it, over
HTTP against the scripted provider (R21, R57)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from plugin.assistant.context.projections import Covered
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.turn.idle import after_turn
from plugin.assistant.turn.idle.after_turn import AfterTurn
from plugin.tests.chatting import Chatting, Stream, chatting
from plugin.tests.providers import Script, failure
from plugin.tests.routes.test_subscribe import Panel
from plugin.tests.turn.idling import TOLD

GOAL = "- Goal: a fox in the snow"
WAITING = Script([{"text": TOLD}, {"wait": "on"}])
MODEL = {"LLM_SUMMARY": "model"}
BY_RULE = {"LLM_SUMMARY": "extractive"}
OVERFLOW = failure(400, "This model's maximum context length is 8192 tokens, you asked for more.")
BY_LIMIT: Mapping[str, Mapping[str, str]] = {
    "messages": {"LLM_HISTORY_MAX_MESSAGES": "16"},
    "turns": {"LLM_HISTORY_MAX_MESSAGES": "0", "LLM_SUMMARY_MAX_TURNS": "6"},
    "tokens": {
        "LLM_HISTORY_MAX_MESSAGES": "0",
        "LLM_SUMMARY_MAX_MESSAGES": "0",
        "LLM_SUMMARY_MAX_TURNS": "0",
        "LLM_SUMMARY_MAX_TOKENS": "7200",
    },
}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(after_turn, "SECONDS", 0.0)


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


async def talk(chat: Chatting, turns: int, first: int = 0) -> Stream:
    """Talks for some turns, and waits for what is done after each of them."""
    for turn in range(first, first + turns):
        chat.provider.queue(f"Answer {turn}: " + f"fact{turn} " * 200)
        answered = await chat.say(f"Question {turn}: " + f"word{turn} " * 20)
        await chat.idle()
        await settled(chat)
    return answered


async def settled(chat: Chatting) -> None:
    """Waits until what is due after a turn has been cut; a model may still be asked."""
    cuts_after_turns, *_ = chat.assistant.space_of("default").sessions._turns._idle_jobs
    assert isinstance(cuts_after_turns, AfterTurn)
    await asyncio.gather(*cuts_after_turns._scheduler._tasks.values())


async def until_cut(chat: Chatting) -> Stream:
    """Talks until something was cut; returns the last answer before that."""
    for turn in range(20):
        answered = await talk(chat, 1, turn)
        if await cuts(chat):
            return answered
    raise AssertionError("nothing was cut")


async def cuts(chat: Chatting) -> tuple[Covered, ...]:
    """The stored cuts."""
    return (await chat.assistant.space_of("default").chats.projections("c1")).cuts


async def context(chat: Chatting) -> dict[str, Any]:
    async with chat.client.get("/api/chats/c1/context") as response:
        report: dict[str, Any] = (await response.json())["report"]
        return report


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


async def until(panel: Panel, stream: aiohttp.ClientResponse, kind: str, **fields: Any) -> Any:
    """The next event of this type with these fields, which has to come soon."""
    return await asyncio.wait_for(panel.until(stream, kind, **fields), 20)


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
    async with chatting(tmp_path, {**MODEL, "LLM_SUMMARY_TIMEOUT": "4"}) as chat:
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
        report = await context(chat)
        assert report["left_out"] and report["parts"]["summary"]["tokens"] == 0


@pytest.mark.parametrize("reason", BY_LIMIT)
async def test_what_is_due_is_cut_and_stored_when_the_turn_has_ended(
    tmp_path: Path, reason: str
) -> None:
    async with chatting(tmp_path, {**BY_RULE, **BY_LIMIT[reason]}) as chat:
        await talk(chat, 1)
        panel = Panel(chat)
        async with panel.connected() as stream:
            await until(panel, stream, "snapshot")
            answered = await until_cut(chat)
            told = await until(panel, stream, "context_compacted")
            await until(panel, stream, "thread_updated", chat={"compacting": None})
        # No request made the cut, and the turn had ended before it.
        assert answered.of("data-context")[-1]["data"]["cuts"] == 0
        assert (told["report"]["cuts"], told["report"]["request"]) == (1, 0)
        types = [event["type"] for event in panel.seen]
        assert types.index("context_compacted") > types.index("stream_finished")
        assert phases(panel) == [{"phase": "committing", "reason": reason}, None]
        assert (await context(chat))["cuts"] == 1
        before = await cuts(chat)
        chat.provider.queue("The answer")
        answered = await chat.say("And now?")
        assert answered.of("data-context")[0]["data"]["cuts"] == 1
        assert await cuts(chat) == before


async def test_below_every_limit_nothing_is_cut_after_a_turn(tmp_path: Path) -> None:
    async with chatting(tmp_path, BY_RULE) as chat:
        await talk(chat, 6)
        assert await cuts(chat) == ()


async def test_the_next_request_has_the_models_text_and_waits_for_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, **BY_LIMIT["messages"]}) as chat:
        await talk(chat, 7)
        panel = Panel(chat)
        async with panel.connected() as stream:
            await until(panel, stream, "snapshot")
            chat.provider.queue("Answer 8", WAITING)
            assert (await chat.say("Question 8")).text == "Answer 8"
            await chat.provider.reached("on")
            assert await compacting(chat) == {"phase": "summarising", "reason": "messages"}
            assert (await chat.stored())["state"] == "idle"
            chat.provider.release("on")
            while phases(panel)[-2:] != [{"phase": "committing", "reason": "messages"}, None] or (
                {"phase": "summarising", "reason": "messages"} not in phases(panel)
            ):
                await until(panel, stream, "thread_updated")
        requests = len(chat.provider.requests)
        chat.provider.queue("The answer")
        await chat.say("And now?")
        assert GOAL in said(chat)
        assert len(chat.provider.requests) == requests + 1


async def test_a_new_turn_ends_the_work_on_the_summary(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, **BY_LIMIT["messages"]}) as chat:
        await talk(chat, 7)
        chat.provider.queue("Answer 8", WAITING)
        await chat.say("Question 8")
        await chat.provider.reached("on")
        chat.provider.queue(TOLD, "The answer")
        assert (await chat.say("And now?")).text == "The answer"
        assert GOAL in said(chat)
        assert await compacting(chat) is None


async def test_a_stopped_turn_asks_no_model(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, **BY_LIMIT["messages"]}) as chat:
        await talk(chat, 7)
        chat.provider.queue(Script([{"text": "Answer "}, {"wait": "on"}, {"text": "8"}]))
        asking = asyncio.create_task(chat.say("Question 8"))
        await chat.provider.reached("on")
        await chat.command(type="abort")
        await asking
        await chat.idle()
        await settled(chat)
        assert await cuts(chat)
        assert await compacting(chat) is None


async def test_an_overflow_and_the_summary_after_it_are_shown(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**MODEL, "LLM_HISTORY_MAX_MESSAGES": "0"}) as chat:
        await talk(chat, 14)
        panel = Panel(chat)
        async with panel.connected() as stream:
            await until(panel, stream, "snapshot")
            chat.provider.queue(OVERFLOW, "Sorry", "The answer", WAITING)
            assert (await chat.say("And now?")).text == "The answer"
            while phases(panel)[-1:] != [None]:
                await until(panel, stream, "thread_updated")
            await chat.provider.reached("on")
            chat.provider.release("on")
        assert phases(panel)[:3] == [
            {"phase": "committing", "reason": "overflow"},
            {"phase": "summarising", "reason": "overflow"},
            None,
        ]


@pytest.mark.parametrize("as_message", [False, True])
async def test_a_compaction_by_the_user_is_shown(tmp_path: Path, as_message: bool) -> None:
    async with chatting(tmp_path) as chat:
        await talk(chat, 8)
        panel = Panel(chat)
        async with panel.connected() as stream:
            await until(panel, stream, "snapshot")
            chat.provider.queue(WAITING)
            work = chat.say("/compact") if as_message else chat.command(type="compact")
            asking = asyncio.ensure_future(work)
            await chat.provider.reached("on")
            assert await compacting(chat) == {"phase": "summarising", "reason": "user"}
            chat.provider.release("on")
            await asking
            while phases(panel)[-1:] != [None]:
                await until(panel, stream, "thread_updated")
        assert phases(panel) == [
            {"phase": "summarising", "reason": "user"},
            {"phase": "committing", "reason": "user"},
            None,
        ]
