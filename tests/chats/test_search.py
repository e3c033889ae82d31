"""Search over stored chats: when rows are indexed, which rows are found, and the passages of a
hit."""

import asyncio
import base64
import logging
import threading
from typing import Any

import pytest
from plugin.assistant.chats import Branches, ChatStore
from plugin.assistant.chats.search import history_search, row_indexing, search_index
from plugin.assistant.chats.search.found_pieces import PieceQuery
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite import transaction as sqlite_transaction
from plugin.assistant.errors import InvalidRequest, NotFound, StoreError
from plugin.assistant.messages.parts import FilePart, Message, StepStart, TextPart, ToolPart
from plugin.assistant.search.words import query_terms
from sqlalchemy import Connection, text

from .examples import answer, user


@pytest.fixture
def store(database: SqliteDatabase) -> ChatStore:
    return ChatStore(database)


@pytest.fixture(params=["index", "rows"])
def history(
    request: pytest.FixtureRequest, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> HistorySearch:
    if request.param == "rows":
        monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: False)
    return HistorySearch(database)


async def told(store: ChatStore, chat_id: str, *texts: str) -> None:
    """Adds a chat with these texts, by the user and the assistant alternately."""
    messages = [
        (answer if number % 2 else user)(f"m{number}", said) for number, said in enumerate(texts)
    ]
    await store.import_messages(chat_id, messages)


async def entries(database: SqliteDatabase) -> int:
    count = text("SELECT count(*) FROM search_terms")
    return await database.read(lambda c: int(c.execute(count).scalar_one()))


async def test_a_message_is_found_with_what_was_said_around_it(
    store: ChatStore, history: HistorySearch
) -> None:
    await told(store, "c", "Hello", "Hi", "Which seed?", "I took 889956993663486.", "Thanks")
    (hit,) = await history.search("c", "889956993663486", 1)
    assert (hit.chat_id, hit.row, hit.message_id, hit.role) == ("c", 4, "m3", "assistant")
    assert hit.snippet == "I took 889956993663486."
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["889956993663486"]
    assert [passage.message_id for passage in hit.neighbours] == ["m2", "m4"]
    assert hit.score > 0


async def test_a_chat_is_searched_for_itself_and_all_together(
    store: ChatStore, history: HistorySearch
) -> None:
    await told(store, "c1", "An okapi", "Nice")
    await told(store, "c2", "A cat and an okapi", "Nice")
    await store.create("empty")
    assert [hit.chat_id for hit in await history.search("c2", "okapi", 5)] == ["c2"]
    assert {hit.chat_id for hit in await history.search(None, "okapi", 5)} == {"c1", "c2"}
    assert await history.search("empty", "okapi") == ()
    for hit in await history.search(None, "okapi", 5):
        assert len(hit.neighbours) == 1


async def test_what_is_said_later_is_found_later(store: ChatStore, history: HistorySearch) -> None:
    await told(store, "c", "Hello", "Hi")
    assert await history.search("c", "okapi") == ()
    await store.append("c", user("u2", "An okapi"))
    (hit,) = await history.search("c", "okapi")
    assert hit.message_id == "u2"
    assert [passage.message_id for passage in hit.neighbours] == ["m0", "m1"]


async def test_the_question_itself_can_be_left_out(
    store: ChatStore, history: HistorySearch
) -> None:
    await told(store, "c", "The okapi has seed 7.", "Noted.", "Which seed has the okapi?")
    first, *_ = await history.search("c", "okapi seed", 1, before_row=3)
    assert first.row == 1
    assert all(passage.row < 3 for passage in first.neighbours)


async def test_a_search_before_a_question_waits_only_for_the_rows_before_it(
    store: ChatStore, database: SqliteDatabase
) -> None:
    history = HistorySearch(database)
    await told(store, "c", "A red barn", "Fine")
    wanted = PieceQuery("c", query_terms("barn"), 5, before="q")
    assert (await history.pieces(wanted))[0].message_id == "m0"
    known = await database.read(lambda c: search_index.state(c, "c"))
    await store.append("c", user("q", "Which barn?"))
    assert (await history.pieces(wanted))[0].message_id == "m0"
    assert await database.read(lambda c: search_index.state(c, "c")) == known
    await history.pieces(PieceQuery("c", query_terms("barn"), 5))
    assert await database.read(lambda c: search_index.state(c, "c")) != known


