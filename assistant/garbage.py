"""Pauses the collector of garbage while many objects are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """For a block, or a function that it decorates.

    Of the many values of a large text, a graph or modules none is garbage yet. Looking through
    them, and through all that the process holds, again and again takes as long as making them, and
    no other thread runs meanwhile.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
