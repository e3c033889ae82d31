"""Files of earlier versions are opened and keep their rows."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import ChatStore, migrations
from plugin.assistant.chats.schema import SCHEMA_VERSION, TABLES, prepare
from plugin.assistant.database import Transaction
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite.engines import writing_engine
from plugin.assistant.database.sqlite.transaction import SqliteTransaction
from plugin.assistant.database.tables import upgrade
from plugin.assistant.errors import StoreError
from sqlalchemy import text

from .examples import user
from .test_projections import VERSION_1

ROOT = Path(__file__).resolve().parents[2]
VERSION_2 = (
    VERSION_1
    + """
CREATE TABLE cuts (chat_id VARCHAR NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, first INTEGER NOT NULL, "end" INTEGER NOT NULL,
    digest VARCHAR NOT NULL, PRIMARY KEY (chat_id, number));
CREATE TABLE projections (chat_id VARCHAR NOT NULL PRIMARY KEY REFERENCES chats (id)
    ON DELETE CASCADE, body TEXT NOT NULL);
PRAGMA user_version = 2;
"""
)
VERSION_3 = (
    VERSION_2
    + """
ALTER TABLE chats ADD COLUMN pinned BOOLEAN NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN deleted VARCHAR;
PRAGMA user_version = 3;
"""
)
VERSION_4 = (
    VERSION_3
    + """
ALTER TABLE chats ADD COLUMN unread BOOLEAN NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN params TEXT NOT NULL DEFAULT '{}';
ALTER TABLE chats ADD COLUMN draft TEXT;
ALTER TABLE chats ADD COLUMN branched_from TEXT;
CREATE INDEX messages_by_branch ON messages (chat_id, run_parent) WHERE "row" = run_start;
CREATE TABLE queue (chat_id VARCHAR NOT NULL REFERENCES chats (id), id VARCHAR NOT NULL,
    number INTEGER NOT NULL, type VARCHAR NOT NULL, priority BOOLEAN NOT NULL,
    created VARCHAR NOT NULL, message TEXT, details TEXT NOT NULL, PRIMARY KEY (chat_id, id));
ALTER TABLE running ADD COLUMN owner TEXT;
ALTER TABLE running ADD COLUMN beat VARCHAR;
CREATE TABLE attachments (chat_id VARCHAR NOT NULL REFERENCES chats (id),
    sha256 VARCHAR NOT NULL, PRIMARY KEY (chat_id, sha256));
CREATE INDEX attachments_by_content ON attachments (sha256);
CREATE TABLE attachments_gone (sha256 VARCHAR NOT NULL PRIMARY KEY);
PRAGMA user_version = 4;
"""
)
VERSION_5 = (
    VERSION_4
    + """
CREATE TABLE workflows (chat_id VARCHAR NOT NULL REFERENCES chats (id),
    workflow_id VARCHAR NOT NULL, revision VARCHAR NOT NULL, number INTEGER NOT NULL,
    name TEXT NOT NULL, message_id VARCHAR, created VARCHAR NOT NULL, nodes INTEGER NOT NULL,
    graph TEXT NOT NULL, PRIMARY KEY (chat_id, workflow_id, revision));
PRAGMA user_version = 5;
"""
)
OLDER = {1: VERSION_1, 2: VERSION_2, 3: VERSION_3, 4: VERSION_4, 5: VERSION_5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "assistant.db"


def make(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


@contextmanager
def opened(path: Path) -> Iterator[Transaction]:
    engine = writing_engine(path)
    try:
        with engine.begin() as connection:
            yield SqliteTransaction(connection, None)
    finally:
        engine.dispose()


def shape(connection: Transaction) -> dict[str, list[tuple[Any, ...]]]:
    """Each table's columns (type, whether it may be null, default, key), references and indexes."""

    def asked(query: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in connection.execute(text(query)))

    found: dict[str, list[tuple[Any, ...]]] = {}
    for (name,) in asked("SELECT name FROM sqlite_master WHERE type = 'table'"):
        columns = 'name, type, "notnull", coalesce(dflt_value, 0), pk'
        indexes = (
            f"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '{name}'"
        )
        found[name] = asked(f"SELECT {columns} FROM pragma_table_info('{name}')")
        found[f"{name} refers to"] = asked(f"SELECT * FROM pragma_foreign_key_list('{name}')")
        found[f"{name} is found by"] = asked(f"{indexes} AND sql IS NOT NULL")
    return found


def test_there_is_a_step_to_each_version() -> None:
    steps = sorted(file.name for file in migrations.VERSIONS.glob("v*.py"))
    assert [name.partition("_")[0] for name in steps] == [
        f"v{version}" for version in range(1, SCHEMA_VERSION + 1)
    ]
    assert set(OLDER) == set(range(1, SCHEMA_VERSION))


@pytest.mark.parametrize("version", OLDER)
async def test_an_older_file_keeps_its_chats_and_takes_what_is_new(
    path: Path, version: int
) -> None:
    make(path, OLDER[version])
    database = SqliteDatabase(path)
    store = ChatStore(database)
    (chat,) = await store.list()
    assert (chat.title, chat.pinned, chat.unread, chat.messages) == ("An old chat", False, False, 1)
    assert (await store.change("c", pinned=True)).pinned
    await store.set_draft("c", "A draft")
    await store.append("c", user("u2", "Again"))
    assert [message.text for message in await store.path("c")] == ["Hello", "Again"]
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_the_steps_make_the_tables_of_a_new_file(tmp_path: Path) -> None:
    with opened(tmp_path / "new.db") as connection:
        prepare(connection)
        new = shape(connection)
    with opened(tmp_path / "steps.db") as connection:
        upgrade(connection, TABLES, 0)
        steps = shape(connection)
    assert steps == new


@pytest.mark.parametrize("version", OLDER)
def test_an_upgraded_file_has_the_tables_of_a_new_one(tmp_path: Path, version: int) -> None:
    make(tmp_path / "old.db", OLDER[version])
    found = []
    for name in ("old.db", "new.db"):
        with opened(tmp_path / name) as connection:
            prepare(connection)
            found.append(shape(connection))
    assert found[0].keys() == found[1].keys()
    for table, columns in found[1].items():
        assert len(found[0][table]) == len(columns), table
        if not table.endswith("is found by"):
            assert [row[0] for row in found[0][table]] == [row[0] for row in columns], table


async def test_a_step_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    # The tables of version 1 with the number of version 1, and a table that a later step makes.
    make(path, VERSION_1 + "CREATE TABLE queue (something TEXT);")
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.iterdump())
    database = SqliteDatabase(path)
    with pytest.raises(StoreError):
        await ChatStore(database).recover()
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.iterdump()) == before
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_new_file_and_one_of_today_need_no_alembic(path: Path) -> None:
    probe = f"""
import asyncio, sys
sys.path.insert(0, "scripts")
from bootstrap import register
register()
from pathlib import Path
from plugin.assistant.chats import ChatStore
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite.engines import writing_engine
from plugin.assistant.database.sqlite.transaction import SqliteTransaction
from plugin.assistant.database.tables import upgrade
async def open_it():
    database = SqliteDatabase(Path({str(path)!r}))
    await ChatStore(database).recover()
    await database.close()
asyncio.run(open_it())
asyncio.run(open_it())
sys.exit("alembic" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", probe], cwd=ROOT).returncode == 0
