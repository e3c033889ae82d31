"""Properties of the SQLite file alone: its settings, its rights, damage and durability."""

import asyncio
import errno
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest
import sqlalchemy
from plugin.assistant.database import Transaction, Work, migrate
from plugin.assistant.database.sqlite import SqliteDatabase, engines
from plugin.assistant.database.sqlite.damage import (
    Fault,
    fault_of,
    is_damage,
    sentence,
    set_aside,
)
from plugin.assistant.database.sqlite.engines import uri_of
from plugin.assistant.database.sqlite.in_memory import InMemorySqlite
from plugin.assistant.database.sqlite.place import problems_of
from plugin.assistant.errors import Conflict, FileFailed, StoreError

from ..windows_rules import WindowsRules
from .notes import NOW, TABLES, add, texts

pytestmark = pytest.mark.usefixtures("windows_file_rules")

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
        names = (
            "journal_mode",
            "synchronous",
            "foreign_keys",
            "busy_timeout",
            "fullfsync",
            "checkpoint_fullfsync",
        )
        return [
            transaction.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names
        ]

    full = 2
    assert await database.write(pragmas) == ["wal", full, 1, 5000, 1, 1]


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


@pytest.mark.parametrize("closed", [True, False])
async def test_a_damaged_file_heals_whoever_comes_upon_the_damage(
    database: SqliteDatabase, windows_file_rules: WindowsRules, closed: bool
) -> None:
    await database.write(lambda transaction: add(transaction, "x" * 500_000))
    await database.scrub()
    content = await asyncio.to_thread(database.path.read_bytes)
    garbage = content[:8192] + b"\xff" * (len(content) - 8192)
    await asyncio.to_thread(database.path.write_bytes, garbage)
    if closed:
        await database.in_writer(database._let_go)
    else:
        with pytest.raises(FileFailed):
            await database.read(texts)
    await database.write(lambda transaction: add(transaction, "after"))
    assert await database.read(texts) == ["after"]
    assert windows_file_rules.refused == []
    assert database.set_aside is not None
    assert await asyncio.to_thread(database.set_aside.read_bytes) == garbage


@pytest.mark.parametrize("other", ["another program", "a kill"])
async def test_a_damaged_file_and_its_log_stay_together(
    tmp_path: Path, windows_file_rules: WindowsRules, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    path, log = tmp_path / "assistant.db", tmp_path / "assistant.db-wal"
    path.write_bytes(b"no database")
    log.write_bytes(b"the log")
    if other == "another program":
        windows_file_rules.hold(path, times=2)
    else:
        monkeypatch.setattr(Path, "rename", killed)
    for _ in range(2):
        with pytest.raises((PermissionError, KeyboardInterrupt)):
            set_aside(path, NOW)
        assert path.read_bytes() == b"no database"
        assert log.read_bytes() == b"the log"
    monkeypatch.undo()
    target = set_aside(path, NOW)
    assert target.read_bytes() == b"no database"
    assert target.with_name(target.name + "-wal").read_bytes() == b"the log"
    assert not path.exists() and not log.exists()


def test_a_damaged_file_that_another_process_holds_leaves_one_second_name_of_its_log(
    tmp_path: Path,
) -> None:
    """Windows removes no name of a file that somebody has open, so a name that was made in vain
    stays, and the next attempt takes it."""
    path, log = tmp_path / "assistant.db", tmp_path / "assistant.db-wal"
    path.write_bytes(b"no database")
    log.write_bytes(b"the log")
    with path.open("rb"), log.open("rb"):
        for minutes in range(3):
            with pytest.raises(PermissionError):
                set_aside(path, NOW + timedelta(minutes=minutes))
        (kept,) = tmp_path.glob("*.damaged-*")
    target = set_aside(path, NOW + timedelta(minutes=3))
    assert kept == target.with_name(target.name + "-wal")
    assert kept.read_bytes() == b"the log"
    assert sorted(tmp_path.iterdir()) == [target, kept]


def killed(path: Path, target: Path) -> Path:
    raise KeyboardInterrupt


async def test_a_disk_without_second_names_gets_a_copy_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refused)
    path, log = tmp_path / "assistant.db", tmp_path / "assistant.db-wal"
    path.write_bytes(b"no database")
    log.write_bytes(b"the log")
    target = set_aside(path, NOW)
    assert target.with_name(target.name + "-wal").read_bytes() == b"the log"
    assert not log.exists()


