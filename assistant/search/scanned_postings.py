"""Postings in memory, for texts that are in no index. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from .positions import Placed, held
from .postings import Entry, Group, Word


class ScannedPostings:
    """The postings of some messages, made by reading each message once."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        pieces = held(placed)
        self._entries = {
            place: Entry(len(piece.terms), beat) for place, (_, beat, piece) in pieces.items()
        }
        self._places: dict[str, list[int]] = {}
        for place, (_, _, piece) in pieces.items():
            for term in piece.terms:
                self._places.setdefault(term, []).append(place)

    def total(self) -> int:
        return len(self._entries)

    def count(self, *words: Word) -> int:
        return len(self.places(*([word] for word in words)))

    def places(self, *groups: Group, most: int | None = None) -> Collection[int]:
        found = [set().union(*map(self._of, group)) for group in groups]
        return sorted(set.intersection(*found))[:most]

    def standing(
        self, words: Collection[Word], places: Collection[int]
    ) -> Mapping[Word, frozenset[int]]:
        return {word: frozenset(places).intersection(self._of(word)) for word in words}

    def _of(self, word: Word) -> Collection[int]:
        if not word.prefix:
            return self._places.get(word.term, ())
        longer = (term for term in self._places if term.startswith(word.term))
        return {place for term in longer for place in self._places[term]}

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        return {place: self._entries[place] for place in places if place in self._entries}
