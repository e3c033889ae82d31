"""The index of the chats' words, in the same file as the chats: SQLite's FTS5.

Functions over a connection, to be called inside one transaction. The index is derived from the log:
it may be dropped at any time and is made again by the next search. FTS5 keeps which terms stand in
which place (`words` makes the terms, `placing` the places); what is best is `ranking`'s to say.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Final

from sqlalchemy import Connection, text

from ...search.positions import CHAT_BITS, Origin, Placed, first_place, held, number_of
from ...search.ranking import Entry

INDEX_VERSION: Final = 2
"""Of the tables and of the rules by which text becomes terms; another one in the file is made
anew."""

_TABLES: Final = ("search_terms", "search_entries", "search_chats", "search_version")
_CREATE: Final = (
    "CREATE TABLE search_version (version INTEGER NOT NULL)",
    "CREATE TABLE search_chats (number INTEGER PRIMARY KEY, chat_id TEXT NOT NULL UNIQUE,"
    " row_number INTEGER NOT NULL, place INTEGER NOT NULL, beat INTEGER NOT NULL,"
    " end_place INTEGER NOT NULL)",
    "CREATE TABLE search_entries (place INTEGER PRIMARY KEY, row_number INTEGER NOT NULL,"
    " piece INTEGER NOT NULL, terms INTEGER NOT NULL, beat INTEGER NOT NULL)",
    # Terms are ASCII letters, digits and `_`, and whatever is not ASCII: the tokenizer takes them
    # as they are. Where in a message a term stands is not kept, which halves the index.
    "CREATE VIRTUAL TABLE search_terms USING fts5(terms, detail=none, columnsize=0,"
    " tokenize=\"ascii tokenchars '_'\")",
)


@dataclass(frozen=True, slots=True)
class State:
    """How far a chat is indexed: its number, and the last row with its first place and beat."""

    number: int
    row: int
    place: int
    beat: int


@cache
def has_fts5() -> bool:
    """Whether this Python's SQLite has FTS5."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(terms)")
        except sqlite3.OperationalError:
            return False
    return True


def prepare(connection: Connection) -> None:
    """Make the tables, and again those of another version."""
    tables = text("SELECT count(*) FROM sqlite_master WHERE name = 'search_version'")
    if connection.execute(tables).scalar_one():
        version = connection.execute(text("SELECT max(version) FROM search_version"))
        if version.scalar_one() == INDEX_VERSION:
            return
    for table in _TABLES:
        connection.execute(text(f"DROP TABLE IF EXISTS {table}"))
    for statement in _CREATE:
        connection.execute(text(statement))
    connection.execute(text(f"INSERT INTO search_version VALUES ({INDEX_VERSION})"))


def state(connection: Connection, chat_id: str) -> State | None:
    """How far the chat is indexed, or None for one that never was."""
    columns = "SELECT number, row_number, place, beat FROM search_chats WHERE chat_id = :chat"
    found = connection.execute(text(columns), {"chat": chat_id}).one_or_none()
    return State(*found) if found else None


def open_chat(connection: Connection, chat_id: str) -> int:
    """Make a number for a chat that has none; it holds nothing until something is added."""
    values = {"chat": chat_id}
    insert = (
        "INSERT INTO search_chats (chat_id, row_number, place, beat, end_place)"
        " VALUES (:chat, 0, 0, 0, 0)"
    )
    connection.execute(text(insert), values)
    query = "SELECT number FROM search_chats WHERE chat_id = :chat"
    return int(connection.execute(text(query), values).scalar_one())


def add(connection: Connection, number: int, placed: Sequence[Placed]) -> None:
    """Index these documents of a chat. A place that is held already gets the new piece."""
    if not placed:
        return
    values = [
        {
            "place": place,
            "row": one.document.row,
            "piece": place - one.place,
            "terms": len(piece.terms),
            "beat": beat,
            "text": " ".join(sorted(piece.terms)),
        }
        for place, (one, beat, piece) in held(placed).items()
    ]
    for statement in (
        "DELETE FROM search_terms WHERE rowid = :place",
        "INSERT INTO search_terms (rowid, terms) VALUES (:place, :text)",
        "INSERT OR REPLACE INTO search_entries VALUES (:place, :row, :piece, :terms, :beat)",
    ):
        if values:
            connection.execute(text(statement), values)
    last = placed[-1]
    reached = {
        "number": number,
        "row": last.document.row,
        "place": last.place,
        "beat": last.beat,
        "end": last.end,
    }
    update = (
        "UPDATE search_chats SET row_number = :row, place = :place, beat = :beat,"
        " end_place = :end WHERE number = :number"
    )
    connection.execute(text(update), reached)


