"""The states of a chat, and every change between them (R35). Pure.

R35 names transitions and others that follow from them: an active chat may fail or be stopped, tools
may need a decision or a panel, and a chat that a crash cut is idle when it is loaded. A change that
is not in the table is a defect of our code, never a client's mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, get_args

from ..chats import ChatState
from ..chats.chat import BUSY_STATES, WAITING_STATES

STATES: Final[tuple[ChatState, ...]] = get_args(ChatState)
BUSY: Final = frozenset(BUSY_STATES)
"""A turn runs."""
WAITING: Final = frozenset(WAITING_STATES)
"""A turn is suspended until the user's decision or answer, or a panel's result, comes."""
WAITS_FOR_ANSWER: Final[ChatState] = "waiting_user_input"
STOPPABLE: Final = BUSY | WAITING
"""A turn runs or waits for the user or a panel: it may fail, and can be stopped."""
ENDED_WELL: Final = frozenset[ChatState](("idle", "completed"))
"""In these states the next queued message begins by itself."""

Transition = tuple[ChatState, ChatState]

_NAMED: Final[Mapping[Transition, str]] = {
    ("idle", "generating"): "a user message, a retry or another answer begins a turn",
    ("generating", "executing_tools"): "the model called tools",
    ("generating", "idle"): "the answer is whole",
    ("generating", "completed"): "the model said that its work is done",
    ("generating", "waiting_user_input"): "a tool asks the user something",
    ("generating", "waiting_client"): "a panel has to run a tool",
    ("generating", "paused"): "the user has to decide",
    ("executing_tools", "generating"): "the tools have their results",
    ("executing_tools", "completed"): "a tool ended the work",
    ("executing_tools", "waiting_user_input"): "a tool asks the user something",
    ("executing_tools", "idle"): "stopped",
    ("paused", "generating"): "the user has decided",
    ("waiting_client", "generating"): "the panel's result has come",
    ("waiting_client", "idle"): "stopped",
    ("waiting_user_input", "generating"): "the user has answered",
    ("waiting_user_input", "idle"): "stopped",
    ("completed", "idle"): "something new is asked",
    ("error", "idle"): "something new is asked",
}
_IMPLIED: Final[Mapping[Transition, str]] = {
    ("executing_tools", "paused"): "the user has to decide",
    ("executing_tools", "waiting_client"): "a panel has to run a tool",
    ("paused", "idle"): "stopped",
    ("generating", "error"): "the turn failed",
    ("executing_tools", "error"): "the turn failed",
    ("paused", "error"): "the turn failed",
    ("waiting_client", "error"): "the turn failed",
    ("waiting_user_input", "error"): "the turn failed",
}

TRANSITIONS: Final[Mapping[Transition, str]] = MappingProxyType({**_NAMED, **_IMPLIED})
"""(from, to) and the cause in words. The store itself sets a chat to `idle` that a crash cut in
`generating` or `executing_tools`."""


def route(start: ChatState, end: ChatState) -> tuple[ChatState, ...]:
    """The states from `start` to `end`, without `start`. It is `end` alone where the table has
    that change and () where both are the same; else it leads through `idle` (a turn begins after an
    error, or instead of a wait), through `generating` (one wait follows another), or through both.

    Raises ValueError where no such route exists.
    """
    if start == end:
        return ()
    for way in _WAYS:
        stops = (start, *way, end)
        if all(pair in TRANSITIONS for pair in pairwise(stops)):
            return stops[1:]
    raise ValueError(f"no chat goes from {start} to {end}")


_WAYS: Final[tuple[tuple[ChatState, ...], ...]] = (
    (),
    ("idle",),
    ("generating",),
    ("idle", "generating"),
)
