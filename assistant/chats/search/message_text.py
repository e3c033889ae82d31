"""The searchable text of a message: in pieces for the search that models use, in fields for the
search that people use. Pure.

It has the words of user and assistant, the names and texts of attachments, and tool calls with
arguments, results and errors. It has no reasoning of a model, no images and no other data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal, get_args

from ...messages.conversion import data_url_text
from ...messages.json_text import DEEPEST
from ...messages.parts import (
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    StepStart,
    TextPart,
    ToolPart,
)
from ...messages.prompt import PromptMessage

MOST_CHARS: Final = 1_000_000
"""Searched characters of one message: a workflow of thousands of nodes. Text after them is not
searched."""
MOST_DATA_CHARS: Final = 2_000
"""Searched characters of a part that neither user nor model wrote, such as a source or an activated
skill."""

_BINARY = re.compile(r"[A-Za-z0-9+/=_-]{257,}")
"""Base64 and similar data: longer than any name."""

Field = Literal["person", "answer", "other"]
"""Whose words a text of a message has: those of a person, those of a model's answer, or others: of
tools, attachments and slash commands."""
FIELDS: Final[tuple[Field, ...]] = get_args(Field)


@dataclass(frozen=True, slots=True)
class PieceText:
    """A piece of a message: text, or one tool call with its result. `round` counts the rounds of
    the message."""

    text: str
    round: int


@dataclass(frozen=True, slots=True)
class PieceParts:
    """The parts of a piece, and its round: parts with text, or one tool call (`is_call`)."""

    parts: tuple[Part, ...]
    round: int

    @property
    def is_call(self) -> bool:
        return isinstance(self.parts[0], ToolPart)


def pieces_of(message: Message) -> tuple[PieceText, ...]:
    """The message in pieces, in their order."""
    return tuple(
        PieceText(clean("\n".join(filter(None, chain(*map(_part, piece.parts))))), piece.round)
        for piece in parts_of_pieces(message)
    )


def parts_of_pieces(message: Message) -> tuple[PieceParts, ...]:
    """The parts of each piece, without the effort to make its text."""
    pieces: list[PieceParts] = []
    said: list[Part] = []
    number = 0

    def end_text() -> None:
        if any(chain.from_iterable(map(_part, said))):
            pieces.append(PieceParts(tuple(said), number))
        said.clear()

    for part in message.parts:
        begun = bool(pieces) and pieces[-1].round == number
        if isinstance(part, ToolPart):
            end_text()
            pieces.append(PieceParts((part,), number))
        elif isinstance(part, StepStart):
            end_text()
            number += bool(pieces) and pieces[-1].round == number
        else:
            # Text after a call begins the next round, as a request has it (`conversion`).
            number += begun and isinstance(part, TextPart)
            said.append(part)
    end_text()
    return tuple(pieces)


def fields_of(message: Message) -> Iterator[tuple[Field, str]]:
    """The searchable texts of the message in their order, none empty, each with its field."""
    said: Field = "person" if message.role == "user" else "answer"
    if message.data("command") is not None or "command" in message.metadata:
        said = "other"
    for part in message.parts:
        name: Field = said if isinstance(part, TextPart) else "other"
        if text := clean("\n".join(filter(None, _part(part)))):
            yield name, text


def text_of_prompt(message: PromptMessage) -> str:
    """The searchable text of a message as a model reads it."""
    calls = (f"{call.name} {value_text(call.arguments)}" for call in message.tool_calls)
    return clean("\n".join(filter(None, (value_text(message.text), *calls))))


def clean(text: str) -> str:
    """`text` without binary data, cut to MOST_CHARS characters."""
    return _BINARY.sub(" ", text[: 4 * MOST_CHARS])[:MOST_CHARS]


def value_text(value: Any) -> str:
    """A JSON value as words: `{"seed": 7, "on": [1, 2]}` is `seed: 7, on: 1, 2`.

    Text that is JSON itself, as many tools return, is read as such."""
    return ", ".join(_leaves(value, "", DEEPEST))


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, TextPart):
        yield part.text
    elif isinstance(part, ToolPart):
        yield " ".join(filter(None, (part.tool_name, value_text(part.input))))
        yield value_text(part.output)
        yield part.error_text or ""
    elif isinstance(part, FilePart):
        yield part.filename or ""
        if part.media_type.startswith("text/"):
            yield data_url_text(part.url) or ""
    elif isinstance(part, DataPart):
        yield value_text(_said(part))[:MOST_DATA_CHARS]
    elif isinstance(part, OpaquePart):
        yield value_text(part.body)[:MOST_DATA_CHARS]


def _said(part: DataPart) -> Any:
    """What people read of a part: of a notice its message, not its code."""
    if part.name == "notice" and isinstance(part.data, Mapping):
        return part.data.get("message")
    return part.data


def _leaves(value: Any, name: str, levels: int) -> Iterator[str]:
    """Each scalar with the names that lead to it."""
    label = f"{name}: " if name else ""
    if isinstance(value, str):
        parsed = _parsed(value)
        if parsed is None:
            yield label + value
        else:
            yield from _leaves(parsed, name, levels)
    elif levels <= 0 or value is None:
        yield name
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{label}{key}", levels - 1)
    elif isinstance(value, Sequence):
        for number, item in enumerate(value):
            yield from _leaves(item, "" if number else name, levels - 1)
    else:
        yield f"{label}{value}"


def _parsed(text: str) -> Any:
    """The object or list that `text` is the JSON of, or None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
