"""Postings in memory, for texts that are in no index. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from .positions import Placed, held
from .ranking import Entry


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

    def places(self, term: str, prefix: bool = False) -> Collection[int]:
        if not prefix:
            return self._places.get(term, ())
        longer = (places for other, places in self._places.items() if other.startswith(term))
        return {place for places in longer for place in places}

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        return {place: self._entries[place] for place in places if place in self._entries}
