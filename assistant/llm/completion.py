"""One text from one stream: a model's whole answer, for callers that do not show it as it grows."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from .stream_events import Event, Finish, TextDelta, ToolCallStart


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of an answer, its reasoning left out. `whole` is False for an answer that called a
    tool, was cut by the provider's output limit, or was longer than the caller allows."""

    text: str
    whole: bool = True


async def complete(
    stream: AsyncGenerator[Event, None], most_chars: int | None = None
) -> Completion:
    """Reads `stream` to its end, or until it is more than `most_chars` characters long or calls a
    tool; then the connection is closed. Raises ProviderError."""
    text: list[str] = []
    chars = 0
    async with contextlib.aclosing(stream) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text.append(event.text)
                chars += len(event.text)
            called = isinstance(event, ToolCallStart)
            if called or (most_chars is not None and chars > most_chars):
                return Completion("".join(text), whole=False)
            if isinstance(event, Finish):
                return Completion("".join(text), whole=event.reason != "length")
    return Completion("".join(text))
