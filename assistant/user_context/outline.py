"""The outline of what a cap leaves out: each statement by its first words.

A cap leaves out whole statements, or the end of a section. In their place stands one line that
counts them and says what they begin with, within the room that the cap has left. It is made by
rule, so the same statements and the same room give the same line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_GIST = 160
"""Characters of one statement in an outline: most sentences are shorter."""
LEAST_GIST = 24
"""With fewer characters a statement says nothing; then it is only counted."""
BETWEEN = "; "
_ENDING = "..."
_MARKER = re.compile(r"(?:#+|[-*+]|\d+[.)])\s+")


def outline(start: str, end: str, texts: Sequence[str], room: int) -> str:
    """`start`, the gists of `texts` and `end` in at most `room` characters; without gists where
    there is no room for them, and empty where there is no room for `start` and `end`.

    `texts` are in the order of worth: the last ones are the first to be counted alone.
    """
    plain = [_plain(text) for text in texts]
    fixed = len(start) + len(": ") + len(end)
    named = _fitting(plain, room - fixed)
    rest = ""
    if named < len(plain):
        rest = f"{BETWEEN}and {len(plain)} more"
        named = _fitting(plain, room - fixed - len(rest))
        rest = f"{BETWEEN}and {len(plain) - named} more"
    if named:
        return f"{start}: {_gists(plain[:named], room - fixed - len(rest))}{rest}{end}"
    short = start + end
    return short if len(short) <= room else ""


def wanted_chars(texts: Sequence[str]) -> int:
    """Characters of the longest outline of `texts`, without its start and end."""
    return sum(min(len(_plain(text)), LONGEST_GIST) + len(BETWEEN) for text in texts)


def _fitting(texts: Sequence[str], room: int) -> int:
    """How many of `texts`, from the first one, fit `room` with `LEAST_GIST` characters each."""
    used = -len(BETWEEN)
    for number, text in enumerate(texts):
        used += min(len(text), LEAST_GIST) + len(BETWEEN)
        if used > room:
            return number
    return len(texts)


def _gists(texts: Sequence[str], room: int) -> str:
    """The beginnings of all `texts`, the longest ones cut to one length."""

    def joined(most: int) -> str:
        return BETWEEN.join(beginning(text, most) for text in texts)

    fewest, most = LEAST_GIST, LONGEST_GIST
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if len(joined(middle)) <= room:
            fewest = middle
        else:
            most = middle - 1
    return joined(fewest)


def beginning(text: str, most: int) -> str:
    """The first words of `text` in at most `most` characters."""
    if len(text) <= most:
        return text
    room = max(most - len(_ENDING), 0)
    border = text.rfind(" ", 0, room + 1)
    # Text without spaces (Chinese, a long path) has no border near the end.
    return text[: border if border > room // 2 else room].rstrip(" ,;:") + _ENDING[:most]


def _plain(text: str) -> str:
    """A statement on one line, without the mark of a heading or of a list item."""
    line = " ".join(text.split())
    return _MARKER.sub("", line, count=1) if _MARKER.match(line) else line
