"""The events of a model's answer, which `llm` gives to `turn`.

An answer is a sequence of these values that ends with exactly one `Finish`, or with a
`ProviderError` that is raised instead. Only `chunk_reader` reads the fields that servers send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ReasoningField = Literal["reasoning_content", "reasoning", "think"]
FinishReason = Literal["stop", "length", "content-filter", "tool-calls", "other"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning.

    `field` is the name under which it came, and under which it is sent back inside an open tool
    loop (R19); reasoning from the text ("think") is not sent back.
    """

    text: str
    field: ReasoningField


@dataclass(frozen=True, slots=True)
class KeptReasoning:
    """The provider's opaque blocks of the reasoning that ends here, whole: they are sent back with
    it (R38). Before the next text, the next call or the end of the answer; a text that is blank
    does not end reasoning."""

    blocks: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins. `index` counts the calls of this answer from 0; `id` is unique among them."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The next piece of a call's arguments: JSON text, which may be invalid."""

    index: int
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request by the server; None where the server gives no count.

    `input_tokens` includes `cached_tokens` (read from the prompt cache) and `written_tokens`
    (written into it); `output_tokens` includes `reasoning_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    written_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer is complete; `reason` says why it ended."""

    reason: FinishReason


@dataclass(frozen=True, slots=True)
class ModelName:
    """The name that the server gives for the model."""

    name: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A remark about this request for the user, such as a wait or a setting that was left out.
    `seconds` is the length of a wait that the message names, so that a client can count it down."""

    code: str
    message: str
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A page of the web that the answer rests on. It may come again, with a title."""

    url: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the answer: `url` is a `data:` URL, or a web address that nobody fetched."""

    url: str
    media_type: str


@dataclass(frozen=True, slots=True)
class ServerBlock:
    """A block of the provider's own, such as a search that it ran: `content` is JSON for people.

    `number` counts the blocks of this answer from 0; the same number again replaces the block.
    """

    number: int
    kind: str
    content: Any


Event = (
    TextDelta
    | ReasoningDelta
    | KeptReasoning
    | ToolCallStart
    | ToolCallDelta
    | Source
    | Picture
    | ServerBlock
    | Usage
    | Finish
    | ModelName
    | Notice
)
