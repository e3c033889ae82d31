"""Joins a provider's reasoning blocks, which arrive in pieces and are sent back whole (R38).

Only the fields that identify a block and the fields that hold text are read. Of a signature or
encrypted data the latest value is kept, unchanged.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..messages.json_text import json_text
from .caps import VALUE_BYTES, bytes_of, size_of

# Fields that identify the block of a piece, the most reliable first.
IDENTITIES = ("index", "id", "signature")
# Fields whose pieces are concatenated. Every other field keeps its latest value.
JOINED = frozenset({"text", "summary"})

Block = Mapping[str, Any]


class ReasoningBlocks:
    """The blocks of one reasoning part, in the order of their first piece. A piece is joined when
    it comes, in a time that does not depend on the pieces before.

    A piece belongs to the block of its type with the same index, else the same id, else the same
    signature; without such a block the piece begins a new block.
    """

    def __init__(self) -> None:
        self._blocks: list[_Growing] = []
        self._known: dict[Hashable, dict[int, _Growing]] = {}

    def add(self, piece: Block) -> int:
        """Returns by how many bytes the blocks grew, counted as `caps.size_of` counts."""
        keys = _keys(piece)
        same = next((self._known[key] for key in keys if self._known.get(key)), None)
        if same is None:
            block = _Growing(len(self._blocks))
            self._blocks.append(block)
        else:
            block = next(iter(same.values()))
        grown = block.add(piece)
        if not block.keys.issuperset(keys):
            self._name(block)
        return grown

    def whole(self) -> tuple[dict[str, Any], ...]:
        return tuple(block.whole() for block in self._blocks)

    def _name(self, block: _Growing) -> None:
        """The block is known by what identifies it now, and by nothing else."""
        keys = dict.fromkeys(_keys(block.fields))
        for key in block.keys - keys.keys():
            del self._known[key][block.order]
        for key in keys:
            self._known.setdefault(key, {}).setdefault(block.order, block)
        block.keys = frozenset(keys)


class _Growing:
    """A block whose texts are lists of pieces, so that joining takes linear time. `order` counts
    the blocks, `keys` are those by which it is known."""

    __slots__ = ("_texts", "fields", "keys", "order")

    def __init__(self, order: int) -> None:
        self.order = order
        self.keys: frozenset[Hashable] = frozenset()
        self.fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, piece: Block) -> int:
        first = not self.fields
        grown = VALUE_BYTES if first else 0
        for name, value in piece.items():
            joined = name in JOINED and isinstance(value, str)
            if joined and name in self._texts:
                self._texts[name].append(value)
                grown += bytes_of(value)
            elif first or value is not None:
                grown += size_of(value) - self._size(name)
                self.fields[name] = value
                self._texts.pop(name, None)
                if joined:
                    self._texts[name] = [value]
        return grown

    def whole(self) -> dict[str, Any]:
        return {**self.fields, **{name: "".join(texts) for name, texts in self._texts.items()}}

    def _size(self, name: str) -> int:
        """What a value takes that another value replaces; its name is counted once, with the first
        value."""
        if name not in self.fields:
            return -bytes_of(name)
        texts = self._texts.get(name)
        return size_of(self.fields[name]) if texts is None else size_of("".join(texts))


def _keys(block: Block) -> list[Hashable]:
    """What identifies a block, the most reliable first."""
    kind = _hashable(block.get("type"))
    return [
        (identity, kind, _hashable(block[identity]))
        for identity in IDENTITIES
        if block.get(identity) is not None
    ]


def _hashable(value: Any) -> Hashable:
    """Equal for equal JSON: a list as its text, and true is not 1."""
    if value is None or type(value) is str or type(value) is int:
        return value  # type: ignore[no-any-return]
    return (json_text(value),)
