"""Separates reasoning that a model writes into its text, `<think>...</think>`, from the answer.

Only an answer that begins with the tag is read so, because a model may also write *about* the tag.
A tag may arrive in several pieces, so text that may be the beginning of a tag is held back until
the next piece decides.
"""

from __future__ import annotations

from typing import Literal

TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}

LONGEST_BEGINNING = 1_000
"""Characters of white space before the tag; an answer that begins with more is read as text."""

Kind = Literal["text", "think"]
Piece = tuple[Kind, str]


class ThinkSplitter:
    """Takes an answer's text in pieces and gives it back as pieces of text and of reasoning."""

    def __init__(self) -> None:
        self._state: Literal["beginning", "opened", "thinking", "gap", "answer"] = "beginning"
        self._held = ""
        self._closing = ""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that can be given out now, none of them empty."""
        if self._state == "answer":
            return [("text", text)] if text else []
        self._held += text
        pieces: list[Piece] = []
        if self._state == "beginning":
            pieces += self._begin()
        if self._state == "opened":
            self._skip_line_breaks()
        if self._state == "thinking":
            pieces += self._think()
        if self._state == "gap":
            pieces += self._skip_gap()
        return pieces

    def end(self) -> list[Piece]:
        """The text that was held back; after an unclosed tag it is reasoning."""
        held, self._held = self._held, ""
        if not held or self._state == "gap":
            return []
        return [("think" if self._state == "thinking" else "text", held)]

    def _begin(self) -> list[Piece]:
        start = self._held.lstrip()
        for opening, closing in TAGS.items():
            if start.startswith(opening):
                self._state, self._closing = "opened", closing
                self._held = start[len(opening) :]
                return []
        if len(self._held) <= LONGEST_BEGINNING and any(tag.startswith(start) for tag in TAGS):
            return []
        return self._answer()

    def _skip_line_breaks(self) -> None:
        """Line breaks after the opening tag are left out."""
        self._held = self._held.lstrip("\n")
        if self._held:
            self._state = "thinking"

    def _think(self) -> list[Piece]:
        thought, closed, rest = self._held.partition(self._closing)
        if closed:
            self._state, self._held = "gap", rest
            return [("think", thought)] if thought else []
        clear = len(thought) - _length_of_possible_tag(thought, self._closing)
        self._held = thought[clear:]
        return [("think", thought[:clear])] if clear else []

    def _skip_gap(self) -> list[Piece]:
        """Blank lines between reasoning and answer are left out."""
        self._held = self._held.lstrip()
        return self._answer() if self._held else []

    def _answer(self) -> list[Piece]:
        self._state = "answer"
        held, self._held = self._held, ""
        return [("text", held)] if held else []


def _length_of_possible_tag(text: str, tag: str) -> int:
    """The number of last characters of `text` that may be the beginning of `tag`."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0
