"""The SQLite file: one writer thread and a few reader threads behind the database port.

The file is in WAL mode, so that readers and the writer do not wait for each other, and a commit is
on the disk when it returns. The file is opened at the first use: building a `SqliteDatabase` costs
nothing on the event loop. A damaged file is renamed when it is opened, or as soon as SQLite finds
the damage, and an empty file takes its place. Before a file is renamed no connection to it is left
open, and the writer's thread closes the writer's connection, so the file is closed there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from ...errors import FileFailed, Problem, StoreError
from ...files import make_file, make_folder
from ..damaged_rows import DamagedRows
from ..port import Fallback, Result, Work, utc_now
from ..tables import StoreTables, migrate
from ..transaction import Transaction
from .damage import is_damage, is_damaged, is_the_files, is_undecodable, sentence, set_aside
from .engines import (
    BUSY_SECONDS,
    FAILURES,
    JOURNAL,
    Closed,
    OpenFile,
    decoded,
    driver_of,
    let_go_of_cursors,
    reading_engine,
)
from .in_memory import InMemorySqlite
from .place import problems_of
from .salvage import Salvage
from .transaction import SqliteTransaction
from .writer import Job, WriterThread

log = logging.getLogger("comfyui_assistant")

READERS: Final = 4
"""Reader threads. A page of a chat takes milliseconds, so more would only hold more memory."""
IMPATIENT_SECONDS: Final = 0.2
"""How long to wait for another process after a write failed: other callers wait meanwhile."""


class SqliteDatabase:
    """`Database` in one SQLite file."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.path = path
        self.problem: str | None = None
        self.set_aside: Path | None = None
        self.generation = 0
        self.damaged = DamagedRows()
        self._clock = clock
        self._engines: OpenFile | None = None
        # The writer's own connection and its engines; used in the writer's thread only.
        self._writing: tuple[OpenFile, Connection] | None = None
        # The busy timeout of that connection in seconds, None where it was not set.
        self._patience: float | None = None
        self._file: tuple[int, int] | None = None
        self._tables: list[StoreTables] = []
        self._salvage = Salvage()
        self._doubted = False
        # Whether a text in the file is no UTF-8: from then on each such text is read with marks in
        # the place of what is wrong.
        self._undecodable = False
        self._journal: str | None = None
        self._closed = False
        self._opening = threading.Lock()
        self._writer = WriterThread(self._perform)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="assistant-reader")

    @property
    def folder(self) -> Path:
        return self.path.parent

    def problems(self) -> tuple[Problem, ...]:
        place = problems_of(self.path.absolute(), self._journal, JOURNAL)
        return (*place, *self.damaged.problems(self.path.name))

    async def migrate(self, tables: StoreTables) -> None:
        if tables not in self._tables:
            self._tables.append(tables)
        await self.write(lambda transaction: self._make(transaction, tables))
        self._salvage.done(self.set_aside, tables)

    def in_memory(self, make_tables: Work[None]) -> InMemorySqlite:
        return InMemorySqlite(make_tables, self.folder)

    async def write(self, work: Work[Result], fallback: Fallback | None = None) -> Result:
        result: Result = await self._hand_over(work, fallback=fallback)
        return result

    async def in_writer(self, call: Callable[[], Result]) -> Result:
        result: Result = await self._hand_over(call, alone=True)
        return result

    async def scrub(self) -> bool:
        """Fold the write-ahead log into the file and empty the log, which `close` does too."""
        return await self.in_writer(self._scrub)

    async def read(self, work: Work[Result]) -> Result:
        return await self.in_reader(lambda: self.read_now(work))

    async def in_reader(self, call: Callable[[], Result]) -> Result:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    async def close(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._close)

    def write_now(self, work: Work[Result]) -> Result:
        try:
            result = self._decoding(lambda: self._write(work))
        except FAILURES as error:
            raise self._failed("written", error) from error
        self.problem = None
        return result

    def read_now(self, work: Work[Result]) -> Result:
        while True:
            try:
                return self._decoding(lambda: self._read(work))
            except Closed:  # by the writer's thread, between two steps here
                continue
            except FAILURES as error:
                raise self._error("read", error) from error

    def _write(self, work: Work[Result]) -> Result:
        # While the file fails, other callers wait behind each attempt.
        patience = BUSY_SECONDS if self.problem is None else IMPATIENT_SECONDS
        connection = self._connection()
        if patience != self._patience:
            driver_of(connection).execute(f"PRAGMA busy_timeout={int(patience * 1000)}")
            self._patience = patience
        self._choose_decoding(connection)
        with connection.begin():
            return work(self._transaction(connection))

    def _read(self, work: Work[Result]) -> Result:
        with self._open().reading() as connection:
            self._choose_decoding(connection)
            with connection.begin():
                return work(self._transaction(connection))

    def _transaction(self, connection: Connection) -> SqliteTransaction:
        return SqliteTransaction(connection, self.folder, damaged=self.damaged)

    def _decoding(self, transact: Callable[[], Result]) -> Result:
        """Run a transaction, again where it came upon a text that is no UTF-8: one such text must
        not hide all other rows."""
        try:
            return transact()
        except FAILURES as error:
            if self._undecodable or not is_undecodable(error):
                raise
            self._undecodable = True
            self.damaged.note("texts", None)
        return transact()

    def _choose_decoding(self, connection: Connection) -> None:
        if self._undecodable:
            driver_of(connection).text_factory = decoded

    def salvage_now(self, work: Work[Result]) -> Result:
        assert self.set_aside is not None, "no file was set aside"
        engine = reading_engine(self.set_aside, 1, as_it_is=True)
        try:
            with engine.begin() as connection:
                driver_of(connection).text_factory = decoded
                return work(SqliteTransaction(connection, self.folder))
        except FAILURES as error:
            raise FileFailed(sentence(self.set_aside, "read", error), damaged=True) from error
        finally:
            engine.dispose()

    async def _hand_over(
        self, work: Callable[..., Any], fallback: Fallback | None = None, alone: bool = False
    ) -> Any:
        self._check_open()
        done = asyncio.get_running_loop().create_future()
        self._writer.submit(Job(work, done, fallback, alone))
        return await done

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path.name} is closed.")

    def _perform(self, jobs: Sequence[Job]) -> None:
        """Run all waiting jobs in as few transactions as possible. In the writer's thread."""
        together: list[Job] = []
        for job in jobs:
            if job.alone or (job.fallback is not None and _is_elsewhere(job)):
                self._write_together(together)
                together = []
                self._perform_alone(job)
            else:
                together.append(job)
        self._write_together(together)

    def _perform_alone(self, job: Job) -> None:
        try:
            if job.alone:
                job.result = job.work()
            elif job.fallback is None:
                job.result = self.write_now(job.work)
            elif job.fallback.elsewhere():
                job.result = job.fallback.run(job.work, None)
            else:
                try:
                    job.result = self.write_now(job.work)
                except FileFailed as error:
                    job.result = job.fallback.run(job.work, error)
        except BaseException as error:
            job.error = error

    def _write_together(self, jobs: Sequence[Job]) -> None:
        if len(jobs) > 1:
            try:
                self.write_now(lambda transaction: _each(transaction, jobs))
                return
            except Exception as error:  # which job failed shows when each is tried alone
                log.debug("A group of writes failed: %s", ascii(str(error)))
        for job in jobs:
            job.error = None
            self._perform_alone(job)

    def _connection(self) -> Connection:
        """The writer's connection to the file as it is open now."""
        if self._engines is not None and _identity(self.path) != self._file:
            # Another process has set the file aside, or the file was removed.
            self._let_go()
        engines = self._open()
        if self._writing is None or self._writing[0] is not engines:
            self._drop_connection()
            self._writing = engines, engines.writer.connect()
            self._patience = None
        return self._writing[1]

    def _drop_connection(self) -> None:
        if self._writing is not None:
            connection = self._writing[1]
            self._writing = None
            # Closed itself, and not only given back to its pool.
            connection.invalidate()
            connection.close()

    def _failed(self, verb: str, error: Exception) -> StoreError:
        self._drop_connection()
        failed = self._error(verb, error)
        if isinstance(failed, FileFailed):
            if failed.message != self.problem:
                log.warning("Database: %s", ascii(failed.message)[1:-1])
            self.problem = failed.message
        return failed

    def _error(self, verb: str, error: Exception) -> StoreError:
        """The error to raise; after damage the file is closed and checked anew."""
        said = sentence(self.path, verb, error)
        if not is_the_files(error):
            return StoreError(said)
        if is_damage(error):
            self._doubted = True
            let_go_of_cursors(error)
            if self._writer.is_here:
                self._let_go()
            else:
                self._writer.submit(Job(self._let_go, None, alone=True))
        return FileFailed(said, damaged=is_damage(error))

    def _scrub(self) -> bool:
        try:
            cursor = driver_of(self._connection()).execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy, *_ = cursor.fetchone()
        except FAILURES as error:
            raise FileFailed(sentence(self.path, "written", error)) from error
        return not busy

    def _open(self) -> OpenFile:
        with self._opening:
            if self._engines is None:
                make_folder(self.path.parent)
                if self.path.exists() and is_damaged(self.path, BUSY_SECONDS, self._doubted):
                    self.set_aside = set_aside(self.path, self._clock())
                    log.error(
                        "Database: %s was damaged; it is kept as %s and a new one begins.",
                        ascii(self.path.name),
                        ascii(self.set_aside.name),
                    )
                make_file(self.path)
                opened = OpenFile(self.path, READERS + 1, self._note_journal)
                found = _identity(self.path)
                if self._file is not None and self._file != found:
                    self._begin_anew(opened)
                    self.generation += 1
                    self.damaged = DamagedRows()  # of the other file
                self._file, self._doubted = found, False
                self._engines = opened
            return self._engines

    def _begin_anew(self, opened: OpenFile) -> None:
        """Make the tables of all stores in a file that takes the place of another."""
        try:
            with opened.writer.begin() as connection:
                for tables in self._tables:
                    self._make(SqliteTransaction(connection, self.folder), tables)
        except BaseException:
            opened.close()
            raise
        for tables in self._tables:
            self._salvage.done(self.set_aside, tables)

    def _make(self, transaction: Transaction, tables: StoreTables) -> None:
        """Make a store's tables, with what it had in a file that was set aside."""
        migrate(transaction, tables)
        self._salvage.into(transaction, self.set_aside, tables)

    def _note_journal(self, journal: str) -> None:
        if journal != JOURNAL and journal != self._journal:
            log.warning("Database: the journal of %s is %s.", ascii(self.path.name), ascii(journal))
        self._journal = journal

    def _let_go(self) -> None:
        """Close the file, so that the next call checks it for damage and opens it anew. In the
        writer's thread."""
        with self._opening:
            self._doubted = True
            self._drop_connection()
            if self._engines is not None:
                self._engines.close()
                self._engines = None

    def _close(self) -> None:
        self._writer.close()
        self._readers.shutdown(wait=True)
        with self._opening:
            if self._engines is not None:
                # The connection that is closed last folds the WAL into the file.
                self._drop_connection()
                self._engines.close()
                self._engines = None


def _identity(path: Path) -> tuple[int, int] | None:
    """Identifies the file at this path: another file at the same path has another identity."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_elsewhere(job: Job) -> bool:
    try:
        return bool(job.fallback.elsewhere())
    except BaseException as error:
        job.error = error
        return True


def _each(transaction: Transaction, jobs: Sequence[Job]) -> None:
    """Run each work in the transaction; an error of one work undoes only that work."""
    driver = driver_of(transaction.connection)
    for job in jobs:
        job.error = None
        driver.execute("SAVEPOINT job")
        try:
            job.result = job.work(transaction)
        except FAILURES:
            raise
        except BaseException as error:
            job.error = error
            driver.execute("ROLLBACK TO job")
        driver.execute("RELEASE job")