def remove(connection: Connection, *chat_ids: str) -> None:
    """Forget all words of these chats; one that is not indexed is fine."""
    known = filter(None, [state(connection, chat_id) for chat_id in chat_ids])
    numbers = [one.number for one in known]
    for number in numbers:
        _remove(connection, number)
    if numbers:
        # FTS5 only notes what is deleted; the words themselves go when it writes its index anew.
        connection.execute(text("INSERT INTO search_terms (search_terms) VALUES ('optimize')"))


def _remove(connection: Connection, number: int) -> None:
    span = {"first": first_place(number), "last": first_place(number + 1) - 1}
    for table, column in (("search_terms", "rowid"), ("search_entries", "place")):
        where = f"DELETE FROM {table} WHERE {column} BETWEEN :first AND :last"
        connection.execute(text(where), span)
    delete = text("DELETE FROM search_chats WHERE number = :number")
    connection.execute(delete, {"number": number})


class IndexedPostings:
    """The postings of one chat, by its number, or of all (None), read from the index.

    Rows from `before_row` on are not found, nor chats whose number is in `hidden`. For one
    connection, inside one transaction.
    """

    def __init__(
        self,
        connection: Connection,
        number: int | None,
        before_row: int | None = None,
        hidden: frozenset[int] = frozenset(),
    ) -> None:
        self._hidden = hidden
        self._connection = connection
        self._number = number
        last = first_place(number + 1) if number is not None else 1 << 63
        self._span = (first_place(number or 0), last - 1)
        self._before_row = before_row

    def total(self) -> int:
        # Places follow each other, so where they end says how many there are.
        query = "SELECT sum(end_place & 0xffffffff) FROM search_chats"
        where = f" WHERE number = {self._number:d}" if self._number is not None else ""
        return self._connection.exec_driver_sql(query + where).scalar_one() or 0

    def places(self, term: str, prefix: bool = False) -> Collection[int]:
        # A term holds no quotation mark, so it cannot become anything but a term.
        match = f'"{term}"*' if prefix else f'"{term}"'
        query = "SELECT rowid FROM search_terms WHERE search_terms MATCH ?"
        found = self._rows(f"{query} AND rowid BETWEEN ? AND ?", (match, *self._span))
        if not self._hidden:
            return list(chain.from_iterable(found))
        return [place for (place,) in found if number_of(place) not in self._hidden]

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        query = f"SELECT place, terms, beat FROM search_entries WHERE place IN {_listed(places)}"
        if self._before_row is not None:
            query += f" AND row_number < {self._before_row:d}"
        return {place: Entry(terms, beat) for place, terms, beat in self._rows(query)}

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Straight from the driver: of a common word there are thousands, and SQLAlchemy's rows
        would cost more than SQLite's work."""
        driver: Any = self._connection.connection.driver_connection
        rows: list[tuple[Any, ...]] = driver.execute(query, values).fetchall()
        return rows


def origins(connection: Connection, places: Iterable[int]) -> dict[int, Origin]:
    """What stands in each of the places."""
    query = (
        "SELECT entry.place, chat.chat_id, entry.row_number, entry.piece"
        " FROM search_entries AS entry"
        f" JOIN search_chats AS chat ON chat.number = entry.place >> {CHAT_BITS}"
        f" WHERE entry.place IN {_listed(places)}"
    )
    found = connection.exec_driver_sql(query)
    return {place: Origin(chat_id, row, piece) for place, chat_id, row, piece in found}


def _listed(places: Iterable[int]) -> str:
    """The places as SQL; there are more of them than SQLite takes values."""
    return f"({','.join(f'{place:d}' for place in places)})"
