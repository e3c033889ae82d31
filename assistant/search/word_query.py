"""A person's search: which words a query asks for, and where they stand in a text. Pure.

    word_query('low "deep snow" su')    low, "deep snow" and a word that begins with su

The law: a text is found when it holds every word of the query, in any order. Words in quotes stand
side by side in their order, whatever signs are between them. The last word may be the beginning of
a longer word, unless its quotes are closed. No other sign of a query means anything. `folded_words`
says what a word is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from .folded_words import Word, with_breaks, words_of

PlaceT = TypeVar("PlaceT")

_QUOTES: Final = '"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d'
_ASKED = re.compile(rf"[{_QUOTES}]([^{_QUOTES}]*)([{_QUOTES}]?)|([^\s{_QUOTES}]+)")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that follow each other; with `prefix` the last is the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place in a text, from `start` to `end` in characters, and the number of its phrase."""

    start: int
    end: int
    phrase: int


def word_query(text: str) -> tuple[Phrase, ...]:
    """The different phrases that a text must hold, all of them; none where `text` has no word."""
    phrases: list[Phrase] = []
    for match in _ASKED.finditer(text):
        quoted, closed, word = match.groups()
        asked = tuple(one.text for one in with_breaks(iter(words_of(word or quoted or ""))))
        if asked:
            open_end = match.end() == len(text.rstrip()) and not closed
            phrases.append(Phrase(asked, open_end))
    return tuple(dict.fromkeys(phrases))


class SearchedText:
    """A text whose words are looked for."""

    def __init__(self, text: str) -> None:
        self._words = words_of(text)

    def occurrences(self, phrases: Sequence[Phrase]) -> list[Occurrence]:
        """Where the phrases stand, by their starts. Of two places of a phrase with the same start
        only the shorter is among them."""
        found: dict[tuple[int, int], int] = {}
        for number, phrase in enumerate(phrases):
            for start, end in self._places(phrase):
                known = found.get((start, number))
                found[start, number] = end if known is None else min(end, known)
        ordered = sorted((start, end, number) for (start, number), end in found.items())
        return [Occurrence(*one) for one in ordered]

    @cached_property
    def _line(self) -> list[Word]:
        return list(with_breaks(iter(self._words)))

    @cached_property
    def _at(self) -> dict[str, list[int]]:
        """The places in the line of each word."""
        places: dict[str, list[int]] = {}
        for at, word in enumerate(self._line):
            places.setdefault(word.text, []).append(at)
        return places

    @cached_property
    def _parts(self) -> dict[str, list[tuple[int, int]]]:
        """The places in the text of the parts of names."""
        places: dict[str, list[tuple[int, int]]] = {}
        for word in self._words:
            for part, start, end in word.parts:
                places.setdefault(part, []).append((start, end))
        return places

    def _places(self, phrase: Phrase) -> Iterable[tuple[int, int]]:
        *head, last = phrase.words
        line = self._line
        for at in self._named(self._at, head[0], False) if head else ():
            end = at + len(head)
            rest = line[at : end + 1]
            if len(rest) <= len(head) or any(
                word.text != wanted for word, wanted in zip(rest, head, strict=False)
            ):
                continue
            if rest[-1].text == last or (phrase.prefix and rest[-1].text.startswith(last)):
                yield line[at].start, rest[-1].end
        if not head:
            for at in self._named(self._at, last, phrase.prefix):
                yield line[at].start, line[at].end
            yield from self._named(self._parts, last, phrase.prefix)

    @staticmethod
    def _named(places: dict[str, list[PlaceT]], word: str, prefix: bool) -> Iterable[PlaceT]:
        if not prefix:
            return places.get(word, ())
        return (one for text, some in places.items() if text.startswith(word) for one in some)
