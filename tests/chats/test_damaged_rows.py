"""One damaged row never hides another.

Each value of `GARBAGE` is written into each column of each table, in one row; then everything that
users do is done with the other rows, and with the damaged chat as far as it goes.
"""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing, suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import pytest
from plugin.assistant.chats import (
    Branches,
    ChatEdits,
    ChatGraphs,
    ChatParams,
    ChatQueue,
    ChatStore,
    Edit,
    KeptGraph,
    Queued,
    TurnStart,
    WorkflowName,
    schema,
)
from plugin.assistant.chats.chat_json import chat_json, entry_json
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.log import pages
from plugin.assistant.chats.search import search_index
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import Trash
from plugin.assistant.context.projections import Covered, Projections
from plugin.assistant.database import Transaction
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import AssistantError
from plugin.assistant.messages.parts import FilePart
from plugin.assistant.messages.ui import message_to_ui
from plugin.assistant.sessions.serialization import versions_json
from plugin.assistant.user_context import rules as user_context
from plugin.assistant.user_context.rules import UserContextStore
from sqlalchemy import text

from .examples import answer, user

DEEP = "[" * 5_000 + "]" * 5_000
GARBAGE = {
    "null": "NULL",
    "int": "5",
    "negative": "-3",
    "huge int": "9223372036854775807",
    "real": "1.5",
    "text": "'garbage'",
    "blob": "x'00ff00'",
    "invalid UTF-8": "CAST(x'61ff62' AS TEXT)",
    "JSON list": "'[1, null]'",
    "deep JSON": f"'{DEEP}'",
    "half a message": """'{"id":"x","parts":[{"type":"text","text":"half a walrus"},{"ty'""",
}
STORED = [*schema.metadata.sorted_tables, *user_context.metadata.sorted_tables]
DERIVED = search_index._metadata.sorted_tables
COLUMNS = [(table.name, column.name) for table in (*STORED, *DERIVED) for column in table.c]
TERMS = [
    (f"search_{name}_{table}", column)
    for name in ("terms", "words")
    for table, column in (("data", "block"), ("idx", "pgno"), ("config", "v"))
]
"""Tables of SQLite's indexes of terms and of words."""
MADE_ANEW = ("search_", "cuts", "projections", "user_context_revision", "attachments_gone")
"""The beginnings of tables with nothing that a user wrote."""
COMPUTED = (
    *(f"chats.{name}" for name in ("log_chars", "activity", "head_row", "state", "updated")),
    *("chats.unread", "running.started", "running.owner", "running.beat", "running.message_id"),
    *("user_rules.row", "user_preferences.row"),
)
"""Columns with nothing that a user wrote, which each change of a chat sets, or the database."""
WALRUS = "a walrus"
EDIT = Edit("a2", "w", "Portrait", takes_back="a1")
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


async def make(path: Path) -> None:
    """A database with at least one row in each table: the chats `a`, `b` (which is damaged later)
    and `c`; in `a` and `b` a process that is gone left an answer."""
    database = SqliteDatabase(path)
    store, rules = ChatStore(database), UserContextStore(database)
    await rules.add_rule("Be brief.")
    await rules.add_rule("Be kind.")
    await rules.order_rules(["2", "1"])
    await rules.set_preference("style", "dry")
    await rules.set_preference("size", "small")
    for chat_id in ("a", "b", "c"):
        await store.import_messages(
            chat_id,
            (user("u1", f"{WALRUS} in {chat_id}"), answer("a1"), user("u2", "More"), answer("a2")),
            f"Chat {chat_id}",
            WorkflowName("w", "Portrait"),
        )
        await store.append(chat_id, user("u2x", "Another"), parent="a1")
        await Branches(store).switch_version(chat_id, "u2")
        await store.add_event(chat_id, user("e1", "A run ended"))
        await store.set_params(chat_id, ChatParams(model="m", temperature=0.5))
        await store.set_draft(chat_id, "A draft")
        await store.allow_tool(chat_id, "x")
        entry = Queued("q1", "send_message", NOW, user("q1", "Queued"))
        await ChatQueue(store).enqueue(chat_id, entry)
        cuts = Projections(cuts=(Covered(0, 2, "hash"),))
        await store.keep_projections(chat_id, cuts)
        await ChatGraphs(store).keep(chat_id, graph("11111111"), {"nodes": []})
        await ChatEdits(store).keep(chat_id, EDIT, {"nodes": []}, {"nodes": [1]})
    await Branches(store).branch("b", "a1", "branched")
    large = user("p1", "See", image())
    await store.import_messages("pictures", (large,))
    await HistorySearch(database).search(None, "walrus")
    for chat_id in ("a", "b"):
        await store.begin_turn(chat_id, TurnStart(answer("a3", "Half an answer")))
    await store.close()
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        dead = '{"address": null, "machine": "gone", "pid": 7, "started": 1.0}'
        connection.execute(
            "UPDATE running SET owner = ?, beat = '2020-01-01T00:00:00+00:00'", [dead]
        )
        connection.execute("INSERT INTO attachments_gone VALUES (?)", ["0" * 64])
        connection.commit()


