"""Reads JSON from outside: how many values a text may hold, and parsing that lets others work.

`json.loads` keeps the interpreter for the whole text unless it calls Python, and ten million empty
lists in 20 MB take it four seconds and over a gigabyte. So the values are counted before.
"""

from __future__ import annotations

import json
from typing import Any, Final

from ..errors import Refused
from ..garbage import without_collecting

LIST_WEIGHT: Final = 4
"""A list costs as much as four numbers, in time and in memory."""
MOST_VALUES: Final = 2_000_000
"""Values of a text where no setting says another number."""


def check_values(text: str, most: int = MOST_VALUES) -> None:
    """Raises `Refused` (413) for JSON text that holds more than `most` values, a list counted four
    times. The work is linear in the length of the text."""
    strings = text.count('"') // 2
    if _values(text) <= most and strings <= 2 * most:
        return  # Counted with what stands in strings; most texts end here.
    outside = text.replace("\\\\", "").replace('\\"', "")
    # A value has one name at most, so there are no more strings than that to split at.
    few = outside.count('"') // 2 <= 2 * most
    if few and _values("".join(outside.split('"')[::2])) <= most:
        return
    raise Refused(
        f"The JSON holds more than {most:,} values (a list counts as four).",
        code="too_large",
        status=413,
    )


@without_collecting()
def loads(text: str, **hooks: Any) -> Any:
    """`json.loads`, but other threads get their turn in between: at each object and each whole
    number."""
    return json.loads(text, object_hook=_as_it_is, parse_int=_whole, **hooks)


def _values(text: str) -> int:
    return text.count(",") + text.count("{") + LIST_WEIGHT * text.count("[")


def _as_it_is(value: dict[str, Any]) -> dict[str, Any]:
    """Python code, during which the interpreter changes threads; the parser itself is C."""
    return value


def _whole(literal: str) -> int:
    """Python code, too: a list of lists of numbers has no objects."""
    return int(literal)
