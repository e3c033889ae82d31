"""Which messages answer a query best, from where its terms stand. Pure.

What is searched is a line of places, one message each; `Postings` says where a term stands. A
message counts for the terms it holds and, less, for those that stand near it: of a question and its
answer one has the words and the other what is looked for. The weights are BM25's (Robertson and
Zaragoza, 2009) without the count of a term in a message, which changed nothing measurable. What was
measured, and how: `bench/search_quality.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final, Protocol

NEAR: Final = (1.0, 0.7, 0.5, 0.3)
"""What a term counts for a message that it stands 0, 1, 2 or 3 messages away from."""
REACH: Final = len(NEAR) - 1
NEIGHBOURS: Final = 2
"""Messages that come with a hit, beside itself."""
MOST_SEEDS: Final = 150
"""Messages that are looked at closely, with what is around them: those with the most telling terms.
In a chat of any length the effort is that of a short one."""
SATURATION: Final = 1.0
LENGTH_SHARE: Final = 0.3
"""BM25's k1 and b: how much a long message counts less than a short one with the same terms. Low,
since short messages ("Great!") say little."""
SHORTEST_PREFIX: Final = 3
PREFIX_SHARE: Final = 0.7
"""A term that stands nowhere is taken as the beginning of others, from this many characters on,
and counts this much."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a place: how many `terms` its message has, whether it `starts` a line (the
    place before it is then no neighbour), and the place of the `call` that it is the result of."""

    terms: int
    starts: bool = False
    call: int | None = None


class Postings(Protocol):
    """Where terms stand. Places are numbers; those of neighbours follow each other."""

    def total(self) -> int:
        """How many messages there are."""

    def places(self, term: str, prefix: bool = False) -> Collection[int]:
        """The places of a term or, with `prefix`, of all terms that begin with it."""

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        """The entries of those of the places that exist."""


@dataclass(frozen=True, slots=True)
class Window:
    """A hit: its place, the places shown with it (itself included, in order) and what it scored."""

    place: int
    places: tuple[int, ...]
    score: float


@dataclass(slots=True)
class _Open:
    """A hit that may still take neighbours."""

    place: int
    score: float
    taken: list[int] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.taken) >= NEIGHBOURS

    def close(self) -> Window:
        return Window(self.place, tuple(sorted((self.place, *self.taken))), self.score)


def rank(terms: Sequence[str], postings: Postings, hits: int) -> tuple[Window, ...]:
    """Up to `hits` windows of at most three messages each, no message in two of them, the best
    first. The same input gives the same order."""
    weighted = _weighted(terms, postings)
    seeds = _seeds(weighted)
    around = {place + step for place in seeds for step in range(-2 * REACH, 2 * REACH + 1)}
    entries = postings.entries(around)
    if hits <= 0 or not entries:
        return ()
    scores = _scores(seeds, weighted, entries)
    return _windows(scores, entries, hits)


def _weighted(terms: Sequence[str], postings: Postings) -> list[tuple[frozenset[int], float]]:
    """The places of each term with its weight: the rarer, the more."""
    total = postings.total()
    found = []
    for term in terms:
        places, share = frozenset(postings.places(term)), 1.0
        if not places and len(term) >= SHORTEST_PREFIX:
            places, share = frozenset(postings.places(term, prefix=True)), PREFIX_SHARE
        if places:
            rarity = log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
            found.append((places, share * rarity))
    return found


def _seeds(weighted: list[tuple[frozenset[int], float]]) -> list[int]:
    """The places with the most weight of terms."""
    weights: dict[int, float] = {}
    for places, weight in weighted:
        for place in places:
            weights[place] = weights.get(place, 0.0) + weight
    return sorted(weights, key=lambda place: (-weights[place], place))[:MOST_SEEDS]


def _scores(
    seeds: list[int],
    weighted: list[tuple[frozenset[int], float]],
    entries: Mapping[int, Entry],
) -> dict[int, float]:
    """What each message near the seeds counts: of each term the best of where it stands."""
    lengths = _lengths(entries)
    near = {place: _line(place, entries) for seed in seeds for place in _line(seed, entries)}
    scores = dict.fromkeys(near, 0.0)
    for places, weight in weighted:
        for place, line in near.items():
            best = 0.0
            for other in line:
                if other in places:
                    best = max(best, NEAR[abs(other - place)] * lengths[other])
            scores[place] += weight * best
    return scores


def _lengths(entries: Mapping[int, Entry]) -> dict[int, float]:
    """What a term counts in each message by its length, beside the others looked at."""
    mean = max(1.0, sum(entry.terms for entry in entries.values()) / len(entries))
    return {
        place: (SATURATION + 1)
        / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * entry.terms / mean))
        for place, entry in entries.items()
    }


def _line(place: int, entries: Mapping[int, Entry]) -> list[int]:
    """The place and those within reach on the same line."""
    line = [place] if place in entries else []
    for step in (1, -1):
        for distance in range(1, REACH + 1):
            at = place + step * distance
            border = at if step == 1 else at + 1
            if at not in entries or border not in entries or entries[border].starts:
                break
            line.append(at)
    return line


def _windows(
    scores: Mapping[int, float], entries: Mapping[int, Entry], hits: int
) -> tuple[Window, ...]:
    """Deal the messages out, the best first: each joins a hit near it, or becomes one."""
    opened: list[_Open] = []
    dealt: set[int] = set()
    for place in sorted(scores, key=lambda place: (-scores[place], place)):
        if place in dealt:
            continue
        near = [hit for hit in opened if not hit.full and place in _line(hit.place, entries)]
        if near:
            hit = min(near, key=lambda hit: (abs(hit.place - place), hit.place))
            hit.taken.append(place)
        elif len(opened) < hits:
            opened.append(_Open(place, scores[place]))
            _take_call(opened[-1], entries, dealt)
        elif all(hit.full for hit in opened):
            break
        dealt.add(place)
    _fill(opened, entries, dealt)
    return tuple(hit.close() for hit in opened)


def _take_call(hit: _Open, entries: Mapping[int, Entry], dealt: set[int]) -> None:
    """A tool's result says little without its call."""
    call = entries[hit.place].call
    if call is not None and call not in dealt:
        hit.taken.append(call)
        dealt.add(call)


def _fill(opened: list[_Open], entries: Mapping[int, Entry], dealt: set[int]) -> None:
    """Room that is left goes to the messages right after and before a hit."""
    for hit in opened:
        for place in _line(hit.place, entries):
            if not hit.full and abs(place - hit.place) == 1 and place not in dealt:
                hit.taken.append(place)
                dealt.add(place)
