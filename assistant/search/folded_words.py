"""The words of a text as a person's search compares them. Pure.

    words_of("Set KSampler's cfg to 7.5")      set ksampler s cfg to 7_5
    words_of("低垂的夕阳")                       低 垂 的 夕 阳

The law: case, accents and the width of letters do not count; nothing else is changed, so "foxes"
is not "fox". A word is a run of letters and digits, a number with its points (`7.5`) included. All
other signs part words and count for nothing else. Each character of a script without spaces
(Chinese, Japanese, Korean, Thai) is a word, so that any part of such a text can be found.

The parts of a name are words too: of `KSamplerAdvanced` also `ksampler`, `sampler` and `advanced`,
of `1024x768` also `1024` and `768` (`Word.parts`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .words import ACCENTS, UNSPACED

BREAK: Final = "_"
"""Stands between characters of scripts without spaces that a sign parts: "好。的" is not "好的"."""
LONGEST_WORD: Final = 256
"""Characters; longer runs are data."""
MOST_PARTS: Final = 12
LONGEST_STRETCH: Final = 4
"""Of a name with at most MOST_PARTS parts, each stretch of up to LONGEST_STRETCH parts is a word.
A name with more parts, such as a hash, is one word."""
KNOWN: Final = 20_000

_SAME = "\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
"""Letters that are their own folded form."""
_JOINING = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u093c\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe"
    "\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u102e\u1160-\u11ff\u3099\u309a"
    "\uff9e\uff9f"
)
"""Characters that may join the character before them when a text is normalised."""
_FOLDED = re.compile(rf"[^\x00-\x7f{_SAME}][{_JOINING}]*|[\x20-\x7f{_SAME}][{_JOINING}]+")
_LETTERS = rf"(?:[^\W_{UNSPACED}]|[\u0900-\u0963\u0966-\u0dff])+"
_RUN = re.compile(rf"([{UNSPACED}]+)|{_LETTERS}(?:(?<=\d)\.(?=\d){_LETTERS})*")
_COMPOUND = re.compile(r"[^\W\d_A-Z][A-Z]|[A-Z]{2}[^\W\d_A-Z]|[^\W\d_]\d|\d[^\W\d_]")
_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?=[A-Z])|[A-Z]|\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, and where it stands in the text: `start` and `end` in characters. `unspaced` is a
    character of a script without spaces, which is `joined` to such a character right before it.
    `parts` are the words in it, each with its start and end."""

    text: str
    start: int
    end: int
    unspaced: bool = False
    joined: bool = False
    parts: tuple[tuple[str, int, int], ...] = ()


def words_of(text: str) -> list[Word]:
    """The words of `text`, from left to right, with their places in `text`."""
    plain, places = _folded_with_places(text)
    if places is None:
        return list(_words(plain))

    def span(start: int, end: int) -> tuple[int, int]:
        # A character such as a ligature is several letters, of which a word may have some.
        return places[start], max(places[end], places[end - 1] + 1)

    return [
        Word(
            word.text,
            *span(word.start, word.end),
            word.unspaced,
            word.joined,
            tuple((part, *span(start, end)) for part, start, end in word.parts),
        )
        for word in _words(plain)
    ]


def line_of(text: str) -> str:
    """All words of `text`, with a space between them: as they follow each other, BREAK where
    characters without spaces are parted, and at the end the parts of names, each after a BREAK."""
    line: list[str] = []
    parts: list[str] = []
    before = False
    for run, _, unspaced in _runs(_folded(text)):
        if unspaced:
            line += (BREAK, " ".join(run)) if before else (" ".join(run),)
        else:
            line.append(run.casefold())
            for part, _, _ in _parts(run):
                parts += (BREAK, part)
        before = unspaced
    return " ".join(line + parts)


def with_breaks(words: Iterator[Word]) -> Iterator[Word]:
    """The words, with a BREAK where characters without spaces do not follow each other."""
    before = False
    for word in words:
        if before and word.unspaced and not word.joined:
            yield Word(BREAK, word.start, word.start)
        yield word
        before = word.unspaced


def _words(plain: str) -> Iterator[Word]:
    for run, start, unspaced in _runs(plain):
        if unspaced:
            for at, character in enumerate(run):
                yield Word(character, start + at, start + at + 1, True, at > 0)
        else:
            parts = tuple((part, start + at, start + to) for part, at, to in _parts(run))
            yield Word(run.casefold(), start, start + len(run), False, False, parts)


def _runs(plain: str) -> Iterator[tuple[str, int, bool]]:
    """The runs of letters with their starts, and whether their script has no spaces."""
    for match in _RUN.finditer(plain):
        unspaced, start = match.lastindex == 1, match.start()
        if unspaced or match.end() - start <= LONGEST_WORD:
            yield match.group(), start, unspaced


@lru_cache(maxsize=KNOWN)
def _parts(name: str) -> tuple[tuple[str, int, int], ...]:
    """The stretches of a name that are words too, with their places in it."""
    if len(name) == 1 or not _COMPOUND.search(name):
        return ()
    spans = [match.span() for match in _PART.finditer(name)]
    if not 1 < len(spans) <= MOST_PARTS:
        return ()
    found: dict[tuple[int, int], str] = {}
    for first, (start, _) in enumerate(spans):
        for _, end in spans[first : first + LONGEST_STRETCH]:
            text = name[start:end].casefold()
            if end - start < len(name) and (len(text) > 1 or text.isdigit()):
                found[start, end] = text
    return tuple((text, start, end) for (start, end), text in found.items())


def _folded(text: str) -> str:
    return text if text.isascii() else _FOLDED.sub(lambda match: _fold(match.group()), text)


def _folded_with_places(text: str) -> tuple[str, list[int] | None]:
    """The folded text, and for each of its characters (and its end) the place in `text`; None for
    the same places."""
    plain: list[str] = []
    places: list[int] = []
    moved, last = False, 0
    if text.isascii():
        return text, None
    for match in _FOLDED.finditer(text):
        start, end = match.span()
        folded = _fold(match.group())
        plain += (text[last:start], folded)
        places += range(last, start)
        # Signs that leave nothing belong to what is before them.
        places += [start] * len(folded)
        moved = moved or len(folded) != end - start
        last = end
    plain.append(text[last:])
    places += range(last, len(text) + 1)
    return "".join(plain), places if moved else None


@lru_cache(maxsize=KNOWN)
def _fold(characters: str) -> str:
    """A character with the marks that join it, without its accents."""
    decomposed = unicodedata.normalize("NFKD", characters)
    return unicodedata.normalize("NFC", ACCENTS.sub("", decomposed))
