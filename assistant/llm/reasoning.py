"""Joins a provider's reasoning blocks, which arrive in pieces and are sent back whole (R38).

Only the fields that identify a block and the fields that hold text are read. Of a signature or
encrypted data the latest value is kept, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Fields that identify the block of a piece, the most reliable first.
IDENTITIES = ("index", "id", "signature")
# Fields whose pieces are concatenated. Every other field keeps its latest value.
JOINED = frozenset({"text", "summary"})

Block = Mapping[str, Any]


def merge_reasoning_blocks(pieces: Iterable[Block]) -> tuple[dict[str, Any], ...]:
    """The blocks made of `pieces`, in the order of their first piece.

    A piece belongs to the block of its type with the same index, else the same id, else the same
    signature; without such a block the piece begins a new block.
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
