"""Figures of requests: tokens, the prefix that stays the same, and prices.

A request is measured as the compact JSON of its messages, since a provider's cache compares that
text. Sizes are characters / 4, and exact tokens of `o200k_base` where `toktok-rs` is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

try:
    import toktok
except ImportError:
    toktok = None

CHARS_PER_TOKEN = 4
ENCODING = "o200k_base"
MESSAGE_TOKENS = 3
"""Role and separators of one message, as OpenAI's cookbook counts them."""

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PriceModel:
    """The price of a token that is read from the cache, and of other tokens, as shares of the plain
    input price."""

    name: str
    read: float
    other: float


PRICE_MODELS = (
    PriceModel("no cache", 1.0, 1.0),
    PriceModel("automatic 0.1", 0.1, 1.0),
    PriceModel("automatic 0.5", 0.5, 1.0),
    PriceModel("explicit 1.25/0.1", 0.1, 1.25),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A request and the request before it: their tokens, and the tokens of the common beginning."""

    tokens: float
    same: float
    previous: float

    @property
    def of_previous(self) -> float:
        return self.same / self.previous if self.previous else 1.0

    @property
    def of_current(self) -> float:
        return self.same / self.tokens if self.tokens else 1.0

    def price(self, model: PriceModel) -> float:
        return self.same * model.read + (self.tokens - self.same) * model.other


def rendered(message: Mapping[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def request_tokens(messages: Messages) -> float:
    """Characters / 4 of the request's JSON."""
    return sum(len(rendered(message)) for message in messages) / CHARS_PER_TOKEN


def steps(requests: Iterable[Messages]) -> list[Step]:
    """A step for each of the consecutive requests but the first."""
    found: list[Step] = []
    before: list[str] | None = None
    for messages in requests:
        texts = [rendered(message) for message in messages]
        if before is None:
            before = texts
            continue
        size = sum(map(len, texts)) / CHARS_PER_TOKEN
        same = _same_beginning(before, texts) / CHARS_PER_TOKEN
        found.append(Step(size, same, sum(map(len, before)) / CHARS_PER_TOKEN))
        before = texts
    return found


def _same_beginning(before: list[str], texts: list[str]) -> int:
    same = 0
    for old, new in zip(before, texts, strict=False):
        if old != new:
            pairs = enumerate(zip(old, new, strict=False))
            return same + next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)))
        same += len(new)
    return same


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message that a model reads: content, call names and arguments."""
    content = message.get("content")
    parts = [content] if isinstance(content, str) else []
    for part in content if isinstance(content, list) else ():
        parts.append(str(part.get("text", "")) if isinstance(part, Mapping) else str(part))
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        parts += [str(function.get("name", "")), str(function.get("arguments", ""))]
    return "\n".join(parts)


def exact_tokens(messages: Messages) -> int | None:
    """Exact tokens of the messages, each with `MESSAGE_TOKENS` for role and separators; None
    without `toktok-rs`."""
    if toktok is None:
        return None
    counts: list[int] = toktok.batch_count(
        [text_of(message) for message in messages], ENCODING, threads=1
    )
    return sum(counts) + MESSAGE_TOKENS * len(messages)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
