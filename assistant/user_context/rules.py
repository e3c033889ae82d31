"""The user's rules and preferences, in the database (R6).

A rule is one sentence that the assistant is to follow; a preference is a key with a value. Both
are the user's own words. A revision in the database goes up with every change, so that the tables
are read again only after a change, also after a change by another process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import WithJsonSchema
from sqlalchemy import (
    Column,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from ..database import (
    NUMBERS_NEVER_REUSED,
    Database,
    Result,
    StoreTables,
    Transaction,
    utc_now,
)
from ..database.fresh import FreshValue
from ..errors import InvalidRequest, NotFound

MAX_TEXT_CHARS = 2_000
MAX_RULES = 1_000
MAX_PREFERENCES = 1_000
DAMAGED = -1
"""In the place of a revision that cannot be read: the tables are read each time then."""

_KEY = re.compile(r"[\w .-]{1,64}")

metadata = MetaData()

_rules = Table(
    "user_rules",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("text", String, nullable=False),
    Column("created", String, nullable=False),
    info={NUMBERS_NEVER_REUSED: True},
)
_places = Table(
    "user_rule_places",
    metadata,
    Column("rule", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, nullable=False),
)
_preferences = Table(
    "user_preferences",
    metadata,
    Column("row", Integer, primary_key=True),  # a new number at each change: the newest is last
    Column("key", String, nullable=False, unique=True),
    Column("value", String, nullable=False),
    info={NUMBERS_NEVER_REUSED: True},
)
_revision = Table(
    "user_context_revision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("revision", Integer, nullable=False),
)

TABLES = StoreTables("rules and preferences", metadata, salvaged=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """`created` is ISO 8601 in UTC."""

    id: str
    text: str
    created: Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


@dataclass(frozen=True, slots=True)
class Preference:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class UserStatements:
    """All rules in the user's order, at first the oldest first, and all preferences, the longest
    unchanged first."""

    revision: int = 0
    rules: tuple[Rule, ...] = ()
    preferences: tuple[Preference, ...] = ()


class UserContextStore:
    """The rules and preferences of one user. All methods raise `StoreError`."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime] = utc_now,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._clock = clock
        self._known = FreshValue(self._read, seconds, lambda: database.generation)
        self._opened = False

    async def open(self) -> None:
        """Make the tables, at the latest with the first call of another method: a disk that was
        full at the start may have room by then."""
        if not self._opened:
            await self._database.migrate(TABLES)
            self._opened = True

    async def read(self) -> UserStatements:
        """All rules and preferences; the tables are read only if the revision changed. A change by
        another process is seen within a second."""
        return await self._known.get()

    async def _read(self, known: UserStatements | None) -> UserStatements:
        await self.open()
        return await self._database.read(lambda transaction: _read(transaction, known))

    async def add_rule(self, text: object) -> Rule:
        """Raises `InvalidRequest` unless `text` has 1 to 2,000 characters, or at 1,000 rules."""
        checked, created = _text(text, "text"), self._clock().isoformat()

        def add(transaction: Transaction) -> Rule:
            if _count(transaction, _rules) >= MAX_RULES:
                raise InvalidRequest(f"There are {MAX_RULES} rules already; delete some.")
            values = insert(_rules).values(text=checked, created=created)
            row = transaction.execute(values).inserted_primary_key
            assert row is not None, "the table has a primary key"
            return Rule(str(row[0]), checked, created)

        return await self._change(add)

    async def change_rule(self, rule_id: object, text: object) -> Rule:
        """Raises `InvalidRequest` and `NotFound`."""
        checked, row = _text(text, "text"), _row(rule_id)

        def change(transaction: Transaction) -> Rule:
            wanted = _rules.c.row == row
            created = transaction.scalar(select(_rules.c.created).where(wanted))
            if created is None:
                raise NotFound(f"There is no rule {row}.")
            transaction.execute(update(_rules).where(wanted).values(text=checked))
            return Rule(str(row), checked, created)

        return await self._change(change)

    async def delete_rule(self, rule_id: object) -> None:
        """Raises `NotFound`."""
        row = _row(rule_id)

        def remove(transaction: Transaction) -> None:
            if not transaction.execute(delete(_rules).where(_rules.c.row == row)).rowcount:
                raise NotFound(f"There is no rule {row}.")
            transaction.execute(delete(_places).where(_places.c.rule == row))

        await self._change(remove)

    async def order_rules(self, rule_ids: Iterable[str]) -> None:
        """Gives the rules this order. Rules that are not named come after, in the order that they
        had; ids of no rule are passed over."""
        wanted = list(dict.fromkeys(rule_ids))

        def order(transaction: Transaction) -> None:
            rows = [row.row for row in _ordered(transaction)]
            known = {str(row): row for row in rows}
            first = [known[rule_id] for rule_id in wanted if rule_id in known]
            named = set(first)
            whole = [*first, *(row for row in rows if row not in named)]
            transaction.execute(delete(_places))
            for place, row in enumerate(whole):
                transaction.execute(insert(_places).values(rule=row, place=place))

        await self._change(order)

    async def set_preference(self, key: object, value: object) -> Preference:
        """Add or replace. Raises `InvalidRequest` for a wrong key or value, or at 1,000 keys."""
        name, checked = _key(key), _text(value, "value")

        def put(transaction: Transaction) -> Preference:
            transaction.execute(delete(_preferences).where(_preferences.c.key == name))
            if _count(transaction, _preferences) >= MAX_PREFERENCES:
                raise InvalidRequest(f"There are {MAX_PREFERENCES} preferences; delete some.")
            transaction.execute(insert(_preferences).values(key=name, value=checked))
            return Preference(name, checked)

        return await self._change(put)

    async def delete_preference(self, key: object) -> None:
        """Raises `InvalidRequest` and `NotFound`."""
        name = _key(key)

        def remove(transaction: Transaction) -> None:
            gone = delete(_preferences).where(_preferences.c.key == name)
            if not transaction.execute(gone).rowcount:
                raise NotFound(f"There is no preference {name!r}.")

        await self._change(remove)

    async def _change(self, work: Callable[[Transaction], Result]) -> Result:
        def change(transaction: Transaction) -> Result:
            result = work(transaction)
            raised = update(_revision).values(revision=_revision.c.revision + 1)
            if not transaction.execute(raised).rowcount:
                transaction.execute(insert(_revision).values(id=1, revision=1))
            return result

        await self.open()
        try:
            return await self._database.write(change)
        finally:
            self._known.changed()


