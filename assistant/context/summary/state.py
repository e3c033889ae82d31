"""The summary as a value. Each cut extends the last summary by the newly covered groups (R26).

The number of entries and their lengths are limited, so that the summary does not grow with the
chat; the log keeps everything.

What is pending is computed from the rows: a user message is open until the assistant has answered
it with a text, and a call that failed is open until a later call of its tool has succeeded. A call
that the user refused is not open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...messages.prompt import PromptMessage, ToolCall
from ..clamp import clamp_text
from ..digest import error_text, has_failed, result_value
from ..log import Group
from .extract import (
    corrections_in,
    decisions_in,
    next_step_in,
    sentences_of,
    values_in,
    values_in_arguments,
)
from .ledger import Ledger

LONGEST_GOAL = 400
LONGEST_REQUEST = 240
LONGEST_ERROR = 240
LONGEST_ACTION = 240
LONGEST_ARGUMENTS = 80
CALLS_OF_ACTION = 3
"""Calls of the newest round that are told as the last action."""
LONGEST_READ = 20_000
LONGEST_RESULT = 100_000
"""Characters of a text that are searched for values; a longer result is not parsed."""
CORRECTION_SHARE = 0.8
"""A user message of which corrections are this share of the characters is no request."""
MOST = {
    "requests": 40,
    "corrections": 40,
    "unanswered": 8,
    "failures": 8,
    "values": 400,
    "errors": 12,
    "decisions": 12,
}
"""The most entries of each kind; the newest entries stay."""

Quote = tuple[int, str]
"""A row of the log, and text quoted from it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed in the row `row`, after which no call of its tool has succeeded."""

    row: int
    tool: str
    error: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts kept of the rows from `first` up to `end`. Quotes are word for word, or clamped.

    `requests` are the newest user messages that ask for something, `repeated` says how often a
    request came that came more than once, `asked` is the newest user message of all, and
    `unanswered` are those without an answer in these rows. `failures` has at most one entry for a
    tool. `last_action` is the newest round of calls, `last_words` and `next_step` are sentences of
    the newest answer; `next_step` is "" while a newer user message waits for its answer.
    """

    first: int
    end: int
    messages: int = 0
    goal: str = ""
    """The first request, when it is not pinned before the summary."""
    requests: tuple[Quote, ...] = ()
    repeated: Mapping[str, int] = field(default_factory=dict)
    asked: Quote | None = None
    unanswered: tuple[Quote, ...] = ()
    failures: tuple[Failure, ...] = ()
    corrections: tuple[Quote, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    values: tuple[str, ...] = ()
    errors: tuple[Quote, ...] = ()
    decisions: tuple[Quote, ...] = ()
    last_action: Quote | None = None
    last_words: str = ""
    next_step: str = ""
    llm_text: str = ""
    """The LLM summary of the rows before `llm_end`; empty without one."""
    llm_end: int = 0


def extended(
    last: Summary | None,
    groups: Iterable[Group],
    first: int,
    end: int,
    taken_back: Collection[str] = (),
) -> Summary:
    """The summary `last` extended by `groups`, the following groups up to the row `end`; without
    `last`, a new summary from the row `first` on. `taken_back` are the ids of the answers whose
    edits a person took back."""
    draft = _SummaryDraft(last or Summary(first, end), taken_back)
    for group in groups:
        draft.add(group)
    return replace(draft.done(), end=end)


class _SummaryDraft:
    """A summary that is being extended."""

    def __init__(self, last: Summary, taken_back: Collection[str]) -> None:
        self._last = last
        self._taken_back = taken_back
        self._messages = last.messages
        self._goal = last.goal
        self._requests = list(last.requests)
        self._repeated = dict(last.repeated)
        self._asked = last.asked
        self._unanswered = list(last.unanswered)
        self._failures = {failure.tool: failure for failure in last.failures}
        self._corrections = list(last.corrections)
        self._rounds: list[Group] = []
        self._values = dict.fromkeys(last.values)
        self._errors = list(last.errors)
        self._decisions = list(last.decisions)
        self._last_action = last.last_action
        self._last_words = last.last_words
        self._next_step = last.next_step

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
            self._add_request(group.first, clamp_text(text, LONGEST_REQUEST))
        self._asked = (group.first, clamp_text(text, LONGEST_REQUEST))
        _keep_newest(self._unanswered, self._asked, MOST["unanswered"])
        self._next_step = ""
        self._note(values_in(message.text[:LONGEST_READ]))

    def _add_request(self, row: int, text: str) -> None:
        if any(text == known for _, known in self._requests):
            self._repeated[text] = self._repeated.get(text, 1) + 1
        else:
            self._repeated.pop(text, None)
        _keep_newest(self._requests, (row, text), MOST["requests"])

    def _add_assistant(self, group: Group) -> None:
        message = group.messages[0]
        if message.text.strip():
            sentences = sentences_of(message.text)
            self._last_words = sentences[-1] if sentences else self._last_words
            self._decisions += [(group.first, s) for s in decisions_in(message.text)]
            self._note(values_in(message.text[:LONGEST_READ]))
            if not group.is_round:
                self._add_answer(message.text)
        if group.is_round:
            self._rounds.append(group)
            self._last_action = (group.first, _action(group))
            for call in message.tool_calls:
                self._note(values_in_arguments(call.arguments[:LONGEST_READ]))
            for row, result in zip(group.rows[1:], group.results, strict=True):
                self._add_result(group, group.first if row is None else row, result)

    def _add_answer(self, text: str) -> None:
        if self._asked is not None and self._unanswered[-1:] == [self._asked]:
            del self._unanswered[-1]
        self._next_step = next_step_in(text)

    def _add_result(self, group: Group, row: int, result: PromptMessage) -> None:
        tool = group.call_of(result).name
        short = len(result.text) < LONGEST_RESULT
        value = result_value(result.text) if short else result.text
        if not has_failed(result, value):
            self._failures.pop(tool, None)
            return
        said = clamp_text(error_text(result, value), LONGEST_ERROR)
        self._errors.append((row, said))
        self._note(values_in(said))
        if not result.denied and tool not in (group.facts.recall, group.facts.search):
            self._failures.pop(tool, None)
            self._failures[tool] = Failure(row, tool, said)
            if len(self._failures) > MOST["failures"]:
                del self._failures[next(iter(self._failures))]

    def _note(self, values: Iterable[str]) -> None:
        for value in values:
            self._values.pop(value, None)
            self._values[value] = None

    def done(self) -> Summary:
        return replace(
            self._last,
            messages=self._messages,
            goal=self._goal,
            requests=tuple(self._requests),
            repeated={
                text: self._repeated[text] for _, text in self._requests if text in self._repeated
            },
            asked=self._asked,
            unanswered=tuple(self._unanswered),
            failures=tuple(self._failures.values()),
            corrections=_latest(self._corrections, MOST["corrections"]),
            ledger=self._last.ledger.after(self._rounds, self._taken_back),
            values=tuple(self._values)[-MOST["values"] :],
            errors=_latest(self._errors, MOST["errors"]),
            decisions=_latest(self._decisions, MOST["decisions"]),
            last_action=self._last_action,
            last_words=self._last_words,
            next_step=self._next_step,
        )


def _action(group: Group) -> str:
    """The last calls of a round in one line, each with its outcome."""
    calls = group.messages[0].tool_calls
    told = [
        _call(call, result)
        for call, result in zip(
            calls[-CALLS_OF_ACTION:], group.results[-CALLS_OF_ACTION:], strict=True
        )
    ]
    before = len(calls) - len(told)
    more = f"{before} more calls; " if before else ""
    return clamp_text(more + "; ".join(told), LONGEST_ACTION)


def _call(call: ToolCall, result: PromptMessage) -> str:
    short = len(result.text) < LONGEST_RESULT
    failed = has_failed(result, result_value(result.text) if short else result.text)
    arguments = " ".join(call.arguments.split())
    if len(arguments) > LONGEST_ARGUMENTS:
        arguments = arguments[: LONGEST_ARGUMENTS - 3] + "..."
    outcome = "refused by the user" if result.denied else "failed" if failed else "ok"
    return f"{call.name} {arguments}".strip() + f": {outcome}"


def _keep_newest(quotes: list[Quote], quote: Quote, most: int) -> None:
    """Adds `quote`, which replaces an older quote of the same text, and drops the oldest over
    `most`. It is done quote by quote, so that the outcome does not depend on where cuts end."""
    quotes[:] = [known for known in quotes if known[1] != quote[1]][-(most - 1) :]
    quotes.append(quote)


def _latest(quotes: Iterable[Quote], most: int) -> tuple[Quote, ...]:
    """The newest `most` quotes; of quotes with the same text, the newest alone."""
    rows: dict[str, int] = {}
    for row, text in quotes:
        rows.pop(text, None)
        rows[text] = row
    return tuple((row, text) for text, row in rows.items())[-most:]
