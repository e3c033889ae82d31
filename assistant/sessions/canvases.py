"""The panels of one chat that carry out edits on a canvas: those that are subscribed with
`&canvas=1`, and when the others left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

MOST_KNOWN = 100
"""Panels that left, whose time is remembered."""


class Canvases:
    """For one event loop; `clock` gives seconds. A client without an id has no canvas, since no
    call could be addressed to it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._here: Counter[str] = Counter()
        self._left: dict[str, float] = {}

    def joined(self, client_id: str | None) -> None:
        if client_id is not None:
            self._here[client_id] += 1

    def left(self, client_id: str | None) -> None:
        if client_id is None:
            return
        self._here[client_id] -= 1
        if self._here[client_id] <= 0:
            del self._here[client_id]
            self._left.pop(client_id, None)
            self._left[client_id] = self._clock()
            if len(self._left) > MOST_KNOWN:
                del self._left[next(iter(self._left))]

    def away(self, client_id: str) -> float | None:
        """How many seconds ago the panel left; 0.0 while it is subscribed, None where it never
        was."""
        if self._here[client_id] > 0:
            return 0.0
        left = self._left.get(client_id)
        return None if left is None else self._clock() - left
