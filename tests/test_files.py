"""Files that somebody else may hold: writing, renaming, removing, and who may read them."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant import files

from .links import link_file, link_folder
from .windows_rules import WindowsRules

POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, in seconds; no test waits for them."""
    made: list[float] = []
    monkeypatch.setattr("plugin.assistant.files.time.sleep", made.append)
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def held(winerror: int, number: int = errno.EACCES) -> OSError:
    error = PermissionError(number, "Zugriff verweigert") if number == errno.EACCES else OSError()
    error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
    return error


def failing(times: int | None, error: OSError) -> Callable[[], str]:
    """A call that fails so many times (None: always) before it returns "done"."""
    calls: list[int] = []

    def call() -> str:
        calls.append(1)
        if times is None or len(calls) <= times:
            raise error
        return "done"

    return call


# Waiting


@pytest.mark.parametrize(
    "error",
    [
        held(5),
        held(32),
        held(33),
        held(145, 0),
        held(1224, 0),
        OSError(errno.EBUSY, "busy"),
        PermissionError(),
    ],
    ids=lambda error: f"{type(error).__name__} {getattr(error, 'winerror', error.errno)}",
)
def test_a_call_is_repeated_while_the_file_is_held(error: OSError, pauses: list[float]) -> None:
    assert files.patiently(failing(2, error)) == "done"
    assert len(pauses) == 2


def test_a_file_that_stays_held_is_given_up_after_a_second(pauses: list[float]) -> None:
    with pytest.raises(PermissionError):
        files.patiently(failing(None, held(32)))
    assert sum(pauses) == pytest.approx(1.0)


def test_no_other_error_is_waited_for(pauses: list[float]) -> None:
    with pytest.raises(OSError, match="full"):
        files.patiently(failing(1, OSError(errno.ENOSPC, "full")))
    assert pauses == []


async def test_an_event_loop_never_waits(pauses: list[float]) -> None:
    with pytest.raises(PermissionError):
        files.patiently(failing(1, held(32)))
    assert pauses == []
    assert await asyncio.to_thread(files.patiently, failing(1, held(32))) == "done"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (held(32), "another program has the file open"),
        (held(33), "another program has the file open"),
        (held(5), "access is denied; check"),
        (PermissionError(errno.EACCES, "アクセスが拒否されました。"), "access is denied"),
        (OSError(errno.ENOSPC, "Es steht nicht genug Speicherplatz zur Verfügung"), "full"),
        (OSError(errno.EROFS, "Nur lesbar"), "read-only"),
        (OSError(errno.EIO, "Input/output error", "/home/tom/x"), "Input/output error"),
        (OSError(), "OSError"),
    ],
)
def test_a_reason_goes_by_the_number_and_names_no_path(error: OSError, words: str) -> None:
    reason = files.reason_of(error)
    assert words in reason and "/home" not in reason and not reason.endswith(".")


# Writing


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    files.write(path, b"old")
    files.write(path, "é\r\n".encode())
    assert path.read_bytes() == "é\r\n".encode() and names(path.parent) == ["file"]
    files.write_text(path, "line\nends\r\n")
    assert path.read_bytes() == b"line\nends\r\n"


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    files.write(path, b"x")
    assert path.read_bytes() == b"x"


def test_a_file_that_another_program_opens_for_a_moment_is_replaced(
    tmp_path: Path, windows_file_rules: WindowsRules, pauses: list[float]
) -> None:
    path = tmp_path / "file"
    files.write(path, b"old")
    windows_file_rules.hold(path, times=2)
    files.write(path, b"new")
    assert path.read_bytes() == b"new" and len(pauses) == 2


@pytest.mark.parametrize("step", ["replace", "write", "fsync", "open"])
def test_a_write_that_fails_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "file"
    files.write(path, b"old")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as failing_disk:
        if step == "write":
            failing_disk.setattr(os, "fdopen", lambda handle, _mode: Failing(handle, full))
        else:
            failing_disk.setattr(os, step, full)
        with pytest.raises(OSError, match="No space"):
            files.write(path, b"new")
    assert path.read_bytes() == b"old" and names(tmp_path) == ["file"]


