"""The contract of the database port, run against every implementation (`conftest`)."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from plugin.assistant.database import (
    Database,
    Statement,
    StoreTables,
    TermIndex,
    Transaction,
    Transactions,
    Work,
    among,
    migrate,
)
from plugin.assistant.errors import Conflict, FileFailed, StoreError
from plugin.assistant.search.postings import Word
from sqlalchemy import bindparam, delete, func, insert, select, update

from .notes import MARKS, METADATA, NOTES, TABLES, add, texts

pytestmark = pytest.mark.usefixtures("windows_file_rules")

RENAME = Statement(
    update(NOTES).where(NOTES.c.text == bindparam("old")).values(text=bindparam("new"))
)
LONGER = Statement(
    select(NOTES.c.row, NOTES.c.text)
    .where(func.length(NOTES.c.text) > bindparam("chars"), NOTES.c.text != "passed over")
    .order_by(NOTES.c.row)
)
AMONG = Statement(
    select(NOTES.c.row, NOTES.c.text).where(among(NOTES.c.row), NOTES.c.text != bindparam("passed"))
)
INSERT_MARK = Statement(insert(MARKS))
STEP = """
from alembic import op
revision, down_revision = {revision!r}, {before!r}
def upgrade():
    op.execute("INSERT INTO notes (text) VALUES ('step {revision}')")
