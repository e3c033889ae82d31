"""Pages around a message, and after it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import Branches, ChatStore
from plugin.assistant.chats.log import chat_log, pages
from plugin.assistant.chats.log.pages import Stretch
from plugin.assistant.chats.log.salvage import read_message
from plugin.assistant.database import Statement
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite.transaction import SqliteTransaction
from plugin.assistant.errors import NotFound
from plugin.assistant.messages.parts import Message

from .examples import answer, user

COUNT = 20


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ChatStore]:
    """A chat with the messages m0 to m19, of which m4 was asked anew: two row ranges."""
    database = SqliteDatabase(tmp_path / "assistant.db")
    store = ChatStore(database)
    said = [(answer if number % 2 else user)(f"m{number}") for number in range(COUNT)]
    await store.import_messages("c", (*said[:4], user("old"), answer("older")))
    await store.append_all("c", said[4:], parent="m3")
    yield store
    await database.close()


def numbers(page: Stretch) -> list[int]:
    return [int(message.id[1:]) for message in page.messages]


@pytest.mark.parametrize("place", range(COUNT))
@pytest.mark.parametrize("limit", [1, 2, 5, 50])
async def test_a_page_around_a_message_is_a_stretch_of_the_path_with_it(
    store: ChatStore, place: int, limit: int
) -> None:
    page = await pages.around(store, "c", f"m{place}", limit)
    found = numbers(page)
    assert place in found
    assert found == list(range(found[0], found[-1] + 1))
    assert len(found) <= limit
    assert (page.has_more, page.has_later) == (found[0] > 0, found[-1] < COUNT - 1)


async def test_the_message_stands_in_the_middle_but_near_the_end(store: ChatStore) -> None:
    assert numbers(await pages.around(store, "c", "m10", 5)) == [8, 9, 10, 11, 12]
    assert numbers(await pages.around(store, "c", "m19", 5)) == [15, 16, 17, 18, 19]


async def test_pages_go_on_to_the_end(store: ChatStore) -> None:
    page = await pages.around(store, "c", "m3", 5)
    found = numbers(page)
    while page.has_later:
        page = await pages.after(store, "c", f"m{found[-1]}", 4)
        found += numbers(page)
    assert found == list(range(1, COUNT))
    assert await pages.after(store, "c", "m19", 4) == Stretch((), True, False)


async def test_a_message_of_another_branch_is_found_after_a_switch(store: ChatStore) -> None:
    for read in (pages.around, pages.after):
        for identity in ("old", "nothing"):
            with pytest.raises(NotFound):
                await read(store, "c", identity, 5)
    await Branches(store).switch_version("c", "old")
    found = await pages.around(store, "c", "old", 5)
    assert [message.id for message in found.messages] == ["m1", "m2", "m3", "old", "older"]


async def test_a_page_reads_its_own_messages_alone_however_long_the_chat_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a message that a search found far up opens as fast as one near the end."""
    read: list[object] = []
    looked: list[int] = []
    rows = SqliteTransaction.rows

    def read_one(*values: Any) -> tuple[Message, int]:
        read.append(values[3])
        return read_message(*values)

    def counted(self: SqliteTransaction, statement: Statement, **values: Any) -> list[Any]:
        found = rows(self, statement, **values)
        looked.append(len(found))
        return found

    monkeypatch.setattr(chat_log, "read_message", read_one)
    monkeypatch.setattr(SqliteTransaction, "rows", counted)
    costs = []
    for length in (300, 3_000):
        database = SqliteDatabase(tmp_path / f"{length}.db")
        store = ChatStore(database)
        await store.import_messages("c", [user(f"m{number}") for number in range(length)])
        read.clear()
        looked.clear()
        page = await pages.around(store, "c", "m100", 60)
        assert len(page.messages) == len(read) == 60
        costs.append((len(looked), sum(looked)))
        await database.close()
    assert costs[0] == costs[1]
    assert costs[0][1] < 20
