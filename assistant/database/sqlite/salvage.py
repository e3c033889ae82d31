"""What can be read of a file that was set aside goes into the file that takes its place: the rows
of stores whose tables say so (`StoreTables.salvaged`). Other stores do it themselves."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Table, insert

from ..statement import Statement
from ..tables import StoreTables
from ..transaction import Transaction
from .engines import decoded, uri_of

log = logging.getLogger("comfyui_assistant")

_ORDERS: Final = ("ASC", "DESC")
"""A damaged page ends the reading of a table; what stands behind it is read from the end."""


class Salvage:
    """Takes the rows of each store out of a file once: what is deleted later stays deleted."""

    def __init__(self) -> None:
        self._done: set[tuple[Path, str]] = set()

    def into(self, transaction: Transaction, file: Path | None, tables: StoreTables) -> None:
        """Copies each row of the store's tables that can be read in the damaged `file` and fits.
        `done` says that the transaction ended well."""
        if file is None or not tables.salvaged or (file, tables.store) in self._done:
            return
        copied = 0
        for table in tables.metadata.sorted_tables:
            statement = Statement(insert(table).prefix_with("OR IGNORE"))
            for row in _rows(file, table):
                copied += transaction.run(statement, **row)
        # Row numbers that no table gives by itself come from damage.
        transaction.create(tables.metadata)
        log.info("Database: %d rows of the %s are in the new file.", copied, tables.store)

    def done(self, file: Path | None, tables: StoreTables) -> None:
        if file is not None:
            self._done.add((file, tables.store))


def _rows(file: Path, table: Table) -> Iterator[dict[str, Any]]:
    """The rows that can be read, some of them twice."""
    names = [column.name for column in table.columns]
    columns = ", ".join(f'"{name}"' for name in names)
    place = f"{uri_of(file.absolute())}?mode=ro"
    for order in _ORDERS:
        try:
            with closing(sqlite3.connect(place, uri=True)) as damaged:
                damaged.text_factory = decoded
                # By the row's id, since an index may be damaged as well.
                query = f'SELECT {columns} FROM "{table.name}" ORDER BY rowid {order}'
                for row in damaged.execute(query):
                    yield dict(zip(names, row, strict=True))
        except sqlite3.DatabaseError:
            continue
        return
