"""Commands to a chat, as values (R36).

How they are read from JSON is `parsing`'s, what a state makes of them `gates`', what they do the
session's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..chats import ChatParams
from ..chats.export.trajectory import Trajectory
from ..messages.parts import Message
from ..turn.decisions import Decision, ToolResult


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Answer this; `priority` goes before what waits already."""

    message: Message
    priority: bool = False


@dataclass(frozen=True, slots=True)
class RetryFromIndex:
    """Ask a user message of the current path again, by its place (from 0) or its id; with `message`
    in its place when one is given. A new branch: nothing is lost."""

    index: int | None = None
    message_id: str | None = None
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class Regenerate:
    """Answer again: the answer with this id, else the last."""

    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateMessage:
    """Other words in a message that stays where it is; nothing runs."""

    message_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class RemoveMessage:
    message_id: str


@dataclass(frozen=True, slots=True)
class TruncateMessages:
    """A message of the current path, by its place or its id, and all after it leave the path."""

    index: int | None = None
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class SwitchVersion:
    """The current path goes through this version of a message."""

    message_id: str


@dataclass(frozen=True, slots=True)
class BranchFromChat:
    """A new chat with the path up to this message."""

    message_id: str


@dataclass(frozen=True, slots=True)
class RestoreFromTrajectory:
    """The current path becomes the trajectory's."""

    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class SetParams:
    """What the chat's next turns use; only what `given` names changes."""

    params: ChatParams
    given: frozenset[str]


@dataclass(frozen=True, slots=True)
class SetDraft:
    text: str


@dataclass(frozen=True, slots=True)
class ClearDraft:
    """Nothing is typed any more."""


@dataclass(frozen=True, slots=True)
class Abort:
    """Stop whatever is under way, or waits."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Summarise the older messages now; `focus` is what the user wants to be kept (R25)."""

    focus: str = ""


@dataclass(frozen=True, slots=True)
class CancelQueued:
    """Take this out of the queue."""

    id: str


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    """What was held after a stop, a failure or a restart goes on."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """The panel that says so gets the calls of one that is gone."""


Command = (
    UserMessage
    | RetryFromIndex
    | Regenerate
    | UpdateMessage
    | RemoveMessage
    | TruncateMessages
    | SwitchVersion
    | BranchFromChat
    | RestoreFromTrajectory
    | SetParams
    | SetDraft
    | ClearDraft
    | Abort
    | Compact
    | Decision
    | ToolResult
    | CancelQueued
    | ResumeQueue
    | TakeOver
)

_TYPES: Final[Mapping[type, str]] = {
    UserMessage: "user_message",
    RetryFromIndex: "retry_from_index",
    Regenerate: "regenerate",
    UpdateMessage: "update_message",
    RemoveMessage: "remove_message",
    TruncateMessages: "truncate_messages",
    SwitchVersion: "switch_version",
    BranchFromChat: "branch_from_chat",
    RestoreFromTrajectory: "restore_from_trajectory",
    SetParams: "set_params",
    SetDraft: "set_draft",
    ClearDraft: "clear_draft",
    Abort: "abort",
    Compact: "compact",
    ToolResult: "tool_result",
    CancelQueued: "cancel_queued",
    ResumeQueue: "resume_queue",
    TakeOver: "take_over",
}


def type_of(command: Command) -> str:
    """The command's name in JSON and in the table of gates."""
    if isinstance(command, Decision):
        return "approve_tools" if command.approved else "reject_tools"
    return _TYPES[type(command)]
