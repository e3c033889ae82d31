"""Reads a log of OpenAI messages, as other programs write such logs, into our own values.

The reader is liberal, since benchmarks are also run on logs of other programs. Content may be a
string, a list of parts or null; arguments text or an object; `developer` counts as system,
`function` as tool.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plugin.assistant.messages.prompt import (
    Content,
    ImageContent,
    PromptMessage,
    PromptRole,
    TextContent,
    ToolCall,
)

ROLES: dict[str, PromptRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
FAILURE_WORDS = ("failed", "error", "failure")
"""Values of a result's `status` that say it failed."""


def read_log(path: Path) -> list[dict[str, Any]]:
    """The messages of a file: a JSON list, an object with `messages`, or JSON Lines.

    Raises `ValueError` for anything else.
    """
    text = path.read_text(encoding="utf-8")
    try:
        value = json.loads(text)
    except ValueError:
        value = read_lines(path)
    if isinstance(value, dict):
        value = value.get("messages", [value])
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ValueError(f"{path.name}: expected a list of messages")
    return value


def read_lines(path: Path) -> list[Any]:
    """The values of a JSON Lines file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def message_of(row: Mapping[str, Any]) -> PromptMessage:
    """One row of a log. Raises `ValueError` for a role that no provider accepts."""
    role = ROLES.get(str(row.get("role")))
    if role is None:
        raise ValueError(f"expected a role of {sorted(ROLES)}, got {row.get('role')!r}")
    content = _content(row.get("content"))
    result = role == "tool"
    return PromptMessage(
        role,
        content,
        tool_calls=tuple(_call(call) for call in row.get("tool_calls") or ()),
        tool_call_id=str(row.get("tool_call_id") or row.get("name") or "") if result else None,
        failed=result and isinstance(content, str) and reports_failure(content),
    )


def reports_failure(text: str) -> bool:
    """True for a result whose own text says that the call failed; a log has no other sign of a
    failure."""
    if not text.lstrip().startswith("{"):
        return text.startswith(("Error:", "Traceback (most recent call last)"))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    said = str(value.get("status", "")).lower() in FAILURE_WORDS
    denied = value.get("ok") is False or value.get("success") is False
    return bool(value.get("error")) or said or denied


def _content(value: Any) -> Content:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    parts = tuple(part for item in value if (part := _part(item)) is not None)
    if all(isinstance(part, TextContent) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, TextContent))
    return parts


def _part(item: Any) -> TextContent | ImageContent | None:
    if isinstance(item, str):
        return TextContent(item)
    if not isinstance(item, Mapping):
        return None
    image = item.get("image_url")
    if image is not None:
        return ImageContent(str(image.get("url") if isinstance(image, Mapping) else image))
    text = item.get("text") or item.get("content") or item.get("refusal")
    return TextContent(text) if isinstance(text, str) else None


def _call(value: Mapping[str, Any]) -> ToolCall:
    function = value.get("function")
    body = function if isinstance(function, Mapping) else value
    arguments = body.get("arguments", "{}")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False, separators=(",", ":"))
    return ToolCall(str(value.get("id") or ""), str(body.get("name") or "unknown"), arguments)
