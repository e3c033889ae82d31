"""A turn's first request is prepared while the turn is stored, and sent when it is."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import ChatParams, ChatStore
from plugin.assistant.errors import Conflict, StoreError
from plugin.assistant.messages.parts import Message
from plugin.assistant.tools.toolset import Toolset
from plugin.assistant.turn import ahead
from plugin.assistant.turn.conversation import Conversation
from plugin.assistant.turn.history import ConversationHistory
from plugin.assistant.turn.idle.summariser import Summariser
from plugin.assistant.turn.preparation import First, Preparation, prepare_first
from plugin.assistant.turn.turn_notes import NoteSources
from plugin.assistant.turn.turn_services import Services
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.tests.chats.examples import user
from plugin.tests.chatting import Chatting, chatting, until
from plugin.tests.models import Model, OneProvider
from plugin.tests.providers import Script
from plugin.tests.sessions.stage import QUIET, Prompts


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


async def test_the_stop_of_a_turn_that_waits_for_its_place_ends_its_preparation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def never(*_: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with chatting(tmp_path, {"ASSISTANT_MAX_TURNS": "1"}) as chat:
        store = SlowStore(monkeypatch)
        monkeypatch.setattr(ahead, "prepare_first", never)
        places = chat.assistant.space_of("default").sessions._turns._services.places
        saying = asyncio.create_task(chat.say("Hi"))
        await store.asked.wait()
        await begun.wait()
        async with places.taken():
            store.go.set()
            await until(lambda: places.waiting == 1)
            await chat.command(type="abort")
            assert "abort" in (await saying).types
            assert ended.is_set()


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


class LateLock:
    """A conversation's lock that the first thread gets only when it may."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()
        self._lock = threading.RLock()
        self._late: int | None = None

    def __enter__(self) -> None:
        if self._late is None:
            self._late = threading.get_ident()
            self.asked.set()
            self.go.wait()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def first_of(conversation: Conversation, answer_id: str, *said: str) -> asyncio.Task[First]:
    """Prepares the turn of this answer, in a chat in which the user said this."""
    summariser = Summariser(OneProvider(), Model(), QUIET)
    services = Services(OneProvider(), Model(), Prompts(), Toolset(()), QUIET, summariser)
    history = tuple(user(text, text) for text in said)
    notes = NoteSources(ConversationHistory(conversation, None, "c"), answer_id)
    reply = Message(answer_id, "assistant", ())
    work = prepare_first(
        services, history, conversation, ChatParams(), notes, reply, Snapshot(), "c"
    )
    return asyncio.create_task(work)


async def test_the_thread_of_a_stopped_turn_leaves_the_next_turn_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conversation, lock, threads = Conversation(QUIET), LateLock(), ThreadPoolExecutor(4)
    monkeypatch.setattr(conversation, "lock", lock)
    asyncio.get_running_loop().set_default_executor(threads)
    stopped = first_of(conversation, "a1", "One")
    await asyncio.to_thread(lock.asked.wait)
    stopped.cancel()
    await asyncio.wait([stopped])
    await first_of(conversation, "a2", "One", "Two")
    tail = conversation.tail
    lock.go.set()
    threads.shutdown()  # Waits for the thread of the stopped turn.
    assert (conversation.tail_of, conversation.tail) == ("a2", tail)
    assert [message.id for message in conversation.messages] == ["One", "Two", "a2"]


async def test_a_stopped_turn_plans_no_request_when_the_next_one_has_begun() -> None:
    conversation = Conversation(QUIET)
    stopped, _ = await first_of(conversation, "a1", "One")
    await first_of(conversation, "a2", "One", "Two")
    with pytest.raises(Conflict):
        await stopped.plan(Message("a1", "assistant", ()), 2)
    assert [message.id for message in conversation.messages] == ["One", "Two", "a2"]
