"""The pieces of a message that show a person that it holds the words of a search. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .snippet import ELLIPSIS, Snippet
from .word_query import Occurrence, Phrase, SearchedText

SNIPPET_CHARS: Final = 160
"""Characters of a piece that has all words: three lines of a narrow side bar."""
FRAGMENT_CHARS: Final = 60
"""Characters of each piece where no single piece has all words."""
MOST_FRAGMENTS: Final = 6
LEAD_SHARE: Final = 0.25
"""The share of a piece before its first marked word, where the text has that much."""


@dataclass(frozen=True, slots=True)
class FoundIn:
    """The texts of a message, and where in each the phrases stand."""

    texts: tuple[str, ...]
    places: tuple[tuple[Occurrence, ...], ...]

    @property
    def phrases(self) -> frozenset[int]:
        """The numbers of the phrases that stand in some text."""
        return frozenset(one.phrase for places in self.places for one in places)


@dataclass(frozen=True, slots=True, order=True)
class _Fragment:
    """The characters from `start` to `end` of the text with this number."""

    text: int
    start: int
    end: int


def found_in(texts: Sequence[str], phrases: Sequence[Phrase]) -> FoundIn:
    """Look for the phrases in each of the texts."""
    places = (tuple(SearchedText(text).occurrences(phrases)) for text in texts)
    return FoundIn(tuple(texts), tuple(places))


def shown(found: FoundIn) -> Snippet:
    """A piece of at most SNIPPET_CHARS characters with all phrases; where there is none, up to
    MOST_FRAGMENTS shorter pieces, which together have them, in the order of the message. Without
    phrases it is empty."""
    wanted = set(found.phrases)
    if not wanted:
        return Snippet("")
    whole, held = _best(found, wanted, SNIPPET_CHARS)
    if held == wanted:
        return _joined(found, [whole])
    fragments: list[_Fragment] = []
    while wanted and len(fragments) < MOST_FRAGMENTS:
        fragment, held = _best(found, wanted, FRAGMENT_CHARS)
        fragments.append(fragment)
        wanted -= held
    return _joined(found, _merged(fragments))


def _best(found: FoundIn, wanted: set[int], chars: int) -> tuple[_Fragment, set[int]]:
    """The first piece with the most of the `wanted` phrases, and these."""
    best, held = _Fragment(0, 0, chars), set[int]()
    for number, places in enumerate(found.places):
        among = [one for one in places if one.phrase in wanted]
        last = 0
        counts: dict[int, int] = {}
        for first, one in enumerate(among):
            last = max(last, first)
            while last < len(among) and (last == first or among[last].end <= one.start + chars):
                counts[among[last].phrase] = counts.get(among[last].phrase, 0) + 1
                last += 1
            if len(counts) > len(held):
                end = max(place.end for place in among[first:last])
                best, held = (
                    _around(found.texts[number], number, one.start, end, chars),
                    set(counts),
                )
            counts[one.phrase] -= 1
            if not counts[one.phrase]:
                del counts[one.phrase]
    return best, held


def _around(text: str, number: int, first: int, last: int, chars: int) -> _Fragment:
    """The piece of `chars` characters with what stands from `first` to `last`, and some before."""
    room = max(0, chars - (last - first))
    start = max(0, min(first - min(room, int(chars * LEAD_SHARE)), len(text) - chars))
    if start and (space := text.find(" ", start, min(first, start + 20))) >= 0:
        start = space + 1
    return _Fragment(number, start, min(len(text), start + chars))


def _merged(fragments: Iterable[_Fragment]) -> list[_Fragment]:
    """The pieces in order; pieces that overlap or touch are one."""
    merged: list[_Fragment] = []
    for one in sorted(fragments):
        last = merged[-1] if merged else None
        if last is not None and last.text == one.text and one.start <= last.end:
            merged[-1] = _Fragment(last.text, last.start, max(last.end, one.end))
        else:
            merged.append(one)
    return merged


def _joined(found: FoundIn, fragments: Sequence[_Fragment]) -> Snippet:
    """The pieces with an ellipsis at each cut, and the marks in them."""
    text = ""
    marks: list[tuple[int, int]] = []
    for at, one in enumerate(fragments):
        if one.start or at:
            text += ELLIPSIS if not at else f" {ELLIPSIS} "
        shift = len(text) - one.start
        spans = [(place.start, min(place.end, one.end)) for place in found.places[one.text]]
        marks += [
            (start + shift, end + shift)
            for start, end in _apart(spans)
            if one.start <= start < end <= one.end
        ]
        text += found.texts[one.text][one.start : one.end]
    if fragments and fragments[-1].end < len(found.texts[fragments[-1].text]):
        text += ELLIPSIS
    return Snippet(text, tuple(marks))


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, those that overlap as one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart
