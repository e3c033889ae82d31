"""A chat as Markdown for people: messages, and tool calls with input and output. Pure.

It has no events, no reasoning of a model, and of attachments and pictures only names and types. The
sources of an answer follow it, as a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timezone
from typing import Any, Final
from urllib.parse import quote

from ...messages.chunks import SERVER_BLOCK
from ...messages.json_text import mended
from ...messages.origin import is_event
from ...messages.parts import (
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    TextPart,
    ToolPart,
)
from .trajectory import LogRow, Trajectory

SPEAKERS: Final[Mapping[str, str]] = {"user": "You", "assistant": "Assistant"}
_TICKS = re.compile(r"`+")
_MARKS = re.compile(r"[\\`\[\]<>!&]")
"""Signs that would begin a link, a picture, code or HTML."""
_UNSAFE = re.compile(r"[\s<>\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What an address between angle brackets cannot hold."""


def to_markdown(trajectory: Trajectory) -> str:
    """The current path, with a heading for the chat and a heading for each message, in which its
    time stands."""
    blocks = [f"# {trajectory.title}"]
    for one in trajectory.path_rows:
        message = one.message
        if is_event(message):
            continue
        blocks += [f"## {SPEAKERS.get(message.role, message.role)}{_when(one)}", *_blocks(message)]
    return mended("\n\n".join(blocks) + "\n")


def _when(one: LogRow) -> str:
    if one.created is None:
        return ""
    return f", {one.created.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"


def _blocks(message: Message) -> Iterator[str]:
    for part in message.parts:
        yield from (block for block in _part(part) if block)
    if sources := [
        part for part in message.parts if isinstance(part, OpaquePart) and part.source_url
    ]:
        yield "*Sources:*"
        yield "\n".join(f"{n}. {_source(part)}" for n, part in enumerate(sources, 1))


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, TextPart):
        yield part.text.strip()
    elif isinstance(part, FilePart):
        if part.filename is None and part.media_type.startswith("image/"):
            yield f"*Picture ({_line(part.media_type)})*"
            return
        yield f"*Attachment: {_line(part.filename or 'without a name')} ({_line(part.media_type)})*"
    elif isinstance(part, ToolPart):
        yield f"*Tool: {_line(part.title or part.tool_name)} ({part.state})*"
        yield _fenced(part.input)
        yield _fenced(part.output)
        yield _fenced(part.error_text)
    elif isinstance(part, DataPart) and isinstance(part.data, Mapping):
        shown = {"notice": "message", "skill": "name"}.get(part.name, "")
        if part.name == SERVER_BLOCK:
            yield f"*Block of the provider: {_line(str(part.data.get('kind', '')))}*"
            yield _fenced(part.data.get("content"))
        value = part.data.get(shown)
        if isinstance(value, str):
            yield f"*{part.name.capitalize()}: {_line(value)}*"


def _source(part: OpaquePart) -> str:
    """A source with its address; an address that is none of the web is text."""
    url, title = part.source_url or "", part.body.get("title")
    named = f"{_MARKS.sub(_escaped, _line(title))}: " if isinstance(title, str) else ""
    if not url.lower().startswith(("http://", "https://")):
        return f"{named}{_MARKS.sub(_escaped, _line(url))}"
    return f"{named}<{_UNSAFE.sub(_percent, url)}>"


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _percent(found: re.Match[str]) -> str:
    return quote(found[0], safe="", errors="replace")


def _fenced(value: Any) -> str:
    """A value as a block of code; its fence is longer than any within."""
    if value in (None, "", {}):
        return ""
    is_text = isinstance(value, str)
    text = value if is_text else json.dumps(value, ensure_ascii=False, indent=1, default=dict)
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{'' if is_text else 'json'}\n{text}\n{fence}"


def _line(text: str) -> str:
    return " ".join(text.split()).replace("*", "\\*")
