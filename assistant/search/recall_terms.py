"""The terms of a question about earlier messages. Pure.

    wanted = recall_terms("Do you remember which city I live in?")
    wanted.terms      ("citi", "live")
    wanted.related    {"move", "home", ...}

They are more than those of a search that a person types: an answer often has other words than its
question ("I moved to Porto" has no city in it), and in Chinese and Japanese a single character can
be the word. Measured with `bench/sense.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .stemming import stem
from .words import MOST_QUERY_TERMS, query_terms

_ASKING: Final = frozenset(
    stem(word) for word in "forgot forget forgotten know thing two three both please".split()
)
"""Words of a question about the past that no answer to it has."""
_COMMON: Final = frozenset(
    "我你他她它的了吗呢吧是在有和与或不没这那哪什么谁几多少个把被给对从到上下里去来说过要会能可以"
    "为于就都也还又很太再最怎样时候天次件事情请问记得之前刚才告诉忘们我們嗎麼這對從來說過會為於還"
    "樣時候請問記剛訴たのはがをにでとも私何"
)
"""Characters of Chinese and Japanese that are no topic by themselves."""
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_ENGLISH: Final = """
    live city town country home move
    card graphics gpu vram gb radeon geforce rtx
    job work company profession
    pet dog cat
    birthday born age
    married wife husband partner
    child kid son daughter
    money pay price cost budget
    deadline due until
    rule never always
    picture image photo
"""
_OTHERS: Final = """
    wohne wohnst lebe lebst stadt umgezogen gezogen
    grafikkarte gpu vram gb radeon geforce rtx
    habite habites vis ville déménagé
    vivo vives ciudad mudado mudé
    живу живешь город переехал переехала
    城市 住在 搬到
    显卡 显存 gpu gb
    街 住 引越
"""
"""German, French, Spanish, Russian, Chinese, Japanese."""


@dataclass(frozen=True, slots=True)
class RecallTerms:
    """The terms of a question in their order, and terms that its answer may have instead."""

    terms: tuple[str, ...]
    related: tuple[str, ...]

    @property
    def every(self) -> frozenset[str]:
        return frozenset((*self.terms, *self.related))


def recall_terms(text: str) -> RecallTerms:
    """The terms to search for; the same for the same text."""
    every = query_terms(text)
    asked = tuple(term for term in every if term not in _ASKING) or every
    characters = (one for one in _HAN.findall(text) if one not in _COMMON)
    terms = tuple(dict.fromkeys((*asked, *characters)))[: 2 * MOST_QUERY_TERMS]
    related = (other for term in terms for other in _RELATED.get(term, ()))
    return RecallTerms(terms, tuple(dict.fromkeys(term for term in related if term not in terms)))


def _groups() -> Iterator[tuple[str, ...]]:
    for line in _ENGLISH.split("\n"):
        yield tuple(stem(word) for word in line.split())
    for line in _OTHERS.split("\n"):
        yield tuple(term for word in line.split() for term in query_terms(word))


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for group in _groups():
        for term in group:
            others = (other for other in group if other != term)
            table[term] = tuple(dict.fromkeys((*table.get(term, ()), *others)))
    return table


_RELATED: Final = _table()
"""Terms that may stand for each other in a question and its answer."""
