"""Where the terms of a query stand, and which places have most of them. Pure, over any index.

A common term of a long chat has tens of thousands of places, and reading them is most of a search.
So a term is read whole only while few places come of it. Of the terms left, only the places are
read that several of them share, so the effort hardly grows with the length of the chat: counting
the places of a term costs a tenth of reading them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final, NamedTuple, Protocol

MOST_READ: Final = 1_000
"""Places that are read of the rarer terms of a query, and again of the common ones."""


class Entry(NamedTuple):
    """The number of `terms` of the message in a place, and its `beat`. Beats count the rounds of a
    conversation: a call and its results have the same beat, the next message has the next. A gap in
    the beats keeps unrelated branches apart."""

    terms: int
    beat: int


@dataclass(frozen=True, slots=True)
class Word:
    """A term or, with `prefix`, all terms that begin with it."""

    term: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A word of a query, the number of its places, and how much a place counts that has it."""

    word: Word
    count: int
    weight: float


Group = Sequence[Word]
"""Words of which a place has one or more."""
Weighted = tuple[frozenset[int], float]
"""Places, and their weight."""


class Postings(Protocol):
    """The places of words. Neighbouring messages have places that follow each other."""

    def total(self) -> int:
        """How many messages there are."""

    def count(self, *words: Word) -> int:
        """How many places have all of these words."""

    def places(self, *groups: Group, most: int | None = None) -> Collection[int]:
        """The first `most` places that have a word of each group."""

    def standing(
        self, words: Collection[Word], places: Collection[int]
    ) -> Mapping[Word, frozenset[int]]:
        """Which of these places have each word."""

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        """The entries of the places that exist."""


def rarity(count: int, total: int) -> float:
    """BM25's weight of a term by the number of places that have it."""
    return log(1 + (total - count + 0.5) / (count + 0.5))


class Looked:
    """What is read of the places of `single` and `others`, the words of a query. Two of `single`
    that follow each other weigh more in one place, by `pair_share`."""

    def __init__(
        self,
        single: Sequence[Wanted],
        others: Sequence[Wanted],
        pair_share: float,
        postings: Postings,
    ) -> None:
        self._single = single
        self._others = others
        self._pair_share = pair_share
        self._postings = postings
        self._whole: dict[Word, frozenset[int]] = {}
        rarest_first = sorted({*single, *others}, key=lambda one: (-one.weight, one.word.term))
        left = MOST_READ
        for wanted in rarest_first:
            if wanted.count <= left:
                left -= wanted.count
                self._whole[wanted.word] = frozenset(postings.places([wanted.word]))
        self._common = [one for one in rarest_first if one.word not in self._whole]
        self._pairs = list(self._counted_pairs())

    def seeds(self, most: int) -> list[int]:
        """Up to `most` places with the most weight of words, the earlier first of equal ones."""
        weights: dict[int, float] = {}
        for places, weight in self._weights(self._known(most)):
            for place in places:
                weights[place] = weights.get(place, 0.0) + weight
        # There are few different sums: sorting the sums is cheaper than sorting all places.
        alike: dict[float, list[int]] = {}
        for place, weight in weights.items():
            alike.setdefault(weight, []).append(place)
        seeds: list[int] = []
        for weight in sorted(alike, reverse=True):
            seeds += sorted(alike[weight])[: most - len(seeds)]
            if len(seeds) == most:
                break
        return seeds

    def weighted(self, around: Collection[int]) -> list[Weighted]:
        """Where, of these places, the words stand: of `single`, of their pairs, of `others`."""
        common = [one.word for one in self._common]
        return self._weights({**self._whole, **self._postings.standing(common, around)})

    def _weights(self, known: Mapping[Word, frozenset[int]]) -> list[Weighted]:
        pairs = (
            (known[one.word] & known[other.word], weight) for one, other, weight in self._pairs
        )
        return [
            *((known[one.word], one.weight) for one in self._single),
            *((places, weight) for places, weight in pairs if places),
            *((known[one.word], one.weight) for one in self._others),
        ]

    def _counted_pairs(self) -> Iterator[tuple[Wanted, Wanted, float]]:
        total = self._postings.total()
        for one, other in pairwise(self._single):
            if one.word in self._whole and other.word in self._whole:
                count = len(self._whole[one.word] & self._whole[other.word])
            else:
                count = self._postings.count(one.word, other.word)
            if count:
                yield one, other, self._pair_share * rarity(count, total)

    def _sharing(self, most: int) -> tuple[list[Word], frozenset[int]]:
        """The rarest common word; where it has too many places, with the next words that leave
        `most` places that have all of them. And the places where fewer than `most` meet."""
        first, *further = self._common
        words, count, few = [first.word], first.count, frozenset[int]()
        for one in further:
            if count <= MOST_READ:
                break
            both = self._postings.count(*words, one.word)
            if both >= most:
                words, count = [*words, one.word], both
            elif both:
                few |= frozenset(self._postings.places(*([word] for word in words), [one.word]))
        return words, few

    def _known(self, most: int) -> Mapping[Word, frozenset[int]]:
        """Where the words stand among the places that may have most of them."""
        if not self._common:
            return self._whole
        sharing, few = self._sharing(most)
        groups = [[word] for word in sharing]
        shared = frozenset(self._postings.places(*groups, most=MOST_READ))
        known = dict(self._whole)
        common = [one.word for one in self._common]
        met = self._postings.standing(common, few)
        for word in common:
            here = shared
            if word not in sharing:
                here &= frozenset(self._postings.places([word], *groups, most=MOST_READ))
            if self._whole:
                here |= frozenset(self._postings.places([word], list(self._whole)))
            known[word] = here | met[word]
        return known
