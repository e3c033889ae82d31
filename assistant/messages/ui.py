"""Parses UI message JSON into `Message` values, and writes them as JSON.

The JSON is that of the AI SDK (`docs/contracts/ui-message-stream.md`). A wrong value is refused
with its path; a part of an unknown type is stored and sent unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, cast

from ..errors import InvalidRequest
from .parts import (
    ROLES,
    TOOL_STATES,
    Approval,
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    Role,
    StepStart,
    TextPart,
    ToolPart,
)

LONGEST_ID = 128
"""Characters of a message's id. Providers make the ids of tool calls, which may be longer."""
DEEPEST = 100
"""Levels of objects and lists in one message: more than a chunk's value has
(`json_text.DEEPEST`), because the message adds levels around it."""


def messages_from_ui(body: Any, where: str = "messages") -> tuple[Message, ...]:
    """All messages of a request. Raises InvalidRequest, also for an empty list or a repeated id."""
    if not isinstance(body, list):
        raise InvalidRequest(f"expected a list of messages, got {_kind(body)}", where=where)
    if not body:
        raise InvalidRequest("expected at least one message, got none", where=where)
    messages = tuple(message_from_ui(item, f"{where}[{n}]") for n, item in enumerate(body))
    seen: set[str] = set()
    for number, message in enumerate(messages):
        if message.id in seen:
            raise InvalidRequest(
                f"the id {message.id!r} is used by an earlier message",
                where=f"{where}[{number}].id",
            )
        seen.add(message.id)
    return messages


def message_from_ui(body: Any, where: str = "message") -> Message:
    """One message. Raises InvalidRequest. Without an id it gets the hash of its content as id."""
    if not isinstance(body, Mapping):
        raise InvalidRequest(f"expected a message object, got {_kind(body)}", where=where)
    _check_json(body, where)
    role = body.get("role")
    if role not in ROLES:
        raise InvalidRequest(
            f"expected one of {', '.join(ROLES)}, got {_short(role)}", where=f"{where}.role"
        )
    parts = body.get("parts")
    if not isinstance(parts, list):
        raise InvalidRequest(
            f"expected a list of parts, got {_kind(parts)}", where=f"{where}.parts"
        )
    metadata = body.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidRequest(
            f"expected an object, got {_kind(metadata)}", where=f"{where}.metadata"
        )
    return Message(
        id=_message_id(body, where),
        role=cast(Role, role),
        parts=tuple(part_from_ui(part, f"{where}.parts[{n}]") for n, part in enumerate(parts)),
        metadata=dict(metadata or {}),
    )


def part_from_ui(body: Any, where: str) -> Part:
    """One part. Raises InvalidRequest. A part of an unknown type becomes an `OpaquePart`."""
    if not isinstance(body, Mapping):
        raise InvalidRequest(f"expected a part object, got {_kind(body)}", where=where)
    kind = _string(body, "type", where)
    if kind == "text":
        return TextPart(_string(body, "text", where))
    if kind == "reasoning":
        return ReasoningPart(_string(body, "text", where), _object(body, "providerMetadata", where))
    if kind == "file":
        return FilePart(
            _string(body, "mediaType", where),
            _string(body, "url", where),
            _optional(body, "filename", where),
        )
    if kind == "step-start":
        return StepStart()
    if kind == "dynamic-tool":
        return _tool_from_ui(body, _string(body, "toolName", where), where)
    if kind.startswith("tool-"):
        return _tool_from_ui(body, kind.removeprefix("tool-"), where)
    if kind.startswith("data-"):
        return DataPart(kind.removeprefix("data-"), body.get("data"), _optional(body, "id", where))
    return OpaquePart(dict(body))


def _tool_from_ui(body: Mapping[str, Any], name: str, where: str) -> ToolPart:
    state = body.get("state")
    if state not in TOOL_STATES:
        raise InvalidRequest(
            f"expected one of {', '.join(TOOL_STATES)}, got {_short(state)}", where=f"{where}.state"
        )
    call_id = _string(body, "toolCallId", where)
    if not call_id:
        raise InvalidRequest("expected an id, got an empty string", where=f"{where}.toolCallId")
    return ToolPart(
        tool_call_id=call_id,
        tool_name=name,
        state=state,
        input=body.get("input", body.get("rawInput")),
        output=body.get("output") if state == "output-available" else None,
        error_text=_optional(body, "errorText", where),
        approval=_approval_from_ui(body.get("approval"), f"{where}.approval"),
        title=_optional(body, "title", where),
        provider_executed=body.get("providerExecuted") is True,
    )


