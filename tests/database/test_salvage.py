"""What a new file gets of the damaged file that it replaces."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from plugin.assistant.database import Transaction
from plugin.assistant.database.fresh import SEEN_SECONDS
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.memory.memory import Source, Statement
from plugin.assistant.memory.store import MemoryStore
from plugin.assistant.user_context.rules import UserContextStore
from sqlalchemy import delete, select

from .notes import MARKS, NOTES, NOW, TABLES, add, texts

pytestmark = pytest.mark.usefixtures("windows_file_rules")

SALVAGED = replace(TABLES, salvaged=True)
LONG = "x" * 3_000
Open = Callable[[], SqliteDatabase]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """Opens the database of one path; each is closed in the end."""
    every: list[SqliteDatabase] = []

    def open_one() -> SqliteDatabase:
        every.append(SqliteDatabase(tmp_path / "assistant.db", clock=lambda: NOW))
        return every[-1]

    yield open_one
    for database in every:
        await database.close()


def write_long_notes(path: Path) -> None:
    """A note in each page, a mark, and a page in the middle that holds anything."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE notes ("row" INTEGER PRIMARY KEY AUTOINCREMENT, text)')
        connection.execute("CREATE TABLE marks (name TEXT PRIMARY KEY, seen)")
        rows = [(f"note {number} {LONG}",) for number in range(100)]
        connection.executemany("INSERT INTO notes (text) VALUES (?)", rows)
        connection.execute("INSERT INTO marks VALUES ('seen', 1)")
        connection.commit()
    pages = path.stat().st_size // 4096
    with path.open("r+b") as file:
        file.seek(4096 * (pages // 2))
        file.write(os.urandom(4096))


async def test_rows_on_both_sides_of_the_damage_are_in_the_new_file(
    tmp_path: Path, opened: Open
) -> None:
    write_long_notes(tmp_path / "assistant.db")
    database = opened()
    await database.migrate(SALVAGED)
    assert database.set_aside is not None
    found = [text.split()[1] for text in await database.read(texts)]
    assert 90 < len(found) < 100 and {"0", "99"} < set(found)
    assert len(set(found)) == len(found)
    marks = select(MARKS.c.name, MARKS.c.seen)
    assert await database.read(lambda c: c.execute(marks).all()) == [("seen", True)]


async def test_what_is_deleted_later_stays_deleted(tmp_path: Path, opened: Open) -> None:
    write_long_notes(tmp_path / "assistant.db")
    database = opened()
    await database.migrate(SALVAGED)
    await database.write(lambda transaction: transaction.execute(delete(NOTES)) and None)
    await database.migrate(SALVAGED)
    assert await database.read(texts) == []
    await database.write(lambda transaction: add(transaction, "next"))
    assert await database.read(lambda c: c.scalar(select(NOTES.c.row))) == 101


async def test_a_row_that_does_not_fit_keeps_no_other_from_the_new_file(
    tmp_path: Path, opened: Open
) -> None:
    with closing(sqlite3.connect(tmp_path / "assistant.db")) as connection:
        connection.execute('CREATE TABLE notes ("row" INTEGER PRIMARY KEY, text)')
        rows = [(1, "one"), (2, None), (3, b"\xff\xfe"), (2**63 - 1, "last")]
        connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
        connection.execute("UPDATE notes SET text = CAST(text AS TEXT) WHERE row = 3")
        connection.commit()
    damage(tmp_path / "assistant.db")
    database = opened()
    await database.migrate(SALVAGED)
    assert await database.read(texts) == ["one", "��", "last"]
    await database.write(lambda transaction: add(transaction, "next"))
    assert await database.read(texts) == ["one", "��", "last", "next"]


async def test_a_file_of_which_nothing_can_be_read_is_no_error(
    tmp_path: Path, opened: Open
) -> None:
    (tmp_path / "assistant.db").write_bytes(b"this was never a database" * 1_000)
    database = opened()
    await database.migrate(SALVAGED)
    assert await database.read(texts) == []


async def test_a_failing_start_takes_the_rows_with_the_next_attempt(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_long_notes(tmp_path / "assistant.db")
    database = opened()
    run = Transaction.run

    def full(*arguments: object, **values: object) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Transaction, "run", full)
    with pytest.raises(Exception, match="full"):
        await database.migrate(SALVAGED)
    monkeypatch.setattr(Transaction, "run", run)
    await database.migrate(SALVAGED)
    assert len(await database.read(texts)) > 90


async def test_memories_rules_and_preferences_outlive_the_file(
    tmp_path: Path, opened: Open
) -> None:
    database = opened()
    memories, context = MemoryStore(database), UserContextStore(database)
    kept = await memories.keep(Statement("My GPU has 12 GB", source=Source("c", "u", "12 GB")))
    await memories.set_mode("off")
    await context.add_rule("Answer in German")
    await context.set_preference("resolution", "1024")
    await memories.close()
    await database.close()
    damage(tmp_path / "assistant.db")
    again = opened()
    memories, context = MemoryStore(again), UserContextStore(again)
    assert await memories.all() == (kept.memory,)
    assert (await memories.read()).mode == "off"
    read = await context.read()
    assert again.set_aside is not None
    assert [rule.text for rule in read.rules] == ["Answer in German"]
    assert [(one.key, one.value) for one in read.preferences] == [("resolution", "1024")]
    await memories.close()


async def test_memories_that_are_lost_while_it_runs_are_not_shown(opened: Open) -> None:
    database, now = opened(), [0.0]
    memories = MemoryStore(database, seconds=lambda: now[0])
    for number in range(60):
        await memories.keep(Statement(f"m{number:03}" * 240))
    assert len((await memories.read()).memories) == 60
    await database.scrub()
    content = await asyncio.to_thread(database.path.read_bytes)
    middle = content.index(b"m030m030") // 4096 * 4096
    damaged = content[:middle] + os.urandom(4096) + content[middle + 4096 :]
    await asyncio.to_thread(database.path.write_bytes, damaged)
    await database.in_writer(database._let_go)
    for _ in range(2):
        now[0] += SEEN_SECONDS
        found = (await memories.read()).memories
    assert database.set_aside is not None
    assert 40 < len(found) < 60
    await memories.close()


def damage(path: Path) -> None:
    """A page that nothing needs, in a file that is damaged as a whole."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other AS SELECT randomblob(20000)")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek(-4096, os.SEEK_END)
        file.write(os.urandom(4096))
