"""The SQLite file: order, durability, isolation, and what happens when it is damaged or refused."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy
from plugin.assistant.database import Database, Work
from plugin.assistant.errors import Conflict, FileFailed, StoreError
from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, insert, select

ROOT = Path(__file__).resolve().parent.parent
METADATA = MetaData()
NOTES = Table(
    "notes",
    METADATA,
    Column("row", Integer, primary_key=True),
    Column("text", String, nullable=False),
)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def add(connection: Connection, text: str) -> None:
    connection.execute(insert(NOTES).values(text=text))


def texts(connection: Connection) -> list[str]:
    return list(connection.scalars(select(NOTES.c.text).order_by(NOTES.c.row)))


def damaged_files(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(folder.glob("*.damaged-*"))]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "new" / "assistant.db", clock=lambda: NOW)
    await database.create(METADATA)
    yield database
    await database.close()


async def test_what_was_written_is_read_and_survives_closing(database: Database) -> None:
    await database.write(lambda connection: add(connection, "one"))
    assert await database.read(texts) == ["one"]
    await database.close()
    again = Database(database.path)
    try:
        assert await again.read(texts) == ["one"]
    finally:
        await again.close()


async def test_writes_happen_in_the_order_of_the_calls(database: Database) -> None:
    wanted = [f"note {number}" for number in range(50)]
    await asyncio.gather(*(database.write(partial(add, text=text)) for text in wanted))
    assert await database.read(texts) == wanted


async def test_a_failing_write_leaves_nothing_and_its_own_error_comes_through(
    database: Database,
) -> None:
    def half(connection: Connection) -> None:
        add(connection, "half")
        raise Conflict("taken")

    with pytest.raises(Conflict):
        await database.write(half)
    assert await database.read(texts) == []
    assert database.problem is None


async def test_a_write_that_was_handed_over_happens_although_the_caller_is_cancelled(
    database: Database,
) -> None:
    may_go_on = threading.Event()
    blocker = asyncio.create_task(database.write(lambda _connection: may_go_on.wait(10)))
    caller = asyncio.create_task(database.write(lambda connection: add(connection, "kept")))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    may_go_on.set()
    await blocker
    await database.write(lambda connection: add(connection, "after"))
    assert await database.read(texts) == ["kept", "after"]


async def test_a_reader_is_not_blocked_by_an_open_write_and_does_not_see_half_of_it(
    database: Database,
) -> None:
    written, may_commit = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        add(connection, "later")
        written.set()
        may_commit.wait(10)

    writer = asyncio.create_task(database.write(slow))
    await asyncio.to_thread(written.wait, 10)
    assert await database.read(texts) == []
    may_commit.set()
    await writer
    assert await database.read(texts) == ["later"]


async def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError, match="could not be read"):
        await database.read(lambda connection: add(connection, "no"))
    assert await database.read(texts) == []


async def test_foreign_keys_and_durability_are_switched_on(database: Database) -> None:
    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]

    full = 2
    assert await database.write(pragmas) == ["wal", full, 1, 5000]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
async def test_the_files_are_readable_by_their_owner_only(database: Database) -> None:
    await database.write(lambda connection: add(connection, "secret"))
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
    database = Database(path, clock=lambda: NOW)
    try:
        await database.create(METADATA)
        assert await database.read(texts) == []
        assert database.set_aside == tmp_path / "assistant.db.damaged-20260102T030405Z"
        assert database.set_aside.read_bytes() == before
    finally:
        await database.close()


async def test_a_second_damaged_file_does_not_replace_the_first(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    for content in (b"first" * 500, b"second" * 500):
        path.write_bytes(content)
        database = Database(path, clock=lambda: NOW)
        await database.create(METADATA)
        await database.close()
    assert damaged_files(tmp_path) == [b"first" * 500, b"second" * 500]


async def test_a_file_that_cannot_be_opened_is_said_in_words_and_tried_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "assistant.db"
    path.mkdir()
    database = Database(path)
    try:
        with pytest.raises(StoreError, match=r"^assistant\.db could not be written: .*opened"):
            await database.create(METADATA)
        assert database.problem is not None
        path.rmdir()
        await database.create(METADATA)
        assert database.problem is None
    finally:
        await database.close()


async def test_a_statement_that_fails_says_no_values(database: Database) -> None:
    await database.write(lambda connection: add(connection, "one"))
    statement = insert(NOTES).values(row=1, text="sk-secret")
    with pytest.raises(StoreError) as caught:
        await database.write(lambda connection: connection.execute(statement) and None)
    assert "sk-secret" not in caught.value.message
    assert "INSERT" not in caught.value.message


async def test_closing_twice_and_closing_unused_do_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "assistant.db")
    await database.close()
    await database.close()
    assert not database.path.exists()
    with pytest.raises(StoreError, match="is closed"):
        await database.read(texts)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from bootstrap import register
register()
from plugin.assistant.database import Database
import sqlalchemy

async def main():
    database = Database(Path(sys.argv[2]))
    table = "CREATE TABLE notes (row INTEGER, text TEXT)"
    await database.write(lambda c: c.exec_driver_sql(table) and None)
    for number in range(20):
        await database.write(
            lambda c: c.exec_driver_sql("INSERT INTO notes VALUES (?, 'x')", (number,)) and None
        )
        sys.stdout.write(f"{number}\\n")
        sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
async def test_all_that_was_told_stored_is_there_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    result = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", KILLED, str(ROOT / "scripts"), str(path)],
        capture_output=True,
        text=True,
    )
    told = [int(line) for line in result.stdout.split()]
    assert told == list(range(20)), result.stderr
    database = Database(path)
    try:
        rows = await database.read(
            lambda connection: list(connection.scalars(sqlalchemy.text("SELECT row FROM notes")))
        )
        assert rows == told
        assert database.set_aside is None
    finally:
        await database.close()


async def test_a_large_file_is_looked_through_when_damage_shows_not_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugin.assistant.database.damage.LARGEST_CHECKED", 0)
    path = tmp_path / "assistant.db"
    database = Database(path, clock=lambda: NOW)
    await database.create(METADATA)
    await database.write(lambda connection: add(connection, "x" * 500_000))
    await database.close()
    content = path.read_bytes()
    path.write_bytes(content[: 4096 * 4] + b"\xff" * (len(content) - 4096 * 4))
    again = Database(path, clock=lambda: NOW)
    try:
        with pytest.raises(FileFailed) as failed:
            await again.read(texts)
        assert failed.value.damaged
        await again.create(METADATA)
        assert await again.read(texts) == []
        assert again.set_aside is not None
    finally:
        await again.close()


async def test_writes_that_wait_become_one_commit_and_each_succeeds_or_fails_alone(
    database: Database,
) -> None:
    commits: list[int] = []
    database._open()
    assert database._engines is not None
    sqlalchemy.event.listen(database._engines.writer, "commit", lambda _: commits.append(1))
    may_go_on = threading.Event()
    blocker = asyncio.create_task(database.write(lambda _connection: may_go_on.wait(10)))

    def refused(connection: Connection) -> None:
        add(connection, "refused")
        raise Conflict("taken")

    def wrong(connection: Connection) -> None:
        connection.execute(insert(NOTES).values(row=1, text="a row that is there"))

    works: list[Work[None]] = [partial(add, text="one"), refused, partial(add, text="two")]
    waiting = [asyncio.create_task(database.write(work)) for work in works]
    await asyncio.sleep(0)
    may_go_on.set()
    await blocker
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), Conflict, type(None)]
    assert await database.read(texts) == ["one", "two"]
    assert len(commits) <= 2
    with pytest.raises(StoreError):
        await database.write(wrong)
    assert await database.read(texts) == ["one", "two"]
