"""The form of the words of the talks (`talks`): what people say, answer and ask in a language.

`{s}` is the picture that is talked about, `{v}` the value that is said once. A value is never part
of an answer or of a question.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fact: how it is said, how it is asked for in other words, and as part of a question
    for two facts. `values` are texts; `#` in a value is replaced by a digit. A kind `of_picture` is
    about a picture; the others are about the person."""

    name: str
    said: tuple[str, ...]
    asked: tuple[str, ...]
    part: str
    values: tuple[str, ...]
    of_picture: bool = True


@dataclass(frozen=True, slots=True)
class Language:
    """`small_talk` are pairs of a message and an answer; `noted` answers a fact; `near` is said
    about a picture and is no fact that anybody asks for; `both` asks for two facts of one picture.
    `before` and `after` stand around what the person says, `more` after an answer, so that messages
    have the length of people's messages."""

    code: str
    pictures: tuple[str, ...]
    kinds: tuple[Kind, ...]
    noted: tuple[str, ...]
    near: tuple[tuple[str, str], ...]
    small_talk: tuple[tuple[str, str], ...]
    both: tuple[str, ...]
    both_of_person: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    more: tuple[str, ...]
