"""Rules for code that touches files, so that it stays right on Windows while it is written
elsewhere. The tests read the source and do not run it.

Renaming, replacing and removing goes through `assistant/files.py`, which knows that somebody else
may hold the file; so do the modes of files and folders, which Windows takes for something else.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = "assistant/files.py"
PRODUCT = ("assistant", "preview")
CODE = (*PRODUCT, "scripts")
DATABASE = "assistant/database/"
"""Opens its file with SQLite itself, and renames it with its journals, as one or not at all."""
CHANGES = {
    *("os.replace", "os.rename", "os.renames", "os.remove", "os.unlink", "os.rmdir"),
    *("os.removedirs", "shutil.rmtree", "shutil.move"),
}
"""Calls that fail while somebody else holds the file."""
METHODS = {"unlink", "rename", "rmdir"}
MODES = {"os.chmod", "os.fchmod", "os.lchmod", "os.umask"}
WRITES = {"write_text", "write_bytes"}
MODE = re.compile(r"(?=.*[wax+])[rwax]b?t?\+?b?")
"""A mode of `open` that changes a file."""


@cache
def modules(*folders: str) -> dict[str, ast.Module]:
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    paths += ROOT.glob("*.py")
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(paths)
    }


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Each call and what is called, such as `os.replace`; the imports `from os import replace` are
    given by their full name, too."""
    names = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            yield names.get(called, called), node


def method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def is_change(called: str, call: ast.Call) -> bool:
    """Whether the call renames, replaces or removes. A `replace` with one argument is that of a
    path: that of a text has two, and that of a dataclass has keywords."""
    if called in CHANGES or method(call) in METHODS:
        return not called.startswith("files.")
    whole = len(call.args) == 1 and not call.keywords
    return method(call) == "replace" and whole


def mode_of(call: ast.Call) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == "mode"), None)


def sets_a_mode(called: str, call: ast.Call) -> bool:
    if called in MODES or method(call) == "chmod":
        return True
    if called in ("os.mkdir", "os.makedirs") and len(call.args) > 1:
        return True
    if method(call) == "mkdir" and call.args and not called.startswith("os."):
        return True
    return method(call) in ("mkdir", "makedirs", "touch") and mode_of(call) is not None


def writes(called: str, call: ast.Call) -> bool:
    """Whether the call writes a file that a reader may see half written."""
    if method(call) in WRITES:
        return not called.startswith("files.")
    # `archive.open` writes an entry of a zip.
    if called == "archive.open" or (called != "open" and method(call) != "open"):
        return False
    given = [*call.args, mode_of(call)]
    texts = [value.value for value in given if isinstance(value, ast.Constant)]
    whole = [text for text in texts if isinstance(text, str) and MODE.fullmatch(text)]
    return bool(whole)


def broken(tree: ast.Module, *rules: object) -> list[str]:
    return [
        f"line {call.lineno}: {called}"
        for called, call in calls(tree)
        if any(rule(called, call) for rule in rules)  # type: ignore[operator]
    ]


def test_files_are_renamed_replaced_and_removed_in_one_module() -> None:
    found = {
        name: broken(tree, is_change)
        for name, tree in modules(*CODE).items()
        if name != FILES and not name.startswith(DATABASE)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_modes_are_set_where_it_is_known_which_systems_have_them() -> None:
    found = {
        name: broken(tree, sets_a_mode) for name, tree in modules(*CODE).items() if name != FILES
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_product_writes_whole_files() -> None:
    found = {
        name: broken(tree, writes)
        for name, tree in modules(*PRODUCT).items()
        if name != FILES and not name.startswith(DATABASE)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "os.replace(a, b)",
        "from os import rename\nrename(a, b)",
        "from shutil import rmtree as gone\ngone(a)",
        "shutil.move(a, b)",
        "path.unlink(missing_ok=True)",
        "path.parent.rename(target)",
        "path.replace(target)",
    ],
)
def test_the_rule_of_changes_sees_them(line: str) -> None:
    assert broken(ast.parse(line), is_change)


@pytest.mark.parametrize(
    "line",
    [
        "path.mkdir(0o700)",
        "path.mkdir(parents=True, mode=0o700)",
        "os.makedirs(path, 0o700)",
        "os.chmod(path, 0o600)",
        "path.chmod(0o600)",
        "path.touch(mode=0o600)",
    ],
)
def test_the_rule_of_modes_sees_them(line: str) -> None:
    assert broken(ast.parse(line), sets_a_mode)


@pytest.mark.parametrize(
    "line", ["path.write_text(x)", "open(path, 'wb')", "path.open('a+')", "open(path, mode='x')"]
)
def test_the_rule_of_writes_sees_them(line: str) -> None:
    assert broken(ast.parse(line), writes)


@pytest.mark.parametrize(
    "line",
    [
        "text.replace('a', 'b')",
        "replace(settings, a=1)",
        "files.rename(a, b)",
        "path.mkdir(parents=True, exist_ok=True)",
        "open(path, encoding='utf-8')",
        "path.open('rb')",
        "self.open('w1')",
    ],
)
def test_the_rules_let_everything_else_be(line: str) -> None:
    assert not broken(ast.parse(line), is_change, sets_a_mode, writes)