def graph(revision: str) -> KeptGraph:
    return KeptGraph("w", revision, "Portrait", "u1", NOW, nodes=3)


def image() -> FilePart:
    return FilePart("image/png", "data:image/png;base64," + "QUJD" * 5_000, "big.png")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prepared") / "assistant.db"
    asyncio.run(make(path))
    return path


@pytest.fixture
def path(prepared: Path, tmp_path: Path) -> Path:
    shutil.copytree(prepared.parent, tmp_path / "copy")
    return tmp_path / "copy" / prepared.name


def damage(path: Path, table: str, column: str, garbage: str) -> str | None:
    """Write the garbage into one row, in the chat `b` where the table has one; returns the value as
    SQL, None where the database itself refuses it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        owner = next((name for name in ("chat_id", "id") if name in names), None)
        some = f"SELECT rowid FROM {table}"
        if owner and table not in ("attachments", "attachments_gone"):
            some += f" WHERE {owner} = 'b' OR typeof({owner}) = 'integer'"
        if table == "search_entries":
            some += " WHERE place >> 32 = (SELECT number FROM search_chats WHERE chat_id = 'b')"
        if (table, column) in TERMS:
            connection.execute(f"UPDATE {table} SET {column} = {garbage}")
            connection.commit()
            return garbage
        (place,) = connection.execute(f"{some} ORDER BY rowid LIMIT 1").fetchone()
        change = f'UPDATE {table} SET "{column}" = {garbage} WHERE rowid = ?'
        try:
            (value,) = connection.execute(
                f'{change} RETURNING quote("{column}")', [place]
            ).fetchone()
        except sqlite3.DatabaseError:  # NOT NULL, a key that is taken, or no number for a row's
            return None
        connection.commit()
    return str(value)


async def others_work(path: Path) -> None:
    """Everything that users do with the chats `a` and `c`."""
    database = SqliteDatabase(path)
    store, rules = ChatStore(database), UserContextStore(database)
    search, queue, branches = (
        HistorySearch(database, store.failover),
        ChatQueue(store),
        Branches(store),
    )
    graphs, edits = ChatGraphs(store), ChatEdits(store)
    trash = Trash(database, store, search)
    try:
        await rules.open()
        await store.recover()
        await trash.open()
        assert "Be kind." in {rule.text for rule in (await rules.read()).rules}
        listed = await store.list()
        assert {"a", "c"} <= {chat.id for chat in listed}
        json.dumps([entry_json(chat) for chat in listed])
        first = await store.list(limit=1)
        rest = await store.list(before=first[0].id)
        assert [chat.id for chat in (*first, *rest)] == [chat.id for chat in listed]
        for _ in range(2):
            assert {"a", "c"} <= {hit.chat_id for hit in await search.search(None, "walrus")}
            assert (await search.search("c", "walrus"))[0].message_id == "u1"
            assert {"a", "c"} <= {hit.chat_id for hit in await search.find_words("a walrus")}
        for chat_id, length in (("a", 6), ("c", 5)):
            chat = await store.get(chat_id)
            assert chat is not None and not chat.damaged
            json.dumps(chat_json(chat))
            messages, more = await store.page(chat_id)
            assert (len(messages), more) == (length, False)
            assert await store.path(chat_id) == messages
            ids = [message.id for message in messages]
            json.dumps(
                [
                    [message_to_ui(one) for one in messages],
                    versions_json(await branches.versions(chat_id, ids)),
                ]
            )
            assert len((await Archive(store).read(chat_id)).rows) == length + 1
            assert len(await queue.queue(chat_id)) == 1
            await store.projections(chat_id)
            await graphs.keep(chat_id, graph("22222222"), {"nodes": [1]})
            revisions = [kept.revision for kept in await graphs.list(chat_id)]
            assert revisions == ["22222222", "11111111"]
            assert await graphs.read(chat_id, "11111111") == {"nodes": []}
            assert [one.message_id for one in await edits.of_chat(chat_id)] == ["a2"]
            (edit,) = await edits.of_message(chat_id, "a2")
            assert (edit.before, edit.after) == ({"nodes": []}, {"nodes": [1]})
            await edits.mark(chat_id, "a2", True)
        assert len((await pages.around(store, "c", "a1", 3)).messages) == 3
        # A turn.
        asked = (user("u9", "Tell me"),)
        await store.begin_turn("c", TurnStart(answer("a9", ""), asked, from_queue="q1"))
        await store.checkpoint("c", answer("a9", "So"))
        await store.finish_answer("c", answer("a9", "So far"))
        assert (await store.page("c"))[0][-1].text == "So far"
        assert [hit.message_id for hit in await search.search("c", "tell far")]
        order = [chat.id for chat in await store.list()]
        assert order.index("c") < order.index("a")
        await store.change("c", title="Renamed", pinned=True)
        await store.create("new")
        order = [chat.id for chat in await store.list()]
        assert order.index("new") < order.index("c")
        await branches.branch("c", "a1", "copy")
        await trash.delete("a")
        await trash.restore("a")
        await trash.untouched(0)
        assert store.saving.ok and database.set_aside is None
    finally:
        await trash.close()
        await store.close()
        await database.close()


async def damaged_chat_answers(path: Path) -> None:
    """Whatever is asked of the damaged chat is done, or refused in words."""
    database = SqliteDatabase(path)
    store = ChatStore(database)
    branches, search = Branches(store), HistorySearch(database, store.failover)
    trash = Trash(database, store, search)
    try:
        await store.recover()
        with suppress(AssistantError):
            chat = await store.get("b")
            if chat is not None:
                json.dumps(chat_json(chat))
        messages = []
        with suppress(AssistantError):
            messages = list((await store.page("b"))[0])
            json.dumps([message_to_ui(one) for one in messages])
        with suppress(AssistantError):
            await store.path("b")
        for call in (
            branches.versions("b", [message.id for message in messages]),
            branches.answers_to("b", "u1"),
            Archive(store).read("b"),
            ChatQueue(store).queue("b"),
            store.projections("b"),
            ChatGraphs(store).list("b"),
            ChatGraphs(store).newest("b"),
            ChatGraphs(store).read("b", "11111111"),
            ChatGraphs(store).keep("b", graph("33333333"), {}),
            ChatEdits(store).of_chat("b"),
            ChatEdits(store).of_message("b", "a2"),
            ChatEdits(store).keep("b", Edit("a9", "w", "Portrait"), {}, {"nodes": []}),
            ChatEdits(store).answer_with("b", "call_1"),
            pages.around(store, "b", "a1", 3),
            search.search("b", "walrus"),
            search.find_words("walrus"),
            branches.branch("b", "a1", "copied"),
            branches.switch_version("b", "u2x"),
            store.append("b", user("u9")),
            store.add_event("b", user("e9")),
            store.begin_turn("b", TurnStart(answer("a9", ""))),
            store.checkpoint("b", answer("a9", "So")),
            store.finish_answer("b", answer("a9", "So far")),
            store.set_title("b", "A title"),
            store.allow_tool("b", "y"),
            ChatQueue(store).clear("b"),
            branches.rewrite("b", "u1", None),
            trash.delete("b"),
        ):
            with suppress(AssistantError):
                await call
        assert store.saving.ok and database.set_aside is None
    finally:
        await trash.close()
        await store.close()
        await database.close()


def values_of(path: Path) -> set[str]:
    """All values in the file, as SQL; the copies of damaged rows value by value."""
    found: set[str] = set()
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_%'"
        for (name,) in connection.execute(tables).fetchall():
            table = name.decode()
            columns = [row[1].decode() for row in connection.execute(f"PRAGMA table_info({table})")]
            for column in columns:
                for (value,) in connection.execute(f'SELECT quote("{column}") FROM {table}'):
                    found.add(value.decode("utf-8", "replace"))
        kept = "SELECT content FROM damaged_rows"
        for (content,) in connection.execute(kept):
            for value in json.loads(content).values():
                quoted = f"X'{value['hex'].upper()}'" if isinstance(value, dict) else value
                found |= {str(quoted), f"'{quoted}'"}
    return found


def kept(path: Path, value: str) -> bool:
    return value in values_of(path)


FEW = ("blob", "huge int", "invalid UTF-8", "half a message")


KNOWN = [
    ("chats", "params"),
    ("chats", "state"),
    ("chats", "title"),
    ("chats", "activity"),
    ("messages", "body"),
    ("messages", "run_start"),
    ("messages", "run_parent"),
    ("running", "body"),
    ("running", "parent_row"),
    ("queue", "message"),
    ("workflows", "graph"),
    ("projections", "body"),
    ("user_rules", "text"),
    ("search_entries", "row_number"),
]
PLACES = [f"{table}.{column}" for table, column in COLUMNS]


@pytest.mark.parametrize(("table", "column"), KNOWN)
async def test_a_damaged_row_hides_no_other(path: Path, table: str, column: str) -> None:
    await check(path, table, column, FEW)


OTHERS = tuple(name for name in GARBAGE if name not in FEW[:3])


@pytest.mark.slow
@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=PLACES)
async def test_no_garbage_in_any_column_hides_another_row(
    path: Path, table: str, column: str
) -> None:
    """Three kinds in each column, and two of the others in turn: all of all take minutes."""
    turn = COLUMNS.index((table, column))
    some = [OTHERS[(2 * turn + step) % len(OTHERS)] for step in range(2)]
    await check(path, table, column, (*FEW[:3], *some))


@pytest.mark.parametrize(("table", "column"), TERMS)
async def test_a_damaged_index_of_terms_is_made_anew(path: Path, table: str, column: str) -> None:
    await check(path, table, column, ("blob", "text", "huge int"))


async def test_a_damaged_chat_is_listed_opened_and_reported(path: Path) -> None:
    database = SqliteDatabase(path)
    store = ChatStore(database)
    try:
        await store.recover()
        await store.append("b", user("u7", "A seal"))
        assert database.problems() == ()
        await database.write(spoil)
        chat = next(chat for chat in await store.list() if chat.id == "b")
        assert (chat.title, chat.state, chat.damaged) == ("Chat b", "idle", ("state",))
        assert entry_json(chat)["damaged"] is True
        opened = await store.get("b")
        assert opened is not None and opened.damaged == ("state", "params")
        messages, _ = await ChatStore(database).page("b")
        damaged = [message for message in messages if "damaged" in message.metadata]
        assert [(message.id, message.role) for message in damaged] == [("u1", "user")]
        assert damaged[0].text.endswith("half a walrus")
        assert damaged[0].metadata["origin"] == "imported"
        (problem,) = database.problems()
        assert problem.code == "damaged_rows"
        assert "1 in chats, 1 in messages" in problem.message
        await store.set_params("b", ChatParams(model="m"))
        await store.set_state("b", "idle")
        assert (await store.list())[0].damaged == ()
    finally:
        await store.close()
        await database.close()


def spoil(transaction: Transaction) -> None:
    transaction.execute(text("UPDATE chats SET state = 'wild', params = '{' WHERE id = 'b'"))
    half = GARBAGE["half a message"].replace(":", "\\:")
    where = "chat_id = 'b' AND message_id = 'u1'"
    transaction.execute(text(f"UPDATE messages SET body = {half} WHERE {where}"))


async def test_a_damaged_answer_in_progress_becomes_a_cut_one_and_its_row_is_kept(
    path: Path,
) -> None:
    value = damage(path, "running", "body", GARBAGE["half a message"])
    assert value is not None
    database = SqliteDatabase(path)
    store = ChatStore(database)
    try:
        assert set(await store.recover()) == {"a", "b"}
        last = (await store.path("b"))[-1]
        assert (last.id, last.metadata["cut"], last.metadata["damaged"]) == ("a3", "cut", True)
        assert last.text.endswith("half a walrus")
    finally:
        await store.close()
        await database.close()
    assert kept(path, value)


async def test_a_path_through_a_damaged_row_is_followed_by_its_parents(path: Path) -> None:
    database = SqliteDatabase(path)
    store = ChatStore(database)
    try:
        await store.recover()
        before = await ChatStore(database).path("c")
        for garbage in ("run_start = -1000000000", "run_start = 'x'", 'run_parent = "row"'):
            change = f"UPDATE messages SET {garbage} WHERE chat_id = 'c' AND \"row\" = 4"
            await database.write(partial(run, change))
            assert await asyncio.wait_for(ChatStore(database).path("c"), 10) == before
    finally:
        await store.close()
        await database.close()


def run(statement: str, transaction: Transaction) -> None:
    transaction.execute(text(statement))


async def check(path: Path, table: str, column: str, names: tuple[str, ...]) -> None:
    written = 0
    for name in names:
        copy = path.parent.with_name(name.replace(" ", "-"))
        shutil.copytree(path.parent, copy)
        value = damage(copy / path.name, table, column, GARBAGE[name])
        if value is None:
            continue
        written += 1
        try:
            await asyncio.wait_for(others_work(copy / path.name), 30)
            made_anew = table.startswith(MADE_ANEW) or f"{table}.{column}" in COMPUTED
            assert made_anew or kept(copy / path.name, value), value[:80]
            await asyncio.wait_for(damaged_chat_answers(copy / path.name), 30)
        except BaseException as error:
            raise AssertionError(f"{table}.{column} = {name}: {error!r}") from error
    if not written:
        pytest.skip("the database itself refuses each of these values")
