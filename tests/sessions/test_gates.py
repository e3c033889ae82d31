"""The table of gates: every command in every state."""

import itertools

import pytest
from plugin.assistant.chats import ChatState
from plugin.assistant.sessions.gates import GATES, refusal
from plugin.assistant.sessions.states import BUSY, STATES
from plugin.tests.sessions.command_types import COMMAND_TYPES

# R36's own words for each kind of state; the rest is refused there.
RUNS_WHILE_BUSY = {
    "abort",
    "set_draft",
    "clear_draft",
    "set_params",
    "cancel_queued",
    "resume_queue",
    "set_workflow",
}
RUNS_WHILE_PAUSED = RUNS_WHILE_BUSY | {"approve_tools", "reject_tools"}
RUNS_WHILE_A_PANEL_WORKS = RUNS_WHILE_BUSY | {"tool_result", "take_over"}
RUNS_WHILE_IDLE = set(COMMAND_TYPES) - {"take_over"}
RUNS: dict[str, set[str]] = {
    "generating": RUNS_WHILE_BUSY,
    "executing_tools": RUNS_WHILE_BUSY,
    "paused": RUNS_WHILE_PAUSED,
    "waiting_client": RUNS_WHILE_A_PANEL_WORKS,
    "waiting_user_input": RUNS_WHILE_BUSY | {"tool_result", "user_message"},
    "idle": RUNS_WHILE_IDLE,
    "completed": RUNS_WHILE_IDLE,
    "error": RUNS_WHILE_IDLE,
}


@pytest.mark.parametrize(
    ("kind", "state"), list(itertools.product(COMMAND_TYPES, STATES)), ids=lambda name: str(name)
)
def test_a_command_runs_waits_or_is_refused_as_the_row_says(kind: str, state: ChatState) -> None:
    if kind in RUNS[state]:
        assert GATES[kind, state] == "run"
    else:
        assert GATES[kind, state] == ("queue" if kind == "user_message" else "refuse")


def test_the_table_has_nothing_else() -> None:
    assert set(GATES) == set(itertools.product(COMMAND_TYPES, STATES))


@pytest.mark.parametrize("state", STATES)
def test_a_refusal_says_why(state: ChatState) -> None:
    code, reason, sentence = refusal(state)
    assert (code == "turn_running") is (state in BUSY)
    assert reason and sentence.endswith(".")
