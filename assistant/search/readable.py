"""A piece of Markdown as a person reads it: without its marks, on one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .snippet import Snippet

_SYNTAX: Final = re.compile(
    r"""
      ^[ \t]*(?:`{3,}|~{3,})[^\n]*$                  # the line that opens or closes code
    | ^[ \t]*\#{1,6}[ \t]+                           # heading
    | ^[ \t]*(?:>[ \t]?)+                            # quote
    | ^[ \t]*[*+](?=[ \t])                           # item of a list
    | ^[ \t|:-]*-{3,}[ \t|:-]*$                      # the line below the head of a table; a rule
    | (?<!\\)\|                                      # cell
    | !?\[(?=[^\[\]\n]{0,200}\]\([^()\s]{0,2000}\)) # link or picture: its words stay
    | (?<=\S)\]\([^()\s]{0,2000}\)
    | (?<![\w\\])(?:\*{1,3}|_{1,3}|~~)(?=\S)             # emphasis begins
    | (?<=\S)(?<!\\)(?:\*{1,3}|_{1,3}|~~)(?!\w)             # and ends
    | `+
    | <br\s*/?>
    | \\(?=[\\`*_{}\[\]()\#+.!|~>-])                 # escape
    """,
    re.MULTILINE | re.VERBOSE,
)
_SPACES: Final = re.compile(r"\s+")


def readable(piece: Snippet) -> Snippet:
    """The snippet without the marks of Markdown and with one space for several; each of its marks
    still marks the same words."""
    marked = _covered(piece)
    text: list[str] = []
    # Where each character of the snippet is in the text, and where the text ends.
    at: list[int] = []
    for start, end, kept in _runs(piece.text, marked):
        for place in range(start, end):
            at.append(len(text))
            if kept == "":
                continue
            if kept == " ":
                if text and text[-1] != " " and place == start:
                    text.append(" ")
                continue
            text.append(piece.text[place])
    at.append(len(text))
    line = "".join(text)
    stripped = line.rstrip()
    marks = tuple(
        (at[start], min(at[end], len(stripped)))
        for start, end in piece.marks
        if at[start] < min(at[end], len(stripped))
    )
    return Snippet(stripped, marks)


def _covered(piece: Snippet) -> bytearray:
    """1 for each character that is marked."""
    marked = bytearray(len(piece.text) + 1)
    for start, end in piece.marks:
        marked[start:end] = b"\x01" * (end - start)
    return marked


def _runs(text: str, marked: bytearray) -> Iterator[tuple[int, int, str]]:
    """The text in runs (start, end), each with what is kept of it: nothing, one space, or all
    ("x"). What is marked is kept, whatever it is."""
    last = 0
    for found in _SYNTAX.finditer(text):
        start, end = found.span()
        if any(marked[start:end]):
            continue
        yield from _spaced(text, last, start)
        # The words of two cells or lines stay apart.
        yield start, end, " " if found[0].strip() in ("|", "<br>", "<br/>", "<br />") else ""
        last = end
    yield from _spaced(text, last, len(text))


def _spaced(text: str, first: int, last: int) -> Iterator[tuple[int, int, str]]:
    for found in _SPACES.finditer(text, first, last):
        if found.start() > first:
            yield first, found.start(), "x"
        yield found.start(), found.end(), " "
        first = found.end()
    if first < last:
        yield first, last, "x"