async def test_left_branches_are_searched(store: ChatStore, history: HistorySearch) -> None:
    await told(store, "c", "Hello", "Hi", "An okapi")
    await store.append("c", user("m2", "A cat"), parent="m1")
    (hit,) = await history.search("c", "okapi")
    assert (hit.message_id, hit.row) == ("m2", 3)


async def test_an_answer_in_several_rows_is_found_once(
    store: ChatStore, history: HistorySearch
) -> None:
    part = ToolPart("t", "runWorkflow", "input-available", input={"title": "okapi"})
    done = ToolPart("t", "runWorkflow", "output-available", {"title": "okapi"}, "a picture")
    await told(store, "c", "Hello")
    await store.append("c", Message("a", "assistant", (StepStart(), part)))
    assert len(await history.search("c", "okapi")) == 1
    ended = Message("a", "assistant", (StepStart(), done, StepStart(), TextPart("Done.")))
    await store.append("c", ended, parent="m0")
    (hit,) = await history.search("c", "okapi")
    assert hit.row == 3
    assert "a picture" in hit.snippet
    assert [passage.snippet for passage in hit.neighbours] == ["Hello", "Done."]


@pytest.mark.parametrize("indexed", [True, False])
async def test_messages_that_were_added_anew_are_found_once(
    store: ChatStore, history: HistorySearch, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: indexed)
    await told(store, "c", "An okapi", "A fox", "A badger")
    for words in ("A zebra", "A quagga"):
        await history.search("c", "badger")
        await Branches(store).rewrite("c", "m0", user("m0", words))
    for word, identity in (("fox", "m1"), ("badger", "m2"), ("zebra", "m0"), ("okapi", "m0")):
        assert [hit.message_id for hit in await history.search("c", word)] == [identity]
    await store.append("c", user("m3", "A lynx"))
    assert [hit.message_id for hit in await history.search("c", "lynx")] == ["m3"]


async def test_a_message_with_a_large_attachment_is_found_by_its_own_words_and_the_file_s(
    store: ChatStore, history: HistorySearch
) -> None:
    picture = "data:image/png;base64," + base64.b64encode(b"x" * 10_000).decode()
    notes = "data:text/plain;base64," + base64.b64encode(b"an okapi " * 2_000).decode()
    files = FilePart("image/png", picture, "zebra.png"), FilePart("text/plain", notes, "n.txt")
    await store.import_messages("c", [user("u", "Which animals?", *files), answer("a", "Two.")])
    for word in ("animals", "zebra", "okapi"):
        (hit,) = await history.search("c", word, 1)
        assert hit.message_id == "u"
        assert word in hit.snippet
        assert hit.marks


async def test_of_a_long_answer_the_call_is_shown_that_was_meant(
    store: ChatStore, history: HistorySearch
) -> None:
    calls = [
        ToolPart(f"t{n}", "getNodeInfo", "output-available", {"n": n}, f"node{n} " * 300)
        for n in range(40)
    ]
    await told(store, "c", "Hello")
    await store.append("c", Message("a", "assistant", (StepStart(), *calls)))
    first, *_ = await history.search("c", "node17", 1)
    assert first.snippet.startswith("getNodeInfo n: 17\nnode17")


async def test_wrong_chats_are_refused(store: ChatStore, history: HistorySearch) -> None:
    await store.create("c")
    with pytest.raises(NotFound):
        await history.search("nobody", "okapi")
    with pytest.raises(InvalidRequest):
        await history.search("../c", "okapi")


async def test_a_database_without_chats_has_no_hits(history: HistorySearch) -> None:
    assert await history.search(None, "okapi") == ()


