"""Scoring: what the checks of requests, the measures and the truth say about small examples."""

from typing import Any

import pytest
from plugin.bench.measures import PRICE_MODELS, steps
from plugin.bench.truth import Truth
from plugin.bench.validity import faults

USER = {"role": "user", "content": "hello"}


def call(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": one, "type": "function", "function": {"name": "set", "arguments": "{}"}}
        for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(identity: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def test_a_complete_round_is_valid() -> None:
    assert faults([USER, call("a", "b"), result("a"), result("b"), USER]) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([USER, result("a")], "1: orphan result"),
        ([USER, call("a"), USER], "2: unanswered call"),
        ([USER, call("a")], "end: unanswered call"),
        ([USER, call("a", "b"), result("b"), result("a")], "2: results out of order"),
        ([USER, call("a"), result("a"), call("a"), result("a")], "3: duplicate id"),
        ([USER, {"role": "assistant", "content": ""}], "1: empty assistant message"),
        ([USER, {"role": "tools", "content": ""}], "1: role 'tools'"),
        ([{"role": "system", "content": "x"}], "nothing to answer"),
        ([{"role": "user", "content": None}], "0: no content"),
    ],
)
def test_each_fault_is_found(messages: list[dict[str, Any]], fault: str) -> None:
    assert fault in faults(messages)


def test_a_request_that_extends_the_last_one_is_all_the_same_beginning() -> None:
    (step,) = steps([[USER], [USER, USER]])
    assert step.of_previous == 1.0
    assert step.of_current == 0.5


def test_a_change_inside_a_message_ends_the_same_beginning_there() -> None:
    (step,) = steps([[USER], [{"role": "user", "content": "help"}]])
    assert step.same * 4 == len('{"role":"user","content":"hel')


def test_explicit_caching_charges_writing_more_and_reading_less() -> None:
    (step,) = steps([[USER], [USER, USER]])
    explicit = next(model for model in PRICE_MODELS if model.name.startswith("explicit"))
    assert step.price(explicit) == pytest.approx(step.tokens * (0.5 * 0.1 + 0.5 * 1.25))


LOG = [{"role": "user", "content": "the code is zq-1"}, call("a"), result("a", "file zq-2")]
FACTS = [{"id": "f1", "value": "zq-1", "index": 0}, {"id": "f2", "value": "zq-2", "index": 2}]


def line(*messages: dict[str, Any], at: int = 3, left_out: Any = ()) -> dict[str, Any]:
    return {"at": at, "messages": list(messages), "left_out": left_out}


def test_a_fact_is_visible_in_the_summary_behind_a_handle_or_lost() -> None:
    truth = Truth(LOG, FACTS, handles={"h1": "... zq-2 ..."})
    summary = {"role": "user", "content": "Summary: the code is zq-1"}
    elided = [{"handle": "h1", "indexes": [2]}]
    assert truth.place_of_facts(line(LOG[0])) == {"f1": "visible", "f2": "lost"}
    assert truth.place_of_facts(line(summary, left_out=elided)) == {
        "f1": "summary",
        "f2": "handle",
    }


def test_a_fact_of_a_later_message_does_not_count() -> None:
    assert truth_at(1) == {"f1": "lost"}


def truth_at(at: int) -> dict[str, str]:
    return Truth(LOG, FACTS).place_of_facts(line(USER, at=at))


STEPS = [
    {"index": 1, "op": "set", "node": 3, "type": "KSampler", "widget": "cfg", "old": 7, "new": 8},
    {"index": 4, "op": "set", "node": 3, "type": "KSampler", "widget": "cfg", "old": 8, "new": 5},
]


@pytest.mark.parametrize(
    ("summary", "place"),
    [
        ("- #3 KSampler cfg: 7 -> 5", "summary"),
        ("- #3 KSampler cfg: 7 -> 8", "stale"),
        ("- #13 KSampler cfg: 5", "lost"),
        ("nothing", "lost"),
    ],
)
def test_the_summary_must_tell_the_last_value_of_the_right_node(summary: str, place: str) -> None:
    truth = Truth(LOG, [], {"steps": STEPS})
    tally = truth.place_of_edits(line({"role": "user", "content": summary}, at=9))
    assert tally.counts == {place: 1}
