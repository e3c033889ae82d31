"""Handles: short names for rows that a request leaves out (R49).

    r12        row 12 of the chat's log
    r3-240     rows 3 to 240, both included

`recall` gives the content of a handle, byte for byte. Rows are counted along the chat's current
path, so a handle keeps its meaning as long as the path before it is the same."""

from __future__ import annotations

import json
import re

from ..errors import NotFound
from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage
from .log import ChatLog

_HANDLE = re.compile(r"r(\d{1,9})(?:-(\d{1,9}))?")


def row_handle(row: int) -> str:
    return f"r{row}"


def range_handle(first: int, end: int) -> str:
    """The handle of the rows from `first` up to `end`, which is not included."""
    return f"r{first}" if end - first == 1 else f"r{first}-{end - 1}"


def rows_of(handle: str) -> range:
    """The rows that a handle names. Raises NotFound for a text that is no handle."""
    found = _HANDLE.fullmatch(handle.strip())
    if not found:
        raise NotFound(f"{handle[:40]!r} is no handle; handles look like r12 or r3-40.")
    first = int(found[1])
    last = int(found[2]) if found[2] else first
    return range(first, max(first, last) + 1)


def recall(log: ChatLog, handle: str) -> str:
    """The whole content behind a handle: a result's own text, or the rows of a range as a
    transcript. Raises NotFound when the chat has no such row."""
    rows = rows_of(handle)
    if rows.stop > len(log):
        raise NotFound(f"This chat has no {handle}; it has rows r0 to r{len(log) - 1}.")
    if len(rows) == 1:
        row = log.row(rows.start)
        return row.text if row.role == "tool" else transcript_line(row)
    return "\n\n".join(f"[r{row}] {transcript_line(log.row(row))}" for row in rows)


def transcript_line(message: PromptMessage) -> str:
    """A message as text: its role, its text, and its calls with their unchanged arguments."""
    parts = [f"{message.role}: {message.text}" if message.text else f"{message.role}:"]
    parts.extend("[image]" for _ in message.images)
    parts.extend(f"[calls {call.name} {call.arguments}]" for call in message.tool_calls)
    return "\n".join(parts)


def json_part(text: str, path: str) -> str:
    """The value at a path such as `nodes.3.widgets` in a JSON text, as JSON.

    Raises NotFound when the text is no JSON, or when there is no such path; the error says which
    step of the path is missing.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NotFound("That result is no JSON; ask for a range of characters instead.") from None
    gone: list[str] = []
    for step in filter(None, re.split(r"[.\[\]/]+", path.removeprefix("$"))):
        known: object = None
        if isinstance(value, dict):
            known = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            known = value[int(step)]
        if known is None:
            there = ", ".join(list(value)[:20]) if isinstance(value, dict) else str(type(value))
            raise NotFound(f"There is no {step!r} at {'.'.join(gone) or 'the top'}: {there}.")
        gone.append(step)
        value = known
    return json_text(value)
