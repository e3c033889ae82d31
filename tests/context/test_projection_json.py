"""Projections as JSON: reading gives the same projections, and damaged JSON gives no error."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.context.projection_json import VERSION, from_json, to_json
from plugin.assistant.context.projections import Covered, LLMSummary, Projections, Shown
from plugin.assistant.context.summary.ledger import Ledger
from plugin.assistant.context.summary.state import Failure, Summary
from plugin.assistant.messages.changes import PlanStep

from .histories import law

ROWS = st.integers(0, 10**6)
WORDS = st.text(st.characters(exclude_categories=()), max_size=12)
QUOTES = st.lists(st.tuples(ROWS, WORDS), max_size=3).map(tuple)
LEDGERS = st.builds(
    Ledger,
    st.dictionaries(st.tuples(WORDS, WORDS), st.tuples(st.none() | WORDS, WORDS), max_size=3),
    st.dictionaries(WORDS, WORDS, max_size=3),
    st.dictionaries(WORDS, WORDS, max_size=3),
    st.lists(st.builds(PlanStep, WORDS, WORDS), max_size=3).map(tuple),
    st.dictionaries(st.tuples(WORDS, WORDS), WORDS, max_size=3),
    WORDS,
    st.lists(ROWS, max_size=3).map(tuple),
)
SUMMARIES = st.builds(
    Summary,
    first=ROWS,
    end=ROWS,
    messages=ROWS,
    goal=WORDS,
    requests=QUOTES,
    repeated=st.dictionaries(WORDS, ROWS, max_size=3),
    asked=st.none() | st.tuples(ROWS, WORDS),
    unanswered=QUOTES,
    failures=st.lists(st.builds(Failure, ROWS, WORDS, WORDS), max_size=3).map(tuple),
    corrections=QUOTES,
    ledger=LEDGERS,
    values=st.lists(WORDS, max_size=3).map(tuple),
    errors=QUOTES,
    decisions=QUOTES,
    last_action=st.none() | st.tuples(ROWS, WORDS),
    last_words=WORDS,
    next_step=WORDS,
    llm_text=WORDS,
    llm_end=ROWS,
)
COVERED = st.builds(
    lambda first, length, digest: Covered(first, first + length, digest), ROWS, ROWS, WORDS
)
CUTS = st.lists(ROWS, max_size=6).map(
    lambda rows: tuple(Covered(first, end, f"{end}") for first, end in pairwise(sorted(rows)))
)


def _shown(row: int, passages: list[tuple[int, str, str]], hint: str, digest: str) -> Shown:
    rows, texts, dates = zip(*passages, strict=True)
    return Shown(row, rows, texts, dates, hint, digest)


SHOWN = st.builds(
    _shown, ROWS, st.lists(st.tuples(ROWS, WORDS, WORDS), min_size=1, max_size=3), WORDS, WORDS
)
PROJECTIONS = st.builds(
    Projections,
    cuts=CUTS,
    summary=st.none() | SUMMARIES,
    summary_tokens=ROWS,
    head_row=st.none() | ROWS,
    asked_row=st.none() | ROWS,
    mask=st.none() | COVERED,
    made_at=ROWS,
    llm_summary=st.none() | st.builds(LLMSummary, WORDS, COVERED),
    shown=st.lists(SHOWN, max_size=3).map(tuple),
    taken_back=st.lists(WORDS, max_size=3).map(tuple),
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


@law
@given(PROJECTIONS)
def test_projections_come_back_the_same_through_a_json_text(projections: Projections) -> None:
    assert from_json(json.loads(json.dumps(to_json(projections)))) == projections


@law
@given(PROJECTIONS)
def test_the_order_of_the_ledger_survives(projections: Projections) -> None:
    again = from_json(to_json(projections))
    if projections.summary is not None and again.summary is not None:
        assert list(again.summary.ledger.values) == list(projections.summary.ledger.values)


@law
@given(ANY_JSON)
def test_what_is_no_projections_reads_as_empty_ones(value: Any) -> None:
    assert from_json(value) == Projections()


@law
@given(PROJECTIONS, ANY_JSON, st.data())
def test_damage_anywhere_is_no_error(
    projections: Projections, damage: Any, data: st.DataObject
) -> None:
    body = json.loads(json.dumps(to_json(projections)))
    place: Any = body
    while isinstance(place, (dict, list)) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
            place[key] = damage
            break
        place = place[key]
    read = from_json(body)
    assert read == Projections() or to_json(read) == body


def test_another_version_is_planned_anew() -> None:
    kept = Projections(cuts=(Covered(0, 3, "a"),))
    assert from_json({**to_json(kept), "version": VERSION + 1}) == Projections()


@pytest.mark.parametrize("field", ["limits", "cut_at", "cuts"])
def test_a_cut_without_its_limit_or_its_time_is_planned_anew(field: str) -> None:
    kept = to_json(Projections(cuts=(Covered(0, 3, "a"),), made_at=1))
    assert from_json({**kept, field: []}) == Projections()


def test_a_gap_between_two_cuts_is_planned_anew() -> None:
    gap = to_json(Projections(cuts=(Covered(0, 3, "a"), Covered(4, 5, "b"))))
    assert from_json(gap) == Projections()


def test_a_summary_without_the_newer_sections_is_read() -> None:
    stored = to_json(Projections(summary=Summary(0, 3, requests=((0, "A fox"),))))
    for name in ("repeated", "asked", "unanswered", "failures", "last_action", "next_step"):
        del stored["summary"][name]
    summary = from_json(stored).summary
    assert summary == Summary(0, 3, requests=((0, "A fox"),))


def test_projections_of_an_earlier_version_have_no_passages() -> None:
    body = to_json(Projections(made_at=4))
    del body["shown"]
    assert from_json(body) == Projections(made_at=4)
