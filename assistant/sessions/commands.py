"""Commands to a chat, as values and as they are read from JSON (R36).

`gates` says in which state of the chat a command runs, `chat_session` carries it out. The fields of
a command are also its description in the OpenAPI document. `client_id` and `workflow`, which every
command may bring, are read by the route.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema

from ..chats import ChatParams
from ..chats.export.trajectory import Trajectory, from_text
from ..errors import InvalidRequest
from ..messages.json_text import json_text
from ..messages.outside import from_outside
from ..messages.parts import Message
from ..messages.ui import message_from_ui
from ..turn.decisions import Decision, ToolResult
from ..turn.json_limits import fault_of
from ..validation import Body, Flag, Whole, parsed, schema_named
from .edit_commands import RedoEdits, RestoreWorkflow, UndoEdits
from .param_changes import ApprovalChange, ParamChanges

# No `from __future__ import annotations` here: older pydantic does not resolve the annotations of
# dataclasses when they are texts.

LONGEST_DRAFT = 200_000
"""Characters; longer than what people type."""


def _message(value: Any) -> Message:
    message = from_outside(message_from_ui(value))
    if message.role == "system":
        raise InvalidRequest("expected a user or assistant message", where="message")
    return message


def _user_message(value: Any) -> Message:
    message = from_outside(message_from_ui(value))
    if message.role != "user":
        raise InvalidRequest("expected a user message", where="message")
    return message


def _trajectory(value: Any) -> Trajectory:
    if not isinstance(value, Mapping):
        raise InvalidRequest("expected an object", where="trajectory")
    return from_text(json_text(value), "trajectory")


Id = Annotated[str, Field(min_length=1)]
Ids = Annotated[tuple[str, ...], Field(min_length=1)]
Index = Annotated[Whole, Field(ge=0)]
Focus = Annotated[
    str,
    AfterValidator(lambda text: text.strip()),
    BeforeValidator(lambda text: "" if text is None else text),
    WithJsonSchema({"type": ["string", "null"]}),
]
AnyMessage = Annotated[Message, PlainValidator(_message), schema_named("NewMessage")]
AskedMessage = Annotated[Message, PlainValidator(_user_message), schema_named("NewMessage")]
OtherQuestion = Annotated[
    Message | None,
    PlainValidator(lambda value: None if value is None else _user_message(value)),
    schema_named("NewMessage", null=True),
]


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Answer this message. It waits in the queue while the chat is busy; with `priority`, before
    the messages that wait already."""

    message: AskedMessage
    priority: Flag = False
    type: Literal["user_message"] = "user_message"


@dataclass(frozen=True, slots=True)
class RetryFromIndex:
    """Ask a user message of the current path again, named by its `index` (from 0) or its id; with
    `message`, ask that instead. The answer is a new branch: no message is lost."""

    index: Index | None = None
    message_id: str | None = None
    message: OtherQuestion = None
    type: Literal["retry_from_index"] = "retry_from_index"


@dataclass(frozen=True, slots=True)
class Regenerate:
    """Give an answer again: the answer with this id, else the last one."""

    message_id: str | None = None
    type: Literal["regenerate"] = "regenerate"


@dataclass(frozen=True, slots=True)
class UpdateMessage:
    """Replace the content of a message, which stays where it is. No turn begins."""

    message_id: Id
    message: AnyMessage
    type: Literal["update_message"] = "update_message"


@dataclass(frozen=True, slots=True)
class RemoveMessage:
    """Take a message out of the current path."""

    message_id: Id
    type: Literal["remove_message"] = "remove_message"


@dataclass(frozen=True, slots=True)
class TruncateMessages:
    """Take a message, named by its `index` or its id, and all messages after it out of the current
    path. They stay as versions."""

    index: Index | None = None
    message_id: str | None = None
    type: Literal["truncate_messages"] = "truncate_messages"


@dataclass(frozen=True, slots=True)
class SwitchVersion:
    """Lead the current path through this version of a message."""

    message_id: Id
    type: Literal["switch_version"] = "switch_version"


@dataclass(frozen=True, slots=True)
class BranchFromChat:
    """Make a new chat with the path up to and including this message."""

    message_id: Id
    type: Literal["branch_from_chat"] = "branch_from_chat"


@dataclass(frozen=True, slots=True)
class RestoreFromTrajectory:
    """Make the trajectory's path the current one. The old path stays as versions."""

    trajectory: Annotated[Trajectory, PlainValidator(_trajectory), schema_named("AnyObject")]
    type: Literal["restore_from_trajectory"] = "restore_from_trajectory"


@dataclass(frozen=True, slots=True)
class SetParams:
    """What the chat's next turns use. Only the parameters in `given` change."""

    params: ChatParams
    given: frozenset[str]
    approval: ApprovalChange | None = None


@dataclass(frozen=True, slots=True)
class SetDraft:
    """Keep what the user has typed so far."""

    text: Annotated[str, Field(max_length=LONGEST_DRAFT)]
    type: Literal["set_draft"] = "set_draft"


@dataclass(frozen=True, slots=True)
class ClearDraft:
    """Forget what the user has typed so far."""

    type: Literal["clear_draft"] = "clear_draft"


