"""How much of an answer is taken from a provider, and the exception where there is more.

A model that repeats itself, a broken server or a hostile one may send for ever. At a cap the reader
raises `CapReached`: the connection is closed, the events that were given out stay valid, and the
user reads which setting was reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..config import Settings

Counted = Literal["line", "calls", "arguments", "text", "reasoning", "pieces", "parts"]


@dataclass(frozen=True, slots=True)
class Caps:
    """The most of each kind. `line` in bytes is one event of a stream, or the body of an answer
    that is not streamed; `calls` is a number, `arguments` the bytes of all calls of one round; the
    bytes of `text` and `reasoning` are those of a whole answer, with the rounds before."""

    line: int = 16 * 1024**2
    calls: int = 64
    arguments: int = 1024**2
    text: int = 2 * 1024**2
    reasoning: int = 2 * 1024**2


DEFAULT_CAPS = Caps()


def caps_of(settings: Settings) -> Caps:
    return Caps(
        line=settings.max_line_bytes,
        calls=settings.max_calls_per_round,
        arguments=settings.max_argument_bytes,
        text=settings.max_answer_bytes,
        reasoning=settings.max_reasoning_bytes,
    )


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes of text and reasoning, how many parts of these, and how many additions (`additions`) an
    answer has from its earlier rounds. `picture_chars` are the characters of its pictures' URLs."""

    text: int = 0
    reasoning: int = 0
    parts: int = 0
    sources: int = 0
    pictures: int = 0
    picture_chars: int = 0
    blocks: int = 0


NOTHING_WRITTEN = Written()


class CapReached(Exception):
    """The provider sent more than `most` of a kind."""

    def __init__(self, counted: Counted, most: int) -> None:
        super().__init__(f"more than {most} of {counted}")
        self.counted: Counted = counted
        self.most = most


class Meter:
    """Counts one kind of bytes up to a cap."""

    def __init__(self, counted: Counted, most: int, used: int = 0) -> None:
        self._counted: Counted = counted
        self._most = most
        self._used = used
        self.reached: CapReached | None = None
        """Set with the first byte that does not fit; the caller raises it."""

    def take(self, text: str) -> str:
        """The beginning of `text` that fits: all of it, until the cap is reached. No character is
        torn."""
        if self.reached is not None:
            return ""
        size = bytes_of(text)
        if self._used + size <= self._most:
            self._used += size
            return text
        room = max(0, self._most - self._used)
        self._used = self._most
        self.reached = CapReached(self._counted, self._most)
        return text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")

    def add(self, size: int) -> None:
        """Counts bytes that have no text of their own."""
        self._used += size
        if self._used > self._most and self.reached is None:
            self.reached = CapReached(self._counted, self._most)


def bytes_of(text: str) -> int:
    """The length of `text` in UTF-8; an unpaired surrogate counts as three bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def size_of(blocks: Iterable[Mapping[str, Any]]) -> int:
    """About the bytes of `blocks` as JSON: of their texts and names, and eight for each value."""
    size = 0
    waiting: list[Any] = list(blocks)
    while waiting:
        value = waiting.pop()
        size += 8
        if isinstance(value, str):
            size += bytes_of(value)
        elif isinstance(value, Mapping):
            size += sum(bytes_of(str(name)) for name in value)
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)
    return size
