"""The figures of logs that were lived turn by turn (`lived_log`), added up request by request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from plugin.assistant.context.tokens import message_tokens
from plugin.assistant.messages.prompt import PromptMessage, to_openai
from plugin.bench.asked import message_tokens as counted
from plugin.bench.fixed_rule import request, request_with_rules
from plugin.bench.lived import Sent, Wanted
from plugin.bench.lived_log import LivedTurn
from plugin.bench.measures import PRICE_MODELS, Messages, Step, steps
from plugin.bench.validity import faults
from plugin.bench.whole import (
    KEPT_ROUNDS,
    Shown,
    due_whole,
    fixed_tokens,
    recalled,
    running_tokens,
    safely_below,
    tail_start,
    target_tokens,
)

MESSAGES, TURNS, RESULT_CHARS = 24, 20, 2_000
"""The limits by number of the defaults, in `none`."""
TARGET_MESSAGES = 16
"""Messages after a cut by number."""
EXPLICIT = PRICE_MODELS[-1]
REFERS_BACK = "Go back to what we had"
"""A message of the generated logs that begins so refers to an earlier part of the chat."""


@dataclass
class Share:
    """`hits` of `cases`."""

    hits: int = 0
    cases: int = 0

    def add(self, hit: bool) -> None:
        self.cases += 1
        self.hits += hit

    @property
    def value(self) -> float | None:
        return round(self.hits / self.cases, 4) if self.cases else None


@dataclass
class Walk:
    """Consecutive requests: their tokens, and their steps for prefixes and prices."""

    tokens: float = 0.0
    found: list[Step] = field(default_factory=list)
    last: Messages | None = None

    def add(self, messages: Messages, system: bool) -> None:
        """Adds a request; `system` says whether its system message counts as tokens."""
        spoken = [m for m in messages if system or m["role"] != "system"]
        self.tokens += counted(spoken)
        if self.last is not None:
            self.found += steps([self.last, messages])
        self.last = messages

    @property
    def price(self) -> float:
        return fmean(step.price(EXPLICIT) for step in self.found)

    @property
    def prefix(self) -> float:
        return fmean(step.of_previous for step in self.found)


@dataclass
class LivedFigures:
    """Adds up the turns of one log; `add` takes them in their order."""

    wanted: Wanted
    whole: Share = field(default_factory=Share)
    running: Share = field(default_factory=Share)
    tails: Share = field(default_factory=Share)
    needless: Share = field(default_factory=Share)
    needless_without_references: Share = field(default_factory=Share)
    giant_turns: int = 0
    requests: int = 0
    invalid: int = 0
    over_window: int = 0
    ours: Walk = field(default_factory=Walk)
    rule: Walk = field(default_factory=Walk)
    rule_with_system: Walk = field(default_factory=Walk)
    _tokens: float = 0.0
    _history: list[dict[str, Any]] = field(default_factory=list)
    _recalled: frozenset[str] = frozenset()
    _turns: int = 0

    def add(self, turn: LivedTurn) -> None:
        self._turns += 1
        self._add_recalled(turn)
        self._add_row(turn.asked)
        for number, sent in enumerate(turn.sent):
            for row in turn.rounds[number - 1] if number else ():
                self._add_row(row)
            self._add_request(turn, number, sent)
        for row in turn.rounds[len(turn.sent) - 1]:
            self._add_row(row)

    def _add_row(self, row: PromptMessage) -> None:
        self._history.append(to_openai(row))
        self._tokens += message_tokens(row)

    def _add_recalled(self, turn: LivedTurn) -> None:
        first, last = recalled(turn.sent[0]), recalled(turn.sent[-1])
        if turn.sent[0].report["messages_trimmed"]:
            self.needless.add(bool(first - self._recalled))
            if REFERS_BACK not in turn.asked.text:
                self.needless_without_references.add(bool(first - self._recalled))
        self._recalled = last

    def _add_request(self, turn: LivedTurn, number: int, sent: Sent) -> None:
        self.requests += 1
        self.invalid += bool(faults(sent.messages))
        self.over_window += sent.report["total"]["tokens"] > self.wanted.window
        shown = Shown.of(sent)
        rows = (*turn.before, *turn.running(number))
        if self._is_below_all(turn, number, sent):
            self.whole.add(all(shown.has(row) for row in rows))
        if safely_below(running_tokens(turn, number), self.wanted.window):
            for row in due_whole(turn, number, self.wanted.cache):
                self.running.add(shown.has(row))
        self._add_tail(turn, rows, sent)
        self.ours.add(sent.messages, system=False)
        self.rule.add(request(self._history), system=False)
        full = self._system(sent)
        self.rule_with_system.add(request_with_rules(self._history, full), system=True)

    def _system(self, sent: Sent) -> str:
        """The full system message: in `auto` every request has it."""
        return next((str(m["content"]) for m in sent.messages if m["role"] == "system"), "")

    def _is_below_all(self, turn: LivedTurn, number: int, sent: Sent) -> bool:
        """Whether the whole log is surely below every token trigger and, in `none`, within the
        limits by number."""
        if not safely_below(self._tokens + fixed_tokens(sent), self.wanted.window):
            return False
        if self.wanted.cache == "auto":
            return True
        rows = (*turn.before, *turn.running(number))
        rounds = sum(bool(row.tool_calls) for row in rows)
        earlier = (len(row.text) for row in turn.before if row.role == "tool")
        return (
            len(rows) < MESSAGES
            and self._turns < TURNS
            and rounds <= KEPT_ROUNDS
            and all(chars <= RESULT_CHARS for chars in earlier)
        )

    def _add_tail(self, turn: LivedTurn, rows: Sequence[PromptMessage], sent: Sent) -> None:
        """A cut inside a turn that alone exceeds the target is that of a giant turn."""
        start = tail_start(rows, sent)
        if start == 0:
            return
        if rows[start].role != "user" and self._is_giant(rows, start):
            self.giant_turns += 1
        else:
            self.tails.add(rows[start].role == "user")

    def _is_giant(self, rows: Sequence[PromptMessage], inside: int) -> bool:
        """Whether the turn that has the row `inside` alone exceeds the target of a cut, its results
        shortened to RESULT_CHARS."""
        first = next(at for at in range(inside, -1, -1) if rows[at].role == "user")
        later = (at for at in range(inside, len(rows)) if rows[at].role == "user")
        turn = rows[first : next(later, len(rows))]
        short = (replace(row, content=row.text[:RESULT_CHARS]) for row in turn)
        if sum(map(message_tokens, short)) > target_tokens(self.wanted.window):
            return True
        return self.wanted.cache == "none" and len(turn) > TARGET_MESSAGES