@dataclass(frozen=True, slots=True)
class Abort:
    """Stop the running turn, or the turn that waits for a decision or a result."""

    type: Literal["abort"] = "abort"


@dataclass(frozen=True, slots=True)
class Compact:
    """Summarise the older messages now; `focus` says what the summary has to keep."""

    focus: Focus = ""
    type: Literal["compact"] = "compact"


@dataclass(frozen=True, slots=True)
class CancelQueued:
    """Take a message out of the queue."""

    id: Id
    type: Literal["cancel_queued"] = "cancel_queued"


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    """Go on with the queue after a stop, a failure or a restart held it."""

    type: Literal["resume_queue"] = "resume_queue"


@dataclass(frozen=True, slots=True)
class SetWorkflow:
    """The workflow that is open in the panel has changed: `workflow` is what tools read from now
    on. While a turn runs, only for the panel that started it, with the same workflow; else from the
    next turn on. Begins nothing."""

    type: Literal["set_workflow"] = "set_workflow"


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Give the tool calls of a panel that is gone to the panel `client_id`."""

    type: Literal["take_over"] = "take_over"


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
    | SetWorkflow
    | UndoEdits
    | RedoEdits
    | RestoreWorkflow
    | TakeOver
)


class SetParamsCommand(Body):
    """Change what the chat's next turns use, and which calls ask from now on."""

    type: Literal["set_params"]
    params: ParamChanges

    def command(self) -> SetParams:
        changes = {
            name: value
            for name, value in self.params.changes.items()
            if name not in ("approval", "budget")
        }
        return SetParams(ChatParams(**changes), frozenset(changes), self.params.approval_change)


def _questions(ids: tuple[str, ...], approval_ids: tuple[str, ...] | None) -> tuple[str, ...]:
    if approval_ids is not None and len(approval_ids) != len(ids):
        raise InvalidRequest("expected one id for each of ids", where="approval_ids")
    return approval_ids or ()


class ApproveToolsCommand(Body):
    """Allow tool calls; with `remember`, their tools need not ask in this chat any more, but for
    calls that ask each time.
    `approval_ids` are the questions that the user saw."""

    type: Literal["approve_tools"]
    ids: Ids
    approval_ids: Ids | None = None
    remember: Flag = False

    def command(self) -> Decision:
        seen = _questions(self.ids, self.approval_ids)
        return Decision(self.ids, approved=True, remember=self.remember, approval_ids=seen)


class RejectToolsCommand(Body):
    """Decline tool calls; the model reads the reason, or what to do instead, as the user's own
    words. `approval_ids` are the questions that the
    user saw."""

    type: Literal["reject_tools"]
    ids: Ids
    approval_ids: Ids | None = None
    reason: str | None = None

    def command(self) -> Decision:
        seen = _questions(self.ids, self.approval_ids)
        return Decision(self.ids, approved=False, reason=self.reason, approval_ids=seen)


class ToolResultCommand(Body):
    """The panel's result of a tool call: either `output` or `error`. The first result counts. The
    answer to a question is an `output` with `choices` (labels that were offered), `text`, or
    both."""

    type: Literal["tool_result"]
    tool_call_id: Id
    output: Any = None
    error: str | None = None

    def command(self) -> ToolResult:
        if ("output" in self.model_fields_set) == ("error" in self.model_fields_set):
            raise InvalidRequest("expected either output or error", where="tool_result")
        if fault := fault_of(self.output):
            raise InvalidRequest(fault, where="output")
        return ToolResult(self.tool_call_id, self.output, self.error)


CommandJson = Annotated[
    UserMessage
    | RetryFromIndex
    | Regenerate
    | UpdateMessage
    | RemoveMessage
    | TruncateMessages
    | SwitchVersion
    | BranchFromChat
    | RestoreFromTrajectory
    | SetParamsCommand
    | SetDraft
    | ClearDraft
    | Abort
    | Compact
    | ApproveToolsCommand
    | RejectToolsCommand
    | ToolResultCommand
    | CancelQueued
    | ResumeQueue
    | SetWorkflow
    | UndoEdits
    | RedoEdits
    | RestoreWorkflow
    | TakeOver,
    Field(discriminator="type"),
]
"""The JSON objects that `command_from` reads."""


def command_from(body: Mapping[str, Any]) -> Command:
    """The command in a JSON object; raises InvalidRequest naming what is wrong."""
    found = parsed(CommandJson, body)
    if isinstance(found, Body):
        found = found.command()  # type: ignore[attr-defined]
    named_by_place = isinstance(found, (RetryFromIndex, TruncateMessages))
    if named_by_place and (found.index is None) == (found.message_id is None):
        raise InvalidRequest("expected either index or message_id", where="index")
    return cast(Command, found)


def type_of(command: Command) -> str:
    """The command's name in JSON and in the table of gates."""
    match command:
        case Decision():
            return "approve_tools" if command.approved else "reject_tools"
        case ToolResult():
            return "tool_result"
        case SetParams():
            return "set_params"
        case _:
            return command.type
