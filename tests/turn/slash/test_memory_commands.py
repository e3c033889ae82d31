"""`/memory`, `/remember` and `/forget` with more words than a memory can have."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.memory.known import Known
from plugin.assistant.memory.store import MemoryStore
from plugin.assistant.turn.slash import memory_commands
from plugin.assistant.turn.slash.memory_commands import MemoryCommands

LONG = "walrus and fox " * 100_000


@pytest.fixture
async def commands(tmp_path: Path) -> AsyncIterator[MemoryCommands]:
    database = SqliteDatabase(tmp_path / "assistant.db")
    store = MemoryStore(database)
    yield MemoryCommands(store, "auto", str)
    await store.close()
    await database.close()


async def test_megabytes_to_remember_are_refused_before_they_are_looked_through(
    commands: MemoryCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the event loop 20 megabytes took twelve seconds."""
    looked: list[int] = []
    monkeypatch.setattr(memory_commands, "is_secret", lambda text: looked.append(len(text)))
    said = await commands.remember(LONG, "c1", "u1")
    assert said == f"text: has {len(LONG)} characters; at most 1000 are kept"
    assert await commands.remember("x " * 20_000, "c1", "u1") != ""
    assert not looked
    assert (await commands.remember("I like   euler", "c1", "u1")).startswith("Remembered")
    assert looked == [len("I like euler")]


async def test_megabytes_are_not_searched_for(
    commands: MemoryCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, asked = Known.search, []

    def noted(known: Known, query: str, most: int) -> object:
        asked.append(len(query))
        return search(known, query, most)

    monkeypatch.setattr(Known, "search", noted)
    await commands.remember("I like euler", "c1", "u1")
    assert (await commands.list(LONG)).startswith("Nothing is remembered")
    assert (await commands.forget(LONG, "c1", ())).startswith("Nothing is remembered")
    assert asked == [1_000, 1_000]
