"""Deleted chats: hidden at once, brought back within a minute, then removed for good (R33).

    await trash.open()                 removes the chats that were deleted before the start
    await trash.delete("c1")           hides the chat from lists, searches and paths
    await trash.restore("c1")          shows the chat as it was
    await trash.untouched(90)          the chats that a clean-up would delete
    await trash.delete_all(ids)

A removal leaves nothing of the chat in the file: its rows, its projections, the answer in progress
and its words in the index are deleted in one transaction, and the database is scrubbed. The caller
stops a turn of the chat before.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, select, update

from ..database import Database, Transaction, utc_now
from ..errors import Conflict, FileFailed, NotFound, StoreError
from . import attachments, chat_rows, schema
from .chat import ChatSummary
from .identity import chat_id as check_chat_id
from .log.record import parse_time, stored_time, time_text
from .log.salvage import kept_rows
from .schema import chats
from .search.history_search import HistorySearch
from .transactions import ChatTransactions

logger = logging.getLogger("comfyui_assistant")

UNDO: Final = timedelta(minutes=1)
"""How long a deleted chat can be brought back (the panel's undo)."""
REMOVED_TOGETHER: Final = 20
"""Chats in one transaction, so that a clean-up of thousands of chats lets turns write in
between."""
REMOVED_FROM: Final = (
    schema.messages,
    schema.running,
    schema.queue,
    schema.cuts,
    schema.projections,
    schema.workflows,
    schema.message_graphs,
    schema.edits,
    schema.edit_graphs,
)
"""All tables with rows of a chat, but for `chats`, which the others refer to, and `attachments`,
whose files are removed with them."""


class Trash:
    """The deleted chats of one ComfyUI user. For one event loop; every method but `open` and
    `close` may raise StoreError."""

    def __init__(
        self,
        database: Database,
        store: ChatTransactions,
        search: HistorySearch,
        *,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._store = store
        self._search = search
        self._clock = clock
        self._sleep = sleep
        self._tasks: set[asyncio.Task[None]] = set()
        # The attachments that other programs hold, and whether a task waits to remove them.
        self._held_files = 0
        self._waiting_for_files = False

    async def open(self) -> None:
        """Remove each chat that was deleted before when its minute is over. Raises nothing: while
        the database fails, this is tried again each minute."""
        try:
            await self._schedule()
        except StoreError as error:
            logger.warning("Chats: deleted chats stay for now: %s", ascii(error.message)[1:-1])
            self._start(self._open_again(), "removal of deleted chats")
            return
        await self._remove_files()

    async def _open_again(self) -> None:
        await self._sleep(UNDO.total_seconds())
        await self.open()

    async def _schedule(self) -> None:
        await self._store.recover()
        together: defaultdict[datetime, list[str]] = defaultdict(list)
        for chat_id, deleted in await self._database.read(_deleted):
            together[deleted].append(chat_id)
        for deleted, chat_ids in together.items():
            left = deleted + UNDO - self._clock()
            # A clock that was set back must not keep a chat for longer than its minute.
            self._remove_in(chat_ids, deleted, min(left, UNDO))

    async def delete(self, chat_id: str) -> None:
        """Hide the chat. Raises NotFound when there is none, Conflict (`turn_running`,
        `runs_elsewhere`) while it is being answered."""
        now = parse_time(time_text(self._clock()))
        self._store.check_not_answering(check_chat_id(chat_id))

        def hide(transaction: Transaction) -> None:
            self._store.check_here(transaction, chat_id)
            _hide(transaction, chat_id, now)

        await self._store.write(chat_id, hide)
        self._store.forget(chat_id)
        self._remove_in([chat_id], now, UNDO)

    async def untouched(self, days: int) -> tuple[ChatSummary, ...]:
        """The chats that did not change for `days` days, the last changed first; without pinned
        chats and chats that are being answered."""
        await self._store.recover()
        earliest = self._clock() - timedelta(days=days)
        return await self._database.read(lambda c: chat_rows.untouched_since(c, earliest))

    async def delete_all(self, chat_ids: Sequence[str]) -> tuple[str, ...]:
        """Hide these chats at once; returns the ids of the hidden chats. A chat that is gone, is
        being answered (here or elsewhere) or is not saved now is passed over."""
        now = parse_time(time_text(self._clock()))
        await self._store.recover()
        free = [chat_id for chat_id in chat_ids if self._is_free(chat_id)]

        def hide(transaction: Transaction, chat_id: str) -> bool:
            try:
                self._store.check_here(transaction, chat_id)
                _hide(transaction, chat_id, now)
            except (NotFound, Conflict):
                return False
            return True

        hidden = await self._database.write(lambda c: [one for one in free if hide(c, one)])
        for chat_id in hidden:
            self._store.forget(chat_id)
        if hidden:
            self._remove_in(hidden, now, UNDO)
        return tuple(hidden)

    async def restore(self, chat_id: str) -> ChatSummary:
        """Show the chat again, as it was. Raises NotFound when it was not deleted, or more than a
        minute ago."""
        earliest = self._clock() - UNDO
        return await self._store.write(chat_id, lambda c: _show(c, chat_id, earliest))

    async def close(self) -> None:
        """Stop waiting; the next `open` removes the chats that are left."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _check_in_file(self, chat_ids: Sequence[str]) -> None:
        """Raises StoreError while one of these chats is in memory: its file fails."""
        if not self._store.failover.held.isdisjoint(chat_ids):
            raise StoreError(self._store.saving.message or "The file cannot be written.")

    def _is_free(self, chat_id: str) -> bool:
        try:
            self._store.check_not_answering(check_chat_id(chat_id))
        except Conflict:
            return False
        return chat_id not in self._store.failover.held

    def _remove_in(self, chat_ids: Sequence[str], deleted: datetime, left: timedelta) -> None:
        work = self._remove(chat_ids, deleted, max(0.0, left.total_seconds()))
        self._start(work, f"removal of {chat_ids[0]}")

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _remove(self, chat_ids: Sequence[str], deleted: datetime, seconds: float) -> None:
        """Remove these chats after `seconds` seconds, but for chats that were restored
        meanwhile."""
        await self._sleep(seconds)
        removed: list[str] = []
        for start in range(0, len(chat_ids), REMOVED_TOGETHER):
            some = chat_ids[start : start + REMOVED_TOGETHER]
            try:
                self._check_in_file(some)
                gone = await self._search.forget(some, lambda c, one: _remove(c, one, deleted))
            except StoreError as error:
                reason = ascii(error.message)[1:-1]
                logger.warning("Chats: deleted chats stay for now: %s", reason)
                if isinstance(error, FileFailed) or not self._store.saving.ok:
                    self._remove_in(chat_ids[start:], deleted, UNDO)
                break
            for chat_id in gone:
                self._store.forget(chat_id)
            removed += gone
        if removed:
            await self._remove_files()
            logger.info("Chats: deleted chats were removed for good: %d.", len(removed))

    async def _remove_files(self) -> None:
        """Remove the attachments that no chat refers to, and scrub the database. What another
        program holds is tried again each minute and keeps nothing else from its removal."""
        held, failed = 0, ""
        try:
            held = await self._database.write(attachments.remove_gone)
            await self._database.scrub()
        except StoreError as error:
            failed = error.message
            logger.warning("Chats: files of deleted chats stay for now: %s", ascii(failed)[1:-1])
        if held and held != self._held_files:
            logger.warning(
                "Chats: attachments of deleted chats that another program holds: %d;"
                " they are removed later.",
                held,
            )
        self._held_files = held
        if (held or failed) and not self._waiting_for_files:
            self._waiting_for_files = True
            self._start(self._remove_files_again(), "removal of attachments")

    async def _remove_files_again(self) -> None:
        await self._sleep(UNDO.total_seconds())
        self._waiting_for_files = False
        await self._remove_files()


def _deleted(transaction: Transaction) -> list[tuple[str, datetime]]:
    """The deleted chats that are not removed yet, and when they were deleted."""
    query = select(chats.c.id, chats.c.deleted).where(chats.c.deleted.is_not(None))
    found = [(identity, stored_time(since)) for identity, since in transaction.execute(query)]
    return [(identity, since) for identity, since in found if since is not None]


def _hide(transaction: Transaction, chat_id: str, now: datetime) -> None:
    chat_rows.require(transaction, chat_id)
    values = {"deleted": time_text(now)}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def _show(transaction: Transaction, chat_id: str, earliest: datetime) -> ChatSummary:
    since = dict(_deleted(transaction)).get(chat_id)
    if since is None or since <= earliest:
        raise NotFound(f"There is no deleted chat {chat_id!r}; it can be undone for a minute.")
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(deleted=None))
    return chat_rows.require(transaction, chat_id)


def _remove(transaction: Transaction, chat_id: str, deleted: datetime) -> bool:
    """Remove the chat if it was deleted at this moment; returns whether it was."""
    if dict(_deleted(transaction)).get(chat_id) != deleted:
        return False
    attachments.let_go(transaction, chat_id)
    for rows in REMOVED_FROM:
        transaction.execute(delete(rows).where(rows.c.chat_id == chat_id))
    transaction.execute(delete(chats).where(chats.c.id == chat_id))
    transaction.execute(delete(kept_rows).where(kept_rows.c.chat_id == chat_id))
    transaction.damaged.forget(chat_id)
    return True
