"""Values from models and panels on their way into the log: they must be readable there for ever.

A message holds JSON of limited depth with finite numbers (`messages.ui` reads nothing else). What a
model or a panel made up is checked here, before it becomes part of a message. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from ..messages.ui import DEEPEST

MOST_LEVELS = DEEPEST - 10
"""Levels of objects and lists in one value; the message around it has four of its own."""


def fault_of(value: Any) -> str | None:
    """What a message could not hold of `value`, as a sentence; None where it may be stored."""
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                inner.extend(item.values())
            elif isinstance(item, (list, tuple)):
                inner.extend(item)
            elif isinstance(item, float) and not isfinite(item):
                return f"{item} is no JSON number."
        if not inner:
            return None
        level = inner
    return f"It is nested deeper than {MOST_LEVELS} levels."
