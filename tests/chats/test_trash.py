"""Deleted chats: hidden, brought back, removed for good."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatQueue, ChatStore, Queued, TurnStart
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import REMOVED_TOGETHER, UNDO, Trash
from plugin.assistant.context.projections import Covered, Projections
from plugin.assistant.context.summary.state import Summary
from plugin.assistant.database.lease import Owner
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite import transaction as sqlite_transaction
from plugin.assistant.errors import Conflict, NotFound

from .examples import answer, user
from .faults import read_only

WORD = "qvzxwonderfox"
"""Stands in no other text; the index holds it as it is."""
MOMENT = timedelta(seconds=1)


class Time:
    """A clock that tests move; a sleep ends when the clock reaches its time."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
        self._sleepers: list[tuple[datetime, asyncio.Event]] = []

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.now + timedelta(seconds=seconds), woken))
        await woken.wait()

    async def move(self, by: timedelta) -> None:
        await asyncio.sleep(0)  # a task that is about to sleep does so first
        self.now += by
        for hour, woken in self._sleepers:
            if hour <= self.now:
                woken.set()


class Chats:
    """The store and the trash of one process, on the database in a folder."""

    def __init__(self, folder: Path, time: Time) -> None:
        self.time = time
        self.database = SqliteDatabase(folder / "assistant.db")
        self.store = ChatStore(self.database, clock=lambda: time.now)
        self.search = HistorySearch(self.database)
        self.trash = Trash(
            self.database, self.store, self.search, clock=lambda: time.now, sleep=time.sleep
        )

    async def emptied(self, identity: str = "c") -> None:
        """Waits until the chat, whose minute is over, has been removed."""
        name = f"removal of {identity}"
        tasks = [task for task in asyncio.all_tasks() if task.get_name() == name]
        await asyncio.gather(*tasks)

    async def close(self) -> None:
        await self.trash.close()
        await self.database.close()


@pytest.fixture
async def chats(tmp_path: Path) -> AsyncIterator[Chats]:
    chats = Chats(tmp_path, Time())
    yield chats
    await chats.close()


async def fill(chats: Chats, identity: str = "c", word: str = WORD, turns: int = 1) -> None:
    await chats.store.create(identity, f"About {word}")
    for turn in range(turns):
        question = user(f"{word}-u{turn}", f"Where is the {word} of day {turn}?")
        await chats.store.append(identity, question)
        reply = answer(f"{word}-a{turn}", f"The {word} sleeps. " * 300)
        await chats.store.begin_turn(identity, TurnStart(reply))
        await chats.store.checkpoint(identity, reply)
        await chats.store.finish_answer(identity, reply)
    summary = Summary(0, 1, llm_text=f"Goal: {word}", llm_end=1)
    await chats.store.keep_projections(identity, Projections((Covered(0, 1, word),), summary))
    await chats.store.set_draft(identity, f"And the other {word}?")
    waiting = Queued("q", "user_message", chats.time.now, user("q", f"A {word} waits"))
    await ChatQueue(chats.store).enqueue(identity, waiting)


def files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_a_deleted_chat_is_hidden_at_once(chats: Chats) -> None:
    await fill(chats)
    await fill(chats, "other", "badger")
    assert await chats.search.search(None, WORD)
    await chats.trash.delete("c")
    assert [chat.id for chat in await chats.store.list()] == ["other"]
    assert await chats.store.get("c") is None
    assert await chats.search.search(None, WORD) == ()
    for call in (
        chats.store.path("c"),
        chats.store.page("c"),
        chats.store.append("c", user("u9")),
        chats.store.projections("c"),
        chats.store.change("c", pinned=True),
        chats.search.search("c", WORD),
        chats.trash.delete("c"),
    ):
        with pytest.raises(NotFound):
            await call


async def test_a_search_without_an_index_finds_no_deleted_chat(
    chats: Chats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: False)
    await fill(chats)
    assert await chats.search.search(None, WORD)
    await chats.trash.delete("c")
    assert await chats.search.search(None, WORD) == ()
    await chats.time.move(UNDO)
    await chats.emptied()
    assert await chats.store.create("c")


async def test_a_chat_comes_back_within_a_minute_as_it_was(chats: Chats) -> None:
    await fill(chats)
    before, path = await chats.store.get("c"), await chats.store.path("c")
    left_out = await chats.store.projections("c")
    await chats.trash.delete("c")
    await chats.time.move(UNDO - MOMENT)
    assert await chats.trash.restore("c") == before
    await chats.time.move(UNDO)
    assert await chats.store.path("c") == path
    assert await chats.store.projections("c") == left_out
    assert await chats.search.search(None, WORD)


async def test_after_a_minute_a_chat_does_not_come_back(chats: Chats) -> None:
    await fill(chats)
    await chats.trash.delete("c")
    await chats.time.move(UNDO)
    with pytest.raises(NotFound):
        await chats.trash.restore("c")
    await chats.emptied()
    with pytest.raises(NotFound):
        await chats.trash.restore("c")


async def test_only_deleted_chats_are_brought_back(chats: Chats) -> None:
    await fill(chats)
    for identity in ("c", "nobody"):
        with pytest.raises(NotFound):
            await chats.trash.restore(identity)


async def test_a_chat_that_came_back_and_was_deleted_again_has_its_whole_minute(
    chats: Chats,
) -> None:
    await fill(chats)
    await chats.trash.delete("c")
    await chats.time.move(UNDO / 2)
    await chats.trash.restore("c")
    await chats.trash.delete("c")
    await chats.time.move(UNDO / 2)
    assert (await chats.trash.restore("c")).id == "c"


