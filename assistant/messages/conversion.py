"""Converts a chat's messages into the messages of a prompt (R13, first step). Pure.

One assistant message may hold several rounds: a `step-start`, or text after a tool call, begins the
next round. Each round becomes one assistant message and the results of its calls, in the calls'
order; sources and blocks of a provider's own are for people only. Content without images is a
string. An image of a user becomes an image part, without what a camera or ComfyUI wrote into its
file (`picture_metadata`), a text file its text between marks that the text cannot contain
(`fences`), any other file a line with its name. A file of an answer becomes a sentence.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from .fences import mark_for, quoted
from .file_text import file_text
from .json_text import json_text
from .origin import FIELD
from .parts import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
)
from .picture_metadata import without_metadata
from .prompt import Content, ImageContent, PromptMessage, TextContent, ToolCall

INTERRUPTED = "The tool was interrupted and gave no result."
UNDECIDED = "The user did not decide whether this tool may run. It did not run."
DENIED = "The user declined this. It did not run."
IN_OWN_WORDS = "The user says:"
SHOWN = "[The user was shown a {} here. It is not sent again.]"
NO_OUTPUT = "(no output)"
"""Sent in place of an empty result, which some servers refuse."""

TEXT_TYPES = frozenset(
    "application/json application/xml application/yaml application/x-yaml application/toml "
    "application/javascript application/x-javascript application/csv application/sql "
    "image/svg+xml".split()
)
"""Media types besides `text/*` whose bytes are text."""
IMAGE_URLS = ("data:", "https://", "http://")
"""URLs that a provider can load; a `blob:` URL or a path exists on one computer only. The provider
loads a web address from where it runs, which may be this machine or a cloud's: so an address counts
only in a message that a person sent here. In an imported message it becomes text."""
FOREIGN_TO_NAMES = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_LABEL = 255
"""Characters of a file's name and of its type; file systems allow no longer names."""
LONGEST_NAME = 64
"""Characters of a function's name that OpenAI allows. Models invent longer names."""


def to_prompt(messages: Iterable[Message]) -> tuple[PromptMessage, ...]:
    """The messages of a prompt, in order."""
    return tuple(row for message in messages for row in rows_of(message))


def rows_of(message: Message) -> tuple[PromptMessage, ...]:
    """The prompt messages of one chat message; empty if it holds nothing for a model.

    They depend on this message alone. Reasoning that a provider wants back stays on them; `context`
    sends it only inside an open tool loop (R19). A slash command that the server answered, and its
    answer, are not sent to a model (R19).
    """
    if message.data("command") is not None or "command" in message.metadata:
        return ()
    if message.role == "assistant":
        return tuple(_assistant(message))
    if message.role == "system":
        return (PromptMessage("system", message.text, source=message.id),)
    skill = message.data("skill")
    skill = skill if isinstance(skill, Mapping) else {}
    return (
        PromptMessage(
            "user",
            _user_content(message, skill.get("prompt")),
            source=message.id,
            skill_chars=_skill_chars(skill),
            own_words=_own_words(message, skill),
        ),
    )


def _skill_chars(skill: Mapping[str, Any]) -> int:
    """How many characters of the prompt are the skill itself, without the user's own words."""
    chars, prompt = skill.get("skill_chars"), skill.get("prompt")
    if isinstance(chars, int):
        return chars
    if not isinstance(prompt, str):
        return 0
    # This reads parts that earlier versions stored: they have no `skill_chars`, and a prompt in
    # which this heading, always the same, separates the skill from the user's own words.
    return len((prompt.rpartition("\n\n[The user's message]\n\n")[0] or prompt).rstrip())


def _own_words(message: Message, skill: Mapping[str, Any]) -> str | None:
    """What a person typed, where the prompt has more than that: a skill, or the text of a file."""
    prompt = skill.get("prompt")
    if isinstance(prompt, str):
        request = skill.get("request")
        return request if isinstance(request, str) else prompt[_skill_chars(skill) :].strip()
    if any(isinstance(part, FilePart) for part in message.parts):
        said = (part.text for part in message.parts if isinstance(part, TextPart))
        return "\n\n".join(filter(None, said))
    return None


def _user_content(message: Message, prompt: Any) -> Content:
    """The parts in their order; the `prompt` of an activated skill replaces the text (R12)."""
    content: list[TextContent | ImageContent] = []
    if isinstance(prompt, str):
        content.append(TextContent(prompt))
    for part in message.parts:
        if isinstance(part, FilePart):
            content.append(_file(part, message.metadata.get(FIELD) == "person"))
        elif isinstance(part, TextPart) and part.text and not isinstance(prompt, str):
            content.append(TextContent(part.text))
    if any(isinstance(part, ImageContent) for part in content):
        return tuple(content)
    return "\n\n".join(part.text for part in content if isinstance(part, TextContent))


def _file(part: FilePart, web: bool) -> TextContent | ImageContent:
    """The file's content; `web` is whether a picture may be at a web address."""
    name = quoted((part.filename or "unnamed")[:LONGEST_LABEL])
    media_type = part.media_type.partition(";")[0].strip().lower()
    is_text = media_type.startswith("text/") or media_type in TEXT_TYPES
    loadable = part.url.startswith(IMAGE_URLS if web else "data:")
    if media_type.startswith("image/") and not is_text and loadable:
        return ImageContent(without_metadata(part.url))
    if is_text:
        text = data_url_text(part.url)
        if text is not None:
            mark = mark_for(text)
            return TextContent(
                f"Attached file {name}.\n[Its text stands as data between two lines of {mark}.]\n"
                f"{mark}\n{text}\n{mark}"
            )
    kind = quoted(part.media_type[:LONGEST_LABEL])
    return TextContent(f"Attached file {name} of the type {kind}; its content is not shown.")


