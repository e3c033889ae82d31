"""Text as the terms that a search compares.

    index_terms("Set KSampler's cfg to 7.5")   {"set", "ksampler", "cfg", "to", "7_5"}
    query_terms("which cfg?")                  ("cfg",)

Terms are lower case letters, digits and `_`, without accents; English words without their endings
(`stemming`). A name such as `sd_xl_base_1.0.safetensors`, `KSamplerAdvanced` or `1024x768` becomes
a term as a whole and in pieces. Text without spaces (Chinese, Japanese, Korean, Thai) becomes
single characters and pairs. Pure; no character of a text is an operator.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from .stemming import stem

LONGEST_TERM: Final = 80
"""Characters of the longest term. A SHA-256 fits; longer words are data such as base64."""
LONGEST_NAME: Final = 4 * LONGEST_TERM
"""Characters of the longest path with its folders; longer paths are data too."""
KNOWN_NAMES: Final = 16_384
LONGEST_KNOWN: Final = 40
"""Names whose terms are cached, and the characters of the longest, so that a common word is
analysed once: about 8 MB."""
KNOWN_WORDS: Final = 2_048
"""Words of snippets whose terms are cached."""
MOST_QUERY_TERMS: Final = 32
"""A query is a question, not a document; of more words the longest are taken."""

ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f]")
_LETTER = r"[\w\u0900-\u109f\u1780-\u17ff]"
"""Python's `\\w` lacks the vowel signs of the scripts of India and South East Asia."""
_NAME = re.compile(rf"{_LETTER}+(?:['\u2019.\-/\\:]{_LETTER}+)*")
"""A run of word characters, with single signs inside: a word, a number, a file, a path."""
_SHORTENED = re.compile(r"(?:n['\u2019]t|['\u2019](?:s|m|d|re|ll|ve)?)(?![^\W_])", re.IGNORECASE)
"""The ends of "John's", "don't" and "we'll"."""
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_SCRIPTS = re.compile(f"([{UNSPACED}]+)")
_PIECE = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?=[A-Z])|[A-Z]|\d+")
"""The pieces of a name: at signs, at digits, and where small letters turn into capitals."""
_NUMBER = re.compile(r"\d+(?:[._]\d+)*")
_PATH_SIGNS = re.compile(r"[/\\:]")
_SIGNS = re.compile(r"[\W_]+")
_NO_WORD = re.compile(r"\W+")
_EXTENSION = re.compile(r"\.[A-Za-z]\w+$")
_ENGLISH = re.compile(r"[a-z]{3,}")

_STOP_WORDS: Final = frozenset(
    """
    a about after again all also am an and any are as ask asked asks at be because been before
    being between both but by can could did do does doing don during each few for from gave give
    given had has have having he her here hers him his how i if in into is it its just kind
    likely many may me mention mentioned mentions might more most much my no nor not of off on
    once only or other our ours out over own re said same say says shall she should so some such
    tell tells than that the their theirs them then there these they this those through to told
    too under until up very was we were what when where which while who whom whose why will with
    would you your yours
    """.split()
)
"""Words of questions about a chat that say nothing about the content that is wanted."""


def index_terms(text: str) -> frozenset[str]:
    """All terms of `text`."""
    terms: set[str] = set()
    for name in _names(text):
        terms.update(_terms(name))
    return frozenset(terms)


def query_terms(text: str) -> tuple[str, ...]:
    """The terms of a query, in their order; words such as "what" and "the" only if there are no
    other words, and of Chinese text the pairs without the single characters."""
    every: dict[str, bool] = {}
    for name in _names(text):
        for term in (_SCRIPTS.match(name) and _pairs(name)) or _terms(name):
            every.setdefault(term, name.lower() in _STOP_WORDS)
    telling = [term for term, common in every.items() if not common] or list(every)
    longest = set(sorted(telling, key=len, reverse=True)[:MOST_QUERY_TERMS])
    return tuple(term for term in telling if term in longest)


def spans(text: str, terms: frozenset[str]) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Where in `text` some of `terms` stand: start, end and which, from left to right."""
    for match in _NAME.finditer(text):
        for piece in re.finditer(f"[{UNSPACED}]{{1,2}}|[^{UNSPACED}]+", match.group()):
            found = _terms_of_word(piece.group()) & terms
            if found:
                yield match.start() + piece.start(), match.start() + piece.end(), found


def _terms_of_word(word: str) -> frozenset[str]:
    """`index_terms` of a single word, which most texts have again and again."""
    return _terms_of_known_word(word) if len(word) <= LONGEST_KNOWN else index_terms(word)


@lru_cache(maxsize=KNOWN_WORDS)
def _terms_of_known_word(word: str) -> frozenset[str]:
    return index_terms(word)


def _names(text: str) -> Iterator[str]:
    """The words and names of `text`, without accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", ACCENTS.sub("", text))
    for match in _NAME.finditer(text):
        for part in _SCRIPTS.split(_SHORTENED.sub("", match.group())):
            if part and (len(part) <= LONGEST_NAME or _SCRIPTS.match(part)):
                yield part


def _pairs(name: str) -> list[str]:
    return [name[at : at + 2] for at in range(len(name) - 1)]


def _terms(name: str) -> tuple[str, ...]:
    """The terms of one name, the most specific first, each once."""
    return _known_terms(name) if len(name) <= LONGEST_KNOWN else _found_terms(name)


@lru_cache(maxsize=KNOWN_NAMES)
def _known_terms(name: str) -> tuple[str, ...]:
    return _found_terms(name)


def _found_terms(name: str) -> tuple[str, ...]:
    if _SCRIPTS.match(name):
        return tuple(dict.fromkeys([*_pairs(name), *name]))
    found = [_whole(name)]
    if not _NUMBER.fullmatch(name):
        for part in _PATH_SIGNS.split(name):
            stem_of_file = _EXTENSION.sub("", part)
            found += [_whole(part), _whole(stem_of_file)]
            for run in _SIGNS.split(part):
                found += _pieces(_PIECE.findall(run))
    return tuple(dict.fromkeys(term for term in found if 0 < len(term) <= LONGEST_TERM))


def _whole(name: str) -> str:
    return _plain(_NO_WORD.sub("_", name).strip("_"))


def _plain(piece: str) -> str:
    piece = piece.casefold()
    return stem(piece) if _ENGLISH.fullmatch(piece) else piece


def _pieces(pieces: list[str]) -> Iterator[str]:
    """Each piece of a name, a single letter together with the next piece: the `ksampler` of
    `KSamplerAdvanced`."""
    for at, piece in enumerate(pieces):
        following = pieces[at + 1] if at + 1 < len(pieces) else ""
        if len(piece) > 1 or piece.isdigit():
            yield _plain(piece)
        elif following.isalpha():
            yield _plain(piece + following)
