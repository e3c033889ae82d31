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
from typing import Final

from sqlalchemy import Connection, text

from .placing import Placed, first_place, number_of
from .ranking import Entry

INDEX_VERSION: Final = 1
"""Of the tables and of the rules by which text becomes terms; another one in the file is made
anew."""

_TABLES: Final = ("search_terms", "search_entries", "search_chats", "search_version")
_CREATE: Final = (
    "CREATE TABLE search_version (version INTEGER NOT NULL)",
    "CREATE TABLE search_chats (number INTEGER PRIMARY KEY, chat_id TEXT NOT NULL UNIQUE,"
    " last_place INTEGER NOT NULL, last_row INTEGER NOT NULL)",
    "CREATE TABLE search_entries (place INTEGER PRIMARY KEY, row_number INTEGER NOT NULL,"
    " terms INTEGER NOT NULL, starts INTEGER NOT NULL)",
    # Terms are ASCII letters, digits and `_`, and whatever is not ASCII: the tokenizer takes them
    # as they are. Where in a message a term stands is not kept, which halves the index.
    "CREATE VIRTUAL TABLE search_terms USING fts5(terms, detail=none, columnsize=0,"
    " tokenize=\"ascii tokenchars '_'\")",
)


@dataclass(frozen=True, slots=True)
class State:
    """How far a chat is indexed: its number, and the last place and row."""

    number: int
    last_place: int
    last_row: int


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
    columns = "SELECT number, last_place, last_row FROM search_chats WHERE chat_id = :chat"
    found = connection.execute(text(columns), {"chat": chat_id}).one_or_none()
    return State(*found) if found else None


def last_rows(connection: Connection, chat_id: str | None) -> dict[str, int]:
    """The last row that is indexed of each chat, or of this one."""
    query = "SELECT chat_id, last_row FROM search_chats"
    where = " WHERE chat_id = :chat" if chat_id is not None else ""
    found = connection.execute(text(query + where), {"chat": chat_id} if where else {})
    return {row.chat_id: row.last_row for row in found}


def open_chat(connection: Connection, chat_id: str) -> int:
    """Make a number for a chat that has none; it holds nothing until something is added."""
    values = {"chat": chat_id}
    insert = "INSERT INTO search_chats (chat_id, last_place, last_row) VALUES (:chat, -1, 0)"
    connection.execute(text(insert), values)
    query = "SELECT number FROM search_chats WHERE chat_id = :chat"
    return int(connection.execute(text(query), values).scalar_one())


def starts_line(connection: Connection, place: int) -> bool:
    query = text("SELECT starts FROM search_entries WHERE place = :place")
    return bool(connection.execute(query, {"place": place}).scalar_one())


def add(connection: Connection, number: int, placed: Sequence[Placed]) -> None:
    """Index these documents of a chat. A place that is held already gets the new document."""
    if not placed:
        return
    held = {one.place: one for one in placed}
    values = [
        {
            "place": place,
            "row": one.document.row,
            "terms": len(one.document.terms),
            "starts": one.starts,
            "text": " ".join(sorted(one.document.terms)),
        }
        for place, one in held.items()
    ]
    for statement in (
        "DELETE FROM search_terms WHERE rowid = :place",
        "INSERT INTO search_terms (rowid, terms) VALUES (:place, :text)",
        "INSERT OR REPLACE INTO search_entries VALUES (:place, :row, :terms, :starts)",
    ):
        connection.execute(text(statement), values)
    last = {"place": placed[-1].place, "row": placed[-1].document.row, "number": number}
    update = "UPDATE search_chats SET last_place = :place, last_row = :row WHERE number = :number"
    connection.execute(text(update), last)


def remove(connection: Connection, chat_id: str) -> None:
    """Forget all words of a chat; one that is not indexed is fine."""
    known = state(connection, chat_id)
    if known is None:
        return
    span = {"first": first_place(known.number), "last": first_place(known.number + 1) - 1}
    for table, column in (("search_terms", "rowid"), ("search_entries", "place")):
        where = f"DELETE FROM {table} WHERE {column} BETWEEN :first AND :last"
        connection.execute(text(where), span)
    delete = text("DELETE FROM search_chats WHERE number = :number")
    connection.execute(delete, {"number": known.number})
    # FTS5 only notes what is deleted; the words themselves go when it writes its index anew.
    connection.execute(text("INSERT INTO search_terms (search_terms) VALUES ('optimize')"))


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
        calls: Mapping[int, int] | None = None,
        hidden: frozenset[int] = frozenset(),
    ) -> None:
        """`calls`: the place of the call of each place that is the result of one."""
        self._connection = connection
        self._number = number
        last = first_place(number + 1) if number is not None else 1 << 63
        self._span = (first_place(number or 0), last - 1)
        self._before_row = before_row
        self._calls = calls or {}
        self._hidden = hidden

    def total(self) -> int:
        # Places follow each other, so the last one says how many there are.
        query = "SELECT sum((last_place & 0xffffffff) + 1) FROM search_chats"
        where = f" WHERE number = {self._number:d}" if self._number is not None else ""
        return self._connection.exec_driver_sql(query + where).scalar_one() or 0

    def places(self, term: str, prefix: bool = False) -> Collection[int]:
        # A term holds no quotation mark, so it cannot become anything but a term.
        match = f'"{term}"*' if prefix else f'"{term}"'
        query = "SELECT rowid FROM search_terms WHERE search_terms MATCH ?"
        values = (match, *self._span)
        found = self._connection.exec_driver_sql(f"{query} AND rowid BETWEEN ? AND ?", values)
        places = found.scalars().all()
        if self._hidden:
            return [place for place in places if number_of(place) not in self._hidden]
        return places

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        query = "SELECT place, terms, starts FROM search_entries WHERE place IN "
        query += f"({','.join(map(str, places))})"
        if self._before_row is not None:
            query += f" AND row_number < {self._before_row:d}"
        return {
            place: Entry(terms, bool(starts), self._calls.get(place))
            for place, terms, starts in self._connection.exec_driver_sql(query)
        }


def origins(connection: Connection, places: Sequence[int]) -> dict[int, tuple[str, int]]:
    """The chat and the row of each place."""
    query = (
        "SELECT entry.place, chat.chat_id, entry.row_number FROM search_entries AS entry"
        " JOIN search_chats AS chat ON chat.number = entry.place >> 32"
        f" WHERE entry.place IN ({','.join(map(str, places))})"
    )
    return {place: (chat, row) for place, chat, row in connection.exec_driver_sql(query)}
