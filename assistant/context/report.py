"""What a plan did, for people: sizes, limits, what was left out, what comes next (R32)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

CENTS = 6
"""Digits after the point: a millionth of a dollar."""
PARTS = (
    "system",
    "user_context",
    "tool_schemas",
    "summary",
    "recalled",
    "history",
    "tool_results",
    "current",
)


@dataclass(frozen=True, slots=True)
class Size:
    """Characters, and tokens as `tokens` estimates them."""

    chars: int = 0
    tokens: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.chars + other.chars, self.tokens + other.tokens)


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider counted for one request, in tokens; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None

    @property
    def cached_share(self) -> float | None:
        if not self.input_tokens or self.cached_tokens is None:
            return None
        return round(self.cached_tokens / self.input_tokens, 3)


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars of one request, and of its chat so far as far as that is known."""

    request: float
    chat: float

    def to_json(self) -> dict[str, Any]:
        request, chat = round(self.request, CENTS), round(self.chat, CENTS)
        return {"currency": "USD", "request": request, "chat": chat}


@dataclass(frozen=True, slots=True)
class Report:
    """One request's plan in figures. `window` and `reserve` are tokens; counts are of messages,
    rounds and results. `limits_applied` names the settings that changed something, `summarised`
    counts the messages that a summary stands for, `emergency` says that this request was made to
    fit by force (R29), and `next_trigger` says which limit asks for the
    next summary, at what value, and how near it is."""

    first_turn: bool
    system_kind: str
    parts: Mapping[str, Size]
    window: int
    reserve: int
    limits_applied: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    rounds_omitted: int = 0
    results_clamped: int = 0
    results_repeated: int = 0
    messages_trimmed: int = 0
    messages_sent: int = 0
    repairs: int = 0
    strength: str = "Absent"
    summarised: int = 0
    cuts: int = 0
    emergency: bool = False
    next_trigger: Mapping[str, Any] | None = None
    request: int = 1
    phase: str = "request"
    usage: Usage | None = field(default=None)
    cost: Cost | None = None

    @property
    def total(self) -> Size:
        return sum(self.parts.values(), Size())

    def answered(self, usage: Usage | None, cost: Cost | None = None) -> Report:
        """The same report after the answer, with the provider's own count, and what it cost where
        that is known."""
        return replace(self, phase="answer", usage=usage, cost=cost)

    def to_json(self) -> dict[str, Any]:
        """The body of the `data-context` chunk; without any text of the conversation."""
        body: dict[str, Any] = {
            "request": self.request,
            "phase": self.phase,
            "first_turn": self.first_turn,
            "system_kind": self.system_kind,
            "parts": {name: asdict(self.parts.get(name, Size())) for name in PARTS},
            "total": asdict(self.total),
            "window": self.window,
            "reserve": self.reserve,
            "limits_applied": list(self.limits_applied),
            "rounds_omitted": self.rounds_omitted,
            "results_clamped": self.results_clamped,
            "results_repeated": self.results_repeated,
            "messages_trimmed": self.messages_trimmed,
            "messages_sent": self.messages_sent,
            "repairs": self.repairs,
            "left_out": list(self.left_out),
            "strength": self.strength,
            "summarised": self.summarised,
            "cuts": self.cuts,
            "emergency": self.emergency,
            "next_trigger": dict(self.next_trigger) if self.next_trigger else None,
            "usage": None,
            "cost": self.cost.to_json() if self.cost else None,
        }
        if self.usage is not None:
            body["usage"] = {**asdict(self.usage), "cached_share": self.usage.cached_share}
        return body

    def to_header(self) -> dict[str, Any]:
        """The report for a response header: no lists that grow, under 1 kB as compact JSON."""
        body = self.to_json()
        body["left_out"] = len(self.left_out)
        only_in_body = ("usage", "phase", "request", "reserve", "next_trigger", "emergency")
        for name in (*only_in_body, "results_repeated", "cost"):
            del body[name]
        del body["parts"]["recalled"]
        return body
