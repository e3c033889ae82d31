"""Which name a mistyped name means. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 3
"""Letters of the shortest name that is compared: nearly all short names are near to each other."""
SHORT: Final = 4
"""Up to so many letters one mistake is allowed, in longer names two."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `name` begins or that it is with one or two mistakes (a letter too
    many, missing, wrong or in its neighbour's place); None where there is none."""
    if len(name) < SHORTEST:
        return None
    known = tuple(names)
    begun = [other for other in known if other.startswith(name)]
    if begun:
        return begun[0]
    allowed = 1 if len(name) <= SHORT else 2
    close = [(distance(name, other, allowed), other) for other in known]
    mistakes, found = min(close, default=(allowed + 1, ""), key=lambda one: one[0])
    return found if mistakes <= allowed else None


def distance(one: str, other: str, most: int) -> int:
    """How many letters to add, leave out, replace or swap with their neighbour lead from one text
    to the other (optimal string alignment); `most` + 1 where the lengths differ by more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
