"""What a turn took: time and tokens, for the message's metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..llm.events import Usage

COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


class Measure:
    """Counts over all requests of one turn. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._first: float | None = None
        self._usage: dict[str, int] = {}

    def first_token(self) -> None:
        """Something of the answer arrived; only the first time counts."""
        if self._first is None:
            self._first = self._clock()

    def add(self, usage: Usage | None) -> None:
        """Adds one request's usage as the provider counted it."""
        for name in COUNTS:
            value = getattr(usage, name, None)
            if value is not None:
                self._usage[name] = self._usage.get(name, 0) + value

    def to_json(self) -> dict[str, Any]:
        """The `usage` and `timing` of `messageMetadata`; milliseconds and tokens."""
        timing = {"total_ms": self._since_start(self._clock())}
        if self._first is not None:
            timing["first_token_ms"] = self._since_start(self._first)
        body: dict[str, Any] = {"timing": timing}
        if self._usage:
            body["usage"] = dict(self._usage)
        return body

    def _since_start(self, moment: float) -> int:
        return round((moment - self._started) * 1000)
