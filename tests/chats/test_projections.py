"""The projections of a chat, kept beside its log."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.chats.schema import SCHEMA_VERSION
from plugin.assistant.context.projections import Covered, Projections
from plugin.assistant.context.summary.state import Summary
from plugin.assistant.database import Transaction
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import NotFound
from sqlalchemy import text

from .examples import user

VERSION_1 = """
CREATE TABLE chats (id VARCHAR NOT NULL PRIMARY KEY, title TEXT NOT NULL,
    title_source VARCHAR NOT NULL, created VARCHAR NOT NULL, updated VARCHAR NOT NULL,
    activity INTEGER NOT NULL, head_row INTEGER, state VARCHAR NOT NULL,
    allowed_tools TEXT NOT NULL, workflow TEXT, log_chars INTEGER NOT NULL);
CREATE INDEX chats_by_activity ON chats (activity);
CREATE TABLE messages (chat_id VARCHAR NOT NULL REFERENCES chats (id), row INTEGER NOT NULL,
    parent_row INTEGER, message_id VARCHAR NOT NULL, role VARCHAR NOT NULL,
    created VARCHAR NOT NULL, depth INTEGER NOT NULL, run_start INTEGER NOT NULL,
    run_parent INTEGER, body TEXT NOT NULL, PRIMARY KEY (chat_id, row));
CREATE INDEX messages_by_id ON messages (chat_id, message_id);
CREATE TABLE running (chat_id VARCHAR NOT NULL PRIMARY KEY REFERENCES chats (id),
    message_id VARCHAR NOT NULL, parent_row INTEGER, started VARCHAR NOT NULL, body TEXT NOT NULL);
INSERT INTO chats VALUES ('c', 'An old chat', 'user', '2026-01-02T03:04:05.000+00:00',
    '2026-01-02T03:04:05.000+00:00', 1, 1, 'idle', '[]', NULL, 60);
INSERT INTO messages VALUES ('c', 1, NULL, 'u1', 'user', '2026-01-02T03:04:05.000+00:00', 1, 1,
    NULL, '{"id":"u1","parts":[{"text":"Hello","type":"text"}],"role":"user"}');
PRAGMA user_version = 1;
"""
"""A file as version 1 made it, with one chat."""


def with_cuts(count: int, digest: str = "same") -> Projections:
    cuts = tuple(Covered(8 * n, 8 * n + 8, f"{digest}{n}") for n in range(count))
    return Projections(cuts, Summary(0, 8 * count, goal="A fox"), 900, head_row=0, made_at=30)


async def test_a_chat_that_leaves_out_nothing_has_empty_projections(store: ChatStore) -> None:
    assert await store.projections("c") == Projections()


async def test_projections_are_read_as_they_were_kept(
    database: SqliteDatabase, store: ChatStore
) -> None:
    kept = with_cuts(3)
    await store.keep_projections("c", kept)
    assert await ChatStore(database).projections("c") == kept


async def test_each_chat_has_its_own(store: ChatStore) -> None:
    await store.create("d")
    await store.keep_projections("c", with_cuts(2))
    await store.keep_projections("d", with_cuts(1, "other"))
    assert await store.projections("c") == with_cuts(2)
    assert await store.projections("d") == with_cuts(1, "other")


async def test_one_more_cut_of_a_thousand_writes_one_row(
    database: SqliteDatabase, store: ChatStore
) -> None:
    def watch(connection: Transaction) -> None:
        connection.execute(text("CREATE TABLE seen (what TEXT)"))
        for change in ("INSERT", "DELETE", "UPDATE"):
            noting = f"BEGIN INSERT INTO seen VALUES ('{change}'); END"
            connection.execute(text(f"CREATE TRIGGER s{change} AFTER {change} ON cuts {noting}"))

    await store.keep_projections("c", with_cuts(1000))
    await database.write(watch)
    await store.keep_projections("c", with_cuts(1001))
    seen = await database.read(lambda c: list(c.execute(text("SELECT what FROM seen")).scalars()))
    assert seen == ["INSERT"]
    assert await store.projections("c") == with_cuts(1001)


async def test_cuts_that_an_edit_dropped_are_gone(store: ChatStore) -> None:
    await store.keep_projections("c", with_cuts(5))
    kept = with_cuts(5).cuts[:2]
    edited = replace(with_cuts(2), cuts=(*kept, Covered(16, 30, "new")))
    await store.keep_projections("c", edited)
    assert await store.projections("c") == edited


async def test_a_models_summary_replaces_the_stored_summary(store: ChatStore) -> None:
    await store.keep_projections("c", with_cuts(2))
    told = replace(with_cuts(2), summary=Summary(0, 16, llm_text="Goal: a fox", llm_end=16))
    await store.keep_projections("c", told)
    assert await store.projections("c") == told


@pytest.mark.parametrize("body", ["", "no JSON", "[]", "{}", '{"version": 99}', "[" * 9000])
async def test_what_cannot_be_read_is_planned_anew(
    database: SqliteDatabase, store: ChatStore, body: str
) -> None:
    await store.keep_projections("c", with_cuts(2))
    await database.write(
        lambda c: c.execute(text("UPDATE projections SET body = :body"), {"body": body}).close()
    )
    assert await store.projections("c") == Projections()


async def test_an_unknown_chat_keeps_nothing(store: ChatStore) -> None:
    with pytest.raises(NotFound):
        await store.keep_projections("nobody", with_cuts(1))
    with pytest.raises(NotFound):
        await store.projections("nobody")


async def test_a_file_of_version_1_keeps_its_chats_and_takes_projections(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
    database = SqliteDatabase(path)
    store = ChatStore(database)
    assert [message.text for message in await store.path("c")] == ["Hello"]
    await store.append("c", user("u2", "Again"))
    await store.keep_projections("c", with_cuts(1))
    assert await store.projections("c") == with_cuts(1)
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
