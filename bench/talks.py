"""Talks of 75 short messages in which a person says things once and asks for them at the end.

The same seed gives the same talks. A talk is about three pictures and about the person: some
messages say a fact, the others are small talk. Each fact stands in one message alone; the questions
ask in other words, a third of them for two facts. The questions are the talk's 75th message: each
is asked at the end of the same 74.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from .talk_chinese import CHINESE
from .talk_english import ENGLISH
from .talk_words import Kind, Language

LANGUAGES = (ENGLISH, CHINESE)
TURNS = 37
"""Messages of the person before the question; each has an answer, so these are 74 messages."""
TALKS = 12
"""Talks of each language."""
PICTURES = 3
OF_PICTURES, OF_PERSON = 8, 3
"""Facts of a talk."""
NEAR = 6
"""Remarks of a talk about its pictures that nobody asks for."""
LATEST = 30
"""The turn before which all facts are said."""
ADDED_SHARE = 0.5
"""Share of the messages that have further words before them, and of those that have some after."""
SINGLE, DOUBLE = 8, 4
"""Questions of a talk for one fact, and for two."""


@dataclass(frozen=True, slots=True)
class Fact:
    kind: Kind
    picture: str
    value: str
    text: str
    at: int
    """The index of its message in the talk."""


@dataclass(frozen=True, slots=True)
class TalkQuestion:
    """`evidence` are the indexes of the messages that hold the answer."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """`texts` are the messages of person and assistant in turns, the person first."""

    name: str
    texts: tuple[str, ...]
    questions: tuple[TalkQuestion, ...]


def write_talks(seed: int, count: int = TALKS) -> Iterator[Talk]:
    """`count` talks of each language."""
    for language in LANGUAGES:
        for number in range(count):
            yield _talk(language, number, random.Random(f"{seed} {language.code} {number}"))


def _talk(language: Language, number: int, pick: random.Random) -> Talk:
    pictures = pick.sample(language.pictures, PICTURES)
    about_picture = [kind for kind in language.kinds if kind.of_picture]
    about_person = [kind for kind in language.kinds if not kind.of_picture]
    # The same kind may be said of two pictures, so that a word alone does not find the answer.
    pairs = [(kind, picture) for picture in pictures for kind in about_picture]
    chosen = pick.sample(pairs, OF_PICTURES)
    chosen += [(kind, "") for kind in pick.sample(about_person, OF_PERSON)]
    pick.shuffle(chosen)
    places = sorted(pick.sample(range(LATEST), len(chosen)))
    facts = [
        _fact(kind, picture, 2 * turn, pick)
        for (kind, picture), turn in zip(chosen, places, strict=True)
    ]
    told = {fact.at // 2: fact for fact in facts}
    rest = [
        (said.format(s=pictures[index % PICTURES]), answer)
        for index, (said, answer) in enumerate(pick.sample(language.near, NEAR))
    ]
    rest += pick.sample(language.small_talk, TURNS - len(facts) - NEAR)
    pick.shuffle(rest)
    texts: list[str] = []
    for turn in range(TURNS):
        fact = told.get(turn)
        said, answer = (fact.text, pick.choice(language.noted)) if fact else rest.pop()
        texts += (_longer(said, language, pick), answer + _some(language.more, pick))
    questions = (*_single(facts, pick), *_double(language, facts, pick))
    return Talk(f"{language.code}-{number}", tuple(texts), questions)


def _longer(said: str, language: Language, pick: random.Random) -> str:
    return _some(language.before, pick) + said + _some(language.after, pick)


def _some(texts: tuple[str, ...], pick: random.Random) -> str:
    return pick.choice(texts) if pick.random() < ADDED_SHARE else ""


def _fact(kind: Kind, picture: str, at: int, pick: random.Random) -> Fact:
    value = "".join(
        str(pick.randrange(1, 10)) if letter == "#" else letter
        for letter in pick.choice(kind.values)
    )
    text = pick.choice(kind.said).format(s=picture, v=value)
    return Fact(kind, picture, value, text[0].upper() + text[1:], at)


def _single(facts: list[Fact], pick: random.Random) -> Iterator[TalkQuestion]:
    for fact in pick.sample(facts, SINGLE):
        text = pick.choice(fact.kind.asked).format(s=fact.picture)
        yield TalkQuestion(text, (fact.at,))


def _double(language: Language, facts: list[Fact], pick: random.Random) -> Iterator[TalkQuestion]:
    """Questions for two facts of one picture, or for two of the person."""
    pairs = [
        (one, other)
        for index, one in enumerate(facts)
        for other in facts[index + 1 :]
        if one.picture == other.picture and one.kind is not other.kind
    ]
    for one, other in pick.sample(pairs, min(DOUBLE, len(pairs))):
        words = language.both if one.picture else language.both_of_person
        text = pick.choice(words).format(s=one.picture, a=one.kind.part, b=other.kind.part)
        yield TalkQuestion(text, (one.at, other.at))
