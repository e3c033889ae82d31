"""Joins a provider's reasoning blocks, which arrive in pieces and are sent back whole (R38).

Only the fields that identify a block and the fields that hold text are read. Of a signature or
encrypted data the latest value is kept, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..messages.json_text import json_text

# Fields that identify the block of a piece, the most reliable first.
IDENTITIES = ("index", "id", "signature")
# Fields whose pieces are concatenated. Every other field keeps its latest value.
JOINED = frozenset({"text", "summary"})

Block = Mapping[str, Any]


def merge_reasoning_blocks(pieces: Iterable[Block]) -> tuple[dict[str, Any], ...]:
    """The blocks made of `pieces`, in the order of their first piece, in linear time.

    A piece belongs to the block of its type with the same index, else the same id, else the same
    signature; without such a block the piece begins a new block.
    """
    blocks: list[_Growing] = []
    known: dict[str, dict[int, _Growing]] = {}
    for piece in pieces:
        found = (known[key] for key in _keys(piece) if known.get(key))
        same = next(found, None)
        block = next(iter(same.values())) if same else _Growing(len(blocks))
        if not same:
            blocks.append(block)
        before = tuple(_keys(block.fields))
        block.add(piece)
        after = tuple(_keys(block.fields))
        for key in before:
            if key not in after:
                del known[key][block.order]
        for key in after:
            known.setdefault(key, {}).setdefault(block.order, block)
    return tuple(block.whole() for block in blocks)


class _Growing:
    """A block whose texts are lists of pieces, so that joining takes linear time. `order` counts
    the blocks."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.fields: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, piece: Block) -> None:
        first = not self.fields
        for name, value in piece.items():
            joined = name in JOINED and isinstance(value, str)
            if joined and name in self._texts:
                self._texts[name].append(value)
            elif first or value is not None:
                self.fields[name] = value
                self._texts.pop(name, None)
                if joined:
                    self._texts[name] = [value]

    def whole(self) -> dict[str, Any]:
        return {**self.fields, **{name: "".join(texts) for name, texts in self._texts.items()}}


def _keys(block: Block) -> Iterator[str]:
    """What identifies a block, the most reliable first. As JSON, since a value may be a list."""
    for identity in IDENTITIES:
        value = block.get(identity)
        if value is not None:
            yield json_text((identity, block.get("type"), value))
