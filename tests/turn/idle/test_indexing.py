"""When the words of a turn's messages are indexed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from plugin.assistant.chats.search import row_indexing
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import StoreError
from plugin.assistant.turn.idle import indexing
from plugin.assistant.turn.idle.indexing import SECONDS, Indexing
from plugin.tests.chatting import chatting, until
from plugin.tests.turn.idling import Gate, idle_chat


async def begun(gate: Gate, indexed: list[str]) -> Indexing:
    async with idle_chat() as scene:
        job = Indexing(indexed.append, gate.sleep)
        job.begin(scene.between_turns())
        await asyncio.sleep(0)
    return job


async def test_a_chat_is_indexed_a_moment_after_its_turn() -> None:
    gate, indexed = Gate(), list[str]()
    job = await begun(gate, indexed)
    assert (gate.slept, indexed) == ([SECONDS], [])
    gate.opened.set()
    await until(lambda: indexed == ["c1"])
    await job.close()


async def test_a_chat_that_goes_on_is_not_indexed_now() -> None:
    gate, indexed = Gate(), list[str]()
    job = await begun(gate, indexed)
    job.stop("c1")
    gate.opened.set()
    await job.close()
    assert indexed == []


def is_behind(database: SqliteDatabase) -> bool:
    try:
        return bool(database.read_now(lambda c: row_indexing.behind(c, "c1")))
    except StoreError:
        return True  # There is no index yet.


async def test_the_messages_of_a_turn_are_indexed_without_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "SECONDS", 0.0)
    async with chatting(tmp_path) as chat:
        chat.provider.queue("Hello")
        await chat.say("Hi")
        database = chat.assistant.space_of("default").database
        assert isinstance(database, SqliteDatabase)
        await until(lambda: not is_behind(database))