class Failing:
    """A file whose `write` calls `fail`."""

    def __init__(self, handle: int, fail: Callable[..., None]) -> None:
        self._handle = handle
        self.write = fail

    def __enter__(self) -> "Failing":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def test_the_content_and_the_name_are_on_the_disk_before_a_write_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real = os.fsync, os.replace

    def fsync(handle: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        real[0](handle)

    def replace(source: Path, target: Path) -> None:
        steps.append("name")
        real[1](source, target)

    monkeypatch.setattr(files, "_sync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    files.write(tmp_path / "file", b"x")
    assert steps == ["content", "name"] + (["folder"] if os.name != "nt" else [])


@POSIX
def test_a_folder_that_cannot_be_synced_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(files, "_sync", fsync)
    files.write(tmp_path / "file", b"x")
    assert (tmp_path / "file").read_bytes() == b"x"


# Owners


@POSIX
def test_what_is_written_is_its_owner_s_alone(tmp_path: Path) -> None:
    files.write(tmp_path / "a" / "b" / "file", b"x")
    assert mode(tmp_path / "a" / "b" / "file") == 0o600
    assert mode(tmp_path / "a" / "b") == mode(tmp_path / "a") == 0o700


@POSIX
def test_a_folder_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files.write(tmp_path / "file", b"x")
    assert mode(tmp_path) == 0o755


def test_without_modes_a_folder_gets_the_access_list_of_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows gives a folder that is made with mode 0o700 a list of its own."""
    modes: list[int] = []
    real = os.mkdir

    def mkdir(path: Any, mode: int = 0o777, **options: Any) -> None:
        modes.append(mode)
        real(path, mode, **options)

    monkeypatch.setattr(files, "HAS_MODES", False)
    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(os, "chmod", lambda *_, **__: pytest.fail("a mode was set"))
    files.write(tmp_path / "a" / "b" / "file", b"x")
    files.keep_private(tmp_path)
    assert modes == [0o777, 0o777]


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(NotADirectoryError):
        files.write(tmp_path / "file" / "below", b"x")


@POSIX
def test_rights_of_others_are_taken_from_our_own_files_only(tmp_path: Path) -> None:
    ours, outside = tmp_path / "ours", tmp_path / "outside"
    (ours / "skills" / "cloned" / ".git").mkdir(parents=True)
    (ours / "attachments").mkdir()
    outside.mkdir()
    for path in (
        ours / "goals.md",
        ours / "skills" / "cloned" / "SKILL.md",
        ours / "skills" / "cloned" / ".git" / "hook",
        ours / "attachments" / "file",
        outside / "file",
    ):
        path.write_bytes(b"x")
        path.chmod(0o755 if path.name == "hook" else 0o644)
    for link in (ours / "link", ours / "skills" / "cloned" / "link"):
        link_file(link, outside / "file")
    link_folder(ours / "skills" / "elsewhere", outside)
    for path in (outside, ours, ours / "skills", ours / "skills" / "cloned", ours / "attachments"):
        path.chmod(0o755)
    files.keep_private(ours, "skills")
    assert mode(ours) == mode(ours / "skills") == mode(ours / "skills" / "cloned") == 0o700
    assert mode(ours / "goals.md") == mode(ours / "skills" / "cloned" / "SKILL.md") == 0o600
    assert mode(ours / "skills" / "cloned" / ".git" / "hook") == 0o700
    assert mode(ours / "attachments" / "file") == 0o644
    assert mode(outside) == 0o755 and mode(outside / "file") == 0o644


def test_a_folder_that_is_missing_or_not_ours_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.keep_private(tmp_path / "missing")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.setattr(os, "chmod", refuse)
    files.keep_private(tmp_path)


# Removing


def test_a_file_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    files.remove(tmp_path / "missing")


def test_a_held_file_is_removed_when_it_is_free(
    tmp_path: Path, windows_file_rules: WindowsRules
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    windows_file_rules.hold(path, times=2)
    files.remove(path)
    assert names(tmp_path) == []


def test_a_folder_with_read_only_files_is_removed(
    tmp_path: Path, windows_file_rules: WindowsRules
) -> None:
    """Git makes the files of its objects read-only, and Windows removes no such file."""
    objects = tmp_path / "skill" / ".git" / "objects"
    objects.mkdir(parents=True)
    for name in ("aa", "bb"):
        (objects / name).write_bytes(b"x")
        (objects / name).chmod(0o444)
    files.remove_folder(tmp_path / "skill")
    assert names(tmp_path) == []
    assert len(windows_file_rules.refused) == 2


def test_a_removal_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"x")
    (tmp_path / "skill").mkdir()
    link_folder(tmp_path / "skill" / "link", tmp_path / "outside")
    files.remove_folder(tmp_path / "skill")
    assert names(tmp_path) == ["outside"] and names(tmp_path / "outside") == ["file"]


def test_a_folder_with_a_held_file_stays_whole(
    tmp_path: Path, windows_file_rules: WindowsRules
) -> None:
    (tmp_path / "skill").mkdir()
    for name in ("SKILL.md", "a.txt"):
        (tmp_path / "skill" / name).write_bytes(b"x")
    with (tmp_path / "skill" / "a.txt").open("rb"), pytest.raises(PermissionError):
        files.remove_folder(tmp_path / "skill")
    assert names(tmp_path / "skill") == ["SKILL.md", "a.txt"]


def test_what_is_left_of_a_folder_is_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill" / "SKILL.md").write_bytes(b"x")

    def refuse(*_: Any, **__: Any) -> None:
        raise held(32)

    with monkeypatch.context() as holding:
        holding.setattr(os, "unlink", refuse)
        files.remove_folder(tmp_path / "skill")
        files.remove_leftovers(tmp_path)
        (left,) = names(tmp_path)
        assert left.startswith(files.REMOVED)
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == []
    files.remove_leftovers(tmp_path / "missing")


def test_a_folder_is_emptied_and_stays(tmp_path: Path, windows_file_rules: WindowsRules) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "deep" / "deeper" / "file").write_bytes(b"x")
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "file").chmod(0o444)
    files.empty_folder(tmp_path)
    assert names(tmp_path) == []
    files.empty_folder(tmp_path / "missing")
    assert names(tmp_path) == []


def test_of_a_folder_with_a_held_file_nothing_is_removed(
    tmp_path: Path, windows_file_rules: WindowsRules
) -> None:
    for name in ("a", "b", "z"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x")
    with (tmp_path / "b" / "file").open("rb"), pytest.raises(PermissionError):
        files.empty_folder(tmp_path)
    assert names(tmp_path) == ["a", "b", "z"]
    assert all((tmp_path / name / "file").read_bytes() == b"x" for name in names(tmp_path))


def test_an_emptied_folder_is_not_left_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"x")
    (tmp_path / "ours").mkdir()
    link_folder(tmp_path / "ours" / "link", tmp_path / "outside")
    files.empty_folder(tmp_path / "ours")
    assert names(tmp_path / "ours") == [] and names(tmp_path / "outside") == ["file"]


# Names


@pytest.mark.parametrize("name", ["CON", "nul", "Com1", "LPT9.txt", "aux .md", "COM¹", "conin$"])
def test_names_of_devices_are_known(name: str) -> None:
    assert files.is_device_name(name)


@pytest.mark.parametrize("name", ["console", "com10", "nul-1", "", "aux_", "my.con"])
def test_names_of_files_are_no_devices(name: str) -> None:
    assert not files.is_device_name(name)
