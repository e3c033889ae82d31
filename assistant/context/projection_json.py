"""Projections as JSON and back, for the rows beside a chat's log (R28, R51).

JSON that is damaged or of another version gives empty projections: the chat is then planned anew
from its log. `projections.valid` checks whether projections still fit the log.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, InstanceOf, PlainValidator, TypeAdapter

from ..messages.changes import PlanStep
from .projections import Covered, LLMSummary, Projections, Shown
from .summary.ledger import Ledger
from .summary.state import Failure, Quote, Summary

T = TypeVar("T")

VERSION = 1
"""Version of the JSON below. Another version is not read, since planning anew costs little."""

Count = Annotated[int, Field(strict=True, ge=0)]
Text = InstanceOf[str]
"""Not `str`: pydantic refuses lone surrogates, which texts of models may have."""
Quotes = tuple[tuple[Count, Text], ...]
_RANGE = TypeAdapter[tuple[int, int, str]](tuple[Count, Count, Text])
Texts = tuple[Text, ...]
_SHOWN = TypeAdapter[tuple[int, tuple[int, ...], Texts, Texts, str, str]](
    tuple[Count, tuple[Count, ...], Texts, Texts, Text, Text]
)


def to_json(projections: Projections) -> dict[str, Any]:
    """A JSON object from which `from_json` makes the same projections."""
    llm_summary = projections.llm_summary
    return {
        "version": VERSION,
        "cuts": [_from_covered(cut) for cut in projections.cuts],
        "summary": _from_summary(projections.summary) if projections.summary else None,
        "summary_tokens": projections.summary_tokens,
        "head_row": projections.head_row,
        "asked_row": projections.asked_row,
        "answer_row": projections.answer_row,
        "unmasked": list(projections.unmasked),
        "limits": [cut.limit for cut in projections.cuts],
        "cut_at": [cut.made_at for cut in projections.cuts],
        "mask": _from_covered(projections.mask) if projections.mask else None,
        "made_at": projections.made_at,
        "told": [llm_summary.text, _from_covered(llm_summary.rows)] if llm_summary else None,
        "shown": [
            [one.row, list(one.rows), list(one.texts), list(one.dates), one.hint, one.content_hash]
            for one in projections.shown
        ],
        "spent": projections.spent,
        "core": None if projections.core is None else list(projections.core),
        "taken_back": list(projections.taken_back),
    }


def from_json(value: Any) -> Projections:
    """The projections of a JSON value; empty ones for any value that `to_json` does not make."""
    try:
        return _ProjectionsJson.model_validate(value).projections()
    except ValueError:  # pydantic's ValidationError is a ValueError, too
        return Projections()


def _from_covered(covered: Covered) -> list[Any]:
    return [covered.first, covered.end, covered.content_hash]


def _from_summary(summary: Summary) -> dict[str, Any]:
    return {
        "first": summary.first,
        "end": summary.end,
        "messages": summary.messages,
        "goal": summary.goal,
        "requests": _from_quotes(summary.requests),
        "repeated": [list(entry) for entry in summary.repeated.items()],
        "asked": summary.asked and list(summary.asked),
        "unanswered": _from_quotes(summary.unanswered),
        "failures": [[each.row, each.tool, each.error] for each in summary.failures],
        "corrections": _from_quotes(summary.corrections),
        "ledger": {
            # Lists instead of objects: their order is that of the latest change, and has to stay.
            "values": [[*key, *change] for key, change in summary.ledger.values.items()],
            "added": [list(entry) for entry in summary.ledger.added.items()],
            "removed": [list(entry) for entry in summary.ledger.removed.items()],
            "others": [[*key, text] for key, text in summary.ledger.others.items()],
            "workflow": summary.ledger.workflow,
            "plan": [[step.text, step.state] for step in summary.ledger.plan],
            "taken_back": list(summary.ledger.taken_back),
        },
        "values": list(summary.values),
        "errors": _from_quotes(summary.errors),
        "decisions": _from_quotes(summary.decisions),
        "last_action": summary.last_action and list(summary.last_action),
        "last_words": summary.last_words,
        "next_step": summary.next_step,
        "told": summary.llm_text,
        "told_end": summary.llm_end,
    }


def _from_quotes(quotes: Sequence[Quote]) -> list[list[Any]]:
    return [list(quote) for quote in quotes]


def _covered(value: Any) -> Covered:
    first, end, content_hash = _RANGE.validate_python(value)
    if first > end:
        raise ValueError("a range that ends before it begins")
    return Covered(first, end, content_hash)


_Covered = Annotated[Covered, PlainValidator(_covered)]


class _LedgerJson(BaseModel):
    values: tuple[tuple[Text, Text, Text | None, Text], ...]
    added: tuple[tuple[Text, Text], ...]
    removed: tuple[tuple[Text, Text], ...]
    # Summaries that were stored before plans existed have none.
    plan: tuple[tuple[Text, Text], ...] = ()
    # Nor have those from before links, modes and names of workflows were noted.
    others: tuple[tuple[Text, Text, Text], ...] = ()
    workflow: Text = ""
    # Nor have those from before edits were taken back by people.
    taken_back: tuple[Count, ...] = ()

    def ledger(self) -> Ledger:
        values = {(node, widget): (old, new) for node, widget, old, new in self.values}
        plan = tuple(PlanStep(*step) for step in self.plan)
        others = {(node, part): text for node, part, text in self.others}
        added, removed = dict(self.added), dict(self.removed)
        return Ledger(values, added, removed, plan, others, self.workflow, self.taken_back)


class _SummaryJson(BaseModel):
    first: Count
    end: Count
    messages: Count
    goal: Text
    requests: Quotes
    # Summaries that were stored before these were computed have none.
    repeated: tuple[tuple[Text, Count], ...] = ()
    asked: tuple[Count, Text] | None = None
    unanswered: Quotes = ()
    failures: tuple[tuple[Count, Text, Text], ...] = ()
    corrections: Quotes
    ledger: _LedgerJson
    values: tuple[Text, ...]
    errors: Quotes
    decisions: Quotes
    last_action: tuple[Count, Text] | None = None
    last_words: Text
    next_step: Text = ""
    llm_text: Text = Field(alias="told")
    llm_end: Count = Field(alias="told_end")

    def summary(self) -> Summary:
        failures = tuple(Failure(*failure) for failure in self.failures)
        made = {"ledger": self.ledger.ledger(), "failures": failures}
        return Summary(**{**dict(self), **made, "repeated": dict(self.repeated)})


def _shown(value: Any) -> Shown:
    shown = Shown(*_SHOWN.validate_python(value))
    if not len(shown.rows) == len(shown.texts) == len(shown.dates) > 0:
        raise ValueError("passages without a row, a text or a day")
    return shown


_Shown = Annotated[Shown, PlainValidator(_shown)]


class _ProjectionsJson(BaseModel):
    version: Literal[1]
    cuts: tuple[_Covered, ...]
    summary: _SummaryJson | None
    summary_tokens: Count
    head_row: Count | None
    asked_row: Count | None
    answer_row: Count | None = None
    unmasked: tuple[Count, ...] = ()
    limits: tuple[Text, ...] = ()
    cut_at: tuple[Count, ...] = ()
    mask: _Covered | None
    made_at: Count
    told: tuple[Text, _Covered] | None
    shown: tuple[_Shown, ...] = ()
    """Missing where it was stored before there was recall without a tool."""
    core: Texts | None = None
    spent: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Missing where it was stored before there were memories."""
    taken_back: Texts = ()

    def projections(self) -> Projections:
        """Raises ValueError for cuts that do not follow each other, or of which not each has its
        limit and its time."""
        for earlier, later in itertools.pairwise(self.cuts):
            if earlier.end != later.first:
                raise ValueError("a gap between two cuts")
        limits = self._of_cuts("limits", "")
        made = self._of_cuts("cut_at", 0)
        return Projections(
            cuts=tuple(
                replace(cut, limit=limits[n], made_at=made[n]) for n, cut in enumerate(self.cuts)
            ),
            summary=self.summary.summary() if self.summary else None,
            summary_tokens=self.summary_tokens,
            head_row=self.head_row,
            asked_row=self.asked_row,
            answer_row=self.answer_row,
            unmasked=self.unmasked,
            mask=self.mask,
            made_at=self.made_at,
            llm_summary=LLMSummary(*self.told) if self.told else None,
            shown=self.shown,
            core=self.core,
            spent=self.spent,
            taken_back=self.taken_back,
        )

    def _of_cuts(self, name: str, missing: T) -> tuple[T, ...]:
        """What each cut has in the field `name`; `missing` where it was stored without it."""
        if name not in self.model_fields_set:
            return tuple(missing for _ in self.cuts)
        found: tuple[T, ...] = getattr(self, name)
        if len(found) != len(self.cuts):
            raise ValueError(f"{name} are not those of the cuts")
        return found