"""


# Transactions, on a disk and in memory.


async def test_what_was_written_is_read(transactions: Transactions) -> None:
    await transactions.write(lambda transaction: add(transaction, "one"))
    assert await transactions.read(texts) == ["one"]


async def test_writes_happen_in_the_order_of_the_calls(transactions: Transactions) -> None:
    wanted = [f"note {number}" for number in range(50)]
    await asyncio.gather(*(transactions.write(partial(add, text=text)) for text in wanted))
    assert await transactions.read(texts) == wanted


async def test_a_failing_write_leaves_nothing_and_its_own_error_comes_through(
    transactions: Transactions,
) -> None:
    def half(transaction: Transaction) -> None:
        add(transaction, "half")
        raise Conflict("taken")

    with pytest.raises(Conflict):
        await transactions.write(half)
    assert await transactions.read(texts) == []


async def test_a_write_that_was_called_happens_although_the_caller_is_cancelled(
    transactions: Transactions,
) -> None:
    may_go_on = threading.Event()
    blocker = asyncio.create_task(transactions.write(lambda _: may_go_on.wait(10)))
    caller = asyncio.create_task(transactions.write(lambda c: add(c, "kept")))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    may_go_on.set()
    await blocker
    await transactions.write(lambda transaction: add(transaction, "after"))
    assert await transactions.read(texts) == ["kept", "after"]


async def test_a_read_cannot_write(transactions: Transactions) -> None:
    with pytest.raises(StoreError):
        await transactions.read(lambda transaction: add(transaction, "no"))
    assert await transactions.read(texts) == []
    await transactions.write(lambda transaction: add(transaction, "yes"))
    assert await transactions.read(texts) == ["yes"]


async def test_a_statement_that_fails_says_no_values(transactions: Transactions) -> None:
    await transactions.write(lambda transaction: add(transaction, "one"))
    statement = insert(NOTES).values(row=1, text="sk-secret")
    with pytest.raises(StoreError) as caught:
        await transactions.write(lambda transaction: transaction.execute(statement) and None)
    assert "sk-secret" not in caught.value.message
    assert "INSERT" not in caught.value.message


async def test_statements_bind_their_values_and_return_plain_rows(
    transactions: Transactions,
) -> None:
    def work(transaction: Transaction) -> list[object]:
        for text in ("short", "rather long", "passed over"):
            add(transaction, text)
        changed = transaction.run(RENAME, old="short", new="longer than ten")
        transaction.run_each(
            INSERT_MARK, [{"name": "a", "seen": True}, {"name": "b", "seen": False}]
        )
        return [
            changed,
            transaction.rows(LONGER, chars=10),
            transaction.row(LONGER, chars=11),
            transaction.row(LONGER, chars=100),
            [bool(seen) for seen in transaction.execute(select(MARKS.c.seen)).scalars()],
        ]

    assert await transactions.write(work) == [
        1,
        [(1, "longer than ten"), (2, "rather long")],
        (1, "longer than ten"),
        None,
        [True, False],
    ]
    with pytest.raises(KeyError):
        await transactions.read(lambda transaction: transaction.rows(LONGER))


@pytest.mark.parametrize("asked", [0, 1, 100, 101, 250])
async def test_rows_are_found_among_any_number(transactions: Transactions, asked: int) -> None:
    def work(transaction: Transaction) -> list[tuple[object, ...]]:
        for number in range(260):
            add(transaction, f"note {number}")
        return transaction.rows_among(AMONG, range(10, 10 + asked), passed="note 9")

    found = await transactions.write(work)
    wanted = [(row, f"note {row - 1}") for row in range(10, 10 + asked) if row != 10]
    assert sorted(found) == wanted


async def test_insert_missing_leaves_the_rows_that_are_there(transactions: Transactions) -> None:
    def work(transaction: Transaction) -> list[tuple[str, bool]]:
        transaction.insert_missing(MARKS, [{"name": "a", "seen": True}])
        rows = [{"name": name, "seen": False} for name in ("a", "b", "b")]
        transaction.insert_missing(MARKS, rows)
        transaction.insert_missing(MARKS, [])
        found = transaction.execute(select(MARKS).order_by(MARKS.c.name))
        return [(name, bool(seen)) for name, seen in found]

    assert await transactions.write(work) == [("a", True), ("b", False)]


async def test_the_number_of_a_deleted_row_is_not_given_again(transactions: Transactions) -> None:
    def work(transaction: Transaction) -> list[int]:
        add(transaction, "one")
        add(transaction, "two")
        transaction.execute(delete(NOTES).where(NOTES.c.text == "two"))
        add(transaction, "three")
        return list(transaction.execute(select(NOTES.c.row).order_by(NOTES.c.row)).scalars())

    assert await transactions.write(work) == [1, 3]


@pytest.mark.parametrize("last", [2**63 - 1, 2**53])
async def test_a_row_with_the_largest_number_does_not_fill_its_table(
    open_database: Callable[[], Database], last: int
) -> None:
    """A row of a damaged file made the table take no further row."""
    database = open_database()
    await database.migrate(TABLES)
    rows = [{"row": 2, "text": "two"}, {"row": last, "text": "last"}]
    await database.write(lambda transaction: transaction.execute(insert(NOTES), rows).rowcount)
    await database.close()

    database = open_database()
    await database.migrate(TABLES)
    await database.write(lambda transaction: add(transaction, "new"))
    await database.write(
        lambda transaction: transaction.execute(delete(NOTES).where(NOTES.c.text == "new")).rowcount
    )
    await database.write(lambda transaction: add(transaction, "newer"))
    numbered = select(NOTES.c.row, NOTES.c.text).order_by(NOTES.c.row)
    found = await database.read(lambda transaction: transaction.execute(numbered).all())
    assert [tuple(row) for row in found] == [(2, "two"), (3, "last"), (5, "newer")]
    await database.close()


CAT, CATS, DOG = Word("cat"), Word("cat", prefix=True), Word("dog")
FAR = 1 << 40


async def test_an_index_of_terms_finds_places(transactions: Transactions) -> None:
    def work(transaction: Transaction) -> list[list[int]]:
        terms = filled(transaction)
        found = [
            terms.places([[CAT]], 0, FAR),
            terms.places([[CATS]], 0, FAR),
            terms.places([[CATS]], 2, FAR - 1),
            terms.places([[Word("x_y")]], 0, FAR),
            terms.places([[Word("图片")]], 0, FAR),
            terms.places([[Word("OR")]], 0, FAR),
        ]
        terms.remove(1, 2)
        terms.erase_removed()
        found.append(terms.places([[CATS]], 0, FAR))
        terms.create()
        return [*found, terms.places([[CATS]], 0, FAR)]

    assert await transactions.write(work) == [[1, FAR], [1, 2, FAR], [2], [1], [], [], [FAR], []]


async def test_an_index_of_terms_finds_places_that_have_a_term_of_each_group(
    transactions: Transactions,
) -> None:
    def work(transaction: Transaction) -> list[list[int]]:
        terms = filled(transaction)
        return [
            terms.places([[CATS], [DOG]], 0, FAR),
            terms.places([[CAT, DOG]], 0, FAR),
            terms.places([[CATS], [DOG, Word("x_y")]], 0, FAR),
            terms.places([[CATS]], 0, FAR, most=2),
            [terms.count([[CATS]], 0, FAR), terms.count([[CATS], [DOG]], 0, FAR)],
            [terms.count([[CATS]], 2, FAR - 1), terms.count([[Word("bird")]], 0, FAR)],
        ]

    found = await transactions.write(work)
    assert found == [[2], [1, 2, FAR], [1, 2], [1, 2], [3, 1], [1, 0]]


async def test_an_index_of_terms_says_which_terms_stand_in_places(
    transactions: Transactions,
) -> None:
    def work(transaction: Transaction) -> list[list[tuple[Word, list[int]]]]:
        terms = filled(transaction)
        asked = [CATS, CAT, DOG, Word("og"), Word("do"), Word("x_y"), Word("图片")]
        return [
            terms.standing(asked, [FAR, 3, 2]),
            terms.standing([Word("x_", prefix=True), Word("x")], {1}),
            terms.standing([CAT], ()),
            terms.standing([], [1]),
        ]

    places, prefix, nowhere, nothing = await transactions.write(work)
    found = {one: sorted(here) for one, here in places}
    assert found.pop(CATS) == [2, FAR]
    assert found.pop(CAT) == [FAR]
    assert found.pop(DOG) == [2]
    assert not any(found.values())
    assert prefix == [(Word("x_", prefix=True), [1]), (Word("x"), [])]
    assert nowhere == [(CAT, [])]
    assert nothing == []


def filled(transaction: Transaction) -> TermIndex:
    terms = transaction.terms("note_terms")
    assert terms is not None
    terms.create()
    terms.put({1: {"cat", "x_y"}, 2: {"cats", "图片"}, FAR: {"cat"}})
    terms.put({2: {"cats", "dog"}})
    return terms


@dataclass(frozen=True)
class Asked:
    words: tuple[str, ...]
    prefix: bool = False


async def test_an_index_of_words_finds_texts_with_all_phrases(transactions: Transactions) -> None:
    def work(transaction: Transaction) -> dict[str, list[int]]:
        index = transaction.words("note_words", ("title", "body"))
        assert index is not None
        index.create()
        far = 1 << 40
        index.put({1: ("a low sun", "7.5"), 2: ("low", "the sun and so on"), far: ("sun", "")})
        index.put({far: ("图 片 _ OR", "low sunset")})
        low, sun = Asked(("low",)), Asked(("sun",))
        found = {
            "all": index.find([low, sun], None, True, 9),
            "title": index.find([low, sun], "title", True, 9),
            "phrase": index.find([Asked(("low", "sun"))], None, True, 9),
            "prefix": index.find([Asked(("low", "sun"), True)], None, False, 9),
            "largest": index.find([low], None, False, 2),
            "characters": index.find([Asked(("图", "片")), Asked(("or",))], None, True, 9),
            "parted": index.find([Asked(("片", "or"))], None, True, 9),
            "number": index.find([Asked(("7.5",))], None, True, 9),
            "half": index.find([Asked(("7",))], None, True, 9),
            "many": index.find([Asked((f"w{n}",)) for n in range(500)], None, False, 9),
        }
        index.remove(1, 2)
        index.erase_removed()
        found["left"] = index.find([low], None, True, 9)
        index.create()
        return {**found, "empty": index.find([low], None, True, 9)}

    far = 1 << 40
    assert await transactions.write(work) == {
        "all": [1, 2],
        "title": [1],
        "phrase": [1],
        "prefix": [far, 1],
        "largest": [far, 2],
        "characters": [far],
        "parted": [],
        "number": [1],
        "half": [],
        "many": [],
        "left": [far],
        "empty": [],
    }


async def test_a_database_in_memory_that_is_cleared_is_empty(database: Database) -> None:
    memory = database.in_memory(lambda transaction: migrate(transaction, TABLES))
    memory.run(lambda transaction: add(transaction, "gone"))
    memory.clear()
    assert memory.run(texts) == []
    memory.close()


# A database on a disk.


async def test_what_was_written_survives_closing(
    database: Database, open_database: Callable[[], Database]
) -> None:
    await database.write(lambda transaction: add(transaction, "one"))
    await database.close()
    again = open_database()
    try:
        assert await again.read(texts) == ["one"]
    finally:
        await again.close()


async def test_a_reader_does_not_wait_for_an_open_write_and_does_not_see_half_of_it(
    database: Database,
) -> None:
    written, may_commit = threading.Event(), threading.Event()

    def slow(transaction: Transaction) -> None:
        add(transaction, "later")
        written.set()
        may_commit.wait(10)

    writer = asyncio.create_task(database.write(slow))
    await asyncio.to_thread(written.wait, 10)
    assert await database.read(texts) == []
    may_commit.set()
    await writer
    assert await database.read(texts) == ["later"]


async def test_writes_that_wait_succeed_or_fail_alone(database: Database) -> None:
    may_go_on = threading.Event()
    blocker = asyncio.create_task(database.write(lambda _: may_go_on.wait(10)))

    def refused(transaction: Transaction) -> None:
        add(transaction, "refused")
        raise Conflict("taken")

    def wrong(transaction: Transaction) -> None:
        transaction.execute(insert(NOTES).values(row=1, text="a row that is there"))

    works: list[Work[None]] = [partial(add, text="one"), refused, partial(add, text="two")]
    waiting = [asyncio.create_task(database.write(work)) for work in works]
    await asyncio.sleep(0)
    may_go_on.set()
    await blocker
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), Conflict, type(None)]
    assert await database.read(texts) == ["one", "two"]
    with pytest.raises(StoreError):
        await database.write(wrong)
    assert await database.read(texts) == ["one", "two"]


async def test_an_error_of_the_work_is_no_problem_of_the_database(database: Database) -> None:
    def refused(_: Transaction) -> None:
        raise Conflict("taken")

    with pytest.raises(Conflict):
        await database.write(refused)
    assert database.problem is None


class Elsewhere:
    """A fallback that keeps the works it gets."""

    def __init__(self, elsewhere: bool) -> None:
        self.works: list[FileFailed | None] = []
        self._elsewhere = elsewhere

    def elsewhere(self) -> bool:
        return self._elsewhere

    def run(self, work: Work[object], error: FileFailed | None) -> object:
        self.works.append(error)
        return "elsewhere"


async def test_a_fallback_gets_the_works_that_the_database_is_not_to_be_asked_for(
    database: Database,
) -> None:
    here, there = Elsewhere(False), Elsewhere(True)
    await database.write(partial(add, text="here"), here)
    assert await database.write(lambda _: "here", there) == "elsewhere"
    assert await database.read(texts) == ["here"]
    assert (here.works, there.works) == ([], [None])


async def test_calls_in_the_writer_come_between_transactions(database: Database) -> None:
    def call() -> list[str]:
        database.write_now(partial(add, text="two"))
        return database.read_now(texts)

    first = asyncio.create_task(database.write(partial(add, text="one")))
    await asyncio.sleep(0)
    assert await database.in_writer(call) == ["one", "two"]
    await first
    assert await database.in_reader(lambda: database.read_now(texts)) == ["one", "two"]


async def test_scrubbing_keeps_what_is_there(database: Database) -> None:
    await database.write(lambda transaction: add(transaction, "one"))
    assert await database.scrub()
    assert await database.read(texts) == ["one"]


async def test_closing_twice_and_closing_unused_do_nothing(
    open_database: Callable[[], Database],
) -> None:
    database = open_database()
    await database.close()
    await database.close()
    assert not database.folder.exists()
    with pytest.raises(StoreError, match="is closed"):
        await database.read(texts)


# Migrations.


def versions_of(folder: Path, newest: int) -> StoreTables:
    steps = folder / "steps" / "versions"
    steps.mkdir(parents=True, exist_ok=True)
    for number in range(1, newest + 1):
        before = str(number - 1) if number > 1 else None
        step = STEP.format(revision=str(number), before=before)
        (steps / f"v{number}.py").write_text(step, encoding="utf-8")
    return StoreTables("notes", METADATA, newest, steps)


def set_version(transaction: Transaction, store: str, version: int) -> None:
    transaction.set_version(store, version)


@pytest.mark.parametrize("store", ["notes", "chats"])
async def test_each_store_has_its_version(database: Database, store: str) -> None:
    async def found() -> tuple[int, int]:
        return await database.read(lambda c: (c.version(store), c.version("another")))

    assert await found() == (0, 0)
    for version in (1, 2):
        await database.write(partial(set_version, store=store, version=version))
        assert await found() == (version, 0)


async def test_older_tables_get_the_steps_that_they_lack(
    database: Database, tmp_path: Path
) -> None:
    await database.migrate(versions_of(tmp_path, 1))
    assert await database.read(texts) == []  # the newest tables need no step
    await database.migrate(versions_of(tmp_path, 3))
    assert await database.read(texts) == ["step 2", "step 3"]


async def test_steps_that_an_update_brought_while_this_code_runs_are_left_to_the_new_code(
    database: Database, tmp_path: Path
) -> None:
    await database.migrate(versions_of(tmp_path, 1))
    running = versions_of(tmp_path, 2)
    versions_of(tmp_path, 3)
    await database.migrate(running)
    assert await database.read(texts) == ["step 2"]
    assert await database.read(lambda c: c.version("notes")) == 2


async def test_tables_of_a_newer_version_are_refused(database: Database, tmp_path: Path) -> None:
    await database.migrate(versions_of(tmp_path, 2))
    with pytest.raises(StoreError, match="The notes were saved by a newer version"):
        await database.migrate(versions_of(tmp_path, 1))
