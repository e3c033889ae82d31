"""The queue of a chat: messages that were sent while the chat was busy (R36).

    queue = ChatQueue(store)
    await queue.enqueue("c1", entry)                   durable when this returns
    await queue.queue("c1")                            the entries, the next one first
    await store.begin_turn("c1", TurnStart(answer, (message,), from_queue=id))
                                                       in the log and out of the queue, or neither

`sessions` decides which commands wait and when the next command is carried out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, delete, func, insert, select, type_coerce
from sqlalchemy.types import NullType

from ..database import Transaction
from ..errors import Conflict, NotFound, Refused, StoreError
from ..messages.parts import Message
from . import chat_rows, schema
from .attachments import decode_row, encode_row
from .log.record import canonical, stored_time, time_text
from .row_values import MOST
from .transactions import ChatTransactions

MOST_QUEUED: Final = 32
"""Entries of one chat."""
FULL_RETRY_SECONDS: Final = 10
"""About one short turn: by then the first entry has left the queue."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A command that waits. `details` are its other fields, as plain JSON values."""

    id: str
    type: str
    created: datetime
    message: Message | None = None
    priority: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


class ChatQueue:
    """The queues of one ComfyUI user's chats. For one event loop; every method may raise
    StoreError, and NotFound for a chat that does not exist."""

    def __init__(self, store: ChatTransactions) -> None:
        self._store = store

    async def queue(self, chat_id: str) -> tuple[Queued, ...]:
        """The entries: entries with priority first, then in the order in which they came."""

        def work(transaction: Transaction) -> tuple[Queued, ...]:
            chat_rows.require(transaction, chat_id)
            return waiting(transaction, chat_id)

        return await self._store.read(chat_id, work)

    async def enqueue(self, chat_id: str, entry: Queued) -> int:
        """Add an entry; returns the number of entries.

        Raises Conflict for an id that is in the queue, Refused (`queue_full`) for a full queue."""

        def work(transaction: Transaction) -> int:
            chat_rows.require(transaction, chat_id)
            return add(transaction, chat_id, entry)

        return await self._store.write(chat_id, work)

    async def dequeue(self, chat_id: str, entry_id: str) -> Queued:
        """Remove and return an entry. Raises NotFound when it is not in the queue (any more)."""
        return await self._store.write(chat_id, lambda c: take(c, chat_id, entry_id))

    async def clear(self, chat_id: str) -> int:
        """Empty the queue; returns how many entries it had."""

        def work(transaction: Transaction) -> int:
            chat_rows.require(transaction, chat_id)
            gone = delete(schema.queue).where(schema.queue.c.chat_id == chat_id)
            return transaction.execute(gone).rowcount

        return await self._store.write(chat_id, work)


def waiting(transaction: Transaction, chat_id: str) -> tuple[Queued, ...]:
    rows = schema.queue
    query = _every().where(rows.c.chat_id == chat_id)
    found = transaction.execute(query.order_by(rows.c.priority.desc(), rows.c.number))
    entries = [_queued(transaction, row) for row in found.all()]
    return tuple(entry for entry in entries if entry is not None)


def _every() -> Any:
    """All columns as they are in the file: a conversion may refuse a damaged value."""
    return select(*(type_coerce(one, NullType()).label(one.name) for one in schema.queue.c))


def add(transaction: Transaction, chat_id: str, entry: Queued) -> int:
    rows = schema.queue
    ids = select(rows.c.id).where(rows.c.chat_id == chat_id)
    known = set(transaction.execute(ids).scalars())
    if entry.id in known:
        raise Conflict(f"{entry.id!r} waits in this chat already.", code="queued_already")
    if len(known) >= MOST_QUEUED:
        raise Refused(
            f"{MOST_QUEUED} messages wait in this chat; wait, or take one out of the queue.",
            code="queue_full",
            status=429,
            retry_after=FULL_RETRY_SECONDS,
        )
    newest = select(func.max(rows.c.number)).where(
        rows.c.chat_id == chat_id, rows.c.number.between(1, MOST)
    )
    number = (transaction.execute(newest).scalar_one() or 0) + 1
    values = {
        "chat_id": chat_id,
        "id": entry.id,
        "number": number,
        "type": entry.type,
        "priority": entry.priority,
        "created": time_text(entry.created),
        "message": None
        if entry.message is None
        else encode_row(transaction, chat_id, entry.message).text,
        "details": canonical(entry.details),
    }
    transaction.execute(insert(rows).values(values))
    return len(known) + 1


def take(transaction: Transaction, chat_id: str, entry_id: str) -> Queued:
    """Remove and return an entry. Raises NotFound when it is not there, so that no entry is carried
    out twice."""
    rows = schema.queue
    where = (rows.c.chat_id == chat_id) & (rows.c.id == entry_id)
    found = transaction.execute(_every().where(where)).one_or_none()
    if found is None:
        raise NotFound(f"Nothing with the id {entry_id!r} waits in this chat.")
    entry = _queued(transaction, found)
    if entry is None:
        raise NotFound(f"The entry {entry_id!r} of this chat's queue is damaged.")
    transaction.execute(delete(rows).where(where))
    return entry


def _queued(transaction: Transaction, row: Row[Any]) -> Queued | None:
    """The entry; None for a damaged one, which stays in its table and is not carried out: its words
    may not be what the user sent."""
    try:
        created, details = stored_time(row.created), json.loads(row.details)
        message = None if row.message is None else decode_row(transaction, row.message)[0]
    except (StoreError, TypeError, KeyError, AttributeError, ValueError, RecursionError):
        created, details, message = None, None, None
    texts = isinstance(row.id, str) and isinstance(row.type, str)
    if created is None or not isinstance(details, dict) or not texts:
        transaction.damaged.note(schema.queue.name, row.chat_id, row.id)
        return None
    return Queued(row.id, row.type, created, message, row.priority == 1, details)
