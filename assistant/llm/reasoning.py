"""Folding a provider's reasoning blocks, which arrive in pieces and must go back whole (R38).

A block is opaque to us but for the fields that identify it and those that hold text. Signatures and
encrypted data are never joined or changed: the latest wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# What identifies the block that a piece belongs to, the strongest first.
IDENTITIES = ("index", "id", "signature")
# What arrives in pieces and is joined. All else is replaced by its latest value.
JOINED = frozenset({"text", "summary"})

Block = Mapping[str, Any]


def merge_reasoning_blocks(pieces: Iterable[Block]) -> tuple[dict[str, Any], ...]:
    """The blocks that `pieces` add up to, in the order of their first piece.

    A piece belongs to the block of its type with the same index, else the same id, else the same
    signature; one that has none of these, or meets no block, begins a block of its own.
    """
    blocks: list[dict[str, Any]] = []
    for piece in pieces:
        block = next(
            (b for identity in IDENTITIES for b in blocks if _same(b, piece, identity)), None
        )
        if block is None:
            blocks.append(dict(piece))
        else:
            _extend(block, piece)
    return tuple(blocks)


def _same(block: Block, piece: Block, identity: str) -> bool:
    if block.get("type") != piece.get("type"):
        return False
    value = piece.get(identity)
    return value is not None and block.get(identity) == value


def _extend(block: dict[str, Any], piece: Block) -> None:
    for name, value in piece.items():
        known = block.get(name)
        if name in JOINED and isinstance(known, str) and isinstance(value, str):
            block[name] = known + value
        elif value is not None:
            block[name] = value
