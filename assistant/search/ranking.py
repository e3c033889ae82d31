"""Which messages answer a query best, from where its terms stand. Pure.

A search works on places: each message, or each piece of a long message, has a place, and `Postings`
has the places of each term. A message scores for the terms in it and, less, for terms in messages
near it: a question may have the words of the query, and its answer the content that is wanted. The
weights are BM25's (Robertson and Zaragoza, 2009) without the count of a term in a message, which
changed nothing measurable. The measurements: `bench/search_quality.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .postings import Entry, Looked, Postings, Wanted, Weighted, Word, rarity

SAME: Final = 1.0
NEAR: Final = (0.85, 0.7, 0.5, 0.3, 0.2)
"""The weight of a term for a message 0 to 4 beats away from it; 0 is another message of the same
round."""
REACH: Final = len(NEAR) - 1
WIDEST: Final = 6
"""Messages on each side whose terms count; a round of many parallel calls is longer."""
NEIGHBOURS: Final = 2
"""The largest number of messages around a hit that are shown with it."""
MOST_SEEDS: Final = 100
"""Messages that are scored with the messages around them, chosen by the weight of their terms."""
FEWER_SEEDS: Final = 50
"""The same for `best_places`, which is asked in nearly every turn; no less is found than with
100."""
SATURATION: Final = 1.0
LENGTH_SHARE: Final = 0.4
"""BM25's k1 and b: how much a long message counts less than a short one with the same terms. Low,
since short messages ("Great!") say little."""
SHORTEST_PREFIX: Final = 3
PREFIX_SHARE: Final = 0.7
"""A term that no message has is taken as the beginning of longer terms if it has at least
SHORTEST_PREFIX characters; it gets the share PREFIX_SHARE of their weight."""
RELATED_SHARE: Final = 0.7
"""The share of the weight of a term that the query does not have itself, such as "move" for
"city"."""
PAIR_SHARE: Final = 0.4
"""The extra weight of two terms that are side by side in the query, where both are in one message,
as in "azure yacht" (Metzler and Croft, 2005, without the order)."""


@dataclass(frozen=True, slots=True)
class ScoredWindow:
    """A hit: its place, the places shown with it (its own included, in order) and its score.

    Only `best_places` says how much of the query a place has: `share` is the part, 0 to 1, of the
    weight of the query's terms that the terms in the place have, `fewest` the number of places with
    the rarest name in the place; 0 where it has no name."""

    place: int
    places: tuple[int, ...]
    score: float
    share: float = 0.0
    fewest: int = 0


Ranking = Callable[[Sequence[str], Postings, int], tuple[ScoredWindow, ...]]
"""Terms, postings and the most hits -> the hits, the best first."""


@dataclass(slots=True)
class _Open:
    """A hit that may still get neighbours."""

    place: int
    score: float
    taken: list[int] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.taken) >= NEIGHBOURS

    def close(self) -> ScoredWindow:
        return ScoredWindow(self.place, tuple(sorted((self.place, *self.taken))), self.score)


def best_places(
    terms: Sequence[str],
    postings: Postings,
    most: int,
    telling: Collection[str] | None = None,
    names: Collection[str] = (),
    related: Sequence[str] = (),
) -> tuple[ScoredWindow, ...]:
    """Up to `most` places by their scores, the best first, each alone. The shares are those of the
    terms in `telling`; of all terms without it. `names` are terms whose rarity is wanted. Terms
    that are `related` to the query's count for the score only. The same input gives the same
    order."""
    single = _single(terms, postings)
    others = _single(related, postings, RELATED_SHARE, prefixes=False)
    weighted, entries = _around(single, others, postings, FEWER_SEEDS)
    scores = _scores(weighted, entries)
    best = sorted(scores, key=lambda place: (-scores[place], place))[:most]
    counted = [one for one in single if telling is None or one.word.term in telling]
    known = {one.word.term for one in single}
    missing = sum(term not in known for term in terms if telling is None or term in telling)
    whole = sum(one.weight for one in counted) + missing * rarity(0, postings.total())
    rare = [one for one in single if one.word.term in names]
    places = {one: places for one, (places, _) in zip(single, weighted, strict=False)}

    def scored(place: int) -> ScoredWindow:
        here = sum(one.weight for one in counted if place in places[one])
        fewest = min((one.count for one in rare if place in places[one]), default=0)
        return ScoredWindow(
            place, (place,), scores[place], here / whole if whole > 0 else 0.0, fewest
        )

    return tuple(map(scored, best))


def rank(terms: Sequence[str], postings: Postings, hits: int) -> tuple[ScoredWindow, ...]:
    """Up to `hits` windows of at most three messages each, no message in two of them, the best
    first. The same input gives the same order."""
    single = _single(terms, postings) if hits > 0 else []
    weighted, entries = _around(single, [], postings, MOST_SEEDS)
    return _windows(_scores(weighted, entries), entries, hits)


def _single(
    terms: Sequence[str], postings: Postings, share: float = 1.0, prefixes: bool = True
) -> list[Wanted]:
    """Each term that has places, with their number and its weight, larger for a rarer term."""
    total = postings.total()
    found: list[Wanted] = []
    for term in terms:
        word, kept = Word(term), share
        count = postings.count(word)
        if not count and prefixes and len(term) >= SHORTEST_PREFIX:
            word, kept = Word(term, prefix=True), share * PREFIX_SHARE
            count = postings.count(word)
        if count:
            found.append(Wanted(word, count, kept * rarity(count, total)))
    return found


def _around(
    single: Sequence[Wanted], others: Sequence[Wanted], postings: Postings, seeds: int
) -> tuple[list[Weighted], Mapping[int, Entry]]:
    """The best places with all places near them, and where in these the terms stand: those of
    `single`, then those of `others`, then two of `single` that follow each other."""
    looked = Looked(single, others, PAIR_SHARE, postings)
    around = {place + step for place in looked.seeds(seeds) for step in range(-WIDEST, WIDEST + 1)}
    if not around:
        return [], {}
    return looked.weighted(around), postings.entries(around)


def _scores(weighted: list[Weighted], entries: Mapping[int, Entry]) -> dict[int, float]:
    """The score of each message: the sum of the best weight of each term."""
    known, mean = frozenset(entries), _mean_terms(entries)
    lines: dict[int, list[tuple[int, float]]] = {}
    scores: dict[int, float] = {}
    for places, weight in weighted:
        best: dict[int, float] = {}
        for place in known.intersection(places):
            if place not in lines:
                share = _length_share(entries[place].terms, mean)
                lines[place] = _line(place, entries, share)
            for at, value in lines[place]:
                if value > best.get(at, 0.0):
                    best[at] = value
        for at, value in best.items():
            scores[at] = scores.get(at, 0.0) + weight * value
    return scores


def _mean_terms(entries: Mapping[int, Entry]) -> float:
    return max(1.0, sum(entry.terms for entry in entries.values()) / max(1, len(entries)))


def _length_share(terms: int, mean: float) -> float:
    """The share that a term counts in a message of so many terms."""
    return (SATURATION + 1) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * terms / mean))


def _line(place: int, entries: Mapping[int, Entry], share: float = 1.0) -> list[tuple[int, float]]:
    """The places within reach with their nearness, of which this share counts: the place itself,
    then later places, then earlier ones."""
    beat = entries[place].beat
    line = [(place, SAME * share)]
    later = range(place + 1, place + WIDEST + 1)
    earlier = range(place - 1, place - WIDEST - 1, -1)
    for side in (later, earlier):
        for at in side:
            entry = entries.get(at)
            if entry is None or (distance := abs(entry.beat - beat)) > REACH:
                break
            line.append((at, NEAR[distance] * share))
    return line


def _near(place: int, entries: Mapping[int, Entry]) -> list[int]:
    """The places within reach in the order of `_line`."""
    return [at for at, _ in _line(place, entries)]


def _windows(
    scores: Mapping[int, float], entries: Mapping[int, Entry], hits: int
) -> tuple[ScoredWindow, ...]:
    """Assign the messages, the best first: each joins a hit near it, or becomes a hit."""
    opened: list[_Open] = []
    by_place: dict[int, _Open] = {}
    dealt: set[int] = set()
    for place in sorted(scores, key=lambda place: (-scores[place], place)):
        if place in dealt:
            continue
        line = _near(place, entries)
        near = [by_place[at] for at in line if at in by_place and not by_place[at].full]
        if near:
            near[0].taken.append(place)
        elif len(opened) < hits:
            hit = by_place[place] = _Open(place, scores[place])
            opened.append(hit)
            _take_call(hit, line, entries, dealt)
        elif all(hit.full for hit in opened):
            break
        dealt.add(place)
    for hit in opened:
        _fill(hit, _near(hit.place, entries), dealt)
    return tuple(hit.close() for hit in opened)


def _take_call(
    hit: _Open, line: Sequence[int], entries: Mapping[int, Entry], dealt: set[int]
) -> None:
    """Add the first message of the hit's round: a tool's result says little without its call."""
    first = min(at for at in line if entries[at].beat == entries[hit.place].beat)
    if first != hit.place and first not in dealt:
        hit.taken.append(first)
        dealt.add(first)


def _fill(hit: _Open, line: Sequence[int], dealt: set[int]) -> None:
    """Fill the hit with the messages right after and before it."""
    for place in line:
        if not hit.full and abs(place - hit.place) == 1 and place not in dealt:
            hit.taken.append(place)
            dealt.add(place)