def windows_error(winerror: int) -> OSError:
    error = PermissionError(errno.EACCES, "Der Prozess kann nicht auf die Datei zugreifen")
    error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
    return error


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (OSError(errno.ENOSPC, "Auf dem Gerät ist kein Speicherplatz mehr"), Fault.FULL),
        (OSError(errno.EROFS, "読み取り専用ファイルシステムです"), Fault.READ_ONLY),
        (PermissionError(errno.EACCES, "許可がありません"), Fault.UNOPENABLE),
        (windows_error(32), Fault.LOCKED),
        (windows_error(112), Fault.FULL),
        (windows_error(5), Fault.UNOPENABLE),
        (sqlite3.OperationalError("database is locked"), Fault.LOCKED),
        (sqlite3.OperationalError("database or disk is full"), Fault.FULL),
        (sqlite3.OperationalError("attempt to write a readonly database"), Fault.READ_ONLY),
        (sqlite3.DatabaseError("database disk image is malformed"), Fault.DAMAGED),
        (sqlite3.DatabaseError("file is not a database"), Fault.DAMAGED),
        (sqlite3.OperationalError("malformed JSON"), None),
        (OSError(errno.EIO, "not a database, is locked"), None),
    ],
)
def test_an_error_of_the_file_is_known_by_its_number(error: Exception, fault: Fault | None) -> None:
    assert fault_of(error) is fault
    if fault is not None:
        assert (
            sentence(Path("a.db"), "written", error) == f"a.db could not be written: {fault.value}."
        )


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not tell SQLite's codes")
async def test_an_error_of_sqlite_is_known_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"this was never a database" * 100)
    with closing(sqlite3.connect(path)) as connection:
        with pytest.raises(sqlite3.DatabaseError) as caught:
            connection.execute("SELECT * FROM sqlite_master")
        translated = sqlite3.DatabaseError("Die Datei ist keine Datenbank")
        vars(translated)["sqlite_errorcode"] = vars(caught.value)["sqlite_errorcode"]
        assert is_damage(translated)
        with pytest.raises(sqlite3.OperationalError) as wrong:
            connection.execute("SELECT json('{')")
        assert not is_damage(wrong.value)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/home/a b/x?.db"), "file:///home/a%20b/x%3F.db"),
        (PureWindowsPath(r"C:\Users\tom\x.db"), "file:///C:/Users/tom/x.db"),
        (PureWindowsPath(r"\\server\share\x.db"), "file:////server/share/x.db"),
    ],
)
def test_a_path_as_a_uri_names_no_server(path: PurePath, uri: str) -> None:
    assert uri_of(path) == uri


async def test_a_disk_without_a_write_ahead_log_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "JOURNAL", "truncate")  # what SQLite falls back to
    database = SqliteDatabase(tmp_path / "assistant.db", clock=lambda: NOW)
    try:
        assert database.problems() == ()
        await database.migrate(TABLES)
        (problem,) = database.problems()
        assert problem.code == "database_journal"
        assert "ASSISTANT_USER_DIR" in problem.message and "truncate" in problem.message
    finally:
        await database.close()


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (PureWindowsPath(r"\\nas\home\user\assistant.db"), "nas"),
        (PureWindowsPath(r"C:\Users\tom\OneDrive - Firma\assistant.db"), "OneDrive - Firma"),
        (PureWindowsPath(r"C:\Users\tom\onedrive\assistant.db"), "onedrive"),
        (PureWindowsPath(r"C:\Users\tom\iCloudDrive\assistant.db"), "iCloudDrive"),
        (PureWindowsPath(r"G:\My Drive\assistant.db"), "My Drive"),
        (PureWindowsPath(r"\\?\UNC\nas\home\assistant.db"), "nas"),
        (PurePosixPath("/Users/a/Library/Mobile Documents/x/assistant.db"), "Mobile Documents"),
        (PurePosixPath("/Users/a/Library/CloudStorage/Box-Box/assistant.db"), "CloudStorage"),
        (PureWindowsPath(r"C:\Users\tom\assistant.db"), None),
        (PureWindowsPath(r"\\?\C:\tom\assistant.db"), None),
        (PurePosixPath("/home/a/assistant.db"), None),
    ],
)
def test_a_folder_that_other_machines_write_is_said(path: PurePath, named: str | None) -> None:
    found = problems_of(path, "wal", "wal")
    assert [problem.code for problem in found] == ["database_shared_folder"] * (named is not None)
    assert all(named is not None and named in problem.message for problem in found)


async def test_a_database_in_memory_that_is_closed_leaves_nothing_open() -> None:
    memory = InMemorySqlite(lambda transaction: migrate(transaction, TABLES))
    await memory.write(lambda transaction: add(transaction, "one"))
    connection = memory._engine.raw_connection().dbapi_connection
    assert connection is not None
    memory.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
    assert not [one for one in threading.enumerate() if one.name.startswith("assistant-memory")]


async def test_a_text_that_is_no_utf8_does_not_hide_the_others(database: SqliteDatabase) -> None:
    def spoil(transaction: Transaction) -> None:
        transaction.execute(sqlalchemy.text("INSERT INTO notes VALUES (7, CAST(x'61ff' AS TEXT))"))

    await database.write(lambda transaction: add(transaction, "one"))
    await database.write(spoil)
    assert await database.read(texts) == ["one", "a\N{REPLACEMENT CHARACTER}"]
    assert await database.write(texts) == ["one", "a\N{REPLACEMENT CHARACTER}"]
    assert database.problem is None


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
