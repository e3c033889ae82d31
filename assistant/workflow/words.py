"""The words of a view: names and values on one line, and how a line is read again.

Names in a graph are anybody's. A name that could end its line, or be read as a value, a link or a
keyword of the view, stands there as a JSON string. Values are JSON, but for texts of one plain word
(`euler`, `loras/detail.safetensors`), which stand without quotation marks.

    id.slot                             an output
    name=value   name<-id.slot          a widget's value, and what feeds an input
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from ..messages.fences import escaped, quoted

CUT: Final = "…+"
"""Follows the beginning of a long text; the number of characters that are left out comes next."""
_WORD = re.compile(r"[\w*](?:[\w.*+/|,-]*[\w*+])?")
"""Letters and digits of any script, and what names of types usually have."""
KEYWORDS: Final = ("in", "out", "link", "group", "odd", "subgraph", "notes", "workflow", "prompt")
"""What begins a line that is not a node's, and `in`, where a link comes from outside."""
_ID = re.compile(rf"(?!(?:{'|'.join(KEYWORDS)})\b)[\w:-]*\w")
"""An id has no dot, which ends it in an address."""
_BARE = re.compile(r"[^\W\d](?:[\w./\\-]*[\w/\\])?")
_CONSTANTS = frozenset(("true", "false", "null", "NaN", "Infinity"))
_DECODER = json.JSONDecoder()


def word(name: str) -> str:
    """A name as it is where it is one plain word, else as a JSON string."""
    return name if _WORD.fullmatch(name) else quoted(name)


def id_word(identity: str) -> str:
    """The id of a node; one that could be read as something else is a JSON string."""
    return identity if _ID.fullmatch(identity) else quoted(identity)


def type_word(type_: str) -> str:
    """The type of a node; one that could be read as the mark of a subgraph is a JSON string."""
    return quoted(type_) if type_ == "subgraph" else word(type_)


def slot_word(names: Sequence[str], index: int) -> str:
    """An output in an address: by its name, or by its index where no other way is clear."""
    name = names[index] if 0 <= index < len(names) else ""
    clear = name and not name.isdigit() and names.count(name) == 1
    return word(name) if clear else str(index)


def value_words(value: Any) -> str:
    """A value as JSON on one line, or as a plain word."""
    if isinstance(value, str):
        bare = _BARE.fullmatch(value) and value not in _CONSTANTS
        return value if bare else quoted(value)
    if type(value) is int and abs(value) < 2**64:
        return str(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return escaped(text)


def clamped(value: Any, longest: int | None) -> str:
    """A value of which at most `longest` characters are shown, and how many are left out."""
    if longest is None:
        return value_words(value)
    if isinstance(value, str):
        if len(value) <= longest:
            return value_words(value)
        return f"{quoted(value[:longest])}{CUT}{len(value) - longest}"
    # The sliders of the front end leave 1.0000000000000002 where a person set 1.
    text = f"{value:.12g}" if isinstance(value, float) else value_words(value)
    if len(text) <= longest:
        return text
    return f"{quoted(text[:longest])}{CUT}{len(text) - longest}"


class LineReader:
    """Reads one line of a full view from left to right. Raises `ValueError` for any other line."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.position = 0

    @property
    def rest(self) -> str:
        return self.line[self.position :]

    @property
    def at_end(self) -> bool:
        return self.position >= len(self.line)

    def take(self, mark: str) -> bool:
        """Whether the line goes on with `mark`, which is then behind."""
        if not self.line.startswith(mark, self.position):
            return False
        self.position += len(mark)
        return True

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise ValueError(f"{mark!r} is missing before {self.rest[:40]!r}")

    def word(self) -> str:
        return self._name(_WORD)

    def id(self) -> str:
        return self._name(_ID)

    def value(self) -> Any:
        """A value: JSON, or a text of one word."""
        found = _BARE.match(self.line, self.position)
        if found is not None and found[0] not in _CONSTANTS:
            self.position = found.end()
            return found[0]
        value, self.position = _DECODER.raw_decode(self.line, self.position)
        return value

    def _name(self, plain: re.Pattern[str]) -> str:
        if self.line.startswith('"', self.position):
            name = self.value()
            return str(name)
        found = plain.match(self.line, self.position)
        if found is None:
            raise ValueError(f"a name is missing before {self.rest[:40]!r}")
        self.position = found.end()
        return found[0]
