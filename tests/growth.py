"""Whether work grows in proportion to its input, for texts that others wrote."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TIMES = 4
"""The second input is so many times as long as the first."""
MOST_GROWTH = 9.0
"""Linear work takes 4 times as long, quadratic work 16 times."""
ATTEMPTS = 3
SHORT = 0.02
"""Seconds; below that the clock is too coarse for a ratio."""


def growth(work: Callable[[str], object], unit: str, size: int) -> float:
    """How many times as long `work` takes on four times as many characters; 0 where both are quick.
    `unit` is repeated to `size` characters. Of several measures the smallest counts, since a busy
    machine makes each run longer."""
    short = (unit * (size // len(unit) + 1))[:size]
    long = (unit * (size * TIMES // len(unit) + 1))[: size * TIMES]
    found = []
    for _ in range(ATTEMPTS):
        after = _seconds(work, long)
        if after < SHORT:
            return 0.0
        found.append(after / max(_seconds(work, short), SHORT / TIMES))
        if found[-1] < MOST_GROWTH:
            break
    return min(found)


def _seconds(work: Callable[[str], object], text: str) -> float:
    """The processor time of one run, in seconds, without the collection of garbage."""
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        work(text)
        return time.process_time() - began
    finally:
        gc.enable()
