"""Time, tokens and cost of a turn, for the message's metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..context.report import CENTS
from ..llm.stream_events import Usage
from ..messages.chunks import Chunk

STARTS = frozenset(("reasoning-start", "tool-input-start"))
ENDS = frozenset(("reasoning-end", "tool-output-available", "tool-output-error"))
TIMED = STARTS | ENDS | {"tool-approval-request"}
"""Types of the chunks between which the time of a part is counted: thoughts and tool calls."""
MOST_PARTS = 1_000
"""Parts of an answer whose times are kept."""
COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
MOST = 10**15
"""A larger number in metadata is no count of tokens or milliseconds."""
MOST_DOLLARS = 1e12


class Measure:
    """Counts over all requests of one answer. `clock` gives seconds.

    `before` is the metadata of a suspended answer that goes on. Its counts and times are included;
    the time of its suspension is not counted.
    """

    def __init__(self, clock: Callable[[], float], before: Mapping[str, Any]) -> None:
        self._clock = clock
        self._started = clock()
        timing = _numbers(before.get("timing"), ("first_token_ms", "total_ms"))
        self._before_ms = timing.get("total_ms", 0)
        self._first_ms = timing.get("first_token_ms")
        self._begun: dict[str, tuple[str, float]] = {}
        self._parts = _times(before.get("timing"))
        self._usage = _numbers(before.get("usage"), COUNTS)
        self._cost = cost_in(before)

    def first_token(self) -> None:
        """A part of the answer arrived; only the first call has an effect."""
        if self._first_ms is None:
            self._first_ms = self._elapsed_ms()

    def note(self, chunk: Chunk, last: int) -> None:
        """Counts the time of a thought or a tool call; `last` is the index of the last part. A call
        that waited for approval gets none: most of it would be the user's time."""
        kind, call = chunk["type"], chunk.get("toolCallId")
        known = f"{call or chunk.get('id')}"
        if kind in STARTS:
            self._begun[known] = (f"{call or last}", self._clock())
        elif (begun := self._begun.pop(known, None)) and kind in ENDS:
            name, at = begun
            if len(self._parts) < MOST_PARTS:
                self._parts[name] = round((self._clock() - at) * 1000)

    @property
    def cost(self) -> float | None:
        """US dollars of the answer so far; None where no request has a known price."""
        return self._cost

    def add(self, usage: Usage | None, cost: float | None = None) -> None:
        """Adds a request's usage as the provider counted it, and its cost in US dollars."""
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost
        for name in COUNTS:
            value = getattr(usage, name, None)
            if value is not None:
                self._usage[name] = self._usage.get(name, 0) + value

    def to_json(self) -> dict[str, Any]:
        """The `usage`, `timing` and `cost` of `messageMetadata`; tokens, milliseconds, dollars."""
        timing: dict[str, Any] = {"total_ms": self._elapsed_ms()}
        if self._parts:
            timing["parts"] = dict(self._parts)
        if self._first_ms is not None:
            timing["first_token_ms"] = self._first_ms
        body: dict[str, Any] = {"timing": timing}
        if self._usage:
            body["usage"] = dict(self._usage)
        if self._cost is not None:
            body["cost"] = {"currency": "USD", "amount": round(self._cost, CENTS)}
        return body

    def _elapsed_ms(self) -> int:
        return self._before_ms + round((self._clock() - self._started) * 1000)


def cost_in(metadata: Mapping[str, Any]) -> float | None:
    """US dollars in the metadata of an answer; None for any other value, since metadata may come
    from a client."""
    cost = metadata.get("cost")
    amount = cost.get("amount") if isinstance(cost, Mapping) else None
    if not isinstance(amount, (int, float)) or isinstance(amount, bool):
        return None
    # The comparison is also false for NaN, and takes whole numbers that are no float.
    return float(amount) if 0 <= amount <= MOST_DOLLARS else None


def _times(timing: Any) -> dict[str, int]:
    """Milliseconds by part, in the metadata of an answer that goes on."""
    parts = timing.get("parts") if isinstance(timing, Mapping) else None
    names = tuple(parts)[:MOST_PARTS] if isinstance(parts, Mapping) else ()
    return _numbers(parts, tuple(name for name in names if isinstance(name, str)))


def _numbers(values: Any, names: tuple[str, ...]) -> dict[str, int]:
    """The values of `names` that are whole numbers; metadata may come from a client."""
    if not isinstance(values, Mapping):
        return {}
    found = {name: values.get(name) for name in names}
    return {n: value for n, value in found.items() if type(value) is int and 0 <= value <= MOST}
