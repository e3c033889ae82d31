"""The queue of a chat: its order, its limit, and that no entry is lost or run twice."""

from collections.abc import AsyncIterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatQueue, ChatStore, Queued, TurnStart
from plugin.assistant.chats.queue import MOST_QUEUED
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import Conflict, InvalidRequest, NotFound, Refused

from .examples import answer, user

NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ChatStore]:
    database = SqliteDatabase(tmp_path / "assistant.db")
    store = ChatStore(database)
    await store.create("c")
    yield store
    await database.close()


@pytest.fixture
def queue(store: ChatStore) -> ChatQueue:
    return ChatQueue(store)


def entry(identity: str, priority: bool = False) -> Queued:
    message = user(f"u-{identity}", identity)
    details = {"client_id": "p1", "tags": [1]}
    return Queued(identity, "user_message", NOW, message, priority, details)


async def ids(queue: ChatQueue) -> list[str]:
    return [one.id for one in await queue.queue("c")]


async def test_what_waits_comes_back_as_it_was(store: ChatStore, queue: ChatQueue) -> None:
    assert await queue.queue("c") == ()
    assert await queue.enqueue("c", entry("1")) == 1
    assert await queue.enqueue("c", Queued("2", "compact", NOW)) == 2
    assert await queue.queue("c") == (entry("1"), Queued("2", "compact", NOW))
    assert await store.path("c") == ()


async def test_priority_goes_first_and_else_what_came_first(queue: ChatQueue) -> None:
    for one in (entry("1"), entry("2"), entry("3", True), entry("4", True), entry("5")):
        await queue.enqueue("c", one)
    assert await ids(queue) == ["3", "4", "1", "2", "5"]
    assert await queue.dequeue("c", "4") == entry("4", True)
    await queue.enqueue("c", entry("6"))
    assert await ids(queue) == ["3", "1", "2", "5", "6"]


async def test_an_entry_leaves_the_queue_with_its_message_in_the_log(
    store: ChatStore, queue: ChatQueue
) -> None:
    await queue.enqueue("c", entry("1"))
    await queue.enqueue("c", entry("2"))
    await store.begin_turn("c", TurnStart(answer("a"), (user("u-1"),), from_queue="1"))
    assert await ids(queue) == ["2"]
    assert [message.id for message in await store.path("c")] == ["u-1"]


async def test_an_entry_that_is_gone_is_not_added_again(store: ChatStore, queue: ChatQueue) -> None:
    await queue.enqueue("c", entry("1"))
    await queue.dequeue("c", "1")
    with pytest.raises(NotFound):
        await store.begin_turn("c", TurnStart(answer("a"), (user("u-1"),), from_queue="1"))
    with pytest.raises(NotFound):
        await queue.dequeue("c", "1")
    assert await store.path("c") == ()


async def test_an_entry_stays_when_its_message_cannot_be_added(
    store: ChatStore, queue: ChatQueue
) -> None:
    await store.append("c", user("u-1"))
    await queue.enqueue("c", entry("1"))
    with pytest.raises(InvalidRequest):
        await store.begin_turn("c", TurnStart(answer("a"), (user("u-1"),), from_queue="1"))
    await store.begin_turn("c", TurnStart(answer("a")))
    with pytest.raises(Conflict):
        await store.begin_turn("c", TurnStart(answer("b"), (user("u-2"),), from_queue="1"))
    assert await ids(queue) == ["1"]


async def test_a_full_queue_and_an_id_that_waits_are_refused(queue: ChatQueue) -> None:
    for number in range(MOST_QUEUED):
        await queue.enqueue("c", entry(str(number)))
    with pytest.raises(Refused) as refused:
        await queue.enqueue("c", entry("more"))
    assert (refused.value.code, refused.value.status) == ("queue_full", 429)
    assert refused.value.retry_after
    await queue.dequeue("c", "0")
    with pytest.raises(Conflict):
        await queue.enqueue("c", entry("1"))
    assert await queue.clear("c") == MOST_QUEUED - 1
    assert await queue.queue("c") == ()


async def test_a_queue_needs_its_chat(queue: ChatQueue) -> None:
    for call in (queue.queue("no"), queue.enqueue("no", entry("1")), queue.clear("no")):
        with pytest.raises(NotFound):
            await call


async def test_the_queue_survives_the_process(database: SqliteDatabase, queue: ChatQueue) -> None:
    await queue.enqueue("c", entry("1"))
    other = ChatStore(database)
    await other.recover()
    assert await ChatQueue(other).queue("c") == (entry("1"),)
