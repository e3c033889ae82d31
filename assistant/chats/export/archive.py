"""Reads whole chats from the store and adds whole chats to it, for export and import (R39).

A long chat is added in steps, between which other chats are written. Until its last step it is
hidden as a deleted chat is, so that there is never half of it: what a crash left of it is removed
with the deleted chats at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from ...database import Transaction, utc_now
from ...errors import StoreError
from ...messages.origin import imported
from ...messages.parts import Message
from .. import chat_rows
from ..chat import Chat
from ..failover import transfer
from ..identity import may_name_a_chat, new_chat_id
from ..log import chat_log
from ..log.record import believed
from ..reconcile import state_after
from ..transactions import ChatTransactions
from .trajectory import LogRow, Trajectory

ROWS_PER_STEP: Final = 500
"""Rows that one transaction adds: a tenth of a second, in which no turn can be saved."""


def _nothing() -> None:
    """Nobody needs to know of a chat that was added."""


class Archive:
    """The chats of one ComfyUI user. For one event loop; raises StoreError. `added` is called when
    a chat was added."""

    def __init__(
        self,
        store: ChatTransactions,
        *,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_chat_id,
        added: Callable[[], None] = _nothing,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._added = added

    async def read(self, chat_id: str) -> Trajectory:
        """The chat with its whole log, but without an answer in progress. Raises NotFound."""
        return await self._store.read(chat_id, lambda c: _read(c, chat_id))

    async def add(self, trajectory: Trajectory) -> Chat:
        """Add the trajectory as a new chat, under a new id where its own is missing or taken."""
        now, other = self._clock(), self._new_id()
        wanted = trajectory.id if trajectory.id and may_name_a_chat(trajectory.id) else other
        taken = await self._store.read(wanted, lambda c: chat_rows.is_taken(c, wanted))
        identity = other if taken else wanted
        chat = await self._add(trajectory, identity, now)
        self._added()
        return chat

    async def _add(self, trajectory: Trajectory, identity: str, now: datetime) -> Chat:
        write, rows = self._store.write, trajectory.rows
        if len(rows) <= ROWS_PER_STEP:
            return await write(identity, lambda c: _add_at_once(c, trajectory, identity, now))
        await write(identity, lambda c: _begin(c, trajectory, identity, now))
        try:
            chars = 0
            for start in range(0, len(rows), ROWS_PER_STEP):
                some = rows[start : start + ROWS_PER_STEP]
                chars += await write(identity, partial(_add_rows, identity, some, now))
            return await write(identity, lambda c: _finish(c, trajectory, identity, chars, now))
        except BaseException:
            with contextlib.suppress(StoreError):
                await asyncio.shield(write(identity, partial(transfer.remove, chat_id=identity)))
            raise


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


def _add_at_once(
    transaction: Transaction, trajectory: Trajectory, identity: str, now: datetime
) -> Chat:
    _begin(transaction, trajectory, identity, now)
    chars = _add_rows(identity, trajectory.rows, now, transaction)
    return _finish(transaction, trajectory, identity, chars, now)


def _begin(transaction: Transaction, trajectory: Trajectory, identity: str, now: datetime) -> None:
    """A chat without messages, which is hidden."""
    chat_rows.insert_chat(transaction, identity, trajectory.title, trajectory.workflow, now)
    chat_rows.set_title(transaction, identity, trajectory.title, trajectory.title_source)
    if trajectory.created is not None:
        chat_rows.set_created(transaction, identity, believed(trajectory.created, now))
    chat_rows.set_deleted(transaction, identity, now)


def _finish(
    transaction: Transaction, trajectory: Trajectory, identity: str, chars: int, now: datetime
) -> Chat:
    """Show the chat, whose log has `chars` characters."""
    chat_rows.set_deleted(transaction, identity, None)
    if trajectory.rows:
        chat_rows.set_head(transaction, identity, trajectory.head, chars, now)
    if trajectory.path:
        chat_rows.set_state(transaction, identity, state_after(trajectory.path[-1]))
    return chat_rows.require(transaction, identity)


def _add_rows(
    chat_id: str, rows: tuple[LogRow, ...], now: datetime, transaction: Transaction
) -> int:
    """Add the next rows of the log under the same numbers and with their times; returns the
    characters of their texts."""
    chars, start = 0, 0
    while start < len(rows):
        end = start + 1
        while end < len(rows) and rows[end].parent == rows[end - 1].row:
            end += 1
        some: list[Message] = [imported(one.message) for one in rows[start:end]]
        times = [one.created for one in rows[start:end]]
        added = chat_log.insert_rows(transaction, chat_id, some, rows[start].parent, now, times)
        chars += added.chars
        start = end
    return chars
