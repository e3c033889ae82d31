"""A transaction: portable statements, and the operations that each implementation does its way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, MetaData, Table

from .damaged_rows import DamagedRows
from .statement import Statement, bound_among
from .terms import TermIndex, WordIndex


class Transaction(ABC):
    """One open transaction. It is used in one thread and is not kept after the work ends.

    `execute` and `scalar` are SQLAlchemy Core's. `folder` is the folder for files that belong to
    the database, None where there is none. `in_memory` says that the database is not on a disk.
    `damaged` is where a store notes the rows that it cannot read.
    """

    def __init__(
        self,
        connection: Connection,
        folder: Path | None,
        in_memory: bool = False,
        damaged: DamagedRows | None = None,
    ) -> None:
        self.connection: Final = connection
        self.execute: Final = connection.execute
        self.scalar: Final = connection.scalar
        self.folder: Final = folder
        self.in_memory: Final = in_memory
        self.damaged: Final = DamagedRows() if damaged is None else damaged
        self._driver: Final[Any] = connection.connection.dbapi_connection

    def rows(self, statement: Statement, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement that returns rows."""
        with closing(self._driver.cursor()) as cursor:
            cursor.execute(*statement.bound(self.connection.dialect, values))
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    def row(self, statement: Statement, **values: Any) -> tuple[Any, ...] | None:
        """The first row of a statement, None where there is none."""
        found = self.rows(statement, **values)
        return found[0] if found else None

    def rows_among(
        self, statement: Statement, numbers: Iterable[int], **values: Any
    ) -> list[tuple[Any, ...]]:
        """The rows of a statement with a condition `among`, for any number of `numbers`."""
        found: list[tuple[Any, ...]] = []
        for asked in bound_among(numbers):
            found += self.rows(statement, **asked, **values)
        return found

    def run(self, statement: Statement, **values: Any) -> int:
        """Run a statement that returns no rows; returns how many rows it changed."""
        with closing(self._driver.cursor()) as cursor:
            cursor.execute(*statement.bound(self.connection.dialect, values))
            changed: int = cursor.rowcount
        return changed

    def run_each(self, statement: Statement, rows: list[dict[str, Any]]) -> None:
        """Run a statement that returns no rows once with each of `rows`."""
        if rows:
            with closing(self._driver.cursor()) as cursor:
                cursor.executemany(*statement.bound_many(self.connection.dialect, rows))

    @abstractmethod
    def create(self, metadata: MetaData) -> None:
        """Create the tables that do not exist."""

    @abstractmethod
    def version(self, store: str) -> int:
        """The version of this store's tables in the database; 0 where none was set."""

    @abstractmethod
    def set_version(self, store: str, version: int) -> None: ...

    @abstractmethod
    def insert_missing(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert the rows whose primary key is not in the table. Another process that inserts the
        same row at the same time is no error."""

    @abstractmethod
    def terms(self, name: str) -> TermIndex | None:
        """The index of terms with this name; None where the database cannot have one."""

    @abstractmethod
    def words(self, name: str, fields: Sequence[str]) -> WordIndex | None:
        """The index of words with this name and these fields; None where the database cannot have
        one."""
