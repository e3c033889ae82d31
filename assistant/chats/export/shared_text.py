"""The text of a shared chat: Markdown that people read anywhere, and that an import reads back.

Lines that no viewer shows part the sections; the first line names the mark that they all begin
with, a mark that stands nowhere else in the file. So no text in a section can begin another. Pure;
`share` decides what goes into a section.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ...errors import InvalidRequest

Kind = Literal["user", "assistant", "workflow"]
HEADINGS: Final[dict[str, str]] = {
    "user": "## You",
    "assistant": "## Assistant",
    "workflow": "## Workflow",
}
ABOUT: Final = (
    "*A chat with the assistant in ComfyUI, shared for help: what was said, and which steps were"
    " taken. It has no results of steps, no pictures and no memories; keys, paths and names of"
    " users were taken out.*"
)
WORKFLOW_FILE: Final = "workflow.json"
_FIRST: Final = re.compile(r"<!-- comfyui-assistant-share 1 (?P<mark>[0-9a-f]{12}) -->\s*")
_SECTION: Final = "<!-- {} {} -->"
_END: Final = "end"
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True)
class Section:
    """A message in Markdown, or the workflow as JSON."""

    kind: Kind
    text: str


def to_shared(title: str, sections: Sequence[Section]) -> str:
    """The file."""
    mark = _mark((title, *(section.text for section in sections)))
    blocks = [f"<!-- comfyui-assistant-share 1 {mark} -->\n# {title}", ABOUT]
    for section in sections:
        text = section.text
        if section.kind == "workflow":
            text = f"{_FENCE}json\n{text}\n{_FENCE}"
        blocks.append(f"{_SECTION.format(mark, section.kind)}\n{HEADINGS[section.kind]}\n\n{text}")
    return "\n\n".join((*blocks, _SECTION.format(mark, _END))) + "\n"


def from_shared(content: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the messages of a file that `to_shared` made, as entries of a trajectory; the
    workflow is a file in the last message of a person. Raises InvalidRequest for another text."""
    lines = content.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    first = _FIRST.fullmatch(lines[0])
    if first is None:
        raise InvalidRequest("expected a chat that was shared by this assistant", where="content")
    sections = list(_sections(lines[1:], first["mark"]))
    messages = [_message(section) for section in sections if section.kind != "workflow"]
    if not messages:
        raise InvalidRequest("expected at least one message", where="content")
    title = next((line[2:] for line in lines[1:3] if line.startswith("# ")), "")
    asked = [message for message in messages if message["role"] == "user"]
    for section in sections:
        if section.kind == "workflow" and asked:
            asked[-1]["parts"].append(_file(section.text))
    return {"title": title}, [{"message": message} for message in messages]


def _mark(texts: Sequence[str]) -> str:
    """Letters that stand in none of the texts; the same texts have the same mark."""
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()
    while any(digest[:12] in text for text in texts):
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:12]


def _sections(lines: Sequence[str], mark: str) -> Iterator[Section]:
    kinds: dict[str, Kind | None] = {
        _SECTION.format(mark, "user"): "user",
        _SECTION.format(mark, "assistant"): "assistant",
        _SECTION.format(mark, "workflow"): "workflow",
        _SECTION.format(mark, _END): None,
    }
    kind: Kind | None = None
    body: list[str] = []
    for line in lines:
        stripped = line.rstrip()
        if stripped in kinds:
            if kind is not None:
                yield _section(kind, body)
            kind, body = kinds[stripped], []
        else:
            body.append(line)
    if kind is not None:
        yield _section(kind, body)


def _section(kind: Kind, lines: list[str]) -> Section:
    body = lines[1:] if lines and lines[0].rstrip() == HEADINGS[kind] else lines
    text = "\n".join(body).strip("\n")
    if kind == "workflow":
        text = text.removeprefix(f"{_FENCE}json\n").removesuffix(f"\n{_FENCE}")
    return Section(kind, text)


def _message(section: Section) -> dict[str, Any]:
    parts = [{"type": "text", "text": section.text}] if section.text else []
    return {"role": section.kind, "parts": parts}


def _file(text: str) -> dict[str, Any]:
    data = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    url = f"data:application/json;base64,{data}"
    kind = {"type": "file", "mediaType": "application/json"}
    return {**kind, "filename": WORKFLOW_FILE, "url": url}