def _read(transaction: Transaction, known: UserStatements | None) -> UserStatements:
    """The statements; of a damaged row nothing, so that the others still hold."""
    found = transaction.execute(select(_revision.c.revision)).scalar_one_or_none() or 0
    revision = found if isinstance(found, int) else DAMAGED
    if known is not None and known.revision == revision != DAMAGED:
        return known
    rules = _ordered(transaction)
    preferences = _whole(transaction, _preferences, "key", "value")
    return UserStatements(
        revision,
        tuple(Rule(str(row.row), row.text, row.created) for row in rules),
        tuple(Preference(row.key, row.value) for row in preferences),
    )


def _ordered(transaction: Transaction) -> list[Row[Any]]:
    """The rules in the user's order; those without a place come last."""
    places = {
        row.rule: row.place
        for row in transaction.execute(select(_places))
        if isinstance(row.place, int)
    }
    rules = _whole(transaction, _rules, "text", "created")
    return sorted(rules, key=lambda rule: (places.get(rule.row, MAX_RULES), rule.row))


def _whole(transaction: Transaction, table: Table, *texts: str) -> list[Row[Any]]:
    """The rows of a table in their order, without those where one of these columns is no text."""
    whole = []
    for row in transaction.execute(select(table).order_by(table.c.row)):
        if all(isinstance(getattr(row, name), str) for name in texts):
            whole.append(row)
        else:
            transaction.damaged.note(table.name, None, row.row)
    return whole


def _count(transaction: Transaction, table: Table) -> int:
    return transaction.execute(select(func.count()).select_from(table)).scalar_one()


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
    """A rule's row number. Raises NotFound for an id that is no number."""
    if isinstance(rule_id, str) and re.fullmatch(r"[0-9]{1,15}", rule_id, re.ASCII):
        return int(rule_id)
    raise NotFound("There is no such rule.")
