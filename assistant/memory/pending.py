"""Which messages of a chat may hold something to remember and were not read yet (R43, R46).

    pending = await store.of("c1")             message ids, oldest first
    await store.note("c1", ("u4",), "a6")      before a cut of the chat is committed
    await store.settle("c1", ("u4",))          it was read

The messages themselves stay in the chat's log; so nothing is lost by a cut, a stop or a restart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, insert, select, update

from ..database import Database, Statement, Transaction
from .tables import TABLES, pending

MOST_PENDING: Final = 40
"""Message ids of one chat; of more the newest are kept."""
_OF: Final = Statement(
    select(pending.c.messages, pending.c.done).where(pending.c.chat_id == bindparam("chat"))
)


@dataclass(frozen=True, slots=True)
class Pending:
    """`messages` are ids, oldest first; `done` is the last message that was looked at, None where
    none was."""

    messages: tuple[str, ...] = ()
    done: str | None = None


class PendingStore:
    """All methods raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._opened = False

    async def of(self, chat_id: str) -> Pending:
        await self._open()
        return await self._database.read(lambda transaction: _read(transaction, chat_id))

    async def note(self, chat_id: str, messages: Sequence[str], done: str) -> Pending:
        """Adds messages that are flagged; all up to `done` were looked at."""

        def work(transaction: Transaction) -> Pending:
            known = _read(transaction, chat_id)
            every = tuple(dict.fromkeys((*known.messages, *messages)))[-MOST_PENDING:]
            return _write(transaction, chat_id, Pending(every, done))

        await self._open()
        return await self._database.write(work)

    async def settle(self, chat_id: str, messages: Sequence[str]) -> None:
        """Takes away messages that were read."""
        gone = frozenset(messages)

        def work(transaction: Transaction) -> Pending:
            known = _read(transaction, chat_id)
            left = tuple(one for one in known.messages if one not in gone)
            return _write(transaction, chat_id, Pending(left, known.done))

        await self._open()
        await self._database.write(work)

    async def forget(self, chat_id: str) -> None:
        gone = delete(pending).where(pending.c.chat_id == chat_id)
        await self._open()
        await self._database.write(lambda transaction: transaction.execute(gone).rowcount)

    async def _open(self) -> None:
        if not self._opened:
            await self._database.migrate(TABLES)
            self._opened = True


def _read(transaction: Transaction, chat_id: str) -> Pending:
    row = transaction.row(_OF, chat=chat_id)
    if row is None:
        return Pending()
    text, done = row
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        found = None
    ids = found if isinstance(found, list) else []
    last = done if isinstance(done, str) else None
    return Pending(tuple(one for one in ids if isinstance(one, str)), last)


def _write(transaction: Transaction, chat_id: str, now: Pending) -> Pending:
    values = {"messages": json.dumps(now.messages), "done": now.done}
    changed = update(pending).where(pending.c.chat_id == chat_id).values(values)
    if not transaction.execute(changed).rowcount:
        transaction.execute(insert(pending).values(chat_id=chat_id, **values))
    return now