async def test_nothing_of_a_removed_chat_is_left_in_the_file(chats: Chats, tmp_path: Path) -> None:
    await fill(chats, turns=20)
    await fill(chats, "other", "badger", turns=3)
    await chats.search.search(None, "badger")
    await chats.database.scrub()
    assert files(tmp_path).count(WORD.encode()) > 20 * 300
    await chats.trash.delete("c")
    await chats.time.move(UNDO)
    await chats.emptied()
    assert WORD.encode() not in files(tmp_path)
    assert len(await chats.store.path("other")) == 6
    (hit,) = await chats.search.search(None, "badger", 1)
    assert hit.chat_id == "other"


async def test_chats_of_all_sizes_between_others_leave_nothing(
    chats: Chats, tmp_path: Path
) -> None:
    """Pages are shared, split and joined as chats grow in turn and go in any order."""
    chance = random.Random(7)
    words = {f"c{n}": f"qvzx{n:02d}fox" for n in range(12)}
    for identity in words:
        await chats.store.create(identity)
    for turn in range(60):
        identity = chance.choice(list(words))
        said = " ".join([words[identity]] * chance.choice((1, 20, 900)))
        await chats.store.append(identity, user(f"u{turn}", said))
        if turn % 20 == 19:
            await chats.search.search(None, "fox")
    gone = chance.sample(list(words), 8)
    for identity in gone:
        await chats.trash.delete(identity)
        await chats.time.move(UNDO)
        await chats.emptied(identity)
    held = files(tmp_path)
    assert [words[identity] for identity in gone if words[identity].encode() in held] == []


async def test_a_chat_whose_minute_ended_while_nothing_ran_is_removed_at_the_next_start(
    chats: Chats, tmp_path: Path
) -> None:
    await fill(chats)
    await chats.trash.delete("c")
    await chats.close()
    await chats.time.move(UNDO)
    later = Chats(tmp_path, chats.time)
    await later.trash.open()
    await later.time.move(timedelta(0))
    await later.emptied()
    await later.close()
    assert WORD.encode() not in files(tmp_path)


async def test_a_start_within_the_minute_leaves_its_rest(chats: Chats, tmp_path: Path) -> None:
    await fill(chats)
    await chats.trash.delete("c")
    await chats.close()
    await chats.time.move(UNDO / 2)
    later = Chats(tmp_path, chats.time)
    await later.trash.open()
    assert (await later.trash.restore("c")).id == "c"
    await later.close()


async def test_a_new_chat_takes_the_id_only_when_the_deleted_one_is_gone(chats: Chats) -> None:
    await fill(chats)
    await chats.store.path("c")
    await chats.trash.delete("c")
    with pytest.raises(Conflict) as refused:
        await chats.store.create("c")
    assert refused.value.code == "chat_deleted"
    await chats.time.move(UNDO)
    await chats.emptied()
    await chats.store.import_messages("c", (user("u1", "A new beginning"),))
    assert [message.text for message in await chats.store.path("c")] == ["A new beginning"]


async def test_a_chat_that_is_being_answered_is_not_deleted(chats: Chats) -> None:
    await fill(chats)
    await chats.store.begin_turn("c", TurnStart(answer("a9")))
    with pytest.raises(Conflict) as refused:
        await chats.trash.delete("c")
    assert refused.value.code == "turn_running"
    assert await chats.store.get("c") is not None


DAY = timedelta(days=1)


async def test_a_clean_up_finds_what_was_not_touched_for_so_long(chats: Chats) -> None:
    for identity in ("first", "pinned", "answered", "second", "deleted"):
        await chats.store.create(identity)
        await chats.store.append(identity, user("u1"))
    await chats.store.change("pinned", pinned=True)
    await chats.store.begin_turn("answered", TurnStart(answer("a1")))
    await chats.trash.delete("deleted")
    await chats.time.move(30 * DAY - MOMENT)
    await chats.store.create("new")
    assert await chats.trash.untouched(30) == ()
    await chats.time.move(MOMENT)
    assert [chat.id for chat in await chats.trash.untouched(30)] == ["second", "first"]
    await chats.store.append("first", user("u2"))
    assert [chat.id for chat in await chats.trash.untouched(30)] == ["second"]


async def test_chats_that_are_cleaned_up_can_be_brought_back_each(
    chats: Chats, tmp_path: Path
) -> None:
    words = {f"c{number}": f"qvzx{number:02d}fox" for number in range(REMOVED_TOGETHER + 3)}
    for identity, word in words.items():
        await fill(chats, identity, word)
    await chats.search.search(None, "fox")
    await chats.store.begin_turn("c5", TurnStart(answer("a")))
    gone = await chats.trash.delete_all([*words, "nobody"])
    assert gone == tuple(identity for identity in words if identity != "c5")
    assert [chat.id for chat in await chats.store.list()] == ["c5"]
    assert await chats.trash.delete_all(["c1", "c2"]) == ()
    assert (await chats.trash.restore("c1")).id == "c1"
    await chats.time.move(UNDO)
    await chats.emptied("c0")
    held = files(tmp_path)
    assert [one for one, word in words.items() if word.encode() in held] == ["c1", "c5"]


async def test_a_clean_up_passes_over_what_runs_elsewhere_or_is_not_saved(chats: Chats) -> None:
    for identity in ("free", "unsaved", "elsewhere"):
        await chats.store.create(identity)
    elsewhere = Owner(1, 1.0, "another machine")
    other = ChatStore(chats.database, clock=lambda: chats.time.now, owner=elsewhere)
    async with read_only(chats.database):
        await chats.store.append("unsaved", user("u1"))
    assert chats.store.failover.held == {"unsaved"}
    await other.begin_turn("elsewhere", TurnStart(answer("a1")))
    assert await chats.trash.delete_all(["free", "unsaved", "elsewhere"]) == ("free",)
