"""Limits of values that enter a message: JSON of limited depth with finite numbers. Pure.

`messages.ui` reads nothing else back from the log, so values of models and panels are checked
before they become part of a message."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from ..messages.ui import DEEPEST

MOST_LEVELS = DEEPEST - 10
"""Levels of objects and lists in one value; the message around it adds four."""
_WITHOUT_FAULT = frozenset((str, int, bool, type(None)))
"""Looked up first: most values are of these kinds, and a model may send very many."""


def fault_of(value: Any) -> str | None:
    """Why a message cannot hold `value`, as a sentence; None where it can."""
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for item in level:
            if type(item) in _WITHOUT_FAULT:
                continue
            if isinstance(item, Mapping):
                if _changes_a_prototype(item):
                    return "It has a field that would change a JavaScript prototype."
                inner.extend(item.values())
            elif isinstance(item, (list, tuple)):
                inner.extend(item)
            elif isinstance(item, float) and not isfinite(item):
                return f"{item} is no JSON number."
        if not inner:
            return None
        level = inner
    return f"It is nested deeper than {MOST_LEVELS} levels."


def _changes_a_prototype(value: Mapping[str, Any]) -> bool:
    """Whether the `ai` package refuses to parse a chunk with this object."""
    constructor = value.get("constructor")
    return "__proto__" in value or (isinstance(constructor, Mapping) and "prototype" in constructor)
