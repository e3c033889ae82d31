"""When a model is asked to summarise an idle chat, and how its summary is used (R21-R27)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.context.compaction_policy import most_after
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.context.tokens import text_tokens
from plugin.assistant.errors import Conflict
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.request import LLMRequest
from plugin.assistant.llm.stream_events import Event, Finish, TextDelta
from plugin.assistant.turn.compaction import Progress
from plugin.assistant.turn.idle.summariser import (
    COOL_DOWN_SECONDS,
    IDLE_SECONDS,
    MOST_FAILURES,
    Summariser,
)
from plugin.tests.chatting import chatting
from plugin.tests.models import WordByWord
from plugin.tests.providers import Script, failure, text, tool_call
from plugin.tests.turn.idling import TOLD, IdleScene, idle_chat

NO_SUMMARY = "I'm sorry, I can't do that."
REFUSED = failure(400, "no")


async def at_once(_: float) -> None:
    return


def told_in(chat: IdleScene) -> str:
    return chat.context.projections.last_llm_summary[0]


async def test_cut_messages_are_summarised_when_the_chat_has_been_idle() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        assert chat.context.projections.cuts
        chat.server.queue(TOLD)
        task = chat.turn_ended()
        await asyncio.sleep(0)
        assert chat.gate.slept == [IDLE_SECONDS]
        assert chat.server.requests == []
        chat.gate.opened.set()
        await asyncio.wait([task])
        assert told_in(chat) == TOLD
        assert chat.kept == [chat.context.projections]


async def test_the_request_has_no_tools_and_the_cut_messages_as_data() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.server.queue(TOLD)
        await chat.idle()
        (request,) = chat.server.requests
        assert "tools" not in request.body
        assert [message["role"] for message in request.messages] == ["system", "user"]
        assert "Question 2: word2" in request.messages[1]["content"]
        last = f"Question {len(chat.path) - 2}:"
        assert last not in request.messages[1]["content"]


async def test_a_chat_without_a_cut_asks_nobody() -> None:
    async with idle_chat() as chat:
        chat.talk(3)
        await chat.idle()
        assert chat.server.requests == []


async def test_summarised_messages_are_not_sent_to_be_summarised_again() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.server.queue(TOLD)
        await chat.idle()
        await chat.idle()
        assert len(chat.server.requests) == 1


async def test_the_next_cut_extends_the_last_text() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.server.queue(TOLD, TOLD + "\nPending: the mask")
        await chat.idle()
        chat.talk(6)
        await chat.idle()
        assert TOLD in chat.server.requests[1].messages[1]["content"]
        assert told_in(chat) == TOLD + "\nPending: the mask"


async def test_a_long_past_is_summarised_in_several_requests() -> None:
    async with idle_chat(window=16_384) as chat:
        chat.talk(60, planned=False)
        (cut,) = chat.context.projections.cuts
        parts = [f"{TOLD}\nPending: part {number}" for number in range(4)]
        chat.server.queue(*parts)
        await chat.idle()
        seen = [request.messages[1]["content"] for request in chat.server.requests]
        assert len(seen) == len(parts)
        assert all("".join(seen).count(f"Question {row}:") == 1 for row in range(2, cut.end, 2))
        assert chat.context.projections.last_llm_summary == (parts[-1], cut.end)


async def test_a_request_for_a_summary_leaves_room_for_the_longest_answer() -> None:
    async with idle_chat(window=16_384, max_output_tokens=12_000) as chat:
        chat.talk(60, planned=False)
        chat.server.queue(*(f"{TOLD}\nPending: part {number}" for number in range(12)))
        await chat.idle()
        texts = [request.messages[1]["content"] for request in chat.server.requests]
        assert texts
        assert max(map(text_tokens, texts)) <= (16_384 - 12_000) / 2 + 200


async def test_a_new_turn_stops_the_wait() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        task = chat.turn_ended()
        await asyncio.sleep(0)
        chat.summariser.stop("c1")
        await asyncio.wait([task])
        assert task.cancelled()
        assert chat.server.requests == []


async def test_a_new_turn_hangs_up_on_the_model_at_once() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.server.queue(Script([{"text": "Goal: a"}, {"wait": "on"}, {"text": " fox"}]))
        before = chat.context.projections
        chat.gate.opened.set()
        task = chat.turn_ended()
        await chat.server.reached("on")
        chat.summariser.stop("c1")
        await asyncio.wait([task])
        await chat.server.client_left()
        chat.server.release("on")
        assert chat.context.projections is before
        chat.server.queue(TOLD)
        await chat.idle()
        assert told_in(chat) == TOLD


async def test_a_stop_at_any_moment_leaves_all_or_nothing_of_the_text() -> None:
    seen = set()
    for steps in range(40):
        async with idle_chat() as chat:
            chat.summariser = Summariser(
                chat.providers, WordByWord(TOLD), chat.settings, sleep=at_once
            )
            chat.talk(14)
            rows = chat.context.rows()
            task = chat.turn_ended()
            for _ in range(steps):
                await asyncio.sleep(0)
            chat.summariser.stop("c1")
            told = told_in(chat)
            await asyncio.wait([task])
            assert told_in(chat) == told
            assert chat.context.rows() == rows
            chat.talk(1)
            seen.add(told)
    assert seen == {"", TOLD}


async def test_a_stop_while_a_summary_that_a_turn_waits_for_ends_is_not_lost() -> None:
    class Stopping:
        async def stream(
            self, provider: Provider, request: LLMRequest
        ) -> AsyncGenerator[Event, None]:
            waiting.cancel()
            yield TextDelta(TOLD)
            yield Finish("stop")

    async with idle_chat(summary="model") as chat:
        chat.summariser = Summariser(chat.providers, Stopping(), chat.settings)
        chat.talk(14)
        waiting = asyncio.create_task(chat.summariser.before_request(chat.preparation, Progress()))
        with pytest.raises(asyncio.CancelledError):
            await waiting


@pytest.mark.parametrize(
    "script",
    [
        text(NO_SUMMARY),
        text(""),
        text("Goal: " + "fox " * 900 + "\nPending: more"),
        text(TOLD, finish="length"),
        Script([{"text": TOLD}, tool_call("addNode", {"type": "KSampler"})]),
        text("Goal: a fox\nImportant values: seed 998877, 64x96, vae/none.safetensors"),
        REFUSED,
    ],
)
async def test_a_failing_model_leaves_the_extractive_summary(script: Script) -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        before = chat.context.projections
        chat.server.queue(script)
        await chat.idle()
        assert chat.context.projections is before
        assert chat.kept == []
        assert any(m.text.startswith(MARKER) for m in chat.context.plan().messages)


async def test_the_same_messages_are_not_tried_twice() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.server.queue(NO_SUMMARY)
        await chat.idle()
        await chat.idle()
        assert len(chat.server.requests) == 1


async def failed_three_times(chat: IdleScene) -> None:
    chat.talk(14)
    for _ in range(MOST_FAILURES):
        chat.server.queue(NO_SUMMARY)
        await chat.idle()
        chat.talk(6)


async def test_after_three_failures_a_chat_is_left_alone() -> None:
    async with idle_chat() as chat:
        await failed_three_times(chat)
        await chat.idle()
        chat.now = COOL_DOWN_SECONDS - 1
        await chat.idle()
        assert len(chat.server.requests) == MOST_FAILURES


async def test_after_the_pause_there_is_one_probe() -> None:
    async with idle_chat() as chat:
        await failed_three_times(chat)
        chat.now = COOL_DOWN_SECONDS
        chat.server.queue(NO_SUMMARY)
        await chat.idle()
        chat.talk(6)
        await chat.idle()
        assert len(chat.server.requests) == MOST_FAILURES + 1


async def test_a_probe_that_succeeds_ends_the_pause() -> None:
    async with idle_chat() as chat:
        await failed_three_times(chat)
        chat.now = COOL_DOWN_SECONDS
        chat.server.queue(TOLD)
        await chat.idle()
        assert told_in(chat) == TOLD
        chat.talk(6)
        chat.server.queue(TOLD + "\nPending: the mask")
        await chat.idle()
        assert told_in(chat).endswith("the mask")


async def test_a_success_by_hand_ends_the_pause() -> None:
    async with idle_chat() as chat:
        await failed_three_times(chat)
        chat.server.queue(TOLD)
        assert (await chat.summariser.compact(chat.preparation)).by_model
        chat.talk(14)
        chat.server.queue(TOLD + "\nPending: the mask")
        await chat.idle()
        assert told_in(chat).endswith("the mask")


@pytest.mark.parametrize("summary", ["extractive", "off"])
async def test_nobody_is_asked_where_the_user_wants_no_model(summary: str) -> None:
    async with idle_chat(summary=summary) as chat:
        chat.talk(14)
        tasks = asyncio.all_tasks()
        chat.summariser.begin(chat.between_turns())
        assert asyncio.all_tasks() == tasks


async def test_the_demo_model_is_not_asked() -> None:
    async with idle_chat() as chat:
        chat.providers.provider = replace(chat.providers.provider, source="demo")
        chat.talk(14)
        await chat.idle()
        assert not (await chat.summariser.compact(chat.preparation)).by_model
        assert chat.server.requests == []


async def test_a_model_with_a_small_window_is_not_asked() -> None:
    async with idle_chat(window=8_192) as chat:
        chat.talk(14)
        assert chat.context.projections.cuts
        await chat.idle()
        assert chat.server.requests == []


async def test_a_few_short_messages_are_not_worth_a_request() -> None:
    async with idle_chat() as chat:
        chat.talk(14, words=2)
        assert chat.context.projections.cuts
        await chat.idle()
        assert chat.server.requests == []


async def test_no_provider_is_no_error() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.providers.provider = Provider("gone", "http://127.0.0.1:9/v1", "gone")
        task = chat.turn_ended()
        chat.gate.opened.set()
        await asyncio.wait([task])
        assert task.exception() is None
        assert told_in(chat) == ""


async def test_another_model_may_summarise_and_compact_asks_the_chats_own() -> None:
    async with idle_chat(summary_model="small") as chat:
        chat.talk(14)
        chat.server.queue(TOLD, TOLD + "\nPending: the mask")
        await chat.idle()
        await chat.summariser.compact(chat.preparation)
        assert [request.body["model"] for request in chat.server.requests] == ["small", "scripted"]


async def test_where_prompts_are_cached_the_request_goes_on_and_shows_later() -> None:
    async with idle_chat(window=16_384, prompt_cache="auto") as chat:
        chat.talk(35, words=40)
        assert not chat.context.projections.cuts
        sent = [message.text for message in chat.context.plan().messages]
        chat.server.queue(TOLD)
        await chat.idle()
        (request,) = chat.server.requests
        assert [message["content"] for message in request.messages][:-1] == sent
        assert [message.text for message in chat.context.plan().messages] == sent
        assert told_in(chat) == TOLD
        while not chat.context.projections.cuts:
            chat.talk(1, words=40)
        assert "- Goal: a fox in the snow" in "".join(m.text for m in chat.context.plan().messages)


async def test_compact_cuts_tells_with_the_focus_and_says_what_it_saved() -> None:
    async with idle_chat() as chat:
        chat.talk(8)
        chat.server.queue(TOLD)
        before = chat.context.tokens
        done = await chat.summariser.compact(chat.preparation, "the colours")
        assert done.by_model
        assert done.saving is not None
        assert done.saving.before == before
        assert done.saving.after == chat.context.tokens <= most_after(before)
        assert f"{before:,}" in done.in_words
        assert "the colours" in chat.server.requests[0].messages[0]["content"]
        assert "- Goal: a fox in the snow" in "".join(m.text for m in chat.context.plan().messages)


async def test_compact_has_what_was_cut_already_summarised_by_a_model() -> None:
    async with idle_chat() as chat:
        chat.talk(8)
        assert chat.context.compact() is not None
        chat.server.queue(TOLD)
        done = await chat.summariser.compact(chat.preparation)
        assert done.by_model
        assert done.saving is None
        assert "were summarised already. A model has written" in done.in_words
        assert "- Goal: a fox in the snow" in "".join(m.text for m in chat.context.plan().messages)
        with pytest.raises(Conflict):
            await chat.summariser.compact(chat.preparation)


@pytest.mark.parametrize("script", [text(NO_SUMMARY), REFUSED])
async def test_compact_falls_back_to_the_extractive_summary(script: Script) -> None:
    async with idle_chat() as chat:
        chat.talk(8)
        chat.server.queue(script)
        done = await chat.summariser.compact(chat.preparation)
        assert not done.by_model
        assert done.saving is not None
        assert done.saving.after == chat.context.tokens
        assert "by rule" in done.in_words
        assert any(m.text.startswith(MARKER) for m in chat.context.plan().messages)


async def test_compact_has_nothing_to_do_in_a_short_chat() -> None:
    async with idle_chat() as chat:
        chat.talk(3)
        with pytest.raises(Conflict) as refusal:
            await chat.summariser.compact(chat.preparation)
        assert refusal.value.code == "nothing_to_compact"
        assert chat.context.projections == Projections()


async def test_compact_is_cut_before_the_model_is_asked() -> None:
    async with idle_chat() as chat:
        chat.talk(8)
        chat.server.queue(Script([{"text": "Goal"}, {"wait": "on"}]))
        task = asyncio.ensure_future(chat.summariser.compact(chat.preparation))
        await chat.server.reached("on")
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert chat.context.projections.cuts
        assert told_in(chat) == ""


async def test_one_model_is_asked_at_a_time() -> None:
    async with idle_chat() as chat:
        chat.talk(14)
        chat.gate.opened.set()
        chat.server.queue(Script([{"text": TOLD}, {"wait": "on"}]))
        first = chat.turn_ended()
        await chat.server.reached("on")
        other = chat.beside()
        other.talk(14)
        second = other.turn_ended()
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(chat.server.requests) == 1
        chat.server.queue(TOLD)
        chat.server.release("on")
        await asyncio.wait([first, second])
        assert told_in(chat) == told_in(other) == TOLD


async def test_a_chat_past_24_messages_is_summarised_when_idle_and_keeps_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over HTTP, with the store, and again after a restart."""
    monkeypatch.setattr("plugin.assistant.turn.idle.summariser.IDLE_SECONDS", 0)
    told = asyncio.Event()
    keep = ChatStore.keep_projections

    async def watched(store: ChatStore, chat_id: str, committed: Projections) -> None:
        await keep(store, chat_id, committed)
        if committed.last_llm_summary[0]:
            told.set()

    monkeypatch.setattr(ChatStore, "keep_projections", watched)
    async with chatting(tmp_path) as chat:
        for number in range(12):
            chat.provider.queue(f"Answer {number}: " + f"fact{number} " * 80)
            await chat.say(f"Question {number}: " + f"word{number} " * 80)
        assert not any(MARKER in m["content"] for m in chat.provider.requests[-1].messages)
        chat.provider.queue("Thirteen", TOLD)
        await chat.say("Question 12")
        extractive = [m["content"] for m in chat.provider.requests[12].messages]
        assert sum(content.startswith(MARKER) for content in extractive) == 1
        assert "What happened" not in "".join(extractive)
        await asyncio.wait_for(told.wait(), 10)
        chat.provider.queue("Fourteen")
        await chat.say("Question 13")
        assert "- Goal: a fox in the snow" in str(chat.provider.requests[-1].body["messages"])
    async with chatting(tmp_path) as again:
        again.provider.queue("Fifteen")
        later = {**again.user("Question 14"), "id": "later"}
        await again.post({"id": "c1", "message": later})
        assert "- Goal: a fox in the snow" in str(again.provider.requests[-1].body["messages"])


async def test_compact_is_a_command_of_the_chat(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        for number in range(8):
            chat.provider.queue(f"Answer {number}: " + f"fact{number} " * 80)
            await chat.say(f"Question {number}: " + f"word{number} " * 80)
        chat.provider.queue(TOLD)
        reply = await chat.say("/compact the colours")
        assert "tokens now" in reply.text
        chat.provider.queue("Ten")
        await chat.say("Question 9")
        sent = [m["content"] for m in chat.provider.requests[-1].messages]
        assert sum(content.startswith(MARKER) for content in sent) == 1
        assert "- Goal: a fox in the snow" in "".join(sent)
        assert not any("/compact" in content for content in sent)
