"""Which memory says the same as another, and which replaces another. Pure.

Two statements are the same where their words are, or nearly all of them with the same numbers,
names and negations. A statement replaces an older one where only its value differs: a number, a
file, or a single word of a short sentence that says what is set ("my GPU has 12 GB", then "24 GB").
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ..search.words import query_terms
from .memory import SUMMARY, Memory, Statement
from .wording import NUMBER, negations, plain

SAME_SHARE: Final = 0.8
"""Of the content words of two statements, those that both have, where they say the same."""
FRAME_SHARE: Final = 0.6
"""The same share without values, where one replaces the other."""
ROUNDING: Final = 1e-9
"""More than the error of a product of a share and a count."""
LEAST_FRAME: Final = 1
"""Words beside the value that two statements must share."""
_FILE: Final = re.compile(
    r"[\w.\-]+\.(?:safetensors|gguf|ckpt|pt|pth|bin|onnx|png|jpe?g|webp|json)", re.I
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A statement as it is compared: its plain words, its content words without values, its
    values, and its negations."""

    plain: str
    words: frozenset[str]
    values: frozenset[str]
    negations: frozenset[str]


@lru_cache(maxsize=8)
def _read(text: str) -> _Read:
    """A statement is compared more than once, then added."""
    files = frozenset(found.casefold() for found in _FILE.findall(text))
    rest = _FILE.sub(" ", text)
    numbers = frozenset(NUMBER.findall(rest))
    words = frozenset(query_terms(NUMBER.sub(" ", rest)))
    return _Read(plain(text), words, files | numbers, negations(text))


class Compared:
    """Current memories that new statements are compared with. Summaries of chats are compared with
    each other only. A statement is compared with those that share one of its rarest content words
    or all plain words with it, since no others can match: thousands may share a common word."""

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        self._memories: dict[str, tuple[Memory, _Read]] = {}
        self._places: dict[str, int] = {}
        self._with_word: dict[str, dict[str, None]] = {}
        self.follow(memories)

    def follow(self, memories: Iterable[Memory]) -> None:
        """Take these memories, in this order, in the place of those that are here; only what is
        new among them is read."""
        wanted = {memory.id: memory for memory in memories}
        for memory_id, (memory, _) in tuple(self._memories.items()):
            if memory_id not in wanted or memory.text != wanted[memory_id].text:
                self.remove(memory_id)
        for memory_id, memory in wanted.items():
            if memory_id in self._memories:
                self._memories[memory_id] = memory, self._memories[memory_id][1]
            else:
                self.add(memory)
        self._places = {memory_id: place for place, memory_id in enumerate(wanted)}

    def add(self, memory: Memory) -> None:
        read = _read(memory.text)
        self._memories[memory.id] = memory, read
        self._places[memory.id] = len(self._places)
        for word in _words(read):
            self._with_word.setdefault(word, {})[memory.id] = None

    def remove(self, memory_id: str) -> None:
        _, read = self._memories.pop(memory_id)
        for word in _words(read):
            del self._with_word[word][memory_id]

    def same(self, statement: Statement) -> Memory | None:
        """The memory that says what the statement says; None where none does."""
        said = _read(statement.text)
        near = self._near(statement, said)
        return next((memory for memory, other in near if _says_same(said, other)), None)

    def replaced(self, statement: Statement) -> list[Memory]:
        """The memories that the statement replaces: of the same kind, not summaries, with the same
        words but another value."""
        if statement.kind == SUMMARY:
            return []
        said = _read(statement.text)
        return [
            memory
            for memory, other in self._near(statement, said)
            if memory.kind == statement.kind and _replaces(said, other)
        ]

    def _near(self, statement: Statement, said: _Read) -> Iterator[tuple[Memory, _Read]]:
        """The memories that may match, in the order in which they were added."""
        looked_up = (*self._rarest(said), said.plain)
        found = {one for word in looked_up for one in self._with_word.get(word, ())}
        is_summary = statement.kind == SUMMARY
        for memory_id in sorted(found, key=self._places.__getitem__):
            memory, read = self._memories[memory_id]
            if (memory.kind == SUMMARY) == is_summary:
                yield memory, read

    def _rarest(self, said: _Read) -> list[str]:
        """The rarest content words, so many that a memory without any of them lacks more words than
        FRAME_SHARE allows."""
        ranked = sorted(said.words, key=lambda word: (len(self._with_word.get(word, ())), word))
        needed = math.ceil(len(ranked) * FRAME_SHARE - ROUNDING)
        return ranked[: len(ranked) - needed + 1]


def _words(read: _Read) -> frozenset[str]:
    """What a memory is looked up by."""
    return read.words | {read.plain}


def _says_same(one: _Read, other: _Read) -> bool:
    if one.plain == other.plain:
        return True
    if one.values != other.values or one.negations != other.negations:
        return False
    return _shared(one.words, other.words) >= SAME_SHARE


def _replaces(new: _Read, old: _Read) -> bool:
    if not new.values or not old.values or new.values == old.values:
        return False
    if len(new.values) != len(old.values) or new.negations != old.negations:
        return False
    common = new.words & old.words
    return len(common) >= LEAST_FRAME and _shared(new.words, old.words) >= FRAME_SHARE


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    every = one | other
    return len(one & other) / len(every) if every else 0.0
