"""A SQLite database in memory, for writes that a file rejects."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...errors import StoreError
from ..port import Result, Work
from .damage import reason_of
from .engines import FAILURES, memory_engine
from .transaction import SqliteTransaction


class InMemorySqlite:
    """`InMemory` for any thread: one transaction at a time, each short."""

    def __init__(self, make_tables: Work[None], folder: Path | None = None) -> None:
        self._make_tables = make_tables
        self._folder = folder
        self._lock = threading.RLock()
        self._made = False
        self._begin()
        # One thread, so that works are done in the order of the calls.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="assistant-memory")

    def run(self, work: Work[Result]) -> Result:
        with self._lock:
            if not self._made:
                self._transact(self._make_tables)
                self._made = True
            return self._transact(work)

    async def write(self, work: Work[Result]) -> Result:
        return await self._in_thread(lambda: self.run(work))

    async def read(self, work: Work[Result]) -> Result:
        return await self._in_thread(lambda: self._read(work))

    def clear(self) -> None:
        with self._lock:
            self._end()
            self._begin()

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        with self._lock:
            self._end()

    def _begin(self) -> None:
        self._engine = engine = memory_engine()
        self._made = False
        # Closes the connection also of a database that its user let go of.
        self._end = weakref.finalize(self, engine.dispose)

    def _read(self, work: Work[Result]) -> Result:
        with self._lock:
            self.run(lambda _transaction: None)
            self._pragma("query_only=ON")
            try:
                return self._transact(work)
            finally:
                self._pragma("query_only=OFF")

    def _transact(self, work: Work[Result]) -> Result:
        try:
            with self._engine.begin() as connection:
                return work(SqliteTransaction(connection, self._folder, in_memory=True))
        except FAILURES as error:
            raise StoreError(f"The database in memory failed: {reason_of(error)}") from error

    def _pragma(self, text: str) -> None:
        with self._engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA {text}")

    async def _in_thread(self, call: Callable[[], Result]) -> Result:
        future = asyncio.get_running_loop().run_in_executor(self._thread, call)
        # Shielded: a write that was called happens even if its caller is cancelled.
        return await asyncio.shield(future)
