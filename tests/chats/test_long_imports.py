"""A long chat that is imported, and the indexing of its words, hold up nobody."""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.chats.export import archive as archive_module
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.export.trajectory import LogRow, Trajectory
from plugin.assistant.chats.log import chat_log
from plugin.assistant.chats.search import history_search, row_indexing
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import Trash
from plugin.assistant.database.sqlite import SqliteDatabase

from .examples import answer, user

STEPS = 20


def long_chat(messages: int, identity: str = "long") -> Trajectory:
    rows = [
        LogRow(
            row,
            row - 1 or None,
            user(f"u{row}", f"walrus {row}") if row % 2 else answer(f"a{row}", f"okapi {row}"),
        )
        for row in range(1, messages + 1)
    ]
    return Trajectory(identity, "Long", "rule", None, None, tuple(rows), messages)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ROWS_PER_STEP", 10)
    monkeypatch.setattr(row_indexing, "ROWS_PER_STEP", 10)


async def test_other_chats_are_written_while_a_long_chat_is_imported(store: ChatStore) -> None:
    importing = asyncio.create_task(Archive(store).add(long_chat(STEPS * 10)))
    written = 0
    while not importing.done():
        await store.append("c", user(f"c{written}"))
        written += not importing.done()
        listed = [chat.id for chat in await store.list()]
        assert importing.done() or listed == ["c"]
    assert written >= STEPS // 4
    chat = await importing
    assert (chat.id, chat.messages, chat.state) == ("long", STEPS * 10, "idle")
    path = await store.path("long")
    assert [message.text for message in path[:2]] == ["walrus 1", "okapi 2"]
    assert len(path) == STEPS * 10


async def test_an_import_that_fails_in_the_middle_leaves_nothing(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = chat_log.insert_rows, 0

    def insert_rows(*given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("the third step fails")
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(chat_log, "insert_rows", insert_rows)
    with pytest.raises(RuntimeError):
        await Archive(store).add(long_chat(100))
    assert await rows_of(database, "long") == 0
    monkeypatch.undo()
    assert (await Archive(store).add(long_chat(20))).id == "long"


async def test_what_a_crash_left_of_an_import_is_removed_at_the_next_start(
    store: ChatStore, database: SqliteDatabase, tmp_path: Path
) -> None:
    importing = asyncio.create_task(Archive(store).add(long_chat(STEPS * 10)))
    while not await rows_of(database, "long"):
        pass

    def copy() -> Path:
        return Path(shutil.copytree(database.path.parent, tmp_path / "after the crash"))

    folder = await database.in_writer(copy)
    await importing
    after = SqliteDatabase(folder / database.path.name)
    again = ChatStore(after)
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    trash = Trash(after, again, HistorySearch(after), sleep=sleep)
    try:
        assert await rows_of(after, "long")
        assert [chat.id for chat in await again.list()] == ["c"]
        await trash.open()
        while await rows_of(after, "long"):
            pass
        assert max(waited) <= timedelta(minutes=1).total_seconds()
    finally:
        await trash.close()
        await again.close()
        await after.close()


async def rows_of(database: SqliteDatabase, chat_id: str) -> int:
    """How many rows the file has of the chat, hidden or not."""
    return await database.read(lambda c: len(chat_log.every_row(c, chat_id)))


async def test_a_search_does_not_wait_for_all_of_a_long_chat(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_search, "PATIENCE_SECONDS", 0.0)
    await Archive(store).add(long_chat(STEPS * 10))
    search = HistorySearch(database, store.failover)
    try:
        seen: list[int] = []
        for number in range(10_000):
            hits = await search.search("long", "walrus", 100)
            seen.append(sum(1 + len(hit.neighbours) for hit in hits))
            if hits and max(hit.row for hit in hits) > STEPS * 10 - 20 and not search._tasks:
                break
            await store.append("c", user(f"c{number}"))
        assert len(set(seen)) > 2, "the hits grow with the index"
    finally:
        await search.close()


async def test_an_imported_chat_is_indexed_before_the_first_search(
    store: ChatStore, database: SqliteDatabase
) -> None:
    search = HistorySearch(database, store.failover)
    await Archive(store, added=search.index_soon).add(long_chat(50))
    while search._tasks:
        await asyncio.gather(*search._tasks.values())
    assert await database.read(lambda c: row_indexing.behind(c, None)) == []
    assert (await search.search("long", "okapi 50"))[0].message_id == "a50"


async def test_indexing_that_is_stopped_goes_on_with_the_next_search(
    store: ChatStore, database: SqliteDatabase
) -> None:
    search = HistorySearch(database, store.failover)
    await Archive(store).add(long_chat(STEPS * 10))
    search.index_soon()
    await asyncio.sleep(0)
    await search.close()
    again = HistorySearch(database, store.failover)
    assert (await again.search("long", f"walrus {STEPS * 10 - 1}"))[0].row == STEPS * 10 - 1
