"""A chat without its messages: plain values."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal

from .permissions import Permissions

ChatState = Literal[
    "idle",
    "generating",
    "executing_tools",
    "paused",
    "waiting_client",
    "waiting_user_input",
    "completed",
    "error",
]
"""The states of R35."""
BUSY_STATES: Final[tuple[ChatState, ...]] = ("generating", "executing_tools")
"""States that only a running turn can be in: none of them outlives its process (R35)."""
WAITING_STATES: Final[tuple[ChatState, ...]] = ("paused", "waiting_client", "waiting_user_input")
"""States of a suspended turn."""

TitleSource = Literal["rule", "model", "user"]
"""The source of a chat's title. A source never replaces the title of a source after it in this
list."""

MOST_PER_PAGE: Final = 200
"""Chats or messages; a longer page helps no panel."""


class Place(Enum):
    """A place for a message that is not given by the message before it."""

    HEAD = "head"
    """After the last message of the current path."""


HEAD: Final = Place.HEAD
Parent = str | Place | None
"""The id of the message before, `HEAD`, or None for the beginning of the chat."""


@dataclass(frozen=True, slots=True)
class WorkflowName:
    """The workflow that a chat is about."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ChatParams:
    """The parameters of one chat; None means the value of the settings."""

    provider: str | None = None
    model: str | None = None
    temperature: float | None = None
    reasoning: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The parameters that are not None."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in values if value is not None}


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """The message of another chat after which a chat was branched off."""

    chat_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Versions:
    """All versions of a message: their `ids` in the order in which they came, and the `index` (from
    0) of the message itself."""

    index: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """A chat in a list. `messages` is the number of messages on the current path, without events;
    times are UTC; `unread` says that an answer ended while no reader followed the chat. `damaged`
    names the columns of its row that could not be read: they have other values here."""

    id: str
    title: str
    created: datetime
    updated: datetime
    messages: int
    state: ChatState
    pinned: bool
    unread: bool
    workflow: WorkflowName | None
    damaged: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Chat(ChatSummary):
    """One chat. `head_row` is the row that ends the current path, None while the chat is empty;
    `allowed_tools` are the tools that need not ask in this chat, `permissions` say which others
    must; `log_chars` is the length of all
    its rows as JSON; `draft` is the text that the user typed and has not sent."""

    title_source: TitleSource
    head_row: int | None
    allowed_tools: tuple[str, ...]
    log_chars: int
    params: ChatParams
    permissions: Permissions
    draft: str | None
    branched_from: BranchPoint | None
