"""Reads whole chats from the store and adds whole chats to it, for export and import (R39)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ...database import Transaction, utc_now
from ...messages.origin import imported
from ...messages.parts import Message
from .. import chat_rows
from ..chat import Chat
from ..identity import may_name_a_chat, new_chat_id
from ..log import chat_log
from ..reconcile import state_after
from ..transactions import ChatTransactions
from .trajectory import LogRow, Trajectory


class Archive:
    """The chats of one ComfyUI user. For one event loop; raises StoreError."""

    def __init__(
        self,
        store: ChatTransactions,
        *,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_chat_id,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    async def read(self, chat_id: str) -> Trajectory:
        """The chat with its whole log, but without an answer in progress. Raises NotFound."""
        return await self._store.read(chat_id, lambda c: _read(c, chat_id))

    async def add(self, trajectory: Trajectory) -> Chat:
        """Add the trajectory as a new chat, under a new id where its own is missing or taken."""
        now, other = self._clock(), self._new_id()
        wanted = trajectory.id if trajectory.id and may_name_a_chat(trajectory.id) else other
        taken = await self._store.read(wanted, lambda c: chat_rows.is_taken(c, wanted))
        identity = other if taken else wanted
        return await self._store.write(identity, lambda c: _add(c, trajectory, identity, now))


def _read(transaction: Transaction, chat_id: str) -> Trajectory:
    chat = chat_rows.require(transaction, chat_id)
    rows = (LogRow(*row) for row in chat_log.every_row(transaction, chat_id))
    return Trajectory(
        chat.id,
        chat.title,
        chat.title_source,
        chat.created,
        chat.workflow,
        tuple(rows),
        chat.head_row,
    )


def _add(transaction: Transaction, trajectory: Trajectory, identity: str, now: datetime) -> Chat:
    chat_rows.insert_chat(transaction, identity, trajectory.title, trajectory.workflow, now)
    chat_rows.set_title(transaction, identity, trajectory.title, trajectory.title_source)
    if trajectory.created is not None:
        chat_rows.set_created(transaction, identity, trajectory.created)
    chars = _add_rows(transaction, identity, trajectory.rows, now)
    if trajectory.rows:
        chat_rows.set_head(transaction, identity, trajectory.head, chars, now)
    if trajectory.path:
        chat_rows.set_state(transaction, identity, state_after(trajectory.path[-1]))
    return chat_rows.require(transaction, identity)


def _add_rows(
    transaction: Transaction, chat_id: str, rows: tuple[LogRow, ...], now: datetime
) -> int:
    """Add the log under the same row numbers; returns the characters of its texts."""
    chars, start = 0, 0
    while start < len(rows):
        end = start + 1
        while end < len(rows) and rows[end].parent == rows[end - 1].row:
            end += 1
        some: list[Message] = [imported(one.message) for one in rows[start:end]]
        chars += chat_log.insert_rows(transaction, chat_id, some, rows[start].parent, now).chars
        start = end
    return chars
