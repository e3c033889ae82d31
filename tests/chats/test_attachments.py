"""Files in messages: kept once beside the database, read back whole, removed with their chats."""

import asyncio
import base64
import hashlib
import os
import sqlite3
import stat
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant import files as patience
from plugin.assistant.chats import ChatStore, TurnStart
from plugin.assistant.chats.attachments import SMALLEST
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.log.branches import Branches
from plugin.assistant.chats.queue import ChatQueue, Queued
from plugin.assistant.chats.schema import attachments_gone
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import UNDO, Trash
from plugin.assistant.database import Statement
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import FileFailed
from plugin.assistant.messages.origin import imported
from plugin.assistant.messages.parts import FilePart, Message, TextPart
from plugin.tests.windows_rules import WindowsRules
from sqlalchemy import select

from .examples import answer, user
from .faults import Retries, locked

pytestmark = pytest.mark.usefixtures("files_as_on_windows")
START = datetime(2026, 1, 2, tzinfo=timezone.utc)
PICTURE = bytes(range(256)) * 100
SHA256 = hashlib.sha256(PICTURE).hexdigest()
GONE = Statement(select(attachments_gone.c.sha256))


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
            failing.setattr("plugin.assistant.files.write", full)
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


# Attachments that another program holds


OTHER = b"other" * 5000


