"""Writing, renaming, replacing and removing files that somebody else may hold.

On Windows a virus scanner, a search index or a program that syncs a folder opens a new file for a
moment, and until it closes the file, nobody can rename, replace or remove it. Rename, replace and
remove go through this module, which waits for about a second; `tests/test_file_rules.py` keeps
other modules from going past it. What is held for longer raises the last OSError, which `reason_of`
says in words.

Files and folders made here are their owner's only, where the system knows a mode: Windows has
access lists, which a file inherits from its folder.

All functions block, so async callers run them in a thread. In the thread of an event loop nothing
waits: the first refusal counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

Result = TypeVar("Result")

HAS_MODES: Final = os.name != "nt"
"""Whether files have modes. On Windows `chmod` sets a read-only mark at most, and a folder that is
made with mode 0o700 gets an access list of its own (since Python 3.12.4): made as administrator, or
moved to another PC, it would lock its user out."""
OWNER_ONLY: Final = 0o600
OWNER_ONLY_FOLDER: Final = 0o700
PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.4)
"""Seconds between the attempts of a change: one second together, since a scanner needs less."""
BRIEF_PAUSES: Final = PAUSES[:4]
"""Seconds between the attempts of a read, for which a person waits."""
PARTIAL: Final = ".partial"
"""The end of the name of a file that is not complete yet; the name begins with a dot."""
REMOVED: Final = ".removed-"
"""How the name of a folder begins that is being removed."""

ACCESS_DENIED: Final = 5
HELD_BY_ANOTHER: Final = frozenset((ACCESS_DENIED, 32, 33, 145, 1224))
"""Numbers of Windows' errors: ACCESS_DENIED (also a file that waits for its removal),
SHARING_VIOLATION, LOCK_VIOLATION, DIR_NOT_EMPTY (of such files), USER_MAPPED_FILE."""
_NOT_SYNCED: Final = frozenset((errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES))
"""Errors of a folder that cannot be read, or of a file system that cannot sync a folder, such as a
mounted network folder."""
_DEVICE: Final = re.compile(
    r"(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)"
    r" *(\..*)?",
    re.IGNORECASE | re.DOTALL,
)
NOT_IN_NAMES: Final = re.compile(r'[\\<>:"|?*]')
"""What Windows takes in no file's name; a backslash would be a folder there."""
_HELD_WORDS: Final = (
    "another program has the file open (a virus scanner, a synced folder, an editor); try again"
)
_WORDS: Final = {
    getattr(errno, "EDQUOT", errno.ENOSPC): "the disk quota is used up; make room and try again",
    errno.ENOSPC: "the disk is full; make room and try again",
    errno.EROFS: "the file system is read-only; allow ComfyUI to write it",
    errno.EACCES: "access is denied; check the folder and its permissions",
    errno.EPERM: "access is denied; check the folder and its permissions",
    errno.ENAMETOOLONG: "the path is too long for this system",
    errno.EBUSY: _HELD_WORDS,
}


def is_held(error: OSError) -> bool:
    """Whether somebody else may hold the file, so that a later attempt may succeed."""
    if isinstance(error, PermissionError) or error.errno == errno.EBUSY:
        return True
    return getattr(error, "winerror", None) in HELD_BY_ANOTHER


def reason_of(error: OSError) -> str:
    """Why the file could not be changed and what to do, by the error's number: the system's own
    words are in the user's language, and may have a path in them."""
    winerror = getattr(error, "winerror", None)
    if winerror in HELD_BY_ANOTHER and winerror != ACCESS_DENIED:
        return _HELD_WORDS
    return _WORDS.get(error.errno or 0) or error.strerror or type(error).__name__


def patiently(call: Callable[[], Result], pauses: Sequence[float] = PAUSES) -> Result:
    """The result of `call`, which is repeated after each pause while the file is held. Raises the
    last OSError."""
    for pause in pauses:
        try:
            return call()
        except OSError as error:
            if not is_held(error) or _on_event_loop():
                raise
        time.sleep(pause)
    return call()


def read(path: Path, pauses: Sequence[float] = BRIEF_PAUSES) -> bytes:
    """The content of the file. Raises OSError."""
    return patiently(path.read_bytes, pauses)


def write(path: Path, content: bytes) -> None:
    """Replace the file in one step: a reader gets the old content or the new, and after a power
    failure one of them is there. Raises OSError; then the old file is as it was."""
    make_folder(path.parent)
    partial = path.with_name(f".{secrets.token_hex(8)}{PARTIAL}")
    try:
        with os.fdopen(patiently(lambda: _new(partial)), "wb") as file:
            file.write(content)
            file.flush()
            _sync(file.fileno())
        patiently(lambda: os.replace(partial, path))
    except BaseException:
        with contextlib.suppress(OSError):
            patiently(lambda: os.unlink(partial), BRIEF_PAUSES)
        raise
    _sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """`write` of a text as UTF-8, with line ends as they are. Raises OSError."""
    write(path, text.encode("utf-8"))


