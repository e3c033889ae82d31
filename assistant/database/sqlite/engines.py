"""SQLAlchemy's engines for SQLite: with explicit transactions and durable commits."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import sqlalchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

BUSY_SECONDS: Final = 5.0
"""How long SQLite waits for another process that writes before it raises `locked`."""
FAILURES: Final = (SQLAlchemyError, sqlite3.Error, OSError)
"""Errors of the database, as against errors that a work raises itself."""


def writing_engine(path: Path) -> Engine:
    """An engine with one connection, for the thread that writes."""
    return _engine(path, 1, _writing, "BEGIN IMMEDIATE")


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


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The driver's connection, for SQLite's own commands."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


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
        url = sqlalchemy.URL.create("sqlite", database=path.absolute().as_uri(), query=query)
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


def _writing(connection: sqlite3.Connection) -> None:
    _common(connection)
    connection.execute("PRAGMA journal_mode=WAL")
    # FULL: a write is confirmed only after the commit reached the disk.
    connection.execute("PRAGMA synchronous=FULL")
    # Deleted content is overwritten: a chat's text must not stay in free pages.
    connection.execute("PRAGMA secure_delete=ON")
