"""SQLAlchemy's engines for SQLite: with explicit transactions and durable commits."""

from __future__ import annotations

import sqlite3
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final, cast
from urllib.parse import quote

import sqlalchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

BUSY_SECONDS: Final = 5.0
"""How long SQLite waits for another process that writes before it raises `locked`."""
FAILURES: Final = (SQLAlchemyError, sqlite3.Error, OSError)
"""Errors of the database, as against errors that a work raises itself."""
READERS_END_SECONDS: Final = 2.0
"""How long to wait for the reads of a file that is to be closed; a page takes milliseconds."""
JOURNAL: Final = "wal"
"""The journal mode: readers and the writer do not wait for each other."""


class Closed(Exception):
    """The file was closed between two calls of its user, who opens it again."""


class OpenFile:
    """A file as it is open: the engine that writes, and the engine that reads.

    After `close` no connection is left open, so that the file can be renamed: Windows renames no
    file that a process has open. `told_journal` gets the journal mode that SQLite took."""

    def __init__(self, path: Path, readers: int, told_journal: Callable[[str], None]) -> None:
        self.writer = writing_engine(path, told_journal)
        self._reader = reading_engine(path, readers)
        self._lock = threading.Condition()
        self._reading = 0
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection of the reading engine. Raises Closed."""
        with self._lock:
            if self._closed:
                raise Closed
            self._reading += 1
        connection: Connection | None = None
        try:
            connection = self._reader.connect()
            yield connection
        finally:
            with self._lock:
                self._reading -= 1
                if connection is not None:
                    if self._is_closed():  # meanwhile
                        # A pool that was disposed keeps a connection that comes back to it.
                        connection.invalidate()
                    connection.close()
                self._lock.notify_all()

    def _is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Close all connections but the writer's, which its user closed before."""
        with self._lock:
            self._closed = True
            self._reader.dispose()
            self._lock.wait_for(lambda: self._reading == 0, READERS_END_SECONDS)
        self.writer.dispose()


def _ignored(journal: str) -> None:
    """Nobody needs to know the journal mode."""


def writing_engine(path: Path, told_journal: Callable[[str], None] = _ignored) -> Engine:
    """An engine with one connection, for the thread that writes. `told_journal` gets the journal
    mode that SQLite took."""
    return _engine(path, 1, partial(_writing, told_journal), "BEGIN IMMEDIATE")


def reading_engine(path: Path, connections: int, as_it_is: bool = False) -> Engine:
    """An engine whose connections cannot write; `as_it_is` opens the file read-only, for a damaged
    file."""
    return _engine(path, connections, _reading, "BEGIN", as_it_is)


def memory_engine() -> Engine:
    """An engine for a database in memory, which is gone with its one connection."""
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    _prepare(engine, _common, "BEGIN")
    return engine


def uri_of(path: PurePath) -> str:
    """The path as a URI for SQLite, which takes no server's name in a URI: the name of a Windows
    share (`\\\\server\\share`) is a part of the path."""
    text = path.as_posix()
    return "file://" + quote(text if text.startswith("/") else f"/{text}", safe="/:")


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The driver's connection, for SQLite's own commands."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def decoded(text: bytes) -> str:
    """A text that may be no UTF-8, with marks in the place of what is wrong: a connection's
    `text_factory`."""
    return text.decode("utf-8", "replace")


def let_go_of_cursors(error: BaseException) -> None:
    """Clear the calls that the error came through. A cursor in one of them would keep its
    connection's file open after the connection was closed, for as long as the error is kept."""
    seen: BaseException | None = error
    while seen is not None:
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__


def _engine(
    path: Path,
    connections: int,
    prepare: Callable[[sqlite3.Connection], None],
    begin: str,
    as_it_is: bool = False,
) -> Engine:
    url = sqlalchemy.URL.create("sqlite", database=str(path))
    if as_it_is:
        query = {"mode": "ro", "uri": "true"}
        url = sqlalchemy.URL.create("sqlite", database=uri_of(path.absolute()), query=query)
    engine = sqlalchemy.create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )
    _prepare(engine, prepare, begin)
    return engine


def _prepare(engine: Engine, prepare: Callable[[sqlite3.Connection], None], begin: str) -> None:
    @sqlalchemy.event.listens_for(engine, "connect")
    def connected(connection: Any, record: Any) -> None:
        prepare(connection)

    @sqlalchemy.event.listens_for(engine, "begin")
    def begins(connection: Connection) -> None:
        driver_of(connection).execute(begin)


def _common(connection: sqlite3.Connection) -> None:
    # Python's own transactions begin late, and not at all for DDL; `begins` sends BEGIN instead.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")


def _reading(connection: sqlite3.Connection) -> None:
    _common(connection)
    connection.execute("PRAGMA query_only=ON")


def _writing(told_journal: Callable[[str], None], connection: sqlite3.Connection) -> None:
    _common(connection)
    (journal,) = connection.execute(f"PRAGMA journal_mode={JOURNAL}").fetchone()
    told_journal(str(journal))
    # FULL: a write is confirmed only after the commit reached the disk.
    connection.execute("PRAGMA synchronous=FULL")
    # On macOS, fsync alone leaves the data in the disk's own cache; elsewhere these do nothing.
    connection.execute("PRAGMA fullfsync=ON")
    connection.execute("PRAGMA checkpoint_fullfsync=ON")
    # Deleted content is overwritten: a chat's text must not stay in free pages.
    connection.execute("PRAGMA secure_delete=ON")
