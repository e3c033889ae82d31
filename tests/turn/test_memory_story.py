"""What a user says in one chat counts in a new chat next day, and can be forgotten; over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from plugin.assistant.context.notes import MEMORIES
from plugin.assistant.context.projections import Projections
from plugin.assistant.memory.memory import Memory, Statement
from plugin.tests.chatting import Chatting, Stream, chatting, until
from plugin.tests.providers import Script, tool_call
from plugin.tests.sessions.stage import events_in

SAID = "I always want 4:5 portraits, and my GPU has 12 GB"
SIZE = {"text": "I always want 4:5 portraits", "quote": "I always want 4:5 portraits"}
GPU = {"text": "My GPU has 12 GB", "quote": "my GPU has 12 GB"}
REPLY = json.dumps({"memories": [{**SIZE, "kind": "preference"}, {**GPU, "entities": ["GPU"]}]})
DAY_ONE = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        yield running


def set_day(chat: Chatting, day: datetime) -> None:
    chat.assistant.space_of("default").memories._clock = lambda: day


async def kept(chat: Chatting) -> list[Memory]:
    return list((await chat.assistant.space_of("default").memories.read()).current)


async def told_to_the_model(chat: Chatting) -> Stream:
    """The model keeps both by its tool."""
    calls = [
        tool_call("memory_write", {**SIZE, "kind": "preference"}, "w1"),
        tool_call("memory_write", GPU, "w2"),
    ]
    chat.provider.queue(Script(calls), "Noted.")
    return await chat.say(SAID, "first")


async def extracted(chat: Chatting) -> None:
    """A model is asked about the chat when the user wants it; its answer is checked."""
    chat.provider.queue("Noted.")
    await chat.say(SAID, "first")
    await extract(chat, REPLY)


async def extract(chat: Chatting, reply: str) -> None:
    chat.provider.queue(reply)
    answer = await chat.client.post("/api/memories/extract", json={"chat_id": "first"})
    assert answer.status == 202
    jobs = chat.assistant.space_of("default").remembering._asked._tasks
    await until(lambda: not jobs)


@pytest.mark.parametrize("way", ["tool", "extraction"])
async def test_what_was_said_yesterday_counts_today_until_it_is_forgotten(
    chat: Chatting, way: str
) -> None:
    set_day(chat, DAY_ONE)
    if way == "tool":
        cards = (await told_to_the_model(chat)).of("data-memory")
        assert [card["data"]["text"] for card in cards] == [SIZE["text"], GPU["text"]]
    else:
        await extracted(chat)
    memories = {memory.text: memory for memory in await kept(chat)}
    size, gpu = memories[SIZE["text"]], memories[GPU["text"]]
    for memory in (size, gpu):
        assert memory.source is not None
        assert memory.source.chat_id == "first"
        assert memory.created.startswith("2026-11-22")

    set_day(chat, DAY_ONE + timedelta(days=1))
    chat.provider.queue("I take 4:5, as you always want.")
    stream = await chat.say("Which size should the portrait have?", "second")
    sent = chat.provider.requests[-1].messages
    (note,) = [m["content"] for m in sent if str(m["content"]).startswith(MEMORIES.heading)]
    assert f"- {SIZE['text']} (2026-11-22)" in note
    assert "say in one line that you did" in note
    assert sent.index(next(m for m in sent if m["content"] == note)) == len(sent) - 2
    assert sent[-1]["content"] == "Which size should the portrait have?"
    assert set(stream.message.metadata["memories"]) == {size.id, gpu.id}
    stored = (await chat.stored("second"))["messages"][-1]
    assert set(stored["metadata"]["memories"]) == {size.id, gpu.id}

    assert "the user types `/forget that`" in note
    assert "Which of them?" in (await chat.say("/forget that", "second")).text
    assert "Forgotten" in (await chat.say("/forget portraits", "second")).text
    assert "Forgotten" in (await chat.say("Please forget that", "second")).text
    assert await kept(chat) == []
    asked = len(chat.provider.requests)
    for name in ("second", "third"):
        chat.provider.queue("Which do you like?")
        await chat.say("And which size for the next portrait on my GPU?", name)
    for request in chat.provider.requests[asked:]:
        assert "4:5 portraits" not in json.dumps(request.body)
        assert "12 GB" not in json.dumps(request.body)


async def test_an_extraction_is_told_under_the_answer_and_to_its_readers(chat: Chatting) -> None:
    chat.provider.queue("Noted.")
    await chat.say(SAID, "first")
    events = b""
    query = {"chat_id": "first"}
    async with chat.client.get("/api/chats/subscribe", params=query) as response:
        await extract(chat, REPLY)
        while b"message_updated" not in events.rpartition(b"\n\n")[0]:
            events += await response.content.readany()
    told = [one for one in events_in(events) if one["type"] == "message_updated"]
    answer = (await chat.stored("first"))["messages"][-1]
    assert answer["role"] == "assistant"
    cards = [part for part in answer["parts"] if part["type"] == "data-memory"]
    assert [one["message"] for one in told] == [answer]
    assert {card["data"]["text"] for card in cards} == {SIZE["text"], GPU["text"]}
    ids = {memory.text: memory.id for memory in await kept(chat)}
    for card in cards:
        assert card["data"]["undo"] == f"/api/memories/{ids[card['data']['text']]}"
    # Undo, then the chat goes on: the answer is sent as it was, and nothing is learned again.
    for card in cards:
        assert (await chat.client.delete(card["data"]["undo"])).status == 204
    chat.provider.queue("Fine.")
    await chat.say("Thanks", "first")
    assert "data-memory" not in json.dumps(chat.provider.requests[-1].body)
    await extract(chat, '{"memories": []}')
    assert "User: Thanks" in json.dumps(chat.provider.requests[-1].body)
    assert SAID not in json.dumps(chat.provider.requests[-1].body)


async def test_nothing_is_learned_from_a_chat_that_was_deleted_meanwhile(chat: Chatting) -> None:
    chat.provider.queue("Noted.", Script([{"wait": "here"}, {"text": REPLY}]))
    await chat.say(SAID, "first")
    await chat.client.post("/api/memories/extract", json={"chat_id": "first"})
    await chat.provider.reached("here")
    assert (await chat.client.delete("/api/chats/first?memories=true")).status == 204
    chat.provider.release("here")
    jobs = chat.assistant.space_of("default").remembering._asked
    await until(lambda: not jobs._tasks and not jobs._alone.locked())
    assert await kept(chat) == []


async def test_what_was_used_last_is_what_forget_that_means(chat: Chatting) -> None:
    store = chat.assistant.space_of("default").memories
    await store.keep(Statement("I always want 4:5 portraits"))
    chat.provider.queue("4:5.")
    await chat.say("Which size should the portrait have?", "second")
    set_day(chat, DAY_ONE + timedelta(days=4_000))
    await store.keep(Statement("My favourite fox is brown"))
    assert "4:5 portraits" in (await chat.say("/forget that", "second")).text
    assert [one.text for one in await kept(chat)] == ["My favourite fox is brown"]


@pytest.mark.parametrize(
    "words",
    [
        *("Forget that!", "ok, forget it", "Vergiss das bitte.", "Oublie ça, s’il te plaît"),
        *("Olvida eso", "Забудь это", "请忘记这个。", "それを忘れてください", "그건 잊어줘"),
    ],
)
async def test_plain_words_forget_what_the_answer_before_them_shows(
    chat: Chatting, words: str
) -> None:
    await chat.say("/remember I always want 4:5 portraits", "first")
    stream = await chat.say(words, "first")
    assert stream.text.startswith("Forgotten: I always want 4:5 portraits")
    assert await kept(chat) == []
    assert chat.provider.requests == []
    chat.provider.queue("Fine.")
    await chat.say("And now?", "first")
    assert words not in json.dumps(chat.provider.requests[-1].body, ensure_ascii=False)


async def test_plain_words_forget_what_the_card_above_them_shows(chat: Chatting) -> None:
    await extracted(chat)
    assert "Forgotten" in (await chat.say("Forget that.", "first")).text
    assert len(await kept(chat)) == 1


async def test_plain_words_below_other_answers_are_for_the_model(chat: Chatting) -> None:
    store = chat.assistant.space_of("default").memories
    await store.keep(Statement("I always want 4:5 portraits"))
    for text in ("Which size should the portrait have?", "Forget that", "Forget that node"):
        chat.provider.queue("Fine.")
        assert (await chat.say(text, "second")).text == "Fine."
    assert len(await kept(chat)) == 1


async def test_what_is_pending_is_written_down_before_a_cut_in_a_turn_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "From now on I always want 4:5 portraits."
    earlier = [
        {"id": f"{role}-{turn}", "role": role, "parts": [{"type": "text", "text": "word " * 80}]}
        for turn in range(16)
        for role in ("user", "assistant")
    ]
    stored: list[tuple[int, tuple[str, ...]]] = []
    async with chatting(tmp_path, {"LLM_HISTORY_MAX_MESSAGES": "16"}) as chat:
        space = chat.assistant.space_of("default")
        keep = space.chats.keep_projections

        async def keep_projections(chat_id: str, projections: Projections) -> None:
            pending = await space.remembering._pending.of(chat_id)
            stored.append((len(projections.cuts), pending.messages))
            await keep(chat_id, projections)

        monkeypatch.setattr(space.chats, "keep_projections", keep_projections)
        chat.provider.queue("Fine.")
        await chat.post({"id": "c1", "messages": [*earlier, chat.user(said)]})
        await until(lambda: bool(stored))
    assert stored[0] == (1, ("u1",))
