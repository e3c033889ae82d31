"""Messages for the benchmark of the store: an endless sequence of generated sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plugin.assistant.messages.parts import Message, StepStart, TextPart

from .session import Shape, write_session

SESSION_MESSAGES = 1_000
LONGEST_CHARS = 2_000
"""Characters of a text; the median is near 100."""
QUERIES = (
    "golden vineyard",
    "pearl dovecote foreground",
    "which name for the tidal canyon",
    "windy pier workflow",
    "checkpoint for the velvet tram",
    "sharper without changing its composition",
    "sampler steps cfg",
    "safetensors not found",
    "brass abbey",
    "upscale model",
)
"""Queries like those of users: rare names, and words that many messages have."""


def texts() -> Iterator[tuple[str, str]]:
    """Yields the role (user, assistant) and the text of each message; each session has its own
    random seed."""
    seed = 0
    while True:
        seed += 1
        for row in write_session(seed, Shape(messages=SESSION_MESSAGES)).messages:
            text = _text(row)
            if text and row["role"] != "system":
                yield ("user" if row["role"] == "user" else "assistant"), text


def messages(source: Iterator[tuple[str, str]], count: int, start: int = 0) -> list[Message]:
    """The next `count` messages, with ids from `m<start>` on."""
    made = []
    for number in range(start, start + count):
        role, text = next(source)
        parts = (TextPart(text),) if role == "user" else (StepStart(), TextPart(text))
        made.append(Message(f"m{number}", "user" if role == "user" else "assistant", parts))
    return made


def _text(row: dict[str, Any]) -> str:
    return str(row.get("content") or "")[:LONGEST_CHARS]
