"""A transaction of SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

from sqlalchemy import Column, Integer, MetaData, String, Table, func, select, text, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.compiler import compiles

from ..statement import Statement
from ..tables import LAST_NUMBER, NUMBERS_NEVER_REUSED, LongInteger
from ..transaction import Transaction
from .terms import Fts5Terms, Fts5Words, has_fts5

_NUMBERED_BY_FILE: Final = "chats"
"""The store whose version is the file's `user_version`: files of the first versions have it there,
and had no other store with versions."""
_versions: Final = Table(
    "store_versions",
    MetaData(),
    Column("store", String, primary_key=True),
    Column("version", Integer, nullable=False),
)
_given: Final = Table("sqlite_sequence", MetaData(), Column("name", String), Column("seq", Integer))
"""The last number that SQLite gave in each table whose numbers it never gives again."""
_INSERTS: Final[dict[Table, Statement]] = {}


@compiles(LongInteger, "sqlite")
def _long_integer(*_: Any, **__: Any) -> str:
    """In SQLite every integer has 64 bits, and only a primary key of the type INTEGER is the row's
    id."""
    return "INTEGER"


class SqliteTransaction(Transaction):
    """One transaction of a file, or of a database in memory."""

    def create(self, metadata: MetaData) -> None:
        numbered = [one for one in metadata.tables.values() if one.info.get(NUMBERS_NEVER_REUSED)]
        for table in numbered:
            table.dialect_options["sqlite"]["autoincrement"] = True
        metadata.create_all(self.connection)
        for table in numbered:
            self._number_anew(table)

    def _number_anew(self, table: Table) -> None:
        """Give rows after LAST_NUMBER the next numbers: SQLite adds no row after 2^63-1."""
        (number,) = table.primary_key.columns
        given = self.scalar(select(_given.c.seq).where(_given.c.name == table.name))
        last = self.scalar(select(func.max(number))) or 0
        if last <= LAST_NUMBER and (given is None or _is_number(given)):
            return
        sound = select(func.max(number)).where(number <= LAST_NUMBER)
        next_number = max(self.scalar(sound) or 0, given if _is_number(given) else 0)
        wrong = select(number).where(number > LAST_NUMBER).order_by(number)
        for found in self.execute(wrong).scalars().all():
            next_number += 1
            self.execute(update(table).where(number == found).values({number: next_number}))
        self.execute(update(_given).where(_given.c.name == table.name).values(seq=next_number))

    def version(self, store: str) -> int:
        if store == _NUMBERED_BY_FILE:
            return int(self.execute(text("PRAGMA user_version")).scalar_one())
        if not self.connection.dialect.has_table(self.connection, _versions.name):
            return 0
        query = select(_versions.c.version).where(_versions.c.store == store)
        found = self.scalar(query)
        return found if isinstance(found, int) else 0

    def set_version(self, store: str, version: int) -> None:
        if store == _NUMBERED_BY_FILE:
            self.execute(text(f"PRAGMA user_version = {version:d}"))
            return
        _versions.create(self.connection, checkfirst=True)
        row = {"store": store, "version": version}
        newer = {"version": version}
        added = insert(_versions).on_conflict_do_update(index_elements=["store"], set_=newer)
        self.execute(added, row)

    def insert_missing(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        statement = _INSERTS.get(table)
        if statement is None:
            statement = _INSERTS[table] = Statement(insert(table).on_conflict_do_nothing())
        self.run_each(statement, [dict(row) for row in rows])

    def terms(self, name: str) -> Fts5Terms | None:
        return Fts5Terms(self._driver, name) if has_fts5() else None

    def words(self, name: str, fields: Sequence[str]) -> Fts5Words | None:
        return Fts5Words(self._driver, name, fields) if has_fts5() else None


def _is_number(given: object) -> TypeGuard[int]:
    return isinstance(given, int) and given <= LAST_NUMBER
