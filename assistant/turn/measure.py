"""What a turn took: time and tokens, for the message's metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..llm.events import Usage

COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


class Measure:
    """Counts over all requests of one answer. `clock` gives seconds.

    `before` is the metadata of a suspended answer that goes on: its counts and times are added to,
    and the time that it waited is not counted.
    """

    def __init__(self, clock: Callable[[], float], before: Mapping[str, Any]) -> None:
        self._clock = clock
        self._started = clock()
        timing = _numbers(before.get("timing"), ("first_token_ms", "total_ms"))
        self._before_ms = timing.get("total_ms", 0)
        self._first_ms = timing.get("first_token_ms")
        self._usage = _numbers(before.get("usage"), COUNTS)

    def first_token(self) -> None:
        """Something of the answer arrived; only the first time counts."""
        if self._first_ms is None:
            self._first_ms = self._elapsed_ms()

    def add(self, usage: Usage | None) -> None:
        """Adds one request's usage as the provider counted it."""
        for name in COUNTS:
            value = getattr(usage, name, None)
            if value is not None:
                self._usage[name] = self._usage.get(name, 0) + value

    def to_json(self) -> dict[str, Any]:
        """The `usage` and `timing` of `messageMetadata`; milliseconds and tokens."""
        timing = {"total_ms": self._elapsed_ms()}
        if self._first_ms is not None:
            timing["first_token_ms"] = self._first_ms
        body: dict[str, Any] = {"timing": timing}
        if self._usage:
            body["usage"] = dict(self._usage)
        return body

    def _elapsed_ms(self) -> int:
        return self._before_ms + round((self._clock() - self._started) * 1000)


def _numbers(values: Any, names: tuple[str, ...]) -> dict[str, int]:
    """Those of `names` that are whole numbers; metadata may be a client's."""
    if not isinstance(values, Mapping):
        return {}
    found = {name: values.get(name) for name in names}
    return {name: value for name, value in found.items() if type(value) is int}
