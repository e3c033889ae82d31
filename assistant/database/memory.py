"""A SQLite database in memory, for what a file does not take now."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from .engines import Result, Work, memory_engine


class InMemoryDatabase:
    """The same tables, for any thread: one transaction at a time, each short."""

    def __init__(self, make_tables: Work[None], folder: Path | None = None) -> None:
        self._make_tables = make_tables
        self._folder = folder
        self._lock = threading.RLock()
        self._engine = memory_engine(folder)
        self._made = False

    def run(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction; what it raises comes through after a rollback."""
        with self._lock:
            if not self._made:
                with self._engine.begin() as connection:
                    self._make_tables(connection)
                self._made = True
            with self._engine.begin() as connection:
                return work(connection)

    async def write(self, work: Work[Result]) -> Result:
        return await asyncio.to_thread(self.run, work)

    async def read(self, work: Work[Result]) -> Result:
        return await asyncio.to_thread(self.run, work)

    def clear(self) -> None:
        """Forget everything, and give the memory back."""
        with self._lock:
            self._engine.dispose()
            self._engine = memory_engine(self._folder)
            self._made = False
