"""The table of states: every pair, and the way from each state to each other."""

import itertools
from typing import get_args

import pytest
from plugin.assistant.chats import ChatState
from plugin.assistant.sessions.states import (
    BUSY,
    ENDED_WELL,
    STATES,
    STOPPABLE,
    TRANSITIONS,
    WAITING,
    route,
)

# R35 as its row says it: its diagram, and what that implies.
DIAGRAM = """
idle generating
generating executing_tools, idle, completed, waiting_user_input, waiting_client, paused
executing_tools generating, completed, waiting_user_input, idle
paused generating
waiting_client generating, idle
waiting_user_input generating, idle
completed idle
error idle
"""
IMPLIED = """
generating error, idle
executing_tools error, idle, paused, waiting_client
paused error, idle
waiting_client error, idle
waiting_user_input error, idle
"""


def pairs(text: str) -> set[tuple[str, str]]:
    lines = (line.partition(" ") for line in text.strip().splitlines())
    return {(start, end.strip()) for start, _, ends in lines for end in ends.split(",")}


def test_the_states_are_those_of_a_chat() -> None:
    assert set(STATES) == set(get_args(ChatState))
    assert WAITING < STOPPABLE and BUSY < STOPPABLE
    assert not ENDED_WELL & STOPPABLE


@pytest.mark.parametrize(
    ("start", "end"), list(itertools.product(STATES, STATES)), ids=lambda state: str(state)
)
def test_a_change_is_in_the_table_exactly_when_the_row_has_it(
    start: ChatState, end: ChatState
) -> None:
    expected = (start, end) in pairs(DIAGRAM) | pairs(IMPLIED)
    assert ((start, end) in TRANSITIONS) is expected


@pytest.mark.parametrize(
    ("start", "end"), list(itertools.product(STATES, STATES)), ids=lambda state: str(state)
)
def test_a_way_goes_through_changes_of_the_table_only(start: ChatState, end: ChatState) -> None:
    if end == "error" and start in ("idle", "completed"):
        # By way of a turn that fails at once.
        assert "generating" in route(start, end)
    way = (start, *route(start, end))
    assert way[-1] == end
    assert all(pair in TRANSITIONS for pair in itertools.pairwise(way))
    assert len(way) == len(set(way))


def test_every_cause_is_said() -> None:
    assert all(TRANSITIONS.values())
