"""The operations that every database offers to the stores.

    await database.migrate(tables)                     tables, by the store that owns them
    await database.write(lambda transaction: ...)      one transaction, in the order of the calls
    await database.read(lambda transaction: ...)       one consistent state, never blocks a writer
    await database.close()

A work is a function that gets a `Transaction`, runs in a thread of the database and returns plain
values (no cursor, no row iterator). These docstrings are the contract; `tests/database` runs it
against every implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..errors import FileFailed, Problem
from .damaged_rows import DamagedRows
from .tables import StoreTables
from .transaction import Transaction

Result = TypeVar("Result")
Work = Callable[[Transaction], Result]


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


class Fallback(Protocol):
    """Runs a caller's works elsewhere while the database fails. Called in the writer's thread."""

    def elsewhere(self) -> bool:
        """Whether the database is not to be asked at all."""

    def run(self, work: Work[Any], error: FileFailed | None) -> Any:
        """The work's result, made elsewhere; `error` says how the database failed, None where it
        was not asked."""


class Transactions(Protocol):
    """Transactions on tables, wherever these are. Every method raises the errors of `work`, after a
    rollback."""

    async def write(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction. Writes happen in the order of the calls, and a write that
        was called happens even if its caller is cancelled: half of a turn's writes must not be
        lost with the turn."""

    async def read(self, work: Work[Result]) -> Result:
        """Run `work` on one consistent state of the written data. Raises StoreError when it tries
        to write."""


class InMemory(Transactions, Protocol):
    """A database in memory with the same tables, for writes that the database on the disk rejects.
    It is gone with its object."""

    def run(self, work: Work[Result]) -> Result:
        """`write` in the calling thread, which may be any thread."""

    def clear(self) -> None:
        """Drop everything, and free the memory."""

    def close(self) -> None:
        """`clear`, and end its thread; nothing may be called after."""


class Database(Protocol):
    """A database on a disk. All async methods but `close` raise `StoreError` (`FileFailed` where
    the database itself is at fault), and the errors of `work`, after the transaction was rolled
    back.

    `problem` is None, or the sentence that says why the last write or the opening failed.
    `set_aside` is the place that a damaged database was moved to, or None. `generation` grows
    whenever another database takes the place of the open database. `folder` is where files lie that
    belong to the database. `damaged` are the damaged rows that were found.

    Nothing is opened before the first use. When opening fails (a full disk, a missing right) the
    next call tries again. Damaged data are set aside, never overwritten, and an empty database
    takes their place.
    """

    problem: str | None
    set_aside: Path | None
    generation: int
    damaged: DamagedRows

    @property
    def folder(self) -> Path: ...

    def problems(self) -> tuple[Problem, ...]:
        """What the user should know about the place and the rows of the database, but for `problem`
        and `set_aside`."""

    async def migrate(self, tables: StoreTables) -> None:
        """Make or bring up to date the tables of a store; again in a database that takes the place
        of a damaged database, with the rows of that one where `tables.salvaged`."""

    async def write(self, work: Work[Result], fallback: Fallback | None = None) -> Result:
        """`Transactions.write`; the written data are on the disk when this returns.

        Several writes that wait become one transaction, in which each succeeds or fails alone; if
        the database fails then, each is tried again, so `work` changes nothing but the database.
        `fallback` runs the work where the database does not."""

    async def read(self, work: Work[Result]) -> Result:
        """`Transactions.read`; does not wait for a write."""

    async def in_writer(self, call: Callable[[], Result]) -> Result:
        """Run `call` between two transactions in the writer's thread, where it may use `write_now`
        and `read_now`."""

    async def in_reader(self, call: Callable[[], Result]) -> Result:
        """Run `call` in a reader's thread, where it may use `read_now`."""

    def write_now(self, work: Work[Result]) -> Result:
        """`write`, called in the writer's thread itself."""

    def read_now(self, work: Work[Result]) -> Result:
        """`read`, in the calling thread."""

    def salvage_now(self, work: Work[Result]) -> Result:
        """Run `work`, which only reads, on the damaged data that were set aside."""

    def in_memory(self, make_tables: Work[None]) -> InMemory:
        """A new database in memory; `make_tables` is run before its first work."""

    async def scrub(self) -> bool:
        """Remove deleted data from all files of the database, logs included. Returns whether that
        was done; while a reader reads an older state, the removal waits for the next call."""

    async def close(self) -> None:
        """Finish the writes that were called, then close; again does nothing."""