def _approval_from_ui(body: Any, where: str) -> Approval | None:
    if body is None:
        return None
    if not isinstance(body, Mapping):
        raise InvalidRequest(f"expected an object, got {_kind(body)}", where=where)
    approved = body.get("approved")
    if approved is not None and not isinstance(approved, bool):
        raise InvalidRequest(f"expected true or false, got {_short(approved)}", where=where)
    return Approval(_string(body, "id", where), approved, _optional(body, "reason", where))


def message_to_ui(message: Message) -> dict[str, Any]:
    """The message as JSON for clients and the log; `message_from_ui` gives an equal message."""
    body: dict[str, Any] = {"id": message.id, "role": message.role}
    if message.metadata:
        body["metadata"] = dict(message.metadata)
    body["parts"] = [part_to_ui(part) for part in message.parts]
    return body


def part_to_ui(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text, "state": "done"}
    if isinstance(part, ReasoningPart):
        body = {"type": "reasoning", "text": part.text, "state": "done"}
        return _with(body, providerMetadata=part.provider_metadata)
    if isinstance(part, FilePart):
        body = {"type": "file", "mediaType": part.media_type, "url": part.url}
        return _with(body, filename=part.filename)
    if isinstance(part, StepStart):
        return {"type": "step-start"}
    if isinstance(part, ToolPart):
        return _tool_to_ui(part)
    if isinstance(part, DataPart):
        return _with({"type": f"data-{part.name}", "data": part.data}, id=part.id)
    return dict(part.body)


def _tool_to_ui(part: ToolPart) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "dynamic-tool",
        "toolName": part.tool_name,
        "toolCallId": part.tool_call_id,
        "state": part.state,
        "input": part.input,
    }
    if part.state == "output-available":
        body["output"] = part.output
    body = _with(body, errorText=part.error_text, title=part.title)
    if part.provider_executed:
        body["providerExecuted"] = True
    if part.approval:
        body["approval"] = _with(
            {"id": part.approval.id}, approved=part.approval.approved, reason=part.approval.reason
        )
    return body


def _with(body: dict[str, Any], **optional: Any) -> dict[str, Any]:
    body.update({name: value for name, value in optional.items() if value is not None})
    return body


def _message_id(body: Mapping[str, Any], where: str) -> str:
    if body.get("id") is None:
        canonical = json.dumps(
            [where, body.get("role"), body.get("parts")], sort_keys=True, default=str
        )
        return "m-" + hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()[:16]
    identity = _string(body, "id", where)
    if not 0 < len(identity) <= LONGEST_ID or not identity.isprintable():
        # A database, a header and a log line must be able to hold it.
        raise InvalidRequest(
            f"expected 1 to {LONGEST_ID} printable characters, got {identity[:40]!a}",
            where=f"{where}.id",
        )
    return identity


def _check_json(body: Any, where: str) -> None:
    """Raises InvalidRequest for NaN and very deep nesting, which only Python reads as JSON."""
    level = [body]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, Mapping):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, float) and not isfinite(value):
                raise InvalidRequest(f"{value} is no JSON value", where=where)
        level = inner
    if level:
        raise InvalidRequest(f"expected at most {DEEPEST} levels of nesting", where=where)


def _string(body: Mapping[str, Any], name: str, where: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise InvalidRequest(f"expected a string, got {_kind(value)}", where=f"{where}.{name}")
    return value


def _optional(body: Mapping[str, Any], name: str, where: str) -> str | None:
    return None if body.get(name) is None else _string(body, name, where)


def _object(body: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any] | None:
    value = body.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise InvalidRequest(f"expected an object, got {_kind(value)}", where=f"{where}.{name}")
    return value


def _kind(value: Any) -> str:
    """The JSON name of a value's type, for error messages."""
    if value is None:
        return "nothing"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string"}
    names.update({list: "a list", dict: "an object"})
    return names.get(type(value), type(value).__name__)


def _short(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else _kind(value)
