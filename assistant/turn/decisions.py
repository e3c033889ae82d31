"""Commands to a chat: stop, compact, and what lets a suspended turn go on. Pure.

A decision of the user, or a result of the panel, builds the message that a client would have sent,
and `chats.reconcile.merge` says what of it counts; so the command and `POST /api/chat` are one
transition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..chats.reconcile import merge
from ..errors import Conflict, InvalidRequest
from ..messages.parts import Approval, Message, ToolPart
from .storable import fault_of

SHOWN = 80
"""Characters of a client's own words that an error repeats."""
STOPPED = "Stopped by the user before there was a result."
"""Whether a tool that was running took effect is not known: it says neither."""


@dataclass(frozen=True, slots=True)
class Abort:
    """Stop the running turn."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Summarise the older messages now; `focus` is what the user wants to be kept (R25)."""

    focus: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The user allows (or declines) calls; `remember` allows their tools for the whole chat."""

    ids: tuple[str, ...]
    approved: bool
    remember: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The panel's result of a call; `error` is set when the tool failed there."""

    tool_call_id: str
    output: Any = None
    error: str | None = None


Command = Abort | Compact | Decision | ToolResult

FIELDS = {
    "abort": frozenset(("type",)),
    "compact": frozenset(("type", "focus")),
    "approve_tools": frozenset(("type", "ids", "remember")),
    "reject_tools": frozenset(("type", "ids", "reason")),
    "tool_result": frozenset(("type", "tool_call_id", "output", "error")),
}


def command_from(body: Mapping[str, Any]) -> Command:
    """The command in a JSON object; raises InvalidRequest naming what is wrong."""
    kind = body.get("type")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise InvalidRequest(f"expected one of {', '.join(FIELDS)}", where="type")
    known = FIELDS[kind] | {"client_id"}
    if unknown := sorted(set(body) - known):
        raise InvalidRequest(f"{kind} has no such field", where=unknown[0][:SHOWN])
    if kind == "abort":
        return Abort()
    if kind == "compact":
        return Compact((_optional_text(body.get("focus"), "focus") or "").strip())
    if kind == "tool_result":
        return _tool_result(body)
    return Decision(
        ids=_ids(body.get("ids")),
        approved=kind == "approve_tools",
        remember=_flag(body.get("remember", False)),
        reason=_optional_text(body.get("reason"), "reason"),
    )


def decided(message: Message, command: Decision | ToolResult) -> Message:
    """The suspended message with the decision; raises Conflict when nothing waits for it."""
    wanted = command.ids if isinstance(command, Decision) else (command.tool_call_id,)
    parts = {part.tool_call_id: part for part in message.tool_parts}
    for call_id in wanted:
        if call_id not in parts:
            raise Conflict(f"No call {call_id[:SHOWN]!r} waits in this chat.", code="nothing_waits")
    offered = {call_id: _offer(parts[call_id], command) for call_id in wanted}
    sent = replace(
        message,
        parts=tuple(
            offered.get(part.tool_call_id, part) if isinstance(part, ToolPart) else part
            for part in message.parts
        ),
    )
    merged = merge(message, sent)
    if merged == message:
        raise Conflict("That call does not wait any more.", code="nothing_waits")
    return merged


def stopped(message: Message) -> Message:
    """The suspended message after an abort: nothing in it waits any more."""
    parts = tuple(_stopped(p) if isinstance(p, ToolPart) else p for p in message.parts)
    return replace(message, parts=parts, metadata={**message.metadata, "cut": "aborted"})


def _stopped(part: ToolPart) -> ToolPart:
    if part.settled:
        return part
    if part.state == "approval-requested":
        return replace(part, state="output-denied")
    return replace(part, state="output-error", error_text=STOPPED)


def _offer(part: ToolPart, command: Decision | ToolResult) -> ToolPart:
    if isinstance(command, ToolResult):
        if command.error is not None:
            return replace(part, state="output-error", error_text=command.error)
        return replace(part, state="output-available", output=command.output)
    asked = part.approval.id if part.approval else ""
    answer = Approval(asked, command.approved, command.reason)
    return replace(part, state="approval-responded", approval=answer)


def _tool_result(body: Mapping[str, Any]) -> ToolResult:
    call_id = body.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise InvalidRequest("expected the id of a call", where="tool_call_id")
    if ("output" in body) == ("error" in body):
        raise InvalidRequest("expected either output or error", where="tool_result")
    if fault := fault_of(body.get("output")):
        raise InvalidRequest(fault, where="output")
    return ToolResult(call_id, body.get("output"), _optional_text(body.get("error"), "error"))


def _ids(value: Any) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise InvalidRequest("expected a list of call ids", where="ids")
    if not all(isinstance(item, str) for item in value):
        raise InvalidRequest("expected strings", where="ids")
    return tuple(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequest("expected true or false", where="remember")
    return value


def _optional_text(value: Any, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidRequest("expected a string", where=where)
    return value
