"""Files in messages: kept once beside the database, read back whole, removed with their chats."""

import base64
import hashlib
import os
import sqlite3
import stat
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore, TurnStart
from plugin.assistant.chats.attachments import SMALLEST
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.log.branches import Branches
from plugin.assistant.chats.queue import ChatQueue, Queued
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import Trash
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.messages.origin import imported
from plugin.assistant.messages.parts import FilePart, Message, TextPart

from .examples import answer, user
from .faults import Retries, locked

START = datetime(2026, 1, 2, tzinfo=timezone.utc)
PICTURE = bytes(range(256)) * 100
SHA256 = hashlib.sha256(PICTURE).hexdigest()


def url_of(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def showing(identity: str, url: str = url_of(PICTURE)) -> Message:
    return user(identity, "Look", FilePart("image/png", url, "cat.png"))


def files(database: SqliteDatabase) -> list[Path]:
    return sorted(p for p in database.path.parent.glob("attachments/**/*") if p.is_file())


def bodies(database: SqliteDatabase) -> str:
    with closing(sqlite3.connect(database.path)) as connection:
        return "".join(body for (body,) in connection.execute("SELECT body FROM messages"))


async def read_anew(database: SqliteDatabase, chat_id: str = "c") -> tuple[Message, ...]:
    other = SqliteDatabase(database.path)
    try:
        return await ChatStore(other).path(chat_id)
    finally:
        await other.close()


async def test_a_large_file_lies_beside_the_database_and_comes_back_as_it_was(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", showing("u1"))
    [file] = files(database)
    assert file.relative_to(database.path.parent).as_posix() == f"attachments/{SHA256[:2]}/{SHA256}"
    assert file.read_bytes() == PICTURE
    assert len(bodies(database)) < 500
    assert await read_anew(database) == (showing("u1"),)
    page, _ = await store.page("c")
    assert page == (showing("u1"),)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
async def test_only_the_owner_can_read_it(store: ChatStore, database: SqliteDatabase) -> None:
    await store.append("c", showing("u1"))
    [file] = files(database)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in file.parents[:2]} == {0o700}


@pytest.mark.parametrize(
    "url",
    [
        "data:text/plain," + "plain%20text " * 1000,
        "data:text/plain;base64," + "AAAA" * 3000 + "=",
        "data:image/png;base64," + "QUFB\n" * 3000,
        "data:;base64," + "AB==" + "A" * 9000,
        "data:text/plain," + "\u4e2d\ud83d" * 5000,
        "https://example.org/" + "x" * 9000,
        "data:no comma" + "x" * 9000,
        url_of(b"small"),
        "attachment:" + SHA256,
    ],
    ids=lambda url: url[:30],
)
async def test_every_url_comes_back_character_by_character(
    store: ChatStore, database: SqliteDatabase, url: str
) -> None:
    await store.append("c", showing("u1", url))
    assert await read_anew(database) == (showing("u1", url),)


async def test_a_small_file_stays_in_its_row(store: ChatStore, database: SqliteDatabase) -> None:
    url = url_of(b"x" * (SMALLEST // 2))
    await store.append("c", showing("u1", url))
    assert files(database) == [] and url in bodies(database)


async def test_the_same_content_is_kept_once(store: ChatStore, database: SqliteDatabase) -> None:
    await store.create("d")
    for chat in ("c", "d"):
        await store.append(chat, showing("u1"))
        await store.append(chat, showing("u2"))
    assert len(files(database)) == 1


async def test_answers_in_progress_and_what_waits_have_files_too(
    store: ChatStore, database: SqliteDatabase
) -> None:
    queue = ChatQueue(store)
    await queue.enqueue("c", Queued("q1", "user_message", START, showing("u9")))
    assert (await queue.queue("c"))[0].message == showing("u9")
    drawn = Message("a1", "assistant", (FilePart("image/png", url_of(PICTURE)),))
    await store.append("c", user("u1"))
    await store.begin_turn("c", TurnStart(answer("a1", "")))
    await store.checkpoint("c", drawn)
    after = ChatStore(database)
    await after.recover()
    assert (await after.path("c"))[-1].parts == drawn.parts


async def test_a_branch_has_the_files_after_its_chat_is_gone(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", showing("u1"))
    await Branches(store).branch("c", "u1", "copy")
    await removed(store, database, "c")
    assert await read_anew(database, "copy") == (showing("u1"),)
    await removed(store, database, "copy")
    assert files(database) == []


async def test_an_export_holds_them_whole_and_an_import_keeps_them(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", showing("u1"))
    archive = Archive(store, new_id=lambda: "copy")
    trajectory = await archive.read("c")
    assert trajectory.path == (showing("u1"),)
    await archive.add(trajectory)
    await removed(store, database, "c")
    assert await read_anew(database, "copy") == (imported(showing("u1")),)


async def test_a_file_that_other_chats_show_stays(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.create("d")
    await store.append("c", showing("u1"))
    await store.append("d", showing("u1"))
    await removed(store, database, "c")
    assert len(files(database)) == 1
    assert await read_anew(database, "d") == (showing("u1"),)


async def test_what_a_crash_kept_from_being_removed_is_removed_at_the_next_start(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.append("c", showing("u1"))
    with monkeypatch.context() as crash:
        crash.setattr("plugin.assistant.chats.attachments.remove_gone", lambda _connection: 0)
        await removed(store, database, "c")
    assert len(files(database)) == 1
    trash = Trash(database, store, HistorySearch(database))
    await trash.open()
    assert files(database) == []
    await trash.close()


async def test_a_missing_or_spoiled_file_is_a_sentence(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", showing("u1"))
    [file] = files(database)
    missing = TextPart('[The attachment "cat.png" is not there any more.]')
    file.write_bytes(b"x" * len(PICTURE))
    assert (await read_anew(database))[0].parts == (TextPart("Look"), missing)
    file.unlink()
    assert (await read_anew(database))[0].parts == (TextPart("Look"), missing)


async def test_the_length_of_a_chat_counts_its_files(store: ChatStore) -> None:
    await store.append("c", showing("u1"))
    chat = await store.get("c")
    assert chat is not None and chat.log_chars > len(url_of(PICTURE))


@pytest.mark.parametrize("disk", ["takes files", "takes no files"])
async def test_a_chat_in_memory_has_its_files(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, disk: str
) -> None:
    monkeypatch.setattr("plugin.assistant.database.sqlite.database.BUSY_SECONDS", 0.01)
    monkeypatch.setattr("plugin.assistant.database.sqlite.database.IMPATIENT_SECONDS", 0.01)
    retries = Retries(store)
    await store.append("c", showing("u1"))
    other = b"other" * 5000

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as failing:
        if disk == "takes no files":
            failing.setattr("plugin.assistant.chats.attachments.os.open", full)
        async with locked(database):
            await store.append("c", showing("u2", url_of(other)))
            assert await ChatStore(database).path("c") == (showing("u1"),)
            assert [m.parts for m in await fresh(store)] == [
                showing("u1").parts,
                showing("u2", url_of(other)).parts,
            ]
    await retries.until_saved()
    assert await read_anew(database) == (showing("u1"), showing("u2", url_of(other)))
    assert len(files(database)) == 2
    assert url_of(other) not in bodies(database)
    await store.close()


async def fresh(store: ChatStore) -> tuple[Message, ...]:
    """The path as the file has it, without the cache."""
    store.forget("c")
    return await store.path("c")


async def removed(store: ChatStore, database: SqliteDatabase, chat_id: str) -> None:
    """Deletes the chat for good."""

    async def at_once(_seconds: float) -> None:
        return

    search = HistorySearch(database)
    trash = Trash(database, store, search, clock=lambda: START, sleep=at_once)
    await trash.delete(chat_id)
    for task in list(trash._tasks):
        await task
    await trash.close()
