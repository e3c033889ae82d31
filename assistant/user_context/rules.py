"""The user's rules and preferences, in the database (R6).

A rule is one sentence that the assistant is to follow; a preference is a key with a value. The user
writes both. A revision number in the database grows with every change, so that the tables are read
again only then, also after a change by another process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from ..database import Database, Result, utc_now
from ..errors import InvalidRequest, NotFound

MAX_TEXT_CHARS = 2_000
MAX_RULES = 1_000
MAX_PREFERENCES = 1_000

_KEY = re.compile(r"[\w .-]{1,64}")

metadata = MetaData()

_rules = Table(
    "user_rules",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("text", String, nullable=False),
    Column("created", String, nullable=False),
    sqlite_autoincrement=True,  # the id of a deleted rule is never given again
)
_preferences = Table(
    "user_preferences",
    metadata,
    Column("row", Integer, primary_key=True),  # a new one at each change: the newest is last
    Column("key", String, nullable=False, unique=True),
    Column("value", String, nullable=False),
    sqlite_autoincrement=True,
)
_revision = Table(
    "user_context_revision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("revision", Integer, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`created` is ISO 8601 in UTC."""

    id: str
    text: str
    created: str


@dataclass(frozen=True, slots=True)
class Preference:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class UserStatements:
    """All rules, oldest first, and all preferences, the longest unchanged first."""

    revision: int = 0
    rules: tuple[Rule, ...] = ()
    preferences: tuple[Preference, ...] = ()


class UserContextStore:
    """The rules and preferences of one user. All methods raise `StoreError`."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._known: UserStatements | None = None
        self._opened = False

    async def open(self) -> None:
        """Make the tables. Every method calls this, because the disk may have been full at
        the start."""
        if not self._opened:
            await self._database.create(metadata)
            self._opened = True

    async def read(self) -> UserStatements:
        """All rules and preferences; the tables are read only if the revision changed."""
        await self.open()
        known = self._known
        self._known = await self._database.read(lambda connection: _read(connection, known))
        return self._known

    async def add_rule(self, text: object) -> Rule:
        """Raises `InvalidRequest` unless `text` has 1 to 2,000 characters, or at 1,000 rules."""
        checked, created = _text(text, "text"), self._clock().isoformat()

        def add(connection: Connection) -> Rule:
            if _count(connection, _rules) >= MAX_RULES:
                raise InvalidRequest(f"There are {MAX_RULES} rules already; delete some.")
            values = insert(_rules).values(text=checked, created=created)
            return Rule(str(connection.execute(values).lastrowid), checked, created)

        return await self._change(add)

    async def change_rule(self, rule_id: object, text: object) -> Rule:
        """Raises `InvalidRequest` and `NotFound`."""
        checked, row = _text(text, "text"), _row(rule_id)

        def change(connection: Connection) -> Rule:
            wanted = _rules.c.row == row
            created = connection.scalar(select(_rules.c.created).where(wanted))
            if created is None:
                raise NotFound(f"There is no rule {row}.")
            connection.execute(update(_rules).where(wanted).values(text=checked))
            return Rule(str(row), checked, created)

        return await self._change(change)

    async def delete_rule(self, rule_id: object) -> None:
        """Raises `NotFound`."""
        row = _row(rule_id)

        def remove(connection: Connection) -> None:
            if not connection.execute(delete(_rules).where(_rules.c.row == row)).rowcount:
                raise NotFound(f"There is no rule {row}.")

        await self._change(remove)

    async def set_preference(self, key: object, value: object) -> Preference:
        """Add or replace. Raises `InvalidRequest` for a wrong key or value, or at 1,000 keys."""
        name, checked = _key(key), _text(value, "value")

        def put(connection: Connection) -> Preference:
            connection.execute(delete(_preferences).where(_preferences.c.key == name))
            if _count(connection, _preferences) >= MAX_PREFERENCES:
                raise InvalidRequest(f"There are {MAX_PREFERENCES} preferences; delete some.")
            connection.execute(insert(_preferences).values(key=name, value=checked))
            return Preference(name, checked)

        return await self._change(put)

    async def delete_preference(self, key: object) -> None:
        """Raises `InvalidRequest` and `NotFound`."""
        name = _key(key)

        def remove(connection: Connection) -> None:
            gone = delete(_preferences).where(_preferences.c.key == name)
            if not connection.execute(gone).rowcount:
                raise NotFound(f"There is no preference {name!r}.")

        await self._change(remove)

    async def _change(self, work: Callable[[Connection], Result]) -> Result:
        def change(connection: Connection) -> Result:
            result = work(connection)
            raised = update(_revision).values(revision=_revision.c.revision + 1)
            if not connection.execute(raised).rowcount:
                connection.execute(insert(_revision).values(id=1, revision=1))
            return result

        await self.open()
        return await self._database.write(change)


def _read(connection: Connection, known: UserStatements | None) -> UserStatements:
    revision = connection.execute(select(_revision.c.revision)).scalar_one_or_none() or 0
    if known is not None and known.revision == revision:
        return known
    rules = connection.execute(select(_rules).order_by(_rules.c.row))
    preferences = connection.execute(select(_preferences).order_by(_preferences.c.row))
    return UserStatements(
        revision,
        tuple(Rule(str(row.row), row.text, row.created) for row in rules),
        tuple(Preference(row.key, row.value) for row in preferences),
    )


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest("must be a text that is not empty", where=where)
    text = value.strip()
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidRequest(
            f"has {len(text)} characters; at most {MAX_TEXT_CHARS} are kept", where=where
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("holds half of a character (a lone surrogate)", where=where) from None
    return text


def _key(value: object) -> str:
    if not isinstance(value, str) or not _KEY.fullmatch(value) or value != value.strip():
        raise InvalidRequest("must be 1 to 64 letters, digits, spaces or _ . -", where="key")
    return value


def _row(rule_id: object) -> int:
    """A rule's row number. Raises `NotFound` for a text that is not a number."""
    if isinstance(rule_id, str) and re.fullmatch(r"[0-9]{1,15}", rule_id, re.ASCII):
        return int(rule_id)
    raise NotFound("There is no such rule.")
