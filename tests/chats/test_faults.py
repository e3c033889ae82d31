"""A file that fails while chats go on: no write is refused or lost, and `saving` says so."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import ChatStore, TurnStart
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.failover import transfer
from plugin.assistant.chats.log.branches import Branches
from plugin.assistant.chats.log.chat_log import Stored
from plugin.assistant.chats.log.record import encode
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import Trash
from plugin.assistant.database import Transaction, Work
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite import database as database_module
from plugin.assistant.errors import Conflict, FileFailed, NotFound, StoreError
from plugin.assistant.messages.parts import Message
from plugin.assistant.user_context.rules import UserContextStore

from .examples import answer, user
from .faults import FAULTS, LARGE, PAGE, Retries, damage, full, locked

pytestmark = pytest.mark.usefixtures("windows_file_rules")

ALL = pytest.mark.parametrize("fault", FAULTS)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(database_module, "IMPATIENT_SECONDS", 0.01)


@pytest.fixture
async def store(database: SqliteDatabase) -> AsyncIterator[ChatStore]:
    store = ChatStore(database)
    await store.import_messages("c", (user("u1"), answer("a1")), "Before")
    yield store
    await store.close()


@pytest.fixture
def retries(store: ChatStore) -> Retries:
    return Retries(store)


async def texts(store: ChatStore, chat_id: str = "c") -> list[str]:
    return [message.text for message in await store.path(chat_id)]


async def saved(database: SqliteDatabase, chat_id: str = "c") -> list[str]:
    """The texts of a chat that another process would find in the file."""
    other = SqliteDatabase(database.path)
    try:
        return await texts(ChatStore(other), chat_id)
    finally:
        await other.close()


async def halved(database: SqliteDatabase) -> SqliteDatabase:
    """The same file, opened anew with damage in its second half."""
    await database.close()
    content = database.path.read_bytes()
    database.path.write_bytes(content[: -100 * PAGE] + b"\xff" * 100 * PAGE)
    return SqliteDatabase(database.path)


async def turn(store: ChatStore, number: int) -> None:
    """A whole turn, as a session runs it."""
    await store.append("c", user(f"u{number}", f"Question {number} {LARGE}"))
    await store.begin_turn("c", TurnStart(answer(f"a{number}", "")))
    await store.set_state("c", "executing_tools")
    await store.checkpoint("c", answer(f"a{number}", "Half"))
    await store.finish_answer("c", answer(f"a{number}", f"Answer {number}"))


@ALL
async def test_a_turn_goes_on_in_memory_and_is_saved_later(
    store: ChatStore, database: SqliteDatabase, retries: Retries, fault: str
) -> None:
    async with FAULTS[fault](database):
        await turn(store, 2)
        await turn(store, 3)
        assert not store.saving.ok
        said = ["Hello", "Hi", f"Question 2 {LARGE}", "Answer 2", f"Question 3 {LARGE}", "Answer 3"]
        assert await texts(store) == said
        if fault != "locked":
            assert await saved(database) == ["Hello", "Hi"]
    await retries.until_saved()
    assert await texts(store) == said
    assert await saved(database) == said
    await turn(store, 4)
    assert (await saved(database))[-1] == "Answer 4"


@ALL
async def test_it_is_said_why_and_that_it_is_over(
    store: ChatStore, database: SqliteDatabase, retries: Retries, fault: str
) -> None:
    heard: list[bool] = []
    store.failover.changed.append(lambda: heard.append(store.saving.ok))
    words = {"locked": "another process", "read-only": "read-only", "full": "disk is full"}
    async with FAULTS[fault](database):
        await store.append("c", user("u2", LARGE))
        message = store.saving.message
        assert message is not None and words[fault] in message and "memory" in message
    await retries.until_saved()
    assert store.saving.to_json() == {"ok": True}
    assert heard == [False, True]


async def test_while_the_file_can_be_written_again_the_reason_is_not_that_it_can(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    async with locked(database):
        await store.append("c", user("u2"))
    await database.write(lambda _: None)
    assert database.problem is None and store.failover.held == {"c"}
    with pytest.raises(FileFailed, match="could not be written") as not_saved:
        store.check_saved("c")
    assert "again" not in not_saved.value.message
    await retries.until_saved()
    store.check_saved("c")


@ALL
async def test_a_chat_can_begin_while_the_file_fails(
    store: ChatStore, database: SqliteDatabase, retries: Retries, fault: str
) -> None:
    async with FAULTS[fault](database):
        assert await store.get("new") is None
        await store.import_messages("new", (user("u1", LARGE),), "New")
        assert [chat.id for chat in await store.list()] == ["new", "c"]
        assert [chat.id for chat in await store.list(limit=1)] == ["new"]
        assert [chat.id for chat in await store.list(before="new")] == ["c"]
        with pytest.raises(Conflict):
            await store.create("new")
    await retries.until_saved()
    assert await saved(database, "new") == [LARGE]


async def test_branches_made_in_memory_are_branches_in_the_file(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    branches = Branches(store)
    async with locked(database):
        await store.append("c", user("u2", "Left"), parent="a1")
        await store.append("c", user("u3", "Right"), parent="a1")
        await branches.branch("c", "a1", "copy")
    await retries.until_saved()
    assert await texts(store) == ["Hello", "Hi", "Right"]
    await branches.switch_version("c", "u2")
    assert await saved(database) == ["Hello", "Hi", "Left"]
    assert await saved(database, "copy") == ["Hello", "Hi"]


async def test_an_attempt_that_fails_too_keeps_all_in_memory(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    async with locked(database):
        await store.append("c", user("u2", "Kept"))
        for _ in range(3):
            retries.due()
            await database.in_writer(store.failover._bring_back)
        assert not store.saving.ok
        assert await texts(store) == ["Hello", "Hi", "Kept"]
    await retries.until_saved()
    assert await saved(database) == ["Hello", "Hi", "Kept"]


async def test_other_chats_are_written_to_the_file_as_soon_as_it_takes_them(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    await store.create("other")
    async with full(database):
        await store.append("c", user("u2", LARGE))
    retries.due()
    await store.append("other", user("u1", "Small"))
    assert await saved(database, "other") == ["Small"]


async def test_refusals_of_ours_are_no_faults(store: ChatStore) -> None:
    with pytest.raises(NotFound):
        await store.append("nobody", user("u1"))
    with pytest.raises(Conflict):
        await store.create("c")
    assert store.saving.ok and store.failover.held == frozenset()


async def test_a_refusal_is_one_in_memory_too(store: ChatStore, database: SqliteDatabase) -> None:
    async with locked(database):
        await store.append("c", user("u2"))
        with pytest.raises(NotFound):
            await store.append("c", user("u3"), parent="u9")
        with pytest.raises(NotFound):
            await store.append("nobody", user("u1"))


async def test_memory_is_bounded(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    store.failover._most_chars = 10
    async with locked(database):
        with pytest.raises(StoreError):
            await store.append("c", user("u2"))
    store.failover._most_chars = 1_000
    retries.due()
    async with locked(database):
        await store.append("c", user("u2", "x" * 1_000))
        with pytest.raises(StoreError):
            await store.append("c", user("u3"))
    await retries.until_saved()
    assert (await saved(database))[-1] == "x" * 1_000
    await store.append("c", user("u3"))


async def test_what_is_in_memory_is_saved_at_the_end_if_it_can_be(
    store: ChatStore, database: SqliteDatabase
) -> None:
    async with locked(database):
        await store.append("c", user("u2", "Last"))
    await store.close()
    assert await saved(database) == ["Hello", "Hi", "Last"]


async def test_a_file_that_can_not_be_made_yet_is_made_later(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    path.mkdir()
    database = SqliteDatabase(path)
    store = ChatStore(database)
    retries = Retries(store)
    try:
        assert await store.get("c") is None
        await store.import_messages("c", (user("u1", "Kept"),))
        await store.begin_turn("c", TurnStart(answer("a1", "")))
        await store.finish_answer("c", answer("a1"))
        assert not store.saving.ok
        assert [chat.id for chat in await store.list()] == ["c"]
        path.rmdir()
        await retries.until_saved()
        assert await saved(database) == ["Kept", "Hi"]
    finally:
        await store.close()
        await database.close()


async def test_a_file_that_is_damaged_while_it_runs_is_set_aside_and_the_chat_goes_on(
    store: ChatStore, database: SqliteDatabase
) -> None:
    assert await texts(store) == ["Hello", "Hi"]
    await damage(database)
    garbage = database.path.read_bytes()
    await turn(store, 2)
    assert await texts(store) == ["Hello", "Hi", f"Question 2 {LARGE}", "Answer 2"]
    assert await saved(database) == ["Hello", "Hi", f"Question 2 {LARGE}", "Answer 2"]
    assert store.saving.ok
    assert database.set_aside is not None
    assert database.set_aside.read_bytes() == garbage


async def test_what_can_be_read_of_a_damaged_file_is_in_the_new_one(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.import_messages("other", (user("u1", "Whole"), answer("a1")), "Other")
    await store.import_messages("large", tuple(user(f"u{n}", LARGE) for n in range(20)))
    again = await halved(database)
    try:
        after = ChatStore(again)
        assert {chat.id for chat in await after.list()} == {"c", "other"}
        assert await texts(after, "other") == ["Whole", "Hi"]
        assert again.set_aside is not None
    finally:
        await again.close()


async def test_what_could_not_be_salvaged_since_the_disk_was_full_is_salvaged_later(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.import_messages("other", (user("u1", "Whole"), answer("a1")), "Other")
    await store.import_messages("large", tuple(user(f"u{n}", LARGE) for n in range(20)))
    again = await halved(database)
    bring_back = transfer.bring_back

    def no_room(transaction: Transaction, chat_id: str, contents: transfer.Contents) -> bool:
        raise FileFailed("The disk is full.")

    try:
        after = ChatStore(again)
        monkeypatch.setattr(transfer, "bring_back", no_room)
        assert await after.list() == ()
        monkeypatch.setattr(transfer, "bring_back", bring_back)
        assert {chat.id for chat in await after.list()} == {"c", "other"}
    finally:
        await again.close()


async def test_a_chat_that_cannot_be_salvaged_keeps_no_other_from_it(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.import_messages("other", (user("u1", "Whole"), answer("a1")), "Other")
    await store.import_messages("large", tuple(user(f"u{n}", LARGE) for n in range(20)))
    again = await halved(database)
    bring_back = transfer.bring_back

    def odd(transaction: Transaction, chat_id: str, contents: transfer.Contents) -> bool:
        if chat_id == "c":
            raise ValueError("an odd row")
        return bring_back(transaction, chat_id, contents)

    monkeypatch.setattr(transfer, "bring_back", odd)
    try:
        assert [chat.id for chat in await ChatStore(again).list()] == ["other"]
    finally:
        await again.close()


async def test_damage_right_after_the_tables_were_made_is_no_error_of_the_start(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, in_writer = ChatStore(database), database.in_writer

    async def damaged_next(call: Callable[[], Any]) -> Any:
        made = await in_writer(call)
        monkeypatch.setattr(store.failover, "_prepared", [])
        return made

    monkeypatch.setattr(database, "in_writer", damaged_next)
    assert await store.recover() == ()


def test_a_chat_that_grows_while_it_is_copied_is_copied_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = {1: Stored(user("u1"), 1), 2: Stored(answer("a1"), 1)}

    def growing(message: Message) -> str:
        path[3] = Stored(user("u2"), 1)
        return encode(message)

    monkeypatch.setattr(transfer, "encode", growing)
    now = datetime(2026, 1, 2, tzinfo=timezone.utc)
    rows = transfer.known("c", path, now).rows
    assert [row["message_id"] for row in rows] == ["u1", "a1"]


async def test_a_chat_that_nothing_is_known_of_is_not_made_up(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await database.close()
    unreadable = SqliteDatabase(database.path)
    await damage(unreadable, keep_pages=0)
    after = ChatStore(unreadable)
    try:
        with pytest.raises(NotFound):
            await after.path("c")
    finally:
        await unreadable.close()


async def test_rows_that_the_file_has_got_meanwhile_are_kept_beside_those_from_memory(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    async with full(database):
        await store.append("c", user("u2", LARGE))
    other = SqliteDatabase(database.path)
    theirs = ChatStore(other)
    await theirs.append("c", user("x2", "Theirs"))
    await other.close()
    await retries.until_saved()
    assert await texts(store) == ["Hello", "Hi", LARGE]
    await Branches(store).switch_version("c", "x2")
    assert await texts(store) == ["Hello", "Hi", "Theirs"]


async def test_search_finds_what_is_in_memory_and_what_is_in_the_file(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    search = HistorySearch(database, store.failover)
    await store.import_messages("filed", (user("u1", "a walrus in the file"),))
    async with locked(database):
        await store.append("c", user("u2", "a walrus in memory"))
        assert {hit.chat_id for hit in await search.search(None, "walrus")} == {"c", "filed"}
        assert [hit.message_id for hit in await search.search("c", "walrus")] == ["u2"]
        assert [hit.message_id for hit in await search.search("filed", "walrus")] == ["u1"]
        found = await search.find_words("a walrus")
        assert {(hit.chat_id, hit.message_id) for hit in found} == {("c", "u2"), ("filed", "u1")}
    await retries.until_saved()
    assert {hit.chat_id for hit in await search.search(None, "walrus")} == {"c", "filed"}
    assert [hit.message_id for hit in await search.search("c", "walrus")] == ["u2"]


async def test_a_chat_that_is_saved_while_the_chats_are_listed_is_listed_once(
    store: ChatStore, database: SqliteDatabase, retries: Retries, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.create("older")
    async with locked(database):
        await store.append("c", user("u2"))
    memory = store.failover.memory
    read = memory.read

    async def then_saved(work: Work[Any]) -> Any:
        found = await read(work)
        await retries.until_saved()
        return found

    monkeypatch.setattr(memory, "read", then_saved)
    assert [chat.id for chat in await store.list(2)] == ["c", "older"]


async def test_a_chat_that_is_deleted_in_memory_is_gone_in_the_file_later(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    trash = Trash(database, store, HistorySearch(database, store.failover))
    async with locked(database):
        await store.append("c", user("u2"))
        await trash.delete("c")
        assert await store.list() == ()
        assert (await trash.restore("c")).id == "c"
        await trash.delete("c")
    await retries.until_saved()
    assert await store.get("c") is None
    await trash.close()


async def test_a_chat_is_exported_and_imported_while_the_file_fails(
    store: ChatStore, database: SqliteDatabase, retries: Retries
) -> None:
    archive = Archive(store, new_id=lambda: "copy")
    async with locked(database):
        await store.append("c", user("u2", "Unsaved"))
        trajectory = await archive.read("c")
        assert [row.message.text for row in trajectory.rows] == ["Hello", "Hi", "Unsaved"]
        assert (await archive.add(trajectory)).id == "copy"
    await retries.until_saved()
    assert await saved(database, "copy") == ["Hello", "Hi", "Unsaved"]


async def test_whoever_comes_upon_the_damage_the_chats_are_in_the_new_file(
    store: ChatStore, database: SqliteDatabase
) -> None:
    assert await texts(store) == ["Hello", "Hi"]
    rules = UserContextStore(database)
    await rules.add_rule("Be brief.")
    await damage(database)
    await database.in_writer(database._let_go)
    assert (await rules.add_rule("Be kind.")).text == "Be kind."
    assert database.set_aside is not None
    assert await texts(store) == ["Hello", "Hi"]
    await turn(store, 2)
    assert (await saved(database))[-1] == "Answer 2"
    assert store.saving.ok


@pytest.mark.parametrize("resumed", [False, True])
async def test_an_answer_in_progress_survives_the_file(
    store: ChatStore, database: SqliteDatabase, resumed: bool
) -> None:
    await store.append("c", user("u2"))
    if resumed:
        await store.append("c", answer("a2", "So"))
    await texts(store)
    await store.begin_turn("c", TurnStart(answer("a2", "So"), parent="u2"))
    await damage(database)
    await store.checkpoint("c", answer("a2", "So far"))
    await store.finish_answer("c", answer("a2", "So far, so good"))
    assert await saved(database) == ["Hello", "Hi", "Hello", "So far, so good"]
    assert database.set_aside is not None


MOVE = """
import pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob("assistant.db*"):
    path.rename(path.with_name("moved-" + path.name))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows lets no other process move an open file")
async def test_a_file_that_was_removed_or_set_aside_by_another_process_is_begun_anew(
    store: ChatStore, database: SqliteDatabase
) -> None:
    assert await texts(store) == ["Hello", "Hi"]
    command = [sys.executable, "-c", MOVE, str(database.path.parent)]
    await asyncio.to_thread(subprocess.run, command, check=True)
    await turn(store, 2)
    assert (await saved(database))[-1] == "Answer 2"
    assert await texts(store) == await saved(database)
