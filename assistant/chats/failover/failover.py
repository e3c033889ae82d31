"""Where each chat is kept: in the file or, while that fails, in memory (R33).

When the file rejects a write, the whole chat is copied into memory and the write is done there; so
are the chat's further reads and writes. As soon as the file takes writes again, the rows that it
lacks are added to it and the chat leaves memory. Only `saving` shows the difference: it says that
chats are not saved, and why. After damage, the new file gets every chat that can be read in the
damaged file.

Only the writer's thread moves chats; a reader looks where a chat is at that moment.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from ...database import Database, Transaction, Work, utc_now
from ...errors import FileFailed, NotFound, StoreError
from .. import schema
from ..log.row_cache import RowCache
from ..log.salvage import kept_metadata
from ..search import search_index
from . import transfer

logger = logging.getLogger("comfyui_assistant")

Result = TypeVar("Result")

RETRY_SECONDS: Final = 3.0
"""How often the file is asked whether it takes writes again."""
MOST_UNSAVED_CHARS: Final = 256_000_000
"""Longest log in memory, of all chats together; beyond it writes are refused."""


@dataclass(frozen=True, slots=True)
class Saving:
    """Whether all chats are saved; `message` says why not, and what the user can do."""

    ok: bool = True
    message: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"ok": True} if self.ok else {"ok": False, "message": self.message}


class Failover:
    """The chats of one database file, and the chats that are in memory (`held`).

    `prepare` makes the file's tables, before any other work on the file; `cache` has the current
    path of some chats. For one event loop; each function in `changed` is called there when `saving`
    changes.
    """

    def __init__(
        self,
        database: Database,
        prepare: Work[Any],
        cache: RowCache,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        most_chars: int = MOST_UNSAVED_CHARS,
    ) -> None:
        self.memory = database.in_memory(_make_tables)
        self.held: frozenset[str] = frozenset()
        self.changed: list[Callable[[], None]] = []
        self._database = database
        self._prepare = prepare
        self._cache = cache
        self._clock = clock
        self._sleep = sleep
        self._most_chars = most_chars
        # The result of `prepare` alone, or nothing; replaced as a whole, since threads share it.
        self._prepared: tuple[Any, ...] = ()
        # The file that `prepare` was run on, and the damaged file that was salvaged into it.
        self._generation = database.generation
        self._salvaged: Path | None = None
        self._retry_at = 0.0
        self._announced = Saving()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._retrying: asyncio.Task[None] | None = None

    @property
    def saving(self) -> Saving:
        problem = self._database.problem
        if problem is None and not self.held:
            return Saving()
        reason = problem or "The chats' file could not be written a moment ago."
        return Saving(False, f"{reason} Until it can be, what is said is kept in memory only.")

    @property
    def ready(self) -> bool:
        """Whether `prepare` was run."""
        return bool(self._prepared) and self._generation == self._database.generation

    async def prepare(self) -> Any:
        """Run `prepare` on the file, unless that was done; returns its result. Raises FileFailed
        when the file cannot be written; a later call tries again."""
        kept = self._prepared
        return kept[0] if kept and self.ready else await self._in_writer(self._prepare_now)

    async def write(self, chat_id: str, work: Work[Result]) -> Result:
        """Run `work`, which writes this chat (and chats that it makes) only, in one transaction,
        wherever the chat is kept."""
        self._loop = asyncio.get_running_loop()
        return await self._database.write(work, fallback=_Fallback(self, chat_id))

    async def read(self, chat_id: str, work: Work[Result]) -> Result:
        """Run `work`, which reads this chat, wherever it is kept."""
        if chat_id in self.held:
            return await self._database.in_reader(lambda: self._read_held(chat_id, work))
        try:
            return await self._database.read(work)
        except FileFailed as error:
            failed = error
        return await self._in_writer(lambda: self._read_elsewhere(chat_id, work, failed))

    async def read_file(self, work: Callable[[Transaction, frozenset[str]], Result]) -> Result:
        """Run `work` on the file; it also gets the ids of the chats in memory, which the file may
        have too, in an older state."""
        return await self._database.read(lambda transaction: work(transaction, self.held))

    async def close(self) -> None:
        """Try for the last time to save the chats in memory."""
        if self._retrying is not None:
            self._retrying.cancel()
            await asyncio.gather(self._retrying, return_exceptions=True)
        if self.held:
            self._retry_at = 0.0
            await self._in_writer(self._bring_back)
        if self.held:
            logger.error("Chats: what was said last in %d chats is not saved.", len(self.held))
        await asyncio.to_thread(self.memory.close)

    async def _in_writer(self, call: Callable[[], Result]) -> Result:
        self._loop = asyncio.get_running_loop()
        return await self._database.in_writer(call)

    def _read_held(self, chat_id: str, work: Work[Result]) -> Result:
        """In a reader's thread: from memory, unless the chat is in the file again meanwhile."""

        def here(transaction: Transaction) -> tuple[bool, Result | None]:
            inside = chat_id in transfer.ids(transaction)
            return inside, work(transaction) if inside else None

        inside, result = self.memory.run(here)
        return cast(Result, result) if inside else self._database.read_now(work)

    # From here on: in the writer's thread.

    def elsewhere(self, chat_id: str) -> bool:
        """Whether the chat is not to be written to the file now."""
        return chat_id in self.held or not self.ready or self._clock() < self._retry_at

    def write_elsewhere(self, chat_id: str, work: Work[Result], error: FileFailed | None) -> Result:
        """Run a write in memory when the file rejected it with `error`, or was not asked (None); on
        the file, if the file only was not prepared."""
        if error is not None and not error.damaged and self.ready:
            self._retry_at = self._clock() + RETRY_SECONDS
        if self._clock() >= self._retry_at and chat_id not in self.held:
            try:
                self._mend(error)
                return self._database.write_now(work)
            except FileFailed as failed:
                error = failed
                self._retry_at = self._clock() + RETRY_SECONDS
        readable = self._hold(chat_id)
        if self.memory.run(transfer.chars) > self._most_chars:
            raise self._failed(error)
        try:
            return self.memory.run(work)
        except NotFound:
            if readable:
                raise
            raise self._failed(error) from None
        finally:
            self._note()

    def _read_elsewhere(self, chat_id: str, work: Work[Result], error: FileFailed) -> Result:
        """Run a read that the file failed: on a new file, else in memory."""
        try:
            if error.damaged or (self._prepared and not self.ready):
                self._mend(error)
                return self._database.read_now(work)
        except FileFailed as failed:
            error = failed
        readable = self._hold(chat_id)
        self._note()
        if chat_id not in self.held and not readable:
            raise error
        return self.memory.run(work)

    def _hold(self, chat_id: str) -> bool:
        """Copy the chat into memory: from the file, or else from the cache. Returns False when the
        file could not be read, so that memory may have less than the file."""
        if chat_id in self.held:
            return True
        readable = True
        try:
            contents = self._database.read_now(lambda c: transfer.read(c, chat_id))
        except StoreError:
            contents = transfer.known(chat_id, self._cache.rows(chat_id), utc_now())
            # A file that could never be opened counts as empty: this process wrote nothing to it.
            readable = not self._prepared
        if contents.chat is not None:
            if self.memory.run(transfer.chars) + contents.chars > self._most_chars:
                raise self._failed(None)
            self.memory.run(lambda transaction: transfer.put(transaction, contents))
        return readable

    def _mend(self, error: FileFailed | None) -> None:
        """Prepare the file again; after damage or loss of the file this makes a new file."""
        if error is not None and error.damaged:
            self._prepared = ()
        self._prepare_now()

    def _prepare_now(self) -> Any:
        """The result of `prepare`."""
        if self.ready:
            return self._prepared[0]
        made = self._database.write_now(self._prepare)
        generation, aside = self._database.generation, self._database.set_aside
        if generation != self._generation or aside != self._salvaged:
            self._salvage()
        # Only now: where the file failed, the next attempt salvages the rest.
        self._prepared, self._generation, self._salvaged = (made,), generation, aside
        return made

    def _salvage(self) -> None:
        """Add to the new file each chat that can be read in the file that was set aside, and each
        chat of the cache."""
        there = self._database.write_now(transfer.ids) | self.held
        every = self._cache.chats() | (self._rescued(transfer.ids) or frozenset())
        saved = 0
        for chat_id in sorted(every - there):
            try:
                saved += self._salvage_one(chat_id)
            except FileFailed:
                raise
            except Exception:
                logger.exception("Chats: %s is not in the new file", ascii(chat_id))
        logger.info("Chats: %d of a file that is gone are in the new one.", saved)

    def _salvage_one(self, chat_id: str) -> bool:
        """Whether anything is known of the chat."""
        contents = self._rescued(partial(transfer.read, chat_id=chat_id))
        if contents is None or contents.chat is None:
            contents = transfer.known(chat_id, self._cache.rows(chat_id), utc_now())
        if contents.chat is not None:
            back = partial(transfer.bring_back, chat_id=chat_id, contents=contents)
            self._database.write_now(back)
        return contents.chat is not None

    def _rescued(self, work: Work[Result]) -> Result | None:
        """The work's result on the file that was set aside; None where it cannot be read."""
        try:
            return None if self._database.set_aside is None else self._database.salvage_now(work)
        except StoreError:
            return None

    def _bring_back(self) -> None:
        """Save the chats in memory; stops at the first chat that the file rejects."""
        if self._clock() < self._retry_at:
            return
        try:
            self._prepare_now()
            for chat_id in sorted(self.held):
                self._bring_one_back(chat_id)
            self._database.write_now(lambda _connection: None)
        except StoreError as error:
            self._retry_at = self._clock() + RETRY_SECONDS
            if isinstance(error, FileFailed) and error.damaged:
                self._prepared = ()
        self._note()

    def _bring_one_back(self, chat_id: str) -> None:
        contents = self.memory.run(lambda transaction: transfer.read(transaction, chat_id))
        same = self._database.write_now(lambda c: transfer.bring_back(c, chat_id, contents))
        if not same and self._loop is not None:
            self._loop.call_soon_threadsafe(self._cache.forget, chat_id)

        def remove(transaction: Transaction) -> None:
            search_index.remove(transaction, chat_id)
            transfer.remove(transaction, chat_id)

        self.memory.run(remove)
        self.held = self.held - {chat_id}

    def _note(self) -> None:
        """Note which chats are in memory now, and let the loop announce it."""
        self.held = self.memory.run(transfer.ids)
        if not self.held:
            self.memory.clear()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._announce)

    def _failed(self, error: FileFailed | None) -> FileFailed:
        return error or FileFailed(self._database.problem or "The chats' file cannot be written.")

    # From here on: in the loop's thread.

    def _announce(self) -> None:
        if not self.saving.ok and (self._retrying is None or self._retrying.done()):
            self._retrying = asyncio.get_running_loop().create_task(self._retry())
        if self.saving != self._announced:
            self._announced = self.saving
            if self._announced.ok:
                logger.info("Chats: everything is saved again.")
            for changed in self.changed:
                changed()

    async def _retry(self) -> None:
        while not self.saving.ok:
            await self._sleep(RETRY_SECONDS)
            await self._in_writer(self._bring_back)


@dataclass(frozen=True, slots=True)
class _Fallback:
    """Runs a chat's write in memory when the database file rejects it."""

    failover: Failover
    chat_id: str

    def elsewhere(self) -> bool:
        return self.failover.elsewhere(self.chat_id)

    def run(self, work: Work[Any], error: FileFailed | None) -> Any:
        return self.failover.write_elsewhere(self.chat_id, work, error)


def _make_tables(transaction: Transaction) -> None:
    transaction.create(schema.metadata)
    transaction.create(kept_metadata)
    search_index.prepare(transaction)
