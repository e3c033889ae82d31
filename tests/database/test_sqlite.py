"""Properties of the SQLite file alone: its settings, its rights, damage and durability."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy
from plugin.assistant.database import Transaction, Work
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import Conflict, FileFailed, StoreError

from .notes import NOW, TABLES, add, texts

ROOT = Path(__file__).resolve().parents[2]


def damaged_files(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(folder.glob("*.damaged-*"))]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "new" / "assistant.db", clock=lambda: NOW)
    await database.migrate(TABLES)
    yield database
    await database.close()


async def test_foreign_keys_and_durability_are_switched_on(database: SqliteDatabase) -> None:
    def pragmas(transaction: Transaction) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [
            transaction.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names
        ]

    full = 2
    assert await database.write(pragmas) == ["wal", full, 1, 5000]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
async def test_the_files_are_readable_by_their_owner_only(database: SqliteDatabase) -> None:
    await database.write(lambda transaction: add(transaction, "secret"))
    files = sorted(database.path.parent.iterdir())
    assert len(files) == 3  # the file, its WAL and its index
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(database.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("where", ["everything", "a page in the middle"])
async def test_a_damaged_file_is_set_aside_byte_for_byte_and_a_new_one_begins(
    tmp_path: Path, where: str
) -> None:
    path = tmp_path / "assistant.db"
    if where == "everything":
        path.write_bytes(b"this was never a database" * 100)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE notes (row INTEGER PRIMARY KEY, text TEXT)")
            rows = [(number, "x" * 500) for number in range(1000)]
            connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
        connection.close()
        with path.open("r+b") as file:
            file.seek(4096 * 20)
            file.write(os.urandom(4096 * 10))
    before = path.read_bytes()
    database = SqliteDatabase(path, clock=lambda: NOW)
    try:
        await database.migrate(TABLES)
        assert await database.read(texts) == []
        assert database.set_aside == tmp_path / "assistant.db.damaged-20260102T030405Z"
        assert database.set_aside.read_bytes() == before
    finally:
        await database.close()


async def test_a_second_damaged_file_does_not_replace_the_first(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    for content in (b"first" * 500, b"second" * 500):
        path.write_bytes(content)
        database = SqliteDatabase(path, clock=lambda: NOW)
        await database.migrate(TABLES)
        await database.close()
    assert damaged_files(tmp_path) == [b"first" * 500, b"second" * 500]


async def test_a_file_that_cannot_be_opened_is_said_in_words_and_tried_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "assistant.db"
    path.mkdir()
    database = SqliteDatabase(path)
    try:
        with pytest.raises(StoreError, match=r"^assistant\.db could not be written: .*opened"):
            await database.migrate(TABLES)
        assert database.problem is not None
        path.rmdir()
        await database.migrate(TABLES)
        assert database.problem is None
    finally:
        await database.close()


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bootstrap import register
register()
from plugin.assistant.database.sqlite import SqliteDatabase
import sqlalchemy

async def main():
    database = SqliteDatabase(Path(sys.argv[2]))
    table = "CREATE TABLE notes (row INTEGER, text TEXT)"
    await database.write(lambda c: c.connection.exec_driver_sql(table) and None)
    for number in range(20):
        insert = f"INSERT INTO notes VALUES ({number}, 'x')"
        await database.write(lambda c: c.connection.exec_driver_sql(insert) and None)
        sys.stdout.write(f"{number}\\n")
        sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
async def test_every_confirmed_write_is_there_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    result = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", KILLED, str(ROOT / "scripts"), str(path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    told = [int(line) for line in result.stdout.split()]
    assert told == list(range(20)), result.stderr
    database = SqliteDatabase(path)
    try:
        rows = await database.read(
            lambda connection: list(
                connection.execute(sqlalchemy.text("SELECT row FROM notes")).scalars()
            )
        )
        assert rows == told
        assert database.set_aside is None
    finally:
        await database.close()


async def test_a_large_file_is_looked_through_when_damage_shows_not_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugin.assistant.database.sqlite.damage.LARGEST_CHECKED", 0)
    path = tmp_path / "assistant.db"
    database = SqliteDatabase(path, clock=lambda: NOW)
    await database.migrate(TABLES)
    await database.write(lambda transaction: add(transaction, "x" * 500_000))
    await database.close()
    content = path.read_bytes()
    path.write_bytes(content[: 4096 * 4] + b"\xff" * (len(content) - 4096 * 4))
    again = SqliteDatabase(path, clock=lambda: NOW)
    try:
        with pytest.raises(FileFailed) as failed:
            await again.read(texts)
        assert failed.value.damaged
        await again.migrate(TABLES)
        assert await again.read(texts) == []
        assert again.set_aside is not None
    finally:
        await again.close()


async def test_writes_that_wait_become_one_commit(database: SqliteDatabase) -> None:
    commits: list[int] = []
    database._open()
    assert database._engines is not None
    sqlalchemy.event.listen(database._engines.writer, "commit", lambda _: commits.append(1))
    may_go_on = threading.Event()
    blocker = asyncio.create_task(database.write(lambda _: may_go_on.wait(10)))

    def refused(transaction: Transaction) -> None:
        add(transaction, "refused")
        raise Conflict("taken")

    works: list[Work[None]] = [partial(add, text="one"), refused, partial(add, text="two")]
    waiting = [asyncio.create_task(database.write(work)) for work in works]
    await asyncio.sleep(0)
    may_go_on.set()
    await blocker
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await database.read(texts) == ["one", "two"]
    assert len(commits) <= 2
