"""Real faults of a database's file, and a clock that tests set."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing

from plugin.assistant.chats import ChatStore
from plugin.assistant.chats.failover.failover import RETRY_SECONDS
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite.engines import driver_of

ENOUGH_PAGES = 1_000_000
PAGE = 4096


class Retries:
    """The store's waits between two attempts to save; each takes as long as a test wants."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._now = 0.0
        self._over = asyncio.Event()
        self._changed = asyncio.Event()
        store.failover._sleep = self._sleep
        store.failover._clock = lambda: self._now
        store.failover.changed.append(self._changed.set)

    async def _sleep(self, seconds: float) -> None:
        await self._over.wait()
        self._over.clear()

    def due(self) -> None:
        """Lets the next attempt begin now."""
        self._now += RETRY_SECONDS
        self._over.set()

    async def until_saved(self) -> None:
        while not self._store.saving.ok:
            self._changed.clear()
            self.due()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 5)


@asynccontextmanager
async def locked(database: SqliteDatabase) -> AsyncIterator[None]:
    """Locks the file, as another process does while it writes."""
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


@asynccontextmanager
async def read_only(database: SqliteDatabase) -> AsyncIterator[None]:
    """Makes SQLite refuse writes: the tests' user may write any file, whatever its rights."""
    await _pragma(database, "query_only=ON")
    try:
        yield
    finally:
        await _pragma(database, "query_only=OFF")


@asynccontextmanager
async def full(database: SqliteDatabase) -> AsyncIterator[None]:
    """Limits the file to its present size, like a full disk."""
    await _pragma(database, "max_page_count=1")  # SQLite makes it the number of pages there are
    try:
        yield
    finally:
        await _pragma(database, f"max_page_count={ENOUGH_PAGES}")


FAULTS: dict[str, Callable[[SqliteDatabase], AbstractAsyncContextManager[None]]] = {
    "locked": locked,
    "read-only": read_only,
    "full": full,
}
LARGE = "word " * 20_000
"""A text that certainly needs another page."""


async def damage(database: SqliteDatabase, keep_pages: int = 1) -> None:
    """Write garbage over the file, but for its first pages; the pages of the WAL go there first."""
    await database.scrub()
    content = await asyncio.to_thread(database.path.read_bytes)
    kept = PAGE * keep_pages
    garbage = content[:kept] + os.urandom(len(content) - kept)
    await asyncio.to_thread(database.path.write_bytes, garbage)
    await _pragma(database, "shrink_memory")  # empties the page cache


async def _pragma(database: SqliteDatabase, text: str) -> None:
    def work() -> None:
        driver_of(database._connection()).execute(f"PRAGMA {text}").fetchall()

    await database.in_writer(work)
