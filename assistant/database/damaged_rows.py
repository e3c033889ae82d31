"""Which rows were found damaged: the database opens, but a value in a row cannot be read.

One damaged row never hides another. A store reads what it can of such a row, notes it here, and
leaves the row as it is; health says how many there are.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Final

from ..errors import Problem

MOST_NOTED: Final = 1_000
"""Rows that are told apart; a file with more is as good as lost, and its user is told by then."""


class DamagedRows:
    """The damaged rows that were found since the start. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, object, object], None] = {}

    def note(self, table: str, owner: object, row: object = None) -> None:
        """A row of `table` is damaged: row `row` of `owner`, such as a chat's id."""
        with self._lock:
            if len(self._found) < MOST_NOTED:
                self._found[table, owner, row] = None

    def forget(self, owner: object) -> None:
        """The rows of `owner` are gone."""
        with self._lock:
            for key in [key for key in self._found if key[1] == owner]:
                del self._found[key]

    def count(self) -> dict[str, int]:
        """How many damaged rows each table has."""
        with self._lock:
            return dict(Counter(table for table, _, _ in self._found))

    def problems(self, file_name: str) -> tuple[Problem, ...]:
        found = self.count()
        if not found:
            return ()
        tables = ", ".join(f"{count} in {table}" for table, count in sorted(found.items()))
        message = (
            f"Some rows of {file_name} are damaged: {tables}. What can be read of them is shown,"
            " and everything else works. Nothing was removed; keep a copy of the file, or bring"
            " back an older copy of it."
        )
        return (Problem("damaged_rows", message),)
