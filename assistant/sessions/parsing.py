"""Commands as they are read from JSON (R36). Pure.

`client_id` and `workflow`, which any command may bring, are the caller's to read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from ..chats import ChatParams
from ..chats.export.trajectory import from_text
from ..config import REASONING_EFFORTS, TEMPERATURES
from ..errors import InvalidRequest
from ..messages.json_text import json_text
from ..messages.parts import Message
from ..messages.ui import message_from_ui
from ..turn.decisions import Decision, ToolResult
from ..turn.json_limits import fault_of
from .commands import (
    Abort,
    BranchFromChat,
    CancelQueued,
    ClearDraft,
    Command,
    Compact,
    Regenerate,
    RemoveMessage,
    RestoreFromTrajectory,
    ResumeQueue,
    RetryFromIndex,
    SetDraft,
    SetParams,
    SwitchVersion,
    TakeOver,
    TruncateMessages,
    UpdateMessage,
    UserMessage,
)

SHOWN: Final = 80
"""Characters of a client's own words that an error repeats."""
LONGEST_DRAFT: Final = 200_000
"""Characters; longer than what people type."""
LONGEST_NAME: Final = 200
"""Characters of a provider's or a model's name."""

Body = Mapping[str, Any]


def command_from(body: Body) -> Command:
    """The command in a JSON object; raises InvalidRequest naming what is wrong."""
    kind = body.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        raise InvalidRequest(f"expected one of {', '.join(_READERS)}", where="type")
    fields, read = _READERS[kind]
    if unknown := sorted(set(body) - {"type", *fields}):
        raise InvalidRequest(f"{kind} has no such field", where=unknown[0][:SHOWN])
    return read(body)


def _user_message(body: Body) -> UserMessage:
    return UserMessage(_message(body, "user"), _flag(body, "priority"))


def _retry(body: Body) -> RetryFromIndex:
    message = _message(body, "user") if body.get("message") is not None else None
    return RetryFromIndex(*_place(body), message)


def _update(body: Body) -> UpdateMessage:
    return UpdateMessage(_text(body, "message_id"), _message(body))


def _restore(body: Body) -> RestoreFromTrajectory:
    trajectory = body.get("trajectory")
    if not isinstance(trajectory, Mapping):
        raise InvalidRequest("expected an object", where="trajectory")
    return RestoreFromTrajectory(from_text(json_text(trajectory), "trajectory"))


def _params(body: Body) -> SetParams:
    given = body.get("params")
    if not isinstance(given, Mapping) or not given:
        raise InvalidRequest("expected an object with what is to change", where="params")
    known = ("provider", "model", "temperature", "reasoning")
    if unknown := sorted(set(given) - set(known)):
        raise InvalidRequest("there is no such parameter", where=f"params.{unknown[0][:SHOWN]}")
    params = ChatParams(
        provider=_name(given, "provider"),
        model=_name(given, "model"),
        temperature=_temperature(given.get("temperature")),
        reasoning=_reasoning(given.get("reasoning")),
    )
    return SetParams(params, frozenset(given))


def _draft(body: Body) -> SetDraft:
    text = body.get("text")
    if not isinstance(text, str) or len(text) > LONGEST_DRAFT:
        raise InvalidRequest(f"expected at most {LONGEST_DRAFT:,} characters", where="text")
    return SetDraft(text)


def _decision(body: Body) -> Decision:
    return Decision(
        ids=_ids(body.get("ids")),
        approved=body["type"] == "approve_tools",
        remember=_flag(body, "remember"),
        reason=_optional_text(body, "reason"),
    )


def _tool_result(body: Body) -> ToolResult:
    call_id = _text(body, "tool_call_id")
    if ("output" in body) == ("error" in body):
        raise InvalidRequest("expected either output or error", where="tool_result")
    if fault := fault_of(body.get("output")):
        raise InvalidRequest(fault, where="output")
    return ToolResult(call_id, body.get("output"), _optional_text(body, "error"))


_READERS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Body], Command]]]] = {
    "user_message": (("message", "priority"), _user_message),
    "retry_from_index": (("index", "message_id", "message"), _retry),
    "regenerate": (("message_id",), lambda body: Regenerate(_optional_text(body, "message_id"))),
    "update_message": (("message_id", "message"), _update),
    "remove_message": (("message_id",), lambda body: RemoveMessage(_text(body, "message_id"))),
    "truncate_messages": (("index", "message_id"), lambda body: TruncateMessages(*_place(body))),
    "switch_version": (("message_id",), lambda body: SwitchVersion(_text(body, "message_id"))),
    "branch_from_chat": (("message_id",), lambda body: BranchFromChat(_text(body, "message_id"))),
    "restore_from_trajectory": (("trajectory",), _restore),
    "set_params": (("params",), _params),
    "set_draft": (("text",), _draft),
    "clear_draft": ((), lambda body: ClearDraft()),
    "abort": ((), lambda body: Abort()),
    "compact": (("focus",), lambda body: Compact((_optional_text(body, "focus") or "").strip())),
    "approve_tools": (("ids", "remember"), _decision),
    "reject_tools": (("ids", "reason"), _decision),
    "tool_result": (("tool_call_id", "output", "error"), _tool_result),
    "cancel_queued": (("id",), lambda body: CancelQueued(_text(body, "id"))),
    "resume_queue": ((), lambda body: ResumeQueue()),
    "take_over": ((), lambda body: TakeOver()),
}
COMMAND_TYPES: Final = tuple(_READERS)


def _message(body: Body, role: str | None = None) -> Message:
    message = message_from_ui(body.get("message"))
    if message.role == "system" or (role is not None and message.role != role):
        raise InvalidRequest(f"expected {role or 'a user or assistant'} message", where="message")
    return message


def _place(body: Body) -> tuple[int | None, str | None]:
    """An index or an id, one of both."""
    index, identity = body.get("index"), _optional_text(body, "message_id")
    if (index is None) == (identity is None):
        raise InvalidRequest("expected either index or message_id", where="index")
    if index is not None and (not isinstance(index, int) or isinstance(index, bool) or index < 0):
        raise InvalidRequest("expected a whole number from 0", where="index")
    return index, identity


def _ids(value: Any) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise InvalidRequest("expected a list of call ids", where="ids")
    if not all(isinstance(item, str) for item in value):
        raise InvalidRequest("expected strings", where="ids")
    return tuple(value)


def _flag(body: Body, name: str) -> bool:
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise InvalidRequest("expected true or false", where=name)
    return value


def _text(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidRequest("expected a string", where=name)
    return value


def _optional_text(body: Body, name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequest("expected a string", where=name)
    return value


def _name(given: Body, name: str) -> str | None:
    value = _optional_text(given, name)
    if value is not None and (not value.strip() or len(value) > LONGEST_NAME):
        raise InvalidRequest(f"expected 1 to {LONGEST_NAME} characters", where=f"params.{name}")
    return value


def _temperature(value: Any) -> float | None:
    low, high = TEMPERATURES
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (number and low <= value <= high):
        raise InvalidRequest(f"expected {low} to {high}", where="params.temperature")
    return None if value is None else float(value)


def _reasoning(value: Any) -> str | None:
    if value is not None and value not in REASONING_EFFORTS:
        expected = ", ".join(REASONING_EFFORTS)
        raise InvalidRequest(f"expected one of {expected}", where="params.reasoning")
    return cast("str | None", value)
