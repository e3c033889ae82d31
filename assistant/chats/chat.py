"""A chat as the store knows it, without its messages: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final, Literal

ChatState = Literal["idle", "generating", "executing_tools", "paused", "waiting_client", "error"]
ACTIVE_STATES: Final = ("generating", "executing_tools")
"""States that only a running turn can be in: none of them outlives its process (R35)."""

TitleSource = Literal["rule", "user"]


class Place(Enum):
    """Where a message goes, when it is not named by the message before it."""

    HEAD = "head"
    """After the last message of the current path."""


HEAD: Final = Place.HEAD
Parent = str | Place | None
"""The id of the message before, `HEAD`, or None for the beginning of the chat."""


@dataclass(frozen=True, slots=True)
class WorkflowName:
    """Which workflow a chat is about."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """A chat in a list. `messages` counts those on the current path; times are UTC."""

    id: str
    title: str
    created: datetime
    updated: datetime
    messages: int
    state: ChatState
    pinned: bool


@dataclass(frozen=True, slots=True)
class Chat(ChatSummary):
    """One chat. `head_row` is the row that ends the current path, None while the chat is empty;
    `allowed_tools` are the tools that need not ask in this chat; `log_chars` is the length of all
    its rows as JSON."""

    title_source: TitleSource
    head_row: int | None
    allowed_tools: tuple[str, ...]
    workflow: WorkflowName | None
    log_chars: int
