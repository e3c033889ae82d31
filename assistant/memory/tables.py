"""The tables of the memories of one user, and rows as memories."""

from __future__ import annotations

import json
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Column,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    bindparam,
    func,
    insert,
    select,
)

from ..database import NUMBERS_NEVER_REUSED, StoreTables, Transaction
from ..database.statement import Statement as Sql
from .memory import Memory, Source, entities_of, kind_of

metadata = MetaData()

memories: Final = Table(
    "memories",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("text", String, nullable=False),
    Column("entities", String, nullable=False),
    Column("chat_id", String, index=True),
    Column("message_id", String),
    Column("quote", String),
    Column("created", String, nullable=False),
    Column("used", String),
    Column("uses", Integer, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("superseded_by", String),
    Column("deleted", String),
    info={NUMBERS_NEVER_REUSED: True},
)
state: Final = Table(
    "memory_state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("mode", String),
)
pending: Final = Table(
    "memory_pending",
    metadata,
    Column("chat_id", String, primary_key=True),
    Column("messages", String, nullable=False),
    Column("done", String),
)
withdrawn: Final = Table(
    "memory_withdrawn",
    metadata,
    Column("chat_id", String, primary_key=True),
    Column("message_id", String, primary_key=True),
)
"""Messages whose memories the user deleted or corrected: no model reads them for memories again."""

TABLES: Final = StoreTables("memories", metadata, salvaged=True)

_MADE: Final = (
    "id kind text entities chat_id message_id quote created used uses pinned superseded_by".split()
)
_INSERT: Final = Sql(insert(memories).values({name: bindparam(name) for name in _MADE}))
_COUNT: Final = Sql(select(func.count()).select_from(memories))


def add(transaction: Transaction, memory: Memory) -> None:
    """Adds the row of a memory."""
    transaction.run(_INSERT, **values_of(memory))


def count(transaction: Transaction) -> int:
    """The number of rows, with those of superseded and deleted memories."""
    [(number,)] = transaction.rows(_COUNT)
    return int(number)


def values_of(memory: Memory) -> dict[str, Any]:
    """The columns of a memory."""
    source = memory.source
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "entities": json.dumps(memory.entities, ensure_ascii=False),
        "chat_id": source and source.chat_id,
        "message_id": source and source.message_id,
        "quote": source and source.quote,
        "created": memory.created,
        "used": memory.used,
        "uses": memory.uses,
        "pinned": memory.pinned,
        "superseded_by": memory.superseded_by,
    }


def memory_of(row: Row[Any]) -> Memory | None:
    """The memory of a row; None for values that `values_of` cannot have made."""
    kind = kind_of(row.kind)
    texts = (row.id, row.text, row.created)
    optional = (row.used, row.superseded_by)
    if kind is None or not all(isinstance(text, str) for text in texts):
        return None
    if not all(value is None or isinstance(value, str) for value in optional):
        return None
    if not isinstance(row.uses, int):
        return None
    return Memory(
        row.id,
        kind,
        row.text,
        _entities(row.entities),
        _source(row),
        row.created,
        row.used,
        row.uses,
        bool(row.pinned),
        row.superseded_by,
    )


def read_all(transaction: Transaction) -> tuple[Memory, ...]:
    """All memories that are not deleted, oldest first, without damaged rows."""
    found = []
    present = select(memories).where(memories.c.deleted.is_(None)).order_by(memories.c.row)
    for row in transaction.execute(present):
        memory = memory_of(row)
        if memory is None:
            transaction.damaged.note(memories.name, None, row.row)
        else:
            found.append(memory)
    return tuple(found)


def _entities(value: object) -> tuple[str, ...]:
    try:
        return entities_of(json.loads(value)) if isinstance(value, str) else ()
    except (ValueError, RecursionError):
        return ()


def _source(row: Row[Any]) -> Source | None:
    texts = (row.chat_id, row.message_id, row.quote)
    return Source(*texts) if all(isinstance(text, str) for text in texts) else None
