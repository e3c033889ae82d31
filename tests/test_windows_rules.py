"""The simulation of Windows' rules refuses what Windows refuses, and nothing else."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .windows_rules import ACCESS_DENIED, USED_BY_ANOTHER_PROCESS, WindowsRules

CALLS: dict[str, Callable[[Path], object]] = {
    "os.rename": lambda path: os.rename(path, path.with_name("moved")),
    "os.replace": lambda path: os.replace(path, path.with_name("moved")),
    "os.unlink": lambda path: os.unlink(path),
    "os.remove": lambda path: os.remove(path),
    "Path.rename": lambda path: path.rename(path.with_name("moved")),
    "Path.replace": lambda path: path.replace(path.with_name("moved")),
    "Path.unlink": lambda path: path.unlink(),
    "rmtree": lambda path: shutil.rmtree(path.parent),
    "a folder renamed": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_text("text", encoding="utf-8")
    return path


@pytest.mark.parametrize("call", CALLS)
def test_an_open_file_stays_where_it_is(
    windows_file_rules: WindowsRules, file: Path, call: str
) -> None:
    with file.open(encoding="utf-8"), pytest.raises(PermissionError) as refused:
        CALLS[call](file)
    assert getattr(refused.value, "winerror", None) == USED_BY_ANOTHER_PROCESS
    assert file.read_text(encoding="utf-8") == "text"
    CALLS[call](file)
    assert not file.exists()


def test_an_open_or_read_only_file_is_not_replaced(
    windows_file_rules: WindowsRules, file: Path
) -> None:
    new = file.with_name("new")
    new.write_text("new", encoding="utf-8")
    with file.open(encoding="utf-8"), pytest.raises(PermissionError):
        new.replace(file)
    file.chmod(0o400)
    with pytest.raises(PermissionError) as refused:
        new.replace(file)
    assert getattr(refused.value, "winerror", None) == ACCESS_DENIED
    assert windows_file_rules.refused == [file, file]


def test_a_read_only_file_is_not_removed(windows_file_rules: WindowsRules, file: Path) -> None:
    file.chmod(0o400)
    with pytest.raises(PermissionError):
        shutil.rmtree(file.parent)
    file.chmod(0o600)
    shutil.rmtree(file.parent)


def test_another_program_holds_a_file_for_a_while(
    windows_file_rules: WindowsRules, file: Path
) -> None:
    windows_file_rules.hold(file, times=2)
    for _ in range(2):
        with pytest.raises(PermissionError):
            file.unlink()
    file.unlink()
    file.write_text("text", encoding="utf-8")
    windows_file_rules.hold(file)
    for _ in range(3):
        with pytest.raises(PermissionError):
            file.unlink()
    windows_file_rules.release(file)
    file.unlink()
    file.unlink(missing_ok=True)
