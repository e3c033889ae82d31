"""What a chunk does to the streaming answer, and chunks kept short for who comes later (R38). Pure.

The seed streams eight operations; here the chunk that means an operation carries it, and
`docs/http.md` has the same table for clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from ..messages.chunks import Chunk

Operation = Literal[
    "AppendContent",
    "AppendReasoning",
    "SetToolCalls",
    "SetThinkingBlocks",
    "AddCitation",
    "AddServerContentBlock",
    "SetUsage",
    "MergeExtra",
]

_FAMILIES: Final[Mapping[str, Operation]] = {
    "text-": "AppendContent",
    "reasoning-": "AppendReasoning",
    "tool-": "SetToolCalls",
    "source-": "AddCitation",
    "data-": "AddServerContentBlock",
}
_SINGLE: Final[Mapping[str, Operation]] = {
    "file": "AddServerContentBlock",
    # The border between two rounds of one answer.
    "start-step": "AddServerContentBlock",
}
_JOINED: Final[Mapping[str, tuple[str, str]]] = {
    "text-delta": ("id", "delta"),
    "reasoning-delta": ("id", "delta"),
    "tool-input-delta": ("toolCallId", "inputTextDelta"),
}
"""Chunks that continue each other: what names the part, and the text that grows."""


def delta_operation(chunk: Mapping[str, Any]) -> Operation | None:
    """The operation that a chunk carries; None for one that changes nothing of the stored message
    (the borders of the stream, and what is only for the moment)."""
    kind = str(chunk["type"])
    if kind == "reasoning-end" and chunk.get("providerMetadata"):
        return "SetThinkingBlocks"
    if kind in _SINGLE:
        return _SINGLE[kind]
    if metadata := chunk.get("messageMetadata"):
        return "SetUsage" if "usage" in metadata else "MergeExtra"
    if chunk.get("transient"):
        return None
    return next((name for family, name in _FAMILIES.items() if kind.startswith(family)), None)


class MergedChunks:
    """The chunks of an answer so far, without those that no message keeps, and neighbouring deltas
    as one: what a client needs that comes in the middle."""

    def __init__(self, chunks: Iterable[Mapping[str, Any]] = ()) -> None:
        self._chunks: list[Chunk] = []
        self._growing: list[str] = []
        for chunk in chunks:
            self.add(chunk)

    def add(self, chunk: Mapping[str, Any]) -> None:
        if chunk.get("transient"):
            return
        if self._continues(chunk):
            self._growing.append(chunk[_JOINED[chunk["type"]][1]])
            return
        self._join()
        self._chunks.append(dict(chunk))

    @property
    def chunks(self) -> list[Chunk]:
        """A list of its own; what is added later is not in it."""
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
