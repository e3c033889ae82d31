"""An index of terms and an index of words over SQLite's FTS5, in virtual tables of the same
file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache
from itertools import chain
from typing import Any

from ..terms import AskedT, AskedTerm, WordPhrase


@cache
def has_fts5() -> bool:
    """Whether this Python's SQLite has FTS5, and reads lists as JSON."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(terms)")
            connection.execute("SELECT value FROM json_each('[]')")
        except sqlite3.OperationalError:
            return False
    return True


class Fts5Terms:
    """`TermIndex` in the virtual table `name`; a place is a `rowid`."""

    def __init__(self, driver: Any, name: str) -> None:
        self._driver = driver
        self._name = name

    def create(self) -> None:
        self._driver.execute(f"DROP TABLE IF EXISTS {self._name}")
        # The tokenizer takes the terms as they are. Where in its place a term stands is not kept,
        # which halves the index.
        self._driver.execute(
            f"CREATE VIRTUAL TABLE {self._name} USING fts5(terms, detail=none, columnsize=0,"
            " tokenize=\"ascii tokenchars '_'\")"
        )

    def put(self, places: Mapping[int, Iterable[str]]) -> None:
        delete = f"DELETE FROM {self._name} WHERE rowid = ?"
        self._driver.executemany(delete, [(place,) for place in places])
        rows = [(place, " ".join(sorted(terms))) for place, terms in places.items()]
        self._driver.executemany(f"INSERT INTO {self._name} (rowid, terms) VALUES (?, ?)", rows)

    def remove(self, first: int, last: int) -> None:
        delete = f"DELETE FROM {self._name} WHERE rowid BETWEEN ? AND ?"
        self._driver.execute(delete, (first, last))

    def erase_removed(self) -> None:
        # FTS5 only notes a deletion; the terms go when it writes its index anew.
        self._driver.execute(f"INSERT INTO {self._name} ({self._name}) VALUES ('optimize')")

    def places(
        self,
        groups: Sequence[Sequence[AskedTerm]],
        first: int,
        last: int,
        most: int | None = None,
    ) -> list[int]:
        query = f"SELECT rowid {self._having} ORDER BY rowid LIMIT ?"
        values = (_match(groups), first, last, -1 if most is None else most)
        return list(chain.from_iterable(self._driver.execute(query, values).fetchall()))

    def standing(
        self, terms: Collection[AskedT], places: Collection[int]
    ) -> list[tuple[AskedT, list[int]]]:
        found: list[tuple[AskedT, list[int]]] = [(one, []) for one in terms]
        if not found or not places:
            return found
        # The lines are read from FTS5's own table of them, which is faster than through the index;
        # to look through the postings of a common term takes longer the longer the index is.
        query = (
            f"SELECT id, c0 FROM {self._name}_content WHERE id IN (SELECT value FROM json_each(?))"
        )
        asked = [(f" {one.term}{'' if one.prefix else ' '}", to.append) for one, to in found]
        for place, line in self._driver.execute(query, (json.dumps(list(places)),)):
            held = f" {line} "
            for term, add in asked:
                if term in held:
                    add(place)
        return found

    def count(self, groups: Sequence[Sequence[AskedTerm]], first: int, last: int) -> int:
        found = self._driver.execute(
            f"SELECT count(*) {self._having}", (_match(groups), first, last)
        )
        return int(found.fetchone()[0])

    @property
    def _having(self) -> str:
        return f"FROM {self._name} WHERE {self._name} MATCH ? AND rowid BETWEEN ? AND ?"


def _match(groups: Sequence[Sequence[AskedTerm]]) -> str:
    # A term holds no quotation mark, so it cannot become anything but a term.
    any_of = (" OR ".join(f'"{one.term}"{"*" * one.prefix}' for one in group) for group in groups)
    return " AND ".join(f"({terms})" for terms in any_of)


class Fts5Words:
    """`WordIndex` in the virtual table `name` with these `fields`; a place is a `rowid`."""

    def __init__(self, driver: Any, name: str, fields: Sequence[str]) -> None:
        self._driver = driver
        self._name = name
        self._fields = tuple(fields)

    def create(self) -> None:
        self._driver.execute(f"DROP TABLE IF EXISTS {self._name}")
        # The lines are stored too: without them FTS5 before 3.43 removes no place.
        self._driver.execute(
            f"CREATE VIRTUAL TABLE {self._name} USING fts5({', '.join(self._fields)},"
            " tokenize=\"ascii tokenchars '_.'\")"
        )

    def put(self, places: Mapping[int, Sequence[str]]) -> None:
        delete = f"DELETE FROM {self._name} WHERE rowid = ?"
        self._driver.executemany(delete, [(place,) for place in places])
        marks = ", ".join("?" * (1 + len(self._fields)))
        insert = f"INSERT INTO {self._name} (rowid, {', '.join(self._fields)}) VALUES ({marks})"
        self._driver.executemany(insert, [(place, *lines) for place, lines in places.items()])

    def remove(self, first: int, last: int) -> None:
        delete = f"DELETE FROM {self._name} WHERE rowid BETWEEN ? AND ?"
        self._driver.execute(delete, (first, last))

    def erase_removed(self) -> None:
        self._driver.execute(f"INSERT INTO {self._name} ({self._name}) VALUES ('optimize')")

    def find(
        self, phrases: Sequence[WordPhrase], field: str | None, ranked: bool, limit: int
    ) -> list[int]:
        # A word holds no quotation mark, so it cannot become anything but a word.
        asked = (f'"{" ".join(one.words)}"{" *" * one.prefix}' for one in phrases)
        match = " AND ".join(asked)
        if field is not None:
            match = f"{{{field}}} : ({match})"
        order = f"bm25({self._name}), rowid DESC" if ranked else "rowid DESC"
        query = (
            f"SELECT rowid FROM {self._name} WHERE {self._name} MATCH ? ORDER BY {order} LIMIT ?"
        )
        return list(chain.from_iterable(self._driver.execute(query, (match, limit)).fetchall()))