def rename(source: Path, target: Path, pauses: Sequence[float] = PAUSES) -> None:
    """Rename the file or folder; a file that has the name `target` is replaced. Raises OSError."""
    patiently(lambda: os.replace(source, target), pauses)


def remove(path: Path, pauses: Sequence[float] = PAUSES) -> None:
    """Remove the file, if it is there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        patiently(lambda: os.unlink(path), pauses)


def remove_folder(path: Path) -> None:
    """Remove the folder with all that is in it, also read-only files, such as those of Git.

    The folder is renamed first, so that it goes as a whole or stays as a whole. Raises OSError when
    it stays. What is left of the renamed folder is for `remove_leftovers`.
    """
    removed = path.with_name(f"{REMOVED}{secrets.token_hex(4)}")
    rename(path, removed)
    with contextlib.suppress(OSError):
        patiently(lambda: _remove_tree(removed))


def empty_folder(path: Path) -> None:
    """Remove everything that is in the folder, which itself stays. Links are not followed.

    All of it is moved into a folder inside first, so that all of it goes or all of it stays. Raises
    OSError when it stays. What is left of the folder inside is for `remove_leftovers`.
    """
    if not path.is_dir():
        return
    removed = path / f"{REMOVED}{secrets.token_hex(4)}"
    make_folder(removed)
    moved: list[str] = []
    try:
        for entry in sorted(path.iterdir()):
            if not entry.name.startswith(REMOVED):
                rename(entry, removed / entry.name)
                moved.append(entry.name)
    except BaseException:
        for name in moved:
            with contextlib.suppress(OSError):
                rename(removed / name, path / name)
        with contextlib.suppress(OSError):
            os.rmdir(removed)
        raise
    remove_leftovers(path)


def remove_leftovers(folder: Path) -> None:
    """Try again to remove what `remove_folder` and `empty_folder` left in `folder`. Raises
    nothing."""
    with contextlib.suppress(OSError):
        for path in list(folder.glob(f"{REMOVED}*")):
            with contextlib.suppress(OSError):
                _remove_tree(path)


def make_folder(path: Path) -> None:
    """Make the folder and the missing folders above it; only their owner can open them. A folder
    that is there stays as it is. Raises OSError."""
    if path.is_dir():
        return
    if path.parent != path:
        make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        if HAS_MODES:
            os.mkdir(path, OWNER_ONLY_FOLDER)
        else:
            os.mkdir(path)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "a file has the name of the folder", str(path))


def make_file(path: Path) -> None:
    """Make an empty file, unless it is there; only its owner can read it. Raises OSError, also for
    a file that cannot be written."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
    if HAS_MODES:
        os.chmod(path, OWNER_ONLY)


def keep_private(folder: Path, *deep: str) -> None:
    """Take the rights of all but the owner from `folder`, the files in it, and everything below its
    folders named in `deep`. Links are not followed; what belongs to somebody else stays as it is.
    Does nothing on a system without modes. Raises nothing."""
    if not HAS_MODES or not folder.is_dir():
        return
    _take_rights(folder)
    for path in _entries(folder):
        if path.name in deep:
            for below in _all_below(path):
                _take_rights(below)
        elif not path.is_dir():
            _take_rights(path)


def is_device_name(name: str) -> bool:
    """Whether Windows opens a device under this name in every folder, such as `con` or
    `NUL.txt`."""
    return _DEVICE.fullmatch(name) is not None


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _new(path: Path) -> int:
    """The handle of a new file, which must not exist."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), OWNER_ONLY)


def _sync(handle: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        # macOS' fsync leaves the content in the drive's cache.
        with contextlib.suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk. Windows cannot sync a folder: there the name is on
    the disk with the file."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            _sync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise


def _remove_tree(path: Path) -> None:
    if sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=_remove_read_only)
    else:
        shutil.rmtree(
            path, onerror=lambda call, name, caught: _remove_read_only(call, name, caught[1])
        )


def _remove_read_only(call: Callable[..., Any], name: str, error: BaseException) -> None:
    """Repeat a removal that `shutil.rmtree` could not do, after the file and, where a folder's mode
    decides, its folder were made writable. Raises OSError."""
    if isinstance(error, FileNotFoundError):
        return
    if not isinstance(error, PermissionError) or call in (os.open, os.scandir, os.lstat):
        raise error
    for path in (Path(name).parent, Path(name)):
        if not path.is_symlink():
            os.chmod(path, path.stat().st_mode | stat.S_IWUSR)
    (os.rmdir if call is os.rmdir else os.unlink)(name)


def _take_rights(path: Path) -> None:
    with contextlib.suppress(OSError):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if not path.is_symlink() and mode & ~stat.S_IRWXU:
            os.chmod(path, mode & stat.S_IRWXU)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _all_below(path: Path) -> Iterator[Path]:
    """The path and, if it is a folder and no link, everything in it."""
    yield path
    if path.is_dir() and not path.is_symlink():
        for entry in _entries(path):
            yield from _all_below(entry)
