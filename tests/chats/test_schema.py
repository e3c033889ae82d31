"""Files of earlier versions open, and keep what they hold."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.chats.schema import SCHEMA_VERSION
from plugin.assistant.database import Database

from .examples import user
from .test_projections import VERSION_1

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


@pytest.mark.parametrize("made", [VERSION_1, VERSION_2])
async def test_an_older_file_keeps_its_chats_and_takes_pins(tmp_path: Path, made: str) -> None:
    path = tmp_path / "assistant.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(made)
    database = Database(path)
    store = ChatStore(database)
    (chat,) = await store.list()
    assert (chat.title, chat.pinned, chat.messages) == ("An old chat", False, 1)
    assert (await store.change("c", pinned=True)).pinned
    await store.append("c", user("u2", "Again"))
    assert [message.text for message in await store.path("c")] == ["Hello", "Again"]
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


async def test_an_upgraded_file_has_the_columns_of_a_new_one(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        connection.executescript(VERSION_2)
    columns = []
    for name in ("old.db", "new.db"):
        database = Database(tmp_path / name)
        await ChatStore(database).recover()
        await database.close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            tables = ("chats", "messages", "running", "cuts", "projections")
            asked = [connection.execute(f"PRAGMA table_info({table})") for table in tables]
            columns.append([{row[1] for row in found} for found in asked])
    assert columns[0] == columns[1]
