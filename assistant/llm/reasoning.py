"""Joins a provider's reasoning blocks, which arrive in pieces and are sent back whole (R38).

Only the fields that identify a block and the fields that hold text are read. Of a signature or
encrypted data the latest value is kept, unchanged.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..messages.json_text import json_text
from .caps import bytes_of, size_of

# Fields that identify the block of a piece, the most reliable first.
IDENTITIES = ("index", "id", "signature")
# Fields whose pieces are concatenated. Every other field keeps its latest value.
JOINED = frozenset({"text", "summary"})

Block = Mapping[str, Any]
_Keys = tuple[Hashable, ...]


class ReasoningBlocks:
    """The blocks of one reasoning part, in the order of their first piece. A piece is joined when
    it comes, in a time that does not depend on the pieces before.

    A piece belongs to the block of its type with the same index, else the same id, else the same
    signature; without such a block the piece begins a new block.
    """

    def __init__(self) -> None:
        self._blocks: list[_Growing] = []
        # The numbers of the blocks of a key. The collector of garbage does not walk through tuples
        # of numbers, and there may be many.
        self._known: dict[Hashable, tuple[int, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, piece: Block) -> int:
        """Returns by how many bytes the blocks grew, counted as `caps.size_of` counts."""
        keys = _keys(piece)
        number = next((self._known[key][0] for key in keys if key in self._known), None)
        if number is None:
            number = len(self._blocks)
            self._blocks.append(_Growing())
        block = self._blocks[number]
        grown = block.add(piece)
        if any(key not in block.keys for key in keys):
            self._name(number, block)
        return grown

    def whole(self) -> tuple[dict[str, Any], ...]:
        return tuple(block.whole() for block in self._blocks)

    def _name(self, number: int, block: _Growing) -> None:
        """The block is known by what identifies it now, and by nothing else."""
        before, block.keys = block.keys, _keys(block.fields)
        for key in before:
            if key not in block.keys:
                self._known[key] = tuple(one for one in self._known[key] if one != number)
                if not self._known[key]:
                    del self._known[key]
        for key in block.keys:
            if key not in before:
                self._known[key] = (*self._known.get(key, ()), number)


class _Growing:
    """A block whose texts are lists of pieces, so that joining takes linear time; `keys` are those
    by which it is known."""

    __slots__ = ("_texts", "fields", "keys")

    def __init__(self) -> None:
        self.keys: _Keys = ()
        self.fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] | None = None

    def add(self, piece: Block) -> int:
        if not self.fields:
            self.fields = dict(piece)
            return size_of(piece)
        grown = 0
        for name, value in piece.items():
            known = self.fields.get(name)
            if name in JOINED and isinstance(value, str) and isinstance(known, str):
                self._append(name, known, value)
                grown += bytes_of(value)
            elif value is not None:
                grown += size_of(value) - self._size(name)
                self.fields[name] = value
        return grown

    def whole(self) -> dict[str, Any]:
        texts = self._texts or {}
        return {**self.fields, **{name: "".join(pieces) for name, pieces in texts.items()}}

    def _append(self, name: str, first: str, piece: str) -> None:
        if self._texts is None:
            self._texts = {}
        self._texts.setdefault(name, [first]).append(piece)

    def _size(self, name: str) -> int:
        """What a value takes that is replaced. A name counts once, with its first value."""
        if name not in self.fields:
            return -bytes_of(name)
        texts = (self._texts or {}).pop(name, None)
        return size_of(self.fields[name] if texts is None else "".join(texts))


def _keys(block: Block) -> _Keys:
    """What identifies a block, the most reliable first."""
    kind = _hashable(block.get("type"))
    return tuple(
        (identity, kind, _hashable(block[identity]))
        for identity in IDENTITIES
        if block.get(identity) is not None
    )


def _hashable(value: Any) -> Hashable:
    """Equal for equal JSON: a list as its text, and true is not 1."""
    if value is None or type(value) is str or type(value) is int:
        return value
    return (json_text(value),)
