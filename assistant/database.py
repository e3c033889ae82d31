"""The SQLite file: one writer thread, a few reader threads, an async surface.

    database = Database(path)
    await database.create(metadata)                    tables, by the room that owns them
    await database.write(lambda connection: ...)       one transaction, in the order of the calls
    await database.read(lambda connection: ...)        one consistent view, never blocks the writer
    await database.close()

The functions get a SQLAlchemy Core connection, run in a thread, and must return plain values (no
cursor, no row iterator). What the tables mean is the business of `chats`, `memory` and
`user_context`; this module knows none of them.

The file is opened at the first use, not before, so that building a `Database` costs nothing on the
event loop. When opening fails (a full disk, a missing right) the next call tries again. A file that
is damaged is renamed, never overwritten, and an empty one takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import Connection, Engine, MetaData
from sqlalchemy.exc import SQLAlchemyError

from .errors import StoreError

log = logging.getLogger("comfyui_assistant")

Given = TypeVar("Given")
Result = TypeVar("Result")
Work = Callable[[Connection], Result]

READERS = 4
"""Reader threads. A page of a chat takes milliseconds, so more would only hold more memory."""
BUSY_SECONDS = 5.0
"""How long SQLite waits for another process that is writing, before it says `locked`."""
OWNER_ONLY = 0o600

# SQLite's wordings, and what a user can do about them.
_WORDS = (
    ("database or disk is full", "the disk is full; make room and it goes on by itself"),
    ("readonly", "the file is read-only; allow ComfyUI to write it"),
    ("locked", "another process is writing it; close the other ComfyUI or wait"),
    ("unable to open", "the file cannot be opened; check the folder and its permissions"),
    ("malformed", "the file is damaged; restart ComfyUI and it is set aside"),
    ("not a database", "the file is damaged; restart ComfyUI and it is set aside"),
)


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True, slots=True)
class _Engines:
    writer: Engine
    reader: Engine


class Database:
    """One SQLite file in WAL mode. Safe to use from one event loop; all methods but `close` raise
    `StoreError`, and what `work` itself raises after the transaction was rolled back.

    `problem` is None, or the sentence that says why the last write or the opening failed.
    `set_aside` is where a damaged file went when this one was opened, or None.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.path = path
        self.problem: str | None = None
        self.set_aside: Path | None = None
        self._clock = clock
        self._engines: _Engines | None = None
        self._closed = False
        self._opening = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="assistant-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="assistant-reader")

    async def create(self, metadata: MetaData) -> None:
        """Create those of the tables that do not exist yet."""
        await self.write(metadata.create_all)

    async def write(self, work: Work[Result]) -> Result:
        """Run `work` in one transaction in the writer thread; durable when this returns.

        Writes happen in the order of the calls, and a write that was handed over happens even if
        the caller is cancelled meanwhile: half of what a turn did must not be lost with the turn.
        """
        return await asyncio.shield(self._hand_over(self._writer, self._write, work))

    async def scrub(self) -> bool:
        """Fold the write-ahead log into the file and empty it: what was deleted is in neither then.

        Says whether it was done; not while a reader looks at an older state. What is left then is
        folded by the next call, or when the file is closed."""
        return await self._hand_over(self._writer, self._scrub, None)

    async def read(self, work: Work[Result]) -> Result:
        """Run `work` on one consistent view of all that was written; it cannot write."""
        return await self._hand_over(self._readers, self._read, work)

    async def close(self) -> None:
        """Finish the writes that were handed over, then close the file; again does nothing."""
        self._closed = True
        await asyncio.to_thread(self._close)

    def _hand_over(
        self, threads: ThreadPoolExecutor, run: Callable[[Given], Result], work: Given
    ) -> asyncio.Future[Result]:
        if self._closed:
            raise StoreError(f"{self.path.name} is closed.")
        return asyncio.get_running_loop().run_in_executor(threads, run, work)

    def _write(self, work: Work[Result]) -> Result:
        try:
            with self._open().writer.begin() as connection:
                result = work(connection)
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            self.problem = _sentence(self.path, "written", error)
            log.warning("Database: %s", ascii(self.problem)[1:-1])
            raise StoreError(self.problem) from error
        self.problem = None
        return result

    def _scrub(self, _nothing: None) -> bool:
        try:
            with closing(self._open().writer.raw_connection()) as connection:
                cursor = connection.cursor()
                busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                cursor.close()
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise StoreError(_sentence(self.path, "written", error)) from error
        return not busy

    def _read(self, work: Work[Result]) -> Result:
        try:
            with self._open().reader.begin() as connection:
                return work(connection)
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise StoreError(_sentence(self.path, "read", error)) from error

    def _open(self) -> _Engines:
        with self._opening:
            if self._engines is None:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if self.path.exists() and _is_damaged(self.path):
                    self.set_aside = _set_aside(self.path, self._clock())
                    log.error(
                        "Database: %s was damaged; it is kept as %s and a new one begins.",
                        ascii(self.path.name),
                        ascii(self.set_aside.name),
                    )
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
                os.chmod(self.path, OWNER_ONLY)
                self._engines = _Engines(_engine(self.path, 1), _engine(self.path, READERS, True))
            return self._engines

    def _close(self) -> None:
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        with self._opening:
            if self._engines is not None:
                # The writer last: SQLite then folds the WAL into the file.
                self._engines.reader.dispose()
                self._engines.writer.dispose()
                self._engines = None


def _engine(path: Path, connections: int, read_only: bool = False) -> Engine:
    url = sqlalchemy.URL.create("sqlite", database=str(path))
    engine = sqlalchemy.create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @sqlalchemy.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # Python's own transactions begin late and not at all for DDL; we say BEGIN ourselves.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys=ON")
        if read_only:
            connection.execute("PRAGMA query_only=ON")
        else:
            connection.execute("PRAGMA journal_mode=WAL")
            # FULL, since the panel is told "stored" only after the commit reached the disk.
            connection.execute("PRAGMA synchronous=FULL")
            # What is deleted is overwritten: a chat's text must not stay in pages that are free.
            connection.execute("PRAGMA secure_delete=ON")

    @sqlalchemy.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def _is_damaged(path: Path) -> bool:
    """Whether SQLite finds damage. Raises `sqlite3.OperationalError` when it cannot tell."""
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as connection:
        try:
            answer: object = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return True
    return answer != ("ok",)


def _set_aside(path: Path, now: datetime) -> Path:
    """Rename the file, with what SQLite keeps beside it, to a name that is free; say which."""
    stem = f"{path.name}.damaged-{now:%Y%m%dT%H%M%SZ}"
    number, target = 1, path.with_name(stem)
    while target.exists():
        number += 1
        target = path.with_name(f"{stem}-{number}")
    for suffix in ("-wal", "-shm"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(target.with_name(target.name + suffix))
    return path.rename(target)


def _sentence(path: Path, verb: str, error: Exception) -> str:
    """What went wrong with the file, and what to do, without SQL and without parameters."""
    text = str(getattr(error, "orig", None) or error)
    reason = next((words for wording, words in _WORDS if wording in text.lower()), text)
    return f"{path.name} could not be {verb}: {reason}."
