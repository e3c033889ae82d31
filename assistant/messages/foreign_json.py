"""Reads JSON that others wrote: no value costs more time or memory than its text is worth.

The decoder of the standard library makes a list of each `[]`, so that 20 MB of JSON can take 1.5 GB
and seconds, in which no other thread runs; it fails at a thousand levels of nesting and at numbers
of more than 4,300 digits. Text of many values is refused here before it is decoded, deep values and
huge numbers are read as null.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

MOST_LEVELS: Final = 64
"""Levels of lists and objects that are read; what lies deeper is null."""
MOST_MARKS: Final = 300_000
"""Brackets, commas and strings of one text: decoding them takes about 50 ms."""
MOST_DIGITS: Final = 40
"""Digits of a whole number that is read; a longer number is null."""
SHORT: Final = 1_000
"""Characters; the numbers in a shorter text are read as they are, which is faster."""

_MARK = re.compile(r'"[^"]*"?|[\[{]|[\]}]|,')


def foreign_json(text: str) -> Any:
    """The JSON value of `text`. Raises ValueError for what is no JSON, or has too many values."""
    opened = text.count("[") + text.count("{")
    if opened > MOST_LEVELS or opened + text.count(",") > MOST_MARKS // 4:
        text = _shallow(text)
    if len(text) <= SHORT:
        return json.loads(text)
    return _LENIENT.decode(text)


def many_values(text: str, most: int) -> bool:
    """Whether `text` may have more than `most` brackets, commas and strings."""
    if text.count("[") + text.count("{") + text.count(",") + text.count('"') <= most:
        return False
    return any(number >= most for number, _ in enumerate(_MARK.finditer(_unescaped(text))))


def _unescaped(text: str) -> str:
    """A text of the same length in which each quotation mark begins or ends a string."""
    return text.replace("\\\\", "__").replace('\\"', "__")


def _shallow(text: str) -> str:
    """`text` with null for each list or object below MOST_LEVELS. Raises ValueError."""
    plain = _unescaped(text)
    kept: list[str] = []
    begin = depth = 0
    for number, mark in enumerate(_MARK.finditer(plain)):
        if number >= MOST_MARKS:
            raise ValueError(f"it holds more than {MOST_MARKS:,} values")
        sign = plain[mark.start()]
        if sign in "[{":
            depth += 1
            if depth == MOST_LEVELS + 1:
                kept += (text[begin : mark.start()], "null")
        elif sign in "]}":
            if depth == MOST_LEVELS + 1:
                begin = mark.end()
            depth -= 1
    if depth > MOST_LEVELS:
        raise ValueError("it ends within a value")
    kept.append(text[begin:])
    return "".join(kept)


def _whole_number(digits: str) -> int | None:
    return int(digits) if len(digits) <= MOST_DIGITS else None


_LENIENT = json.JSONDecoder(parse_int=_whole_number)
