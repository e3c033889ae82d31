"""The arguments of one tool call while they arrive, and whether they are complete. Pure."""

from __future__ import annotations

import json
import re

_MARK = re.compile(r'["\[\]{}]')
LONGEST_SCALAR = 40
"""Characters of a number or word that may be complete; arguments are an object, so this is only for
servers that send `null` or an empty text in quotes."""


class Arguments:
    """JSON text in pieces. Each character is looked at once, however many pieces there are."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._read = 0
        """Pieces that `complete` has looked at."""
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._closed: bool | None = None
        """True once the first value of the text is whole and valid, False when it is not valid."""
        self.size = 0
        """Characters so far."""

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self.size += len(piece)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def complete(self) -> bool:
        """True when the text so far is a complete JSON value, or blank."""
        if self.size <= LONGEST_SCALAR:
            return _is_json(self.text)
        while self._read < len(self._pieces) and self._closed is not False:
            self._look_at(self._pieces[self._read])
        return self._closed is True

    def _look_at(self, piece: str) -> None:
        """Counts the levels of one piece more, up to the end of the first value."""
        self._read += 1
        if self._closed:
            # After a whole value only white space is valid.
            self._closed = not piece.strip()
            return
        if self._escaped and piece:
            piece = "_" + piece[1:]
        plain = piece.replace("\\\\", "__")
        self._escaped = plain.endswith("\\")
        for mark in _MARK.finditer(plain.replace('\\"', "__")):
            sign = mark.group()
            if sign == '"':
                self._in_string = not self._in_string
            elif not self._in_string:
                self._depth += 1 if sign in "[{" else -1
            if self._depth <= 0 and not self._in_string:
                self._closed = _is_json(self.text)
                self._read = len(self._pieces)
                return


def _is_json(text: str) -> bool:
    if not text.strip():
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
