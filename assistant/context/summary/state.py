"""The summary as a value. It is extended, never made again from everything (R26).

`extended(last, groups)` takes the last summary and the groups that a cut newly covers. Everything
in it is bounded, so that it does not grow with the chat; what falls out is still in the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..clamp import clamp_text
from ..digest import error_text, has_failed
from ..log import Group
from .extract import decisions_in, is_correction, sentences_of, values_in
from .ledger import Ledger, parsed

LONGEST_GOAL = 400
LONGEST_REQUEST = 240
LONGEST_ERROR = 240
MOST = {"requests": 40, "corrections": 20, "values": 400, "errors": 12, "decisions": 12}
"""Entries kept of each kind; the newest stay."""

Quote = tuple[int, str]
"""A row, and words from it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of the rows from `first` up to `end`. Quotes are word for word, or clamped."""

    first: int
    end: int
    messages: int = 0
    goal: str = ""
    requests: tuple[Quote, ...] = ()
    corrections: tuple[Quote, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    values: tuple[str, ...] = ()
    errors: tuple[Quote, ...] = ()
    decisions: tuple[Quote, ...] = ()
    last_words: str = ""
    told: str = ""
    """What a model made of it, where one was asked; covers the rows before `told_end`."""
    told_end: int = 0


def extended(last: Summary | None, groups: Iterable[Group], first: int, end: int) -> Summary:
    """The summary of what `last` covered and of `groups`, which follow it, up to the row `end`;
    without a `last` it begins at the row `first`."""
    draft = _Draft(last or Summary(first, end))
    for group in groups:
        draft.add(group)
    return replace(draft.done(), end=end)


class _Draft:
    """A summary that is being extended."""

    def __init__(self, last: Summary) -> None:
        self._last = last
        self._messages = last.messages
        self._goal = last.goal
        self._requests = list(last.requests)
        self._corrections = list(last.corrections)
        self._ledger = last.ledger
        self._values = dict.fromkeys(last.values)
        self._errors = list(last.errors)
        self._decisions = list(last.decisions)
        self._last_words = last.last_words

    def add(self, group: Group) -> None:
        self._messages += len(group)
        if group.role == "user":
            self._add_user(group)
        elif group.role == "assistant":
            self._add_assistant(group)

    def _add_user(self, group: Group) -> None:
        text = group.messages[0].text.strip()
        if not text:
            return
        self._goal = self._goal or clamp_text(text, LONGEST_GOAL)
        quote = (group.first, clamp_text(text, LONGEST_REQUEST))
        (self._corrections if is_correction(text) else self._requests).append(quote)
        self._note(text)

    def _add_assistant(self, group: Group) -> None:
        message = group.messages[0]
        if message.text.strip():
            sentences = sentences_of(message.text)
            self._last_words = sentences[-1] if sentences else self._last_words
            self._decisions += [(group.first, s) for s in decisions_in(message.text)]
            self._note(message.text)
        if group.is_round:
            self._ledger = self._ledger.with_round(group)
            for call in message.tool_calls:
                self._note(call.arguments)
            for row, result in zip(group.rows[1:], group.results, strict=True):
                value = parsed(result.text) if len(result.text) < 100_000 else None
                if has_failed(result, value):
                    said = clamp_text(error_text(result, value), LONGEST_ERROR)
                    self._errors.append((group.first if row is None else row, said))
                    self._note(said)

    def _note(self, text: str) -> None:
        for value in values_in(text[:20_000]):
            self._values.pop(value, None)
            self._values[value] = None

    def done(self) -> Summary:
        return replace(
            self._last,
            messages=self._messages,
            goal=self._goal,
            requests=tuple(self._requests[-MOST["requests"] :]),
            corrections=tuple(self._corrections[-MOST["corrections"] :]),
            ledger=self._ledger,
            values=tuple(self._values)[-MOST["values"] :],
            errors=tuple({text: (row, text) for row, text in self._errors}.values())[
                -MOST["errors"] :
            ],
            decisions=tuple(self._decisions[-MOST["decisions"] :]),
            last_words=self._last_words,
        )
