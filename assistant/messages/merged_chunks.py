"""The chunks of a streaming answer with neighbouring deltas as one chunk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .chunks import Chunk

_JOINED: Final[Mapping[str, tuple[str, str]]] = {
    "text-delta": ("id", "delta"),
    "reasoning-delta": ("id", "delta"),
    "tool-input-delta": ("toolCallId", "inputTextDelta"),
}
"""Chunks that continue each other: the field with the part's id, and the field with the text."""


class MergedChunks:
    """The chunks of an answer so far, for a client that joins in the middle. Transient chunks,
    which no message keeps, are left out, unless `transient` is True."""

    def __init__(
        self, chunks: Iterable[Mapping[str, Any]] = (), *, transient: bool = False
    ) -> None:
        self._transient = transient
        self._chunks: list[Chunk] = []
        self._growing: list[str] = []
        for chunk in chunks:
            self.add(chunk)

    def add(self, chunk: Mapping[str, Any]) -> None:
        if chunk.get("transient") and not self._transient:
            return
        if self._continues(chunk):
            self._growing.append(chunk[_JOINED[chunk["type"]][1]])
            return
        self._join()
        self._chunks.append(dict(chunk))

    @property
    def chunks(self) -> list[Chunk]:
        """A copy of the list."""
        self._join()
        return list(self._chunks)

    def _continues(self, chunk: Mapping[str, Any]) -> bool:
        last = self._chunks[-1] if self._chunks else None
        if last is None or last["type"] != chunk["type"] or chunk["type"] not in _JOINED:
            return False
        name = _JOINED[chunk["type"]][0]
        return bool(last[name] == chunk[name])

    def _join(self) -> None:
        if self._growing:
            last = self._chunks[-1]
            text = _JOINED[last["type"]][1]
            self._chunks[-1] = {**last, text: last[text] + "".join(self._growing)}
            self._growing.clear()
