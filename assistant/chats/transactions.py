"""Transactions on one chat, wherever it is kept.

Each transaction runs on the database or, while that fails, in memory (`failover`). This module
refuses the changes that are not allowed while this or another process gives the chat's answer.
`store` adds the methods that other rooms call; the other modules of this room use
`ChatTransactions` alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from sqlalchemy import select

from ..database import Database, Transaction, utc_now
from ..database.lease import Owner, this_process
from ..errors import Conflict, FileFailed
from . import chat_rows, schema
from .chat import Chat
from .failover.failover import Failover, Saving
from .identity import chat_id as check_chat_id
from .log import capacity, checkpoint, salvage
from .log.row_cache import RowCache

Result = TypeVar("Result")


class ChatTransactions:
    """The transactions on one ComfyUI user's chats. For one event loop; every async method may
    raise StoreError, and InvalidRequest for an id that cannot name a chat.

    `owner` is the process that gives the answers here. `failover` says where each chat is kept.
    """

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime] = utc_now,
        most_log_chars: int = capacity.MOST_LOG_CHARS,
        owner: Owner | None = None,
    ) -> None:
        self.owner = owner or this_process()
        self.now = clock
        self._most_log_chars = most_log_chars
        self._cache = RowCache()
        self.failover = Failover(database, self._recover, self._cache)
        # The answers in progress here. An answer that is only in the database was left by a crash.
        self._answering: dict[str, str] = {}

    async def recover(self) -> tuple[str, ...]:
        """Make the tables, and turn the answers that a crash left in progress into cut messages;
        returns the ids of their chats. Happens once, at the latest with the first transaction."""
        cut: tuple[str, ...] = await self.failover.prepare()
        return cut

    @property
    def saving(self) -> Saving:
        """Whether the chats are saved, and why not: a chat that is not saved is kept in memory, and
        saved as soon as the file takes writes."""
        return self.failover.saving

    async def close(self) -> None:
        """Try for the last time to save the chats that are not saved."""
        await self.failover.close()

    async def write(self, chat_id: str, work: Callable[[Transaction], Result]) -> Result:
        check_chat_id(chat_id)
        await self._prepare()
        return await self.failover.write(chat_id, work)

    async def read(self, chat_id: str, work: Callable[[Transaction], Result]) -> Result:
        check_chat_id(chat_id)
        await self._prepare()
        return await self.failover.read(chat_id, work)

    async def change_row(self, chat_id: str, work: Callable[[Transaction], None]) -> None:
        """A write to a chat that exists. Raises NotFound."""

        def checked(transaction: Transaction) -> None:
            chat_rows.require(transaction, chat_id)
            work(transaction)

        await self.write(chat_id, checked)

    async def extend(
        self, chat_id: str, work: Callable[[Transaction, Chat, datetime], Result]
    ) -> Result:
        """A write that adds to the log or moves the path. Raises Conflict (`turn_running`) while
        an answer is in progress, NotFound."""
        self.check_not_answering(chat_id)
        now = self.now()

        def settled(transaction: Transaction) -> Result:
            checkpoint.settle(transaction, chat_id, self.owner, now)
            return work(transaction, chat_rows.require(transaction, chat_id), now)

        return await self.write(chat_id, settled)

    def check_not_answering(self, chat_id: str) -> None:
        """Raises Conflict (`turn_running`) while an answer is in progress."""
        if chat_id in self._answering:
            raise Conflict(
                "This chat is being answered; wait for it or stop it.",
                code="turn_running",
                extra={"chat_id": chat_id},
            )

    def check_here(self, transaction: Transaction, chat_id: str) -> None:
        """Raises Conflict (`runs_elsewhere`) while another process gives the chat's answer."""
        checkpoint.check_here(transaction, chat_id, self.owner, self.now())

    async def check_all_here(self) -> None:
        """Raises Conflict (`runs_elsewhere`) while another process gives an answer of any chat."""
        await self._prepare()
        now = self.now()

        def check(transaction: Transaction) -> None:
            for (chat_id,) in transaction.execute(select(schema.running.c.chat_id)):
                checkpoint.check_here(transaction, str(chat_id), self.owner, now)

        await self.failover.read_file(lambda transaction, _held: check(transaction))

    def check_saved(self, chat_id: str) -> None:
        """Raises FileFailed while the chat is kept in memory only."""
        if chat_id in self.failover.held:
            raise FileFailed(self.saving.message or "")

    def check_room(self, chat: Chat, added_chars: int) -> None:
        """Raises Refused (`chat_full`) when the chat has no room for these characters."""
        capacity.check_room(chat, added_chars, self._most_log_chars)

    def forget(self, chat_id: str) -> None:
        """Drop the cached rows of a chat that is deleted."""
        self._cache.forget(chat_id)

    def _recover(self, transaction: Transaction) -> tuple[str, ...]:
        now = self.now()
        schema.prepare(transaction)
        salvage.prepare(transaction, now)
        return checkpoint.recover(transaction, self.owner, now, tuple(self._answering))

    async def _prepare(self) -> None:
        if not self.failover.ready:
            # While the file cannot be written, all chats are kept in memory.
            with contextlib.suppress(FileFailed):
                await self.recover()
