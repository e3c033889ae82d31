"""Cuts the bytes of an answer into the data of its server-sent events. Pure.

Lines end with LF, CR or CRLF. An event ends with an empty line; of its fields only `data` is read,
and an event without data is no event. What the connection ends within is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .caps import CapReached

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventSplitter:
    """Takes the bytes of one stream, piece by piece, in time that is linear in their number.

    Holds at most `most` bytes of one event; raises CapReached (`line`) for a longer event.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._partial: list[bytes] = []
        self._partial_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._after_cr = False
        self._first = True
        self.lines = 0
        """Lines of all pieces so far, empty ones too."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each event that `piece` completes; several lines are joined by LF."""
        lines = self._lines(piece)
        last = lines.pop()
        if lines:
            if self._partial:
                lines[0] = b"".join((*self._partial, lines[0]))
                self._partial.clear()
                self._partial_size = 0
            if self._first:
                lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
                self._first = False
            self.lines += len(lines)
        for line in lines:
            if line:
                self._field(line)
            elif self._data:
                data = b"\n".join(self._data)
                self._data.clear()
                self._data_size = 0
                if data:
                    yield data
        if last:
            self._partial.append(last)
            self._partial_size += len(last)
            self._check()

    def _lines(self, piece: bytes) -> list[bytes]:
        """The lines that end in `piece`, and the beginning of the next."""
        if self._after_cr and piece:
            # The LF belongs to the CR that ended the last piece.
            piece = piece.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" not in piece:
            return piece.split(b"\n")
        self._after_cr = piece.endswith(b"\r")
        return _LINE_END.split(piece)

    def _field(self, line: bytes) -> None:
        if not line.startswith(b"data"):
            return
        if line.startswith(b"data: "):
            value = line[6:]
        elif line.startswith(b"data:"):
            value = line[5:]
        elif line == b"data":
            value = b""
        else:
            return
        self._data.append(value)
        self._data_size += len(value) + 1
        self._check()

    def _check(self) -> None:
        if self._data_size + self._partial_size > self._most:
            raise CapReached("line", self._most)
