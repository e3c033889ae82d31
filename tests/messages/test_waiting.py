"""What a message waits for, and which answers a question takes."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.messages.parts import Approval, DataPart, Message, Part, ToolPart, ToolState
from plugin.assistant.messages.waiting import (
    Option,
    Question,
    answer_to,
    checked_answer,
    decision_data,
    decision_on,
    handed_data,
    result_of,
    waiting,
)

LABELS = ("A", "B", "C")
STATES: tuple[ToolState, ...] = get_args(ToolState)


def call(
    identity: str, state: ToolState, *, approved: bool | None = None, server: bool
) -> ToolPart:
    approval = Approval(f"about {identity}", approved) if "approval" in state else None
    return ToolPart(identity, "x", state, approval=approval, provider_executed=server)


def message(*parts: Part) -> Message:
    return Message("a1", "assistant", parts)


CALLS = st.lists(
    st.tuples(st.sampled_from(STATES), st.none() | st.booleans(), st.booleans(), st.booleans()),
    max_size=4,
)


@given(CALLS)
def test_a_message_waits_for_its_first_call_that_is_not_settled_or_for_none(
    calls: list[tuple[ToolState, bool | None, bool, bool]],
) -> None:
    parts: list[Part] = []
    for number, (state, approved, server, handed) in enumerate(calls):
        parts.append(call(f"c{number}", state, approved=approved, server=server))
        if handed:
            parts.append(DataPart("waiting", result_of(f"c{number}"), f"c{number}"))
    whole = message(*parts)
    found = waiting(whole)
    open_calls = [
        part for part in whole.tool_parts if not part.settled and part.state != "input-streaming"
    ]
    if found is not None:
        assert found[0] is open_calls[0]
    elif open_calls:
        # The server goes on with it: a call that was decided about, or one of its own.
        first = open_calls[0]
        assert first.state != "approval-requested"
        denied = first.approval is not None and first.approval.approved is not True
        assert denied or (first.provider_executed and not handed_data(whole, first))


def test_what_is_waited_for_is_what_the_part_says() -> None:
    asked = call("c", "input-available", server=False)
    note = DataPart("waiting", answer_to("c", Question("Which?")), "c")
    assert waiting(message(asked, note)) == (asked, "answer")
    handed = call("c", "input-available", server=True)
    assert waiting(message(handed)) is None
    assert waiting(message(handed, DataPart("waiting", result_of("c"), "c"))) == (handed, "panel")
    assert waiting(message(asked)) == (asked, "panel"), "a call of a client of an older server"


def test_the_words_of_a_question_are_those_of_the_question_that_is_open() -> None:
    asked = call("c", "approval-requested", server=True)
    older = DataPart("waiting", decision_on("c", "older", "Erases all.", True), "older")
    now = DataPart("waiting", decision_on("c", "about c", "Erases one.", False), "about c")
    assert decision_data(message(asked, now, older), asked)["text"] == "Erases one."
    assert decision_data(message(asked, older), asked) == {}


def data(**fields: Any) -> dict[str, Any]:
    question = Question("Which?", tuple(Option(label) for label in LABELS), **fields)
    return answer_to("q", question)


@given(
    st.lists(st.sampled_from((*LABELS, "D", "a")), max_size=4) | st.none(),
    st.text(max_size=4) | st.none(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_an_answer_has_only_what_the_question_offers(
    choices: list[str] | None, text: str | None, multiple: bool, allow_other: bool, typed: bool
) -> None:
    output = {"choices": choices, "text": text}
    given_data = data(multiple=multiple, allow_other=allow_other)
    said = (text or "").strip()
    fits = (
        set(choices or ()) <= set(LABELS)
        and (multiple or len(set(choices or ())) <= 1)
        and (not said or allow_other or typed)
        and bool(choices or said)
    )
    try:
        found = checked_answer(given_data, output, typed=typed)
    except InvalidRequest:
        assert not fits
        return
    assert fits
    assert found.get("choices", []) == list(dict.fromkeys(choices or ()))
    assert found.get("text", "") == said
    assert set(found) <= {"choices", "text"} and all(found.values())


@pytest.mark.parametrize("output", [None, "A", ["A"], {}, {"choices": [1]}, {"other": "A"}])
def test_what_is_no_answer_is_refused(output: Any) -> None:
    with pytest.raises(InvalidRequest):
        checked_answer(data(), output)
