"""Errors of a SQLite file in words, and the renaming of a damaged file.

An error is known by its number, never by its words: the words of a system are in the user's
language.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

LARGEST_CHECKED: Final = 32_000_000
"""Bytes of the largest file that is checked when it is opened, which takes a tenth of a second. In
a larger file SQLite finds damage when it reads the page."""


class Fault(Enum):
    """What is wrong with a file, and what a user can do."""

    FULL = "the disk is full; make room and it goes on by itself"
    READ_ONLY = "the file is read-only; allow ComfyUI to write it"
    LOCKED = "another process is writing it; close the other ComfyUI or wait"
    UNOPENABLE = "the file cannot be opened; check the folder and its permissions"
    DAMAGED = "the file is damaged; it is set aside and a new one begins"


_PRIMARY: Final = 0xFF
"""The bits of SQLite's error code that say the kind of error; the others say details."""
_CORRUPT_VIRTUAL_TABLE: Final = 267
"""SQLite's code for damage in an index of terms. The index is made anew from the other tables, so
the file is not damaged."""
_BY_SQLITE_CODE: Final = {
    3: Fault.UNOPENABLE,
    5: Fault.LOCKED,
    6: Fault.LOCKED,
    8: Fault.READ_ONLY,
    11: Fault.DAMAGED,
    13: Fault.FULL,
    14: Fault.UNOPENABLE,
    26: Fault.DAMAGED,
}
"""By the primary codes of https://sqlite.org/rescode.html."""
_BY_SQLITE_WORDS: Final = (
    ("disk is full", Fault.FULL),
    ("readonly database", Fault.READ_ONLY),
    ("is locked", Fault.LOCKED),
    ("unable to open", Fault.UNOPENABLE),
    ("disk image is malformed", Fault.DAMAGED),
    ("malformed database schema", Fault.DAMAGED),
    ("not a database", Fault.DAMAGED),
)
"""SQLite's own words, which are English everywhere. Python 3.10 does not tell SQLite's codes."""
_BY_WINDOWS_CODE: Final = {
    2: Fault.UNOPENABLE,
    3: Fault.UNOPENABLE,
    5: Fault.UNOPENABLE,
    19: Fault.READ_ONLY,
    32: Fault.LOCKED,
    33: Fault.LOCKED,
    39: Fault.FULL,
    112: Fault.FULL,
}
"""By `OSError.winerror`. 19: the medium is write-protected; 32, 33: another process has the file
open, or a part of it locked; 39, 112: the disk is full."""
_BY_ERRNO: Final = {
    errno.ENOSPC: Fault.FULL,
    getattr(errno, "EDQUOT", errno.ENOSPC): Fault.FULL,
    errno.EROFS: Fault.READ_ONLY,
    errno.EBUSY: Fault.LOCKED,
    errno.EACCES: Fault.UNOPENABLE,
    errno.EPERM: Fault.UNOPENABLE,
    errno.ENOENT: Fault.UNOPENABLE,
    errno.ENOTDIR: Fault.UNOPENABLE,
    errno.EISDIR: Fault.UNOPENABLE,
}
_DAMAGED: Final = ".damaged-"
"""What follows the name of a file that was set aside, before the time."""
_UNDECODABLE: Final = "Could not decode to UTF-8"
"""The beginning of Python's own error for a text in the file that is no UTF-8; it has no number."""


def fault_of(error: Exception) -> Fault | None:
    """What the error says about the file; None where it says nothing that a user can act on."""
    cause = _cause(error)
    if isinstance(cause, OSError):
        windows: int | None = getattr(cause, "winerror", None)
        return _BY_WINDOWS_CODE.get(windows or 0) or _BY_ERRNO.get(cause.errno or 0)
    if not isinstance(cause, sqlite3.Error):
        return None
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    if code == _CORRUPT_VIRTUAL_TABLE:
        return None
    if code is not None:
        return _BY_SQLITE_CODE.get(code & _PRIMARY)
    text = str(cause)
    return next((fault for words, fault in _BY_SQLITE_WORDS if words in text), None)


def is_damage(error: Exception) -> bool:
    """Whether this error says that the file is damaged."""
    return fault_of(error) is Fault.DAMAGED


def is_undecodable(error: Exception) -> bool:
    """Whether the error says that a text in a row is no UTF-8."""
    return str(_cause(error)).startswith(_UNDECODABLE)


def is_the_files(error: Exception) -> bool:
    """Whether the file is at fault, and not the statement."""
    asked_wrongly = (
        sqlite3.IntegrityError,
        sqlite3.ProgrammingError,
        sqlite3.InterfaceError,
        sqlite3.DataError,
        sqlite3.NotSupportedError,
    )
    cause = _cause(error)
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    return not isinstance(cause, asked_wrongly) and code != _CORRUPT_VIRTUAL_TABLE


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
    """Rename the file to a name that is free, with its write-ahead log; returns the new path.

    A file and its log are never parted, also by a process that is killed here or a file that cannot
    be renamed now: the log gets its second name first, and loses its first name last."""
    target = _begun(path) or _free_name(path, f"{path.name}{_DAMAGED}{now:%Y%m%dT%H%M%SZ}")
    log, kept = _beside(path, "-wal"), _beside(target, "-wal")
    if log.exists() and not kept.exists():
        _duplicate(log, kept)
    try:
        path.rename(target)
    except OSError:
        with contextlib.suppress(OSError):
            kept.unlink(missing_ok=True)
        raise
    for suffix in ("-wal", "-shm"):
        # SQLite itself removes a log beside an empty file, where this fails.
        with contextlib.suppress(OSError):
            _beside(path, suffix).unlink(missing_ok=True)
    return target


def sentence(path: Path, verb: str, error: Exception) -> str:
    """The error in words, and what to do about it, without SQL and without parameters."""
    fault = fault_of(error)
    reason = fault.value if fault is not None else reason_of(error)
    return f"{path.name} could not be {verb}: {reason}."


def reason_of(error: Exception) -> str:
    """The driver's own words, without SQL and without values."""
    return str(_cause(error))


def _cause(error: Exception) -> Exception:
    """The driver's error, where SQLAlchemy wrapped it."""
    return getattr(error, "orig", None) or error


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _begun(path: Path) -> Path | None:
    """The name of an earlier attempt whose second name of the log is still there: Windows removes
    no name of a file that another process has open."""
    log = _beside(path, "-wal")
    for kept in path.parent.glob(f"{path.name}{_DAMAGED}*-wal"):
        target = kept.with_name(kept.name.removesuffix("-wal"))
        with contextlib.suppress(OSError):
            if not target.exists() and kept.samefile(log):
                return target
    return None


def _free_name(path: Path, stem: str) -> Path:
    number, target = 1, path.with_name(stem)
    while target.exists() or _beside(target, "-wal").exists():
        number += 1
        target = path.with_name(f"{stem}-{number}")
    return target


def _duplicate(source: Path, target: Path) -> None:
    """A second name for the file or, where the disk has no second names, a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        with target.open("r+b") as copy:
            os.fsync(copy.fileno())
