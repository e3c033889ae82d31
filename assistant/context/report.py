"""Figures about a plan, for people: sizes, limits, messages left out, the next summary (R32)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from . import report_parts as parts
from .notes import KINDS

CENTS = 6
"""Decimal places of an amount in dollars: a millionth of a dollar."""
PARTS = (
    parts.SYSTEM,
    parts.USER_CONTEXT,
    parts.TOOL_SCHEMAS,
    parts.SUMMARY,
    *(kind.part for kind in KINDS if kind.part != parts.HISTORY),
    parts.HISTORY,
    parts.TOOL_RESULTS,
    parts.CURRENT,
)
"""All parts of a request, in the order of `/context` and of the JSON."""
TURNS_SINCE = "turns since the last summary"
"""What `LLM_SUMMARY_MAX_TURNS` counts."""
ONLY_IN_BODY = (
    *("usage", "phase", "request", "reserve", "next_trigger", "triggers", "due", "emergency"),
    *("results_repeated", "cost"),
)
"""Fields that the response header has no room for."""


@dataclass(frozen=True, slots=True)
class Size:
    """Characters, and tokens as `tokens` estimates them."""

    chars: int = 0
    tokens: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.chars + other.chars, self.tokens + other.tokens)

    def to_json(self) -> dict[str, int]:
        return {"chars": self.chars, "tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """The provider's own count of one request, in tokens; None for a figure that it did not
    send."""

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
    """US dollars of one request, and of its chat so far, as far as prices are known."""

    request: float
    chat: float

    def to_json(self) -> dict[str, Any]:
        request, chat = round(self.request, CENTS), round(self.chat, CENTS)
        return {"currency": "USD", "request": request, "chat": chat}


@dataclass(frozen=True, slots=True)
class TriggerState:
    """A limit that asks for a cut when `now` exceeds `at`. `what` is counted; `setting` sets the
    limit."""

    what: str
    setting: str
    now: int
    at: int

    @property
    def share(self) -> float:
        return round(self.now / self.at, 3)

    def to_json(self, *, setting: bool = True) -> dict[str, Any]:
        named = {"setting": self.setting} if setting else {}
        return {"what": self.what, **named, "now": self.now, "at": self.at, "share": self.share}


@dataclass(frozen=True, slots=True)
class Report:
    """One request's plan in figures. `parts` maps names of `PARTS` to sizes; `window` and `reserve`
    are tokens; counts are of messages, rounds and results.

    `limits_applied` names the settings that changed something, `summarised` counts the messages
    that the summary covers, and `emergency` says that the request was shortened by force (R29).
    `triggers` are all limits that ask for a cut, each with its setting, its value and the present
    value; `summarises` says whether a cut makes a summary.
    """

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
    triggers: tuple[TriggerState, ...] = ()
    summarises: bool = True
    request: int = 1
    phase: str = "request"
    usage: RequestUsage | None = None
    cost: Cost | None = None

    @property
    def next_trigger(self) -> TriggerState | None:
        """The limit that will ask for the next summary first; None where no summary is made."""
        found = self.triggers if self.summarises else ()
        return max(found, key=lambda trigger: trigger.share, default=None)

    @property
    def due(self) -> bool:
        """Whether the next turn meets a limit: with this request's answer, which a request that is
        not sent has already, and with one message of the user."""
        answer = 0 if self.request == 0 else 1
        tokens = (self.usage.output_tokens or 0) if self.usage is not None else 0
        more = {"tokens": tokens, TURNS_SINCE: 1}
        return any(
            trigger.now + more.get(trigger.what, answer + 1) > trigger.at
            for trigger in self.triggers
        )

    @property
    def total(self) -> Size:
        return sum(self.parts.values(), Size())

    def answered(self, usage: RequestUsage | None, cost: Cost | None = None) -> Report:
        """The report after the answer, with the provider's own count and the cost."""
        return replace(self, phase="answer", usage=usage, cost=cost)

    def to_json(self) -> dict[str, Any]:
        """The body of the `data-context` chunk; it has no text of the conversation."""
        body: dict[str, Any] = {
            "request": self.request,
            "phase": self.phase,
            "first_turn": self.first_turn,
            "system_kind": self.system_kind,
            "parts": {part.name: self.parts.get(part.name, Size()).to_json() for part in PARTS},
            "total": self.total.to_json(),
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
            "next_trigger": self.next_trigger and self.next_trigger.to_json(setting=False),
            "triggers": [trigger.to_json() for trigger in self.triggers],
            "due": self.due,
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
        for name in ONLY_IN_BODY:
            del body[name]
        for part in PARTS:
            if not part.in_header:
                del body["parts"][part.name]
        return body
