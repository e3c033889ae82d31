"""What a model's answer is made of, as it arrives: the one vocabulary between `llm` and `turn`.

An answer is a sequence of these values, ended by exactly one `Finish`, or by a `ProviderError` that
is raised instead. How a server spells them is known to `chunks` alone.
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
    """A piece of what the model thinks aloud.

    `field` is where it came from, and so where it goes back inside an open tool loop (R19); "think"
    came inside the text and does not go back. `details` are a provider's opaque blocks, as sent;
    `merge_reasoning_blocks` folds those of one answer (R38).
    """

    text: str
    field: ReasoningField
    details: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins. `index` counts the calls of this answer from 0; `id` is unique among them."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A further piece of the call's arguments, JSON text that may turn out to be invalid."""

    index: int
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; None where it does not say.

    `input_tokens` includes `cached_tokens` and `written_tokens`, those that were written into a
    cache; `output_tokens` includes `reasoning_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    written_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer is complete, and why it ended."""

    reason: FinishReason


@dataclass(frozen=True, slots=True)
class ModelName:
    """The model that answers, by the server's own word."""

    name: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about this request that the user may see: a wait, a setting that was left out."""

    code: str
    message: str


Event = (
    TextDelta | ReasoningDelta | ToolCallStart | ToolCallDelta | Usage | Finish | ModelName | Notice
)