async def test_a_file_that_is_held_for_a_moment_is_written_and_read(
    store: ChatStore,
    database: SqliteDatabase,
    windows_file_rules: WindowsRules,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("plugin.assistant.files.time.sleep", pauses.append)
    place = database.path.parent / "attachments" / SHA256[:2] / SHA256
    place.parent.mkdir(parents=True)
    place.write_bytes(b"cut by a power failure")
    windows_file_rules.hold(place, times=2)
    await store.append("c", showing("u1"))
    assert len(pauses) == 2 and files(database) == [place]
    real, reads = Path.read_bytes, []

    def held_twice(path: Path) -> bytes:
        reads.append(path)
        if len(reads) <= 2:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", held_twice)
    assert await read_anew(database) == (showing("u1"),)
    assert len(reads) == 3


async def test_a_message_whose_file_stays_held_is_kept_in_memory_and_saved_later(
    store: ChatStore,
    database: SqliteDatabase,
    windows_file_rules: WindowsRules,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plugin.assistant.files.time.sleep", lambda _seconds: None)
    retries = Retries(store)
    place = database.path.parent / "attachments" / SHA256[:2] / SHA256
    place.parent.mkdir(parents=True)
    place.write_bytes(b"cut by a power failure")
    windows_file_rules.hold(place)
    await store.append("c", showing("u1"))
    assert not store.saving.ok and place.read_bytes() == b"cut by a power failure"
    assert await fresh(store) == (showing("u1"),)
    windows_file_rules.release(place)
    await retries.until_saved()
    assert await read_anew(database) == (showing("u1"),)
    assert files(database) == [place]
    await store.close()


async def test_no_attachment_is_written_or_read_on_the_event_loop(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, on_loop = patience.patiently, []

    def patiently(*arguments: Any) -> Any:
        on_loop.append(patience._on_event_loop())
        return real(*arguments)

    monkeypatch.setattr(patience, "patiently", patiently)
    await store.append("c", showing("u1"))
    await read_anew(database)
    await removed(store, database, "c")
    assert len(on_loop) >= 4 and not any(on_loop)


async def test_a_file_that_stays_held_is_a_sentence_until_it_is_free(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.append("c", showing("u1"))
    monkeypatch.setattr("plugin.assistant.files.time.sleep", lambda _seconds: None)

    def held(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as holding:
        holding.setattr(Path, "read_bytes", held)
        sentence = '[The attachment "cat.png" cannot be read now: another program holds its file.]'
        assert (await read_anew(database))[0].parts[1] == TextPart(sentence)
    assert await read_anew(database) == (showing("u1"),)


async def test_a_file_that_stays_held_keeps_its_row_and_stops_no_other_removal(
    store: ChatStore, database: SqliteDatabase, windows_file_rules: WindowsRules
) -> None:
    await store.append("c", showing("u1"))
    await store.append("c", showing("u2", url_of(OTHER)))
    held = database.path.parent / "attachments" / SHA256[:2] / SHA256
    windows_file_rules.hold(held)
    async with Minutes(database, store) as minutes:
        await minutes.trash.delete("c")
        await minutes.pass_one()
        assert files(database) == [held]
        assert store.saving.ok and await store.create("c")
        windows_file_rules.release(held)
        await minutes.pass_one()
        assert files(database) == []
        assert minutes.waiting == 0
    assert await database.read(lambda transaction: transaction.rows(GONE)) == []


async def test_a_held_file_keeps_its_content_when_a_chat_shows_it_again(
    store: ChatStore, database: SqliteDatabase, windows_file_rules: WindowsRules
) -> None:
    await store.append("c", showing("u1"))
    held = database.path.parent / "attachments" / SHA256[:2] / SHA256
    windows_file_rules.hold(held)
    async with Minutes(database, store) as minutes:
        await minutes.trash.delete("c")
        await minutes.pass_one()
        await store.create("d")
        await store.append("d", showing("u1"))
        windows_file_rules.release(held)
        await minutes.pass_one()
    assert await read_anew(database, "d") == (showing("u1"),)


async def test_after_a_start_a_held_file_is_removed_when_it_is_free(
    store: ChatStore, database: SqliteDatabase, windows_file_rules: WindowsRules
) -> None:
    await store.append("c", showing("u1"))
    held = database.path.parent / "attachments" / SHA256[:2] / SHA256
    windows_file_rules.hold(held)
    await removed(store, database, "c")
    await store.create("d")
    async with Minutes(database, store) as earlier:
        await earlier.trash.delete("d")
    async with Minutes(database, store) as minutes:
        await minutes.trash.open()
        await asyncio.sleep(0)
        assert minutes.waiting == 2, "the held file, and the chat whose minute is not over"
        windows_file_rules.release(held)
        await minutes.pass_one()
        assert files(database) == [] and await store.create("d")


async def test_a_start_while_the_database_fails_is_tried_again(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugin.assistant.database.sqlite.database.BUSY_SECONDS", 0.01)
    async with Minutes(database, store) as earlier:
        await earlier.trash.delete("c")
    async with Minutes(database, store) as minutes:
        with monkeypatch.context() as failing:
            failing.setattr(minutes.trash, "_database", Unreadable())
            await minutes.trash.open()
        await minutes.pass_one()
        await minutes.pass_one()
        assert await store.create("c")


async def test_a_clean_up_whose_end_fails_goes_on_later(
    store: ChatStore, database: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """The rows are gone already, so that there is no chat left to name."""
    await store.append("c", showing("u1"))
    async with Minutes(database, store) as minutes:
        await minutes.trash.delete("c")
        real = database.scrub

        async def fail() -> bool:
            database.problem = "assistant.db could not be written: the disk is full."
            raise FileFailed(database.problem)

        database.scrub = fail  # type: ignore[method-assign]
        await minutes.pass_one()
        assert "files of deleted chats stay for now" in caplog.text
        database.scrub, database.problem = real, None  # type: ignore[method-assign]
        assert await store.create("c") and minutes.waiting == 1
        await minutes.pass_one()
        assert minutes.waiting == 0


class Unreadable:
    """A database that fails."""

    async def read(self, _work: object) -> None:
        raise FileFailed("assistant.db could not be read: it is locked.")

    write = read


class Minutes:
    """A trash whose waits end when a test says so; a task of it that fails makes the test fail."""

    def __init__(self, database: SqliteDatabase, store: ChatStore) -> None:
        self.now = START
        self._sleepers: list[asyncio.Event] = []
        search = HistorySearch(database)
        self.trash = Trash(database, store, search, clock=lambda: self.now, sleep=self._sleep)

    @property
    def waiting(self) -> int:
        return len(self._sleepers)

    async def _sleep(self, _seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append(woken)
        await woken.wait()

    async def pass_one(self) -> None:
        """Lets all waits end, and what waits until then happen."""
        await asyncio.sleep(0)
        self.now += UNDO
        before, sleepers = set(self.trash._tasks), self._sleepers
        self._sleepers = []
        for sleeper in sleepers:
            sleeper.set()
        await asyncio.gather(*before)
        await asyncio.sleep(0)

    async def __aenter__(self) -> "Minutes":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.trash.close()


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
