"""Values as the page has them: JavaScript's numbers and texts, and the value that is not there.

A workflow's JSON is read by JavaScript before it becomes a prompt. Whole numbers above 2**53 lose
digits there, `20.0` is written as `20`, and what is undefined is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
"""A widget's value that is undefined: nothing is written for it."""

SAFE = 2**53
_DEEPEST = 200


def page_value(value: Any, depth: int = 0) -> Any:
    """The value as it comes out of the page; deeper than any widget's value it is left alone."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return page_number(value)
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [page_value(one, depth + 1) for one in value]
    if isinstance(value, Mapping):
        return {str(key): page_value(one, depth + 1) for key, one in value.items()}
    return value


def page_number(number: int | float) -> int | float | None:
    """The number as `JSON.stringify` writes it: the shortest digits of a double, whole if it is."""
    if isinstance(number, int) and -SAFE <= number <= SAFE:
        return number
    try:
        double = float(number)
    except OverflowError:
        return None
    if not math.isfinite(double):
        return None
    if double.is_integer() and abs(double) < 1e21:
        return int(Decimal(repr(double)))
    return double


def page_text(value: Any) -> str:
    """What a text field of the page shows for a value: JavaScript's `String(value)`."""
    if isinstance(value, str):
        return value
    if value is None or value is UNSET:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        number = page_number(value)
        return "NaN" if number is None else repr(number)
    if isinstance(value, list):
        return ",".join(map(page_text, value))
    return "[object Object]"


def is_truthy(value: Any) -> bool:
    """Whether JavaScript takes the value for true: unlike in Python, `[]` and `{}` are."""
    return isinstance(value, (list, Mapping)) or bool(value)


def key_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order that a JavaScript object has them: whole numbers first, by size."""
    listed = list(keys)
    numbers = [key for key in listed if _is_index(key)]
    if not numbers:
        return listed
    return sorted(numbers, key=int) + [key for key in listed if not _is_index(key)]


def _is_index(key: str) -> bool:
    plain = key.isascii() and key.isdigit() and len(key) < 11
    return plain and (key == "0" or key[0] != "0") and int(key) < 2**32 - 1
