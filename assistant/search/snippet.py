"""The piece of a text with the most words of the query. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .words import spans

ELLIPSIS: Final = "\u2026"
LEAD_SHARE: Final = 0.25
"""The share of a snippet before its first marked word, where the text has that much."""
MOST_SPANS: Final = 2_000
"""Marked words that are considered; a text with more of them is cut at one of the first."""
LONGEST_SEARCHED: Final = 200_000
"""Characters of a text that are searched for the best piece."""


MOST_PLACES: Final = 50
"""Places of one term that `stretch` looks at."""
MOST_NEAR: Final = 64
"""Places after each that it looks at together."""
SHORTEST_WHOLE: Final = 3
"""Characters; of longer terms the last one may be that of the stem alone."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a text, and the places (start, end) of the query's words in it, in characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet(text: str, terms: frozenset[str], chars: int) -> Snippet:
    """At most `chars` characters (and an ellipsis at each cut) around the most different terms."""
    found = []
    for span in spans(text[:LONGEST_SEARCHED], terms):
        found.append(span)
        if len(found) == MOST_SPANS:
            break
    start = _start(text, found, chars)
    end = min(len(text), start + chars)
    head = ELLIPSIS if start else ""
    marks = tuple(
        (left - start + len(head), right - start + len(head))
        for left, right, _ in found
        if start <= left and right <= end
    )
    return Snippet(head + text[start:end] + (ELLIPSIS if end < len(text) else ""), marks)


def stretch(text: str, terms: frozenset[str], chars: int) -> str:
    """The `chars` characters of a long text with the most different terms, by the letters that they
    begin with: a first look at a text that would take `snippet` long."""
    if len(text) <= chars:
        return text
    lower = text.lower()
    found = sorted((at, term) for term in terms for at in _places(lower, term))
    best, start = 0, 0
    for first, (left, _) in enumerate(found):
        near = {term for at, term in found[first : first + MOST_NEAR] if at < left + chars // 2}
        if len(near) > best:
            best, start = len(near), left
    start = max(0, min(start - chars // 4, len(text) - chars))
    return text[start : start + chars]


def _places(lower: str, term: str) -> list[int]:
    """Some places of a term in a text in lower case. A stem may end otherwise than its word, and a
    sign in a name is `_` in its term."""
    beginning = max(term.split("_"), key=len)
    beginning = beginning[:-1] if len(beginning) > SHORTEST_WHOLE else beginning
    places: list[int] = []
    at = lower.find(beginning) if beginning else -1
    while at >= 0 and len(places) < MOST_PLACES:
        places.append(at)
        at = lower.find(beginning, at + 1)
    return places


def _start(text: str, found: list[tuple[int, int, frozenset[str]]], chars: int) -> int:
    """The start of the piece: a little before the stretch with the most different terms."""
    best, at, last = 0, 0, 0
    counts: dict[str, int] = {}
    for first, (left, _, _) in enumerate(found):
        while last < len(found) and found[last][1] <= left + chars:
            for term in found[last][2]:
                counts[term] = counts.get(term, 0) + 1
            last += 1
        if len(counts) > best:
            best, at = len(counts), left
        for term in found[first][2] if first < last else ():
            counts[term] -= 1
            if not counts[term]:
                del counts[term]
        last = max(last, first + 1)
    start = max(0, min(at - int(chars * LEAD_SHARE), len(text) - chars))
    return _word_border(text, start)


def _word_border(text: str, start: int) -> int:
    """The start of the next word, if it is near; text without spaces has none."""
    if start == 0:
        return 0
    space = text.find(" ", start, start + 20)
    return space + 1 if space >= 0 else start
