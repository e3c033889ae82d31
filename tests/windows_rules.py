"""Windows' rules for files, on a system that does not have them.

Windows refuses to rename, replace or remove a file that a program has open, a folder with such a
file, and (but for a rename) a file that is read-only. The fixture `windows_file_rules` makes Python
refuse that here, so that a test fails where the product would fail on Windows:

    pytestmark = pytest.mark.usefixtures("windows_file_rules")     for a whole module

    def test_…(windows_file_rules: WindowsRules) -> None:
        windows_file_rules.hold(path, times=2)      as a virus scanner does: refused twice
        …
        assert windows_file_rules.refused == [path, path]

Only calls by Python's `os`, `pathlib` and `shutil` are refused. What SQLite does itself is not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IWUSR
from typing import Any, Final

import pytest

OPEN_FILES: Final = Path("/dev/fd")
"""The numbers of this process's open files, on Linux and macOS."""
ACCESS_DENIED: Final = 5
USED_BY_ANOTHER_PROCESS: Final = 32
RENAMES: Final = ("rename", "replace")
REMOVALS: Final = ("unlink", "remove")


@dataclass
class WindowsRules:
    """`refused` are the paths that calls were refused for, in their order."""

    refused: list[Path] = field(default_factory=list)
    _held: dict[Path, int | None] = field(default_factory=dict)

    def hold(self, path: Path, times: int | None = None) -> None:
        """Let another program have this file open: the next `times` calls are refused, all of them
        where it is None."""
        self._held[path.absolute()] = times

    def release(self, path: Path) -> None:
        """The other program closes the file."""
        self._held.pop(path.absolute(), None)

    def check_rename(self, source: Path, target: Path) -> None:
        """Raises PermissionError where Windows would not rename `source` to `target`."""
        self._check_open(source)
        if target.is_file():
            self._check_open(target)
            self._check_writable(target)

    def check_removal(self, path: Path) -> None:
        """Raises PermissionError where Windows would not remove the file."""
        self._check_open(path)
        if not path.is_symlink():
            self._check_writable(path)

    def _check_open(self, path: Path) -> None:
        path = path.absolute()
        if path in self._held:
            left = self._held[path]
            if left is None or left > 0:
                self._held[path] = None if left is None else left - 1
                self._refuse(path, USED_BY_ANOTHER_PROCESS)
            del self._held[path]
        if not path.is_symlink() and not _open_files().isdisjoint(_identities(path)):
            self._refuse(path, USED_BY_ANOTHER_PROCESS)

    def _check_writable(self, path: Path) -> None:
        if path.exists() and not path.stat().st_mode & S_IWUSR:
            self._refuse(path, ACCESS_DENIED)

    def _refuse(self, path: Path, winerror: int) -> None:
        self.refused.append(path)
        error = PermissionError(13, "Der Prozess kann nicht auf die Datei zugreifen", str(path))
        # A mere attribute here; on Windows a field of every OSError.
        error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
        raise error


@pytest.fixture
def windows_file_rules(monkeypatch: pytest.MonkeyPatch) -> WindowsRules:
    """Windows' rules for files while the test runs. Skips where they cannot be simulated: on
    Windows itself they hold anyway, but nothing records what was refused."""
    if os.name == "nt":
        pytest.skip("Windows itself has these rules")
    if not OPEN_FILES.is_dir():
        pytest.skip(f"this system does not list the open files in {OPEN_FILES}")
    rules = WindowsRules()
    for name in RENAMES:
        monkeypatch.setattr(os, name, _renaming(getattr(os, name), rules))
        monkeypatch.setattr(Path, name, _path_renaming(name))
    for name in REMOVALS:
        monkeypatch.setattr(os, name, _removing(getattr(os, name), rules))
    monkeypatch.setattr(Path, "unlink", _path_unlink)
    return rules


def _renaming(real: Callable[..., None], rules: WindowsRules) -> Callable[..., None]:
    def rename(source: Any, target: Any, **folders: Any) -> None:
        rules.check_rename(
            _place(source, folders.get("src_dir_fd")), _place(target, folders.get("dst_dir_fd"))
        )
        real(source, target, **folders)

    return rename


def _removing(real: Callable[..., None], rules: WindowsRules) -> Callable[..., None]:
    def remove(path: Any, *, dir_fd: int | None = None) -> None:
        rules.check_removal(_place(path, dir_fd))
        real(path, dir_fd=dir_fd)

    return remove


def _path_renaming(name: str) -> Callable[[Path, Any], Path]:
    # Python 3.10's paths keep functions of their own, so `os` alone is not enough.
    def rename(path: Path, target: Any) -> Path:
        getattr(os, name)(path, target)
        return type(path)(target)

    return rename


def _path_unlink(path: Path, missing_ok: bool = False) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        if not missing_ok:
            raise


def _place(path: Any, folder: int | None) -> Path:
    """The path; a name inside an open folder (`dir_fd`), as `shutil.rmtree` gives it, as a path."""
    name = Path(os.fsdecode(path))
    if folder is None or folder < 0:
        return name
    if sys.platform == "darwin":
        import fcntl

        found = fcntl.fcntl(folder, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")
        return Path(os.fsdecode(found)) / name
    return Path(os.readlink(OPEN_FILES / str(folder))) / name


def _identities(path: Path) -> set[tuple[int, int]]:
    """The file or, for a folder, all files in it."""
    every = path.rglob("*") if path.is_dir() else [path]
    found = (_identity(one) for one in every if one.is_file())
    return {identity for identity in found if identity is not None}


def _open_files() -> set[tuple[int, int]]:
    found = (_identity(int(number)) for number in os.listdir(OPEN_FILES))
    return {identity for identity in found if identity is not None}


def _identity(file: Path | int) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:  # closed or removed meanwhile
        return None
    return status.st_dev, status.st_ino
