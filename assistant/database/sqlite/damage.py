"""Errors of a SQLite file in words, and the renaming of a damaged file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

LARGEST_CHECKED: Final = 32_000_000
"""Bytes of the largest file that is checked when it is opened, which takes a tenth of a second. In
a larger file SQLite finds damage when it reads the page."""
_DAMAGED = ("malformed", "not a database")
# Messages of SQLite and of the system, and what a user can do.
_WORDS = (
    ("database or disk is full", "the disk is full; make room and it goes on by itself"),
    ("no space left", "the disk is full; make room and it goes on by itself"),
    ("readonly", "the file is read-only; allow ComfyUI to write it"),
    ("read-only", "the file is read-only; allow ComfyUI to write it"),
    ("locked", "another process is writing it; close the other ComfyUI or wait"),
    ("unable to open", "the file cannot be opened; check the folder and its permissions"),
    ("permission denied", "the file cannot be opened; check the folder and its permissions"),
    *(
        (wording, "the file is damaged; it is set aside and a new one begins")
        for wording in _DAMAGED
    ),
)


def is_damage(error: Exception) -> bool:
    """Whether this error says that the file is damaged."""
    return any(wording in reason_of(error).lower() for wording in _DAMAGED)


def is_the_files(error: Exception) -> bool:
    """Whether the file is at fault, and not the statement."""
    cause = getattr(error, "orig", None) or error
    asked_wrongly = (
        sqlite3.IntegrityError,
        sqlite3.ProgrammingError,
        sqlite3.InterfaceError,
        sqlite3.DataError,
        sqlite3.NotSupportedError,
    )
    return not isinstance(cause, asked_wrongly)


def is_damaged(path: Path, busy_seconds: float, thoroughly: bool = False) -> bool:
    """Whether SQLite finds damage. A large file is read as a whole only if `thoroughly`. Raises
    `sqlite3.OperationalError` when the file cannot be checked."""
    whole = thoroughly or path.stat().st_size <= LARGEST_CHECKED
    with closing(sqlite3.connect(path, timeout=busy_seconds)) as connection:
        try:
            if not whole:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                return False
            answer: object = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return True
    return answer != ("ok",)


def set_aside(path: Path, now: datetime) -> Path:
    """Rename the file and SQLite's files beside it to a name that is free; returns the new path."""
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


def sentence(path: Path, verb: str, error: Exception) -> str:
    """The error in words, and what to do about it, without SQL and without parameters."""
    text = reason_of(error)
    reason = next((words for wording, words in _WORDS if wording in text.lower()), text)
    return f"{path.name} could not be {verb}: {reason}."


def reason_of(error: Exception) -> str:
    """The driver's own words, without SQL and without values."""
    return str(getattr(error, "orig", None) or error)
