"""A turn's first request is prepared while the turn is stored, and sent when it is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.errors import StoreError
from plugin.assistant.turn.preparation import Preparation
from plugin.tests.chatting import Chatting, chatting, until
from plugin.tests.providers import Script


class SlowStore:
    """A store whose turns begin when they may, or fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.fails = False
        self.planned = 0
        begin, plan = ChatStore.begin_turn, Preparation.plan_now

        async def begin_turn(store: ChatStore, *arguments: Any) -> Any:
            self.asked.set()
            await self.go.wait()
            if self.fails:
                raise StoreError("The disk is full.")
            return await begin(store, *arguments)

        def plan_now(preparation: Preparation, *arguments: Any) -> Any:
            made = plan(preparation, *arguments)
            self.planned += 1
            return made

        monkeypatch.setattr(ChatStore, "begin_turn", begin_turn)
        monkeypatch.setattr(Preparation, "plan_now", plan_now)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> SlowStore:
    return SlowStore(monkeypatch)


def sent(chat: Chatting) -> list[str]:
    """The texts of the last request, but for its system message."""
    return [str(one["content"]) for one in chat.provider.requests[-1].messages[1:]]


async def test_the_request_is_planned_meanwhile_and_sent_when_the_turn_is_stored(
    chat: Chatting, store: SlowStore
) -> None:
    chat.provider.queue("Hello")
    saying = asyncio.create_task(chat.say("Hi"))
    await store.asked.wait()
    await until(lambda: store.planned == 1)
    assert chat.provider.requests == []
    store.go.set()
    assert (await saying).text == "Hello"
    assert store.planned == 1
    assert len(chat.provider.requests) == 1


async def test_what_could_not_be_stored_is_in_no_later_request(
    chat: Chatting, store: SlowStore
) -> None:
    store.go.set()
    chat.provider.queue("Hello")
    await chat.say("Hi")
    before = sent(chat)
    store.fails = True
    store.go.clear()
    saying = asyncio.create_task(chat.say("Never stored"))
    await until(lambda: store.planned == 2)
    store.go.set()
    assert (await saying).status == 503
    store.fails = False
    chat.provider.queue("Here I am")
    await chat.say("Are you there?")
    assert sent(chat) == [*before[:1], "Hello", "Are you there?"]


async def test_a_turn_that_waits_for_its_place_is_prepared_when_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chatting(tmp_path, {"ASSISTANT_MAX_TURNS": "1"}) as chat:
        store = SlowStore(monkeypatch)
        store.go.set()
        chat.provider.queue(Script([{"wait": "first"}, {"text": "One"}]), "Two")
        first = asyncio.create_task(chat.say("Hi", chat="c1"))
        await chat.provider.reached("first")
        second = asyncio.create_task(chat.say("Hi", chat="c2"))
        places = chat.assistant.space_of("default").sessions
        await until(lambda: places.running("c2") is not None)
        await asyncio.sleep(0.1)
        assert store.planned == 1
        chat.provider.release("first")
        assert ((await first).text, (await second).text) == ("One", "Two")
        assert store.planned == 2


async def test_messages_that_come_with_the_question_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "We painted the lighthouse in vermilion."
    said = ["Hi.", "Hello, what now?", "What colour did it get?", secret]
    said += [f"{who} else {number}" for number in range(14) for who in ("Something", "Nothing")]
    async with chatting(tmp_path, {"LLM_SUMMARY": "off"}) as chat:
        store = SlowStore(monkeypatch)
        messages = [chat.user(text) for text in (*said, "Which red was the lighthouse?")]
        for answer in messages[1:-1:2]:
            answer["role"] = "assistant"
        chat.provider.queue("Vermilion.")
        posting = asyncio.create_task(chat.post({"id": "c1", "messages": messages}))
        await store.asked.wait()
        await asyncio.sleep(0.2)
        store.go.set()
        await posting
        assert any(secret in text for text in sent(chat))


async def test_a_provider_that_is_missing_is_told_in_the_answer(tmp_path: Path) -> None:
    environ = {"OPENAI_BASE_URL": "", "OPENAI_MODEL": "", "OPENAI_API_KEY": ""}
    async with chatting(tmp_path, environ) as chat:
        stream = await chat.say("Hi")
        assert stream.status == 200
        assert stream.types[-1] == "error"
        assert len((await chat.stored())["messages"]) == 2