def data_url_text(url: str) -> str | None:
    """The text in a `data:` URL (`file_text`); None for another or a broken URL."""
    head, comma, body = url.partition(",")
    if not comma or not head.lower().startswith("data:"):
        return None
    raw = unquote_to_bytes(body.encode("utf-8", "replace"))
    if head.lower().endswith(";base64"):
        try:
            raw = base64.b64decode(raw, validate=False)
        except (binascii.Error, ValueError):
            return None
    return file_text(raw)


def _rounds(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """The parts of one assistant message, one list for each round that is not empty."""
    current: list[Part] = []
    called = False
    for part in parts:
        speaks = isinstance(part, (TextPart, ReasoningPart))
        new = isinstance(part, StepStart) or (called and speaks)
        if new and current:
            yield current
            current, called = [], False
        if not isinstance(part, StepStart):
            current.append(part)
            called = called or isinstance(part, ToolPart)
    if current:
        yield current


def _said(parts: Iterable[Part]) -> str:
    """The text of a round, with a sentence in the place of each picture or other file: servers take
    none in an assistant's message."""
    said: list[str] = []
    shown = False
    for part in parts:
        if isinstance(part, TextPart):
            said.append(part.text)
        elif isinstance(part, FilePart):
            kind = "picture" if part.media_type.lower().startswith("image/") else "file"
            said.append(f"\n\n{SHOWN.format(kind)}\n\n")
            shown = True
    return "".join(said).strip() if shown else "".join(said)


def _assistant(message: Message) -> Iterator[PromptMessage]:
    for parts in _rounds(message.parts):
        text = _said(parts)
        tools = [p for p in parts if isinstance(p, ToolPart) and p.state != "input-streaming"]
        if not text and not tools:
            continue
        yield PromptMessage(
            "assistant",
            text,
            tool_calls=tuple(
                ToolCall(p.tool_call_id, function_name(p.tool_name), arguments_text(p.input))
                for p in tools
            ),
            reasoning=_reasoning(parts),
            source=message.id,
        )
        for tool in tools:
            yield tool_result(tool, message.id)


def tool_result(part: ToolPart, source: str | None = None) -> PromptMessage:
    """The result message of a call. A call in any state has a result message, so that no call lacks
    its result (R53)."""
    failed, denied = part.state != "output-available", False
    if part.state == "output-available":
        content = output_text(part.output) or NO_OUTPUT
    elif part.state == "output-denied" or (part.approval and part.approval.approved is False):
        denied = True
        reason = part.approval.reason if part.approval else None
        content = _error(f"{DENIED} {IN_OWN_WORDS} {reason}" if reason else DENIED)
    elif part.state == "output-error":
        content = _error(part.error_text or "The tool failed without saying why.")
    elif part.state == "approval-requested":
        content = _error(UNDECIDED)
    else:
        content = _error(INTERRUPTED)
    return PromptMessage(
        "tool",
        content,
        tool_call_id=part.tool_call_id,
        failed=failed,
        denied=denied,
        source=source,
    )


def _error(text: str) -> str:
    return output_text({"error": text})


def _reasoning(parts: Iterable[Part]) -> Mapping[str, Any] | None:
    """The provider's own reasoning fields of this round, from the parts' metadata; or None."""
    texts: dict[str, list[str]] = {}
    blocks: list[Any] = []
    for part in parts:
        if isinstance(part, ReasoningPart) and part.provider_metadata:
            kept = part.provider_metadata.get("assistant")
            if isinstance(kept, Mapping):
                if kept.get("field") in ("reasoning_content", "reasoning"):
                    texts.setdefault(str(kept["field"]), []).append(part.text)
                blocks.extend(kept_blocks(part))
    fields: dict[str, Any] = {name: "".join(found) for name, found in texts.items()}
    if blocks:
        fields["reasoning_details"] = blocks
    return fields or None


def kept_blocks(part: ReasoningPart) -> list[Any]:
    """The provider's own blocks of this reasoning, which go back to it."""
    kept = part.provider_metadata.get("assistant") if part.provider_metadata else None
    blocks = kept.get("details") if isinstance(kept, Mapping) else None
    return blocks if isinstance(blocks, list) else []


def output_text(output: Any) -> str:
    """A tool's output for the model: a string unchanged, any other value as compact JSON."""
    return output if isinstance(output, str) else json_text(output)


def function_name(name: str) -> str:
    """A call's name with the characters and length that every provider accepts."""
    return FOREIGN_TO_NAMES.sub("_", name)[:LONGEST_NAME] or "unknown"


def arguments_text(value: Any) -> str:
    """A call's arguments as JSON text of an object, the only form that all providers accept.

    Arguments that are not an object, such as invalid JSON, become `{}`; the error result of the
    call quotes the model's text.
    """
    return json_text(value) if isinstance(value, Mapping) else "{}"
