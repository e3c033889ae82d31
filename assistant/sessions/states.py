"""The states of a chat, and every change between them that there is (R35). Pure.

The transitions of R35's diagram, plus those that it implies: whatever is active may fail or be
stopped, tools may lead to a question or to a panel, and what a crash cut is idle when its chat is
loaded. A change that the table does not have is a mistake in our own code, never a client's.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, get_args

from ..chats import ChatState

STATES: Final[tuple[ChatState, ...]] = get_args(ChatState)
BUSY: Final = frozenset[ChatState](("generating", "executing_tools"))
"""A turn runs."""
WAITING: Final = frozenset[ChatState](("paused", "waiting_client"))
"""A turn is suspended: it waits for the user's decisions, or for a panel's results."""
ACTIVE: Final = BUSY | WAITING | {"waiting_user_input"}
"""A turn is under way, or waits for somebody: it may fail, and can be stopped."""
ENDED_WELL: Final = frozenset[ChatState](("idle", "completed"))
"""What waits in the queue goes on by itself from here."""

Transition = tuple[ChatState, ChatState]

_DIAGRAM: Final[Mapping[Transition, str]] = {
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

TRANSITIONS: Final[Mapping[Transition, str]] = MappingProxyType({**_DIAGRAM, **_IMPLIED})
"""From and to, and what causes it, in words. That a chat which a crash cut is idle when it is
loaded is ("generating" or "executing_tools" -> "idle"), which the store carries out."""


def route(start: ChatState, end: ChatState) -> tuple[ChatState, ...]:
    """The states to go through from `start` to `end`: `end` alone where the table has that change,
    () where both are the same, through `idle` for what begins in a chat that has ended otherwise
    (or gives up what it waited for), through `generating` for a wait that becomes another one.

    Raises ValueError where no such way exists.
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
