"""Notices a provider that keeps the connection busy and sends nothing of an answer.

Comments, empty lines and empty chunks are how servers keep a connection open while a model thinks,
so they are no fault, but each restarts the network's own timeout: without another bound they could
hold a turn for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SILENT_TIMEOUTS = 10
"""An answer ends when nothing of it came for so many times `LLM_TIMEOUT_SECONDS`."""
MOST_EMPTY_LINES = 100_000
"""An answer ends when nothing of it came within so many lines."""


class Silence:
    """The time and the lines since the last event of an answer. `clock` gives seconds."""

    def __init__(self, timeout_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most_seconds = timeout_seconds * SILENT_TIMEOUTS
        self._clock = clock
        self._began = clock()
        self._lines = 0

    def broken(self) -> None:
        """An event of the answer came."""
        self._began = self._clock()
        self._lines = 0

    def lasts_too_long(self, lines: int) -> bool:
        """Counts `lines` that came; whether the answer is to end."""
        self._lines += lines
        return self._lines > MOST_EMPTY_LINES or self._clock() - self._began > self.most_seconds
