"""The summary as a value. Each cut extends the last summary by the newly covered groups (R26).

The number of entries and their lengths are limited, so that the summary does not grow with the
chat; the log keeps everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..clamp import clamp_text
from ..digest import error_text, has_failed, result_value
from ..log import Group
from .extract import corrections_in, decisions_in, sentences_of, values_in, values_in_arguments
from .ledger import Ledger

LONGEST_GOAL = 400
LONGEST_REQUEST = 240
LONGEST_ERROR = 240
LONGEST_READ = 20_000
LONGEST_RESULT = 100_000
"""Characters of a text that are searched for values; a longer result is not parsed."""
CORRECTION_SHARE = 0.8
"""A user message of which corrections are this share of the characters is no request."""
MOST = {"requests": 40, "corrections": 20, "values": 400, "errors": 12, "decisions": 12}
"""The most entries of each kind; the newest entries stay."""

Quote = tuple[int, str]
"""A row of the log, and text quoted from it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts kept of the rows from `first` up to `end`. Quotes are word for word, or clamped."""

    first: int
    end: int
    messages: int = 0
    goal: str = ""
    """The first request, when it is not pinned before the summary."""
    requests: tuple[Quote, ...] = ()
    corrections: tuple[Quote, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    values: tuple[str, ...] = ()
    errors: tuple[Quote, ...] = ()
    decisions: tuple[Quote, ...] = ()
    last_words: str = ""
    llm_text: str = ""
    """The LLM summary of the rows before `llm_end`; empty without one."""
    llm_end: int = 0


def extended(last: Summary | None, groups: Iterable[Group], first: int, end: int) -> Summary:
    """The summary `last` extended by `groups`, the following groups up to the row `end`; without
    `last`, a new summary from the row `first` on."""
    draft = _SummaryDraft(last or Summary(first, end))
    for group in groups:
        draft.add(group)
    return replace(draft.done(), end=end)


class _SummaryDraft:
    """A summary that is being extended."""

    def __init__(self, last: Summary) -> None:
        self._last = last
        self._messages = last.messages
        self._goal = last.goal
        self._requests = list(last.requests)
        self._corrections = list(last.corrections)
        self._rounds: list[Group] = []
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
        message = group.messages[0]
        # A skill or a file is not the user's own words: no sentence of it is a rule of the user.
        text = (message.text if message.own_words is None else message.own_words).strip()
        text = text or message.text.strip().partition("\n")[0]
        if not text:
            return
        if self._last.first == 0 and not self._goal:
            self._goal = clamp_text(text, LONGEST_GOAL)
        corrections = " ".join(corrections_in(text))
        if corrections:
            self._corrections.append((group.first, clamp_text(corrections, LONGEST_REQUEST)))
        if len(corrections) < len(text) * CORRECTION_SHARE:
            self._requests.append((group.first, clamp_text(text, LONGEST_REQUEST)))
        self._note(values_in(message.text[:LONGEST_READ]))

    def _add_assistant(self, group: Group) -> None:
        message = group.messages[0]
        if message.text.strip():
            sentences = sentences_of(message.text)
            self._last_words = sentences[-1] if sentences else self._last_words
            self._decisions += [(group.first, s) for s in decisions_in(message.text)]
            self._note(values_in(message.text[:LONGEST_READ]))
        if group.is_round:
            self._rounds.append(group)
            for call in message.tool_calls:
                self._note(values_in_arguments(call.arguments[:LONGEST_READ]))
            for row, result in zip(group.rows[1:], group.results, strict=True):
                short = len(result.text) < LONGEST_RESULT
                value = result_value(result.text) if short else result.text
                if has_failed(result, value):
                    said = clamp_text(error_text(result, value), LONGEST_ERROR)
                    self._errors.append((group.first if row is None else row, said))
                    self._note(values_in(said))

    def _note(self, values: Iterable[str]) -> None:
        for value in values:
            self._values.pop(value, None)
            self._values[value] = None

    def done(self) -> Summary:
        return replace(
            self._last,
            messages=self._messages,
            goal=self._goal,
            requests=_latest(self._requests, MOST["requests"]),
            corrections=_latest(self._corrections, MOST["corrections"]),
            ledger=self._last.ledger.after(self._rounds),
            values=tuple(self._values)[-MOST["values"] :],
            errors=_latest(self._errors, MOST["errors"]),
            decisions=_latest(self._decisions, MOST["decisions"]),
            last_words=self._last_words,
        )


def _latest(quotes: Iterable[Quote], most: int) -> tuple[Quote, ...]:
    """The newest `most` quotes; of quotes with the same text, the newest alone."""
    rows: dict[str, int] = {}
    for row, text in quotes:
        rows.pop(text, None)
        rows[text] = row
    return tuple((row, text) for text, row in rows.items())[-most:]
