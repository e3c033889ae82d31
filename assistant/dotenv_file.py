"""Reads a `.env` file: one variable a line, as people write and paste them. Pure but for the file.

    NAME=value            export NAME=value          set NAME=value
    NAME="C:\\new\\a"     NAME='a # b'  # comment     NAME=${HOME}/a      NAME=${PORT:-8080}
    NAME=%APPDATA%\\a

Text in quotes is taken as it stands, so that a backslash of a Windows path stays a backslash. A
value never goes on in the next line: a quote that is not closed would make settings out of nothing.
A line that cannot be read is a `Fault`, never left out in silence: the line may have named the
provider that the user's chats are meant for.
"""

from __future__ import annotations

import codecs
import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LARGEST_FILE = 256 * 1024
"""Bytes. A file with all settings has less than 10 kB; a larger file is another one by mistake."""
LONGEST_LINE = 32_768
"""Characters of a line, and of a value."""
_ASSIGNMENT = re.compile(r"(?:(?:export|set)\s+)?([A-Za-z_][\w.-]*)\s*=(.*)", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_COMMENT = re.compile(r"(?<!\s)\s+#.*|^\s+#.*")
_AFTER_QUOTE = r"\s*(?:#.*)?"
_AS_IT_STANDS = re.compile(rf"(?:\"([^\"]*)\"|'([^']*)'){_AFTER_QUOTE}")
_ESCAPED = re.compile(rf"\"((?:[^\"\\]|\\.)*)\"{_AFTER_QUOTE}")
_REFERENCE = re.compile(r"\$\{(\w{1,200})(?::-([^}$]{0,1000}))?\}|%([A-Za-z_]\w{0,200})%")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Without the tab, which may stand between values and comments."""
_NAMES = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Fault:
    """What could not be read, as words that follow "line 3 cannot be read: ".

    `line` counts from 1 and is None for a fault of the whole file; `names` are the words in the
    line that may be names of variables, in capitals.
    """

    reason: str
    line: int | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DotenvFile:
    """The values by name, the last one of a name, and the faults in the order of the lines."""

    values: Mapping[str, str]
    faults: tuple[Fault, ...] = ()


def read_dotenv(path: Path, environ: Mapping[str, str]) -> DotenvFile:
    """The content of the file; empty if there is no file. `${NAME}` stands for a value of an
    earlier line or of `environ`, `%NAME%`, too. Raises nothing."""
    try:
        if not path.is_file():
            return DotenvFile({})
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        return _unreadable(getattr(error, "strerror", None) or type(error).__name__)
    if len(raw) > LARGEST_FILE:
        return _unreadable(f"it is larger than {LARGEST_FILE // 1024} kB")
    # Windows' own tools write a byte order mark, and some of them UTF-16.
    utf_16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return parse_dotenv(raw.decode("utf-16" if utf_16 else "utf-8-sig"), environ)
    except UnicodeDecodeError:
        return _unreadable("it is not UTF-8 text")


def parse_dotenv(text: str, environ: Mapping[str, str]) -> DotenvFile:
    """The values and faults of a file's text."""
    values: dict[str, str] = {}
    faults: list[Fault] = []
    known = ChainMap(values, dict(environ))
    for number, line in enumerate(_LINE_END.split(text), 1):
        stripped = line.strip(" \t")
        if not stripped or stripped.startswith("#"):
            continue
        try:
            name, value = _assignment(stripped, known)
        except ValueError as error:
            names = frozenset(name.upper() for name in _NAMES.findall(line))
            faults.append(Fault(str(error), number, names))
        else:
            values[name] = value
    return DotenvFile(values, tuple(faults))


def _unreadable(reason: str) -> DotenvFile:
    return DotenvFile({}, (Fault(reason),))


def _assignment(line: str, known: Mapping[str, str]) -> tuple[str, str]:
    """Name and value of a line. Raises ValueError with the reason why it cannot be read."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"it is longer than {LONGEST_LINE:,} characters")
    if _CONTROL.search(line):
        raise ValueError("it holds a control character")
    found = _ASSIGNMENT.fullmatch(line)
    if found is None:
        raise ValueError("it is not of the form NAME=value")
    value = _REFERENCE.sub(lambda reference: _value_of(reference, known), _text(found[2]))
    if len(value) > LONGEST_LINE:
        raise ValueError(f"its value is longer than {LONGEST_LINE:,} characters")
    return found[1], value


def _text(written: str) -> str:
    """A value without its quotes and the comment behind it. A `#` right behind `=` is a value."""
    uncommented = _COMMENT.sub("", written).strip()
    written = written.strip()
    if not written.startswith(('"', "'")):
        if uncommented.endswith(('"', "'")):
            raise ValueError("a quote is closed that is not opened")
        return uncommented
    if plain := _AS_IT_STANDS.fullmatch(written):
        return plain[1] if plain[1] is not None else plain[2]
    if escaped := _ESCAPED.fullmatch(written):  # quotes within quotes, as in JSON
        return re.sub(r"\\([\"\\])", r"\1", escaped[1])
    if written.count(written[0]) == 1:
        raise ValueError("a quote is not closed")
    raise ValueError("there is text behind the closing quote")


def _value_of(reference: re.Match[str], known: Mapping[str, str]) -> str:
    if windows := reference[3]:  # as in Windows, which knows no case of names and keeps the unknown
        return known.get(windows.upper()) or reference[0]
    value = known.get(reference[1]) or reference[2]
    if value is None:
        raise ValueError(f"there is no variable {reference[1]}")
    return value
