"""Whether work grows in proportion to its input, for texts that others wrote."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 4
"""The second input is so many times as long as the first."""
MOST_GROWTH = 9.0
"""Linear work takes 4 times as long, quadratic work 16 times."""
SHORT = 0.02
"""Seconds; below that the clock is too coarse for a ratio."""


def growth(work: Callable[[str], object], unit: str, size: int) -> float:
    """How many times as long `work` takes on four times as many characters; 0 where both are quick.
    `unit` is repeated to `size` characters."""
    short = (unit * (size // len(unit) + 1))[:size]
    long = (unit * (size * TIMES // len(unit) + 1))[: size * TIMES]
    after = _seconds(work, long)
    if after < SHORT:
        return 0.0
    return after / max(_seconds(work, short), SHORT / TIMES)


def _seconds(work: Callable[[str], object], text: str) -> float:
    """The shortest of three runs, in seconds of this process."""
    found = []
    for _ in range(3):
        began = time.process_time()
        work(text)
        found.append(time.process_time() - began)
        if found[-1] > 1:
            break
    return min(found)
