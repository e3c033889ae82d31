"""The time and tokens of a turn; a suspended turn that goes on adds to its counts."""

from typing import Any

import pytest
from plugin.assistant.llm.stream_events import Usage
from plugin.assistant.turn.measure import Measure


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_times_are_milliseconds_and_the_first_token_counts_once() -> None:
    clock = Clock()
    measure = Measure(clock, {})
    clock.now = 0.25
    measure.first_token()
    clock.now = 1.5
    measure.first_token()
    assert measure.to_json() == {"timing": {"total_ms": 1500, "first_token_ms": 250}}


def test_thoughts_and_calls_have_times_but_not_what_waited_for_a_person() -> None:
    clock = Clock()
    measure = Measure(clock, {"timing": {"total_ms": 5, "parts": {"0": 40, "x": "odd"}}})
    measure.note({"type": "reasoning-start", "id": "r"}, 1)
    clock.now = 2.0
    measure.note({"type": "reasoning-end", "id": "r"}, 1)
    for call in ("c1", "c2"):
        measure.note({"type": "tool-input-start", "toolCallId": call}, 2)
    measure.note({"type": "tool-approval-request", "toolCallId": "c2"}, 3)
    clock.now = 2.5
    for call in ("c1", "c2"):
        measure.note({"type": "tool-output-available", "toolCallId": call}, 3)
    assert measure.to_json()["timing"]["parts"] == {"0": 40, "1": 2000, "c1": 500}


def test_the_requests_of_a_turn_are_added_up_and_what_is_unknown_is_left_out() -> None:
    measure = Measure(Clock(), {})
    measure.add(Usage(10, 2, cached_tokens=8))
    measure.add(None)
    measure.add(Usage(20, 3))
    assert measure.to_json()["usage"] == {
        "input_tokens": 30,
        "output_tokens": 5,
        "cached_tokens": 8,
    }


def test_an_answer_that_goes_on_adds_to_what_it_had() -> None:
    clock = Clock()
    before = {
        "timing": {"total_ms": 1000, "first_token_ms": 70},
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }
    measure = Measure(clock, before)
    clock.now = 0.5
    measure.first_token()
    measure.add(Usage(5, 1, 0, 0))
    assert measure.to_json() == {
        "timing": {"total_ms": 1500, "first_token_ms": 70},
        "usage": {
            "input_tokens": 15,
            "output_tokens": 3,
            "cached_tokens": 0,
            "reasoning_tokens": 0,
        },
    }


@pytest.mark.parametrize(
    "before",
    [
        {"timing": 7, "usage": [1]},
        {"timing": {"total_ms": "x", "first_token_ms": None}, "usage": {"input_tokens": True}},
        {"timing": {"total_ms": 1.5}, "usage": {"input_tokens": "9"}},
    ],
)
def test_a_clients_strange_metadata_counts_for_nothing(before: Any) -> None:
    assert Measure(Clock(), before).to_json() == {"timing": {"total_ms": 0}}