@pytest.mark.parametrize("query", ["", "   ", '" OR *', "the", "\0", "\ud83d", "x" * 10_000])
async def test_any_query_is_answered(store: ChatStore, history: HistorySearch, query: str) -> None:
    await told(store, "c", "Hello", "Hi")
    assert isinstance(await history.search("c", query), tuple)


async def test_many_rows_are_indexed_in_steps(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_indexing, "ROWS_PER_STEP", 3)
    await told(store, "c", *(f"word{number}" for number in range(10)))
    history = HistorySearch(database)
    for number in range(10):
        (hit, *_) = await history.search("c", f"word{number}", 1)
        assert hit.message_id == f"m{number}"
        assert len(hit.neighbours) == 2
    assert await entries(database) == 10


async def test_a_forgotten_chat_has_no_words_left(
    store: ChatStore, database: SqliteDatabase
) -> None:
    history = HistorySearch(database)
    await told(store, "c1", "An okapi")
    await told(store, "c2", "An okapi")
    await history.search(None, "okapi")
    assert await history.forget(["c1", "nobody"], lambda connection, chat_id: True)
    assert await history.forget(["c2"], lambda connection, chat_id: False) == []
    assert await entries(database) == 1


async def test_the_index_is_made_again_after_another_version(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await told(store, "c", "An okapi")
    await HistorySearch(database).search("c", "okapi")
    monkeypatch.setattr(search_index, "INDEX_VERSION", search_index.INDEX_VERSION + 1)
    assert len(await HistorySearch(database).search("c", "okapi")) == 1
    assert await entries(database) == 1


async def test_two_that_index_at_once_index_once(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await told(store, "c", "An okapi", "Nice")
    one, other = HistorySearch(database), HistorySearch(database)
    await one.search("c", "okapi")
    await store.append("c", user("u", "A cat"))
    rows = await database.read(lambda c: row_indexing.next_rows(c, "c"))
    await other.search("c", "cat")
    await database.write(lambda c: row_indexing.add(c, rows))
    assert await entries(database) == 3


async def test_what_is_stored_while_older_rows_are_indexed_is_found_by_the_first_search(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, next_rows = HistorySearch(database), row_indexing.next_rows
    have_read, go, joined = threading.Event(), threading.Event(), asyncio.Event()

    def held(*arguments: Any) -> row_indexing.Rows:
        rows = next_rows(*arguments)
        have_read.set()
        go.wait()
        return rows

    def joining(chat_id: str | None) -> asyncio.Task[bool]:
        joined.set()
        return start(chat_id)

    await told(store, "c", "An okapi")
    monkeypatch.setattr(row_indexing, "next_rows", held)
    history.index_soon()
    await asyncio.to_thread(have_read.wait)
    await store.append("c", user("u", "A cat"))
    start = history._start
    monkeypatch.setattr(history, "_start", joining)
    searching = asyncio.create_task(history.search(None, "cat"))
    await joined.wait()
    go.set()
    assert [hit.message_id for hit in await searching] == ["u"]


async def test_an_index_that_cannot_be_written_is_said_once_and_done_without(
    store: ChatStore,
    database: SqliteDatabase,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(connection: Connection) -> None:
        raise StoreError("The disk is full.")

    await told(store, "c", "An okapi")
    monkeypatch.setattr(history_search, "_make_tables", full)
    history = HistorySearch(database)
    with caplog.at_level(logging.WARNING, "comfyui_assistant"):
        for _ in range(2):
            assert len(await history.search("c", "okapi")) == 1
    assert len([record for record in caplog.records if "Search:" in record.message]) == 1


async def test_a_damaged_row_hides_no_other(store: ChatStore, database: SqliteDatabase) -> None:
    await told(store, "c", "An okapi", "Nice", "A cat", "Nice", "A dog", "Nice", "A mouse")
    update = text("UPDATE messages SET body = 'x' WHERE row = 1")
    await database.write(lambda c: c.execute(update).rowcount)
    (hit,) = await HistorySearch(database).search("c", "mouse", 1)
    assert hit.message_id == "m6"
