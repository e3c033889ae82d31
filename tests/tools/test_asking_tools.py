"""The arguments of `askUser` and `updatePlan` as models write them, and what becomes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import ToolError
from plugin.assistant.messages.changes import PlanMade, PlanStep
from plugin.assistant.messages.prompt import ToolCall
from plugin.assistant.messages.waiting import Option, Question
from plugin.assistant.tools.asking_tools import MOST_OPTIONS, plan_from, question_from
from plugin.assistant.tools.tool import ToolContext
from plugin.assistant.tools.toolset import standard_toolset

CONTEXT = ToolContext(skills=None)  # type: ignore[arg-type]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "options", "label", "steps", "text", "state"]), inner
        )
    ),
    max_leaves=8,
)


def asked(**arguments: Any) -> Question:
    return question_from({"question": "Which?", **arguments})


def test_a_question_has_the_defaults_of_the_contract() -> None:
    assert asked() == Question("Which?", (), multiple=False, allow_other=True)


@pytest.mark.parametrize(
    "options",
    [
        [{"label": "A", "description": "first"}, {"label": "B"}],
        ["A", "B"],
        '["A", "B"]',
        [{"label": " A "}, {"label": "B"}, "A"],
    ],
)
def test_options_with_one_right_reading_are_taken(options: Any) -> None:
    assert [option.label for option in asked(options=options).options] == ["A", "B"]


def test_an_option_keeps_its_description() -> None:
    assert asked(options=[{"label": "A", "description": "x"}]).options == (Option("A", "x"),)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": " "},
        {"question": 3},
        {"question": "Which?", "choices": ["A"]},
        {"question": "Which?", "options": 3},
        {"question": "Which?", "options": [{"label": ""}]},
        {"question": "Which?", "options": [{"name": "A"}]},
        {"question": "Which?", "options": [str(n) for n in range(MOST_OPTIONS + 1)]},
        {"question": "Which?", "multiple": "yes"},
        "Which?",
    ],
)
def test_any_other_question_is_refused_with_the_right_form(arguments: Any) -> None:
    with pytest.raises(ToolError, match=r'expected \{"question": text'):
        question_from(arguments)


def test_a_question_without_options_takes_any_text() -> None:
    assert asked(allow_other=False).to_json()["allow_other"] is True
    assert asked(allow_other=False, options=["A"]).to_json()["allow_other"] is False


async def test_the_result_of_a_plan_is_the_plan() -> None:
    toolset = standard_toolset()
    tool = toolset.get("updatePlan")
    assert tool is not None
    steps = [{"text": "Load it", "state": "done"}, {"text": "Run it", "state": "doing"}]
    assert await toolset.call(tool, {"steps": steps}, CONTEXT) == {"steps": steps}
    plan = PlanMade((PlanStep("Load it", "done"), PlanStep("Run it", "doing")))
    assert list(toolset.changes(ToolCall("c", "updatePlan"), {"steps": steps})) == [plan]
    assert toolset.digest(ToolCall("c", "updatePlan"), {"steps": steps}) == (
        "a plan of 2 steps, 1 done"
    )


@pytest.mark.parametrize(
    ("steps", "states"),
    [
        (["Load it", "Run it"], ["open", "open"]),
        ('[{"text": "a", "state": "doing"}]', ["doing"]),
        ([{"text": "a", "state": "in_progress"}, {"text": "b", "state": "pending"}], None),
        ([], []),
    ],
)
def test_steps_with_one_right_reading_are_taken(steps: Any, states: list[str] | None) -> None:
    found = [step.state for step in plan_from({"steps": steps})]
    assert found == (states if states is not None else ["doing", "open"])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"steps": "Load it"},
        {"steps": [{"text": "a"}]},
        {"steps": [{"text": "a", "state": "half done"}]},
        {"steps": [{"text": "", "state": "open"}]},
        {"steps": [3]},
        {"steps": ["a"], "title": "x"},
        {"steps": ["a"] * 51},
    ],
)
def test_any_other_plan_is_refused_with_the_right_form(arguments: Any) -> None:
    with pytest.raises(ToolError, match=r'expected \{"steps":'):
        plan_from(arguments)


@given(JSON)
def test_whatever_a_model_writes_is_taken_or_refused(value: Any) -> None:
    for parse in (question_from, plan_from):
        try:
            found = parse(value)
        except ToolError:
            continue
        json.dumps(found.to_json() if isinstance(found, Question) else [s.text for s in found])
