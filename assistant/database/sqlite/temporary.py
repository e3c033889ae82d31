"""A database without a disk: nothing of it is ever written to a file, and it is gone when it is
closed (temporary chats)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from ...errors import Problem, StoreError
from ..damaged_rows import DamagedRows
from ..port import Fallback, Result, Work
from ..tables import StoreTables, migrate
from ..transaction import Transaction
from .in_memory import InMemorySqlite


def _nothing(transaction: Transaction) -> None:
    """Tables are made by `migrate`."""


class TemporaryDatabase:
    """`Database` in memory. It cannot fail as a file does, so no fallback is ever used."""

    def __init__(self) -> None:
        self.problem: str | None = None
        self.set_aside: Path | None = None
        self.generation = 0
        self.damaged = DamagedRows()
        self._memory = InMemorySqlite(_nothing)
        self._closed = False

    @property
    def folder(self) -> Path:
        """There is none: transactions have no folder, so attachments stay in their rows."""
        raise StoreError("A database in memory has no folder.")

    def problems(self) -> tuple[Problem, ...]:
        return ()

    async def migrate(self, tables: StoreTables) -> None:
        await self.write(lambda transaction: migrate(transaction, tables))

    async def write(self, work: Work[Result], fallback: Fallback | None = None) -> Result:
        self._check_open()
        return await self._memory.write(work)

    async def read(self, work: Work[Result]) -> Result:
        self._check_open()
        return await self._memory.read(work)

    async def in_writer(self, call: Callable[[], Result]) -> Result:
        self._check_open()
        return await asyncio.to_thread(call)

    async def in_reader(self, call: Callable[[], Result]) -> Result:
        self._check_open()
        return await asyncio.to_thread(call)

    def write_now(self, work: Work[Result]) -> Result:
        return self._memory.run(work)

    def read_now(self, work: Work[Result]) -> Result:
        return self._memory.run(work)

    def salvage_now(self, work: Work[Result]) -> Result:
        raise StoreError("Nothing was set aside.")

    def in_memory(self, make_tables: Work[None]) -> InMemorySqlite:
        return InMemorySqlite(make_tables)

    async def scrub(self) -> bool:
        return True

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._memory.close)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("The database was closed.")
