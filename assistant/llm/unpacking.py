"""Unpacks compressed answers in pieces of limited size. Pure.

Answers are asked for as they are, since a kilobyte can be compressed from megabytes, and network
libraries unpack what they read at once, whatever its size. Some gateways compress all the same.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator

PIECE = 64 * 1024
"""Bytes of a piece at most."""
_EITHER = 32 + zlib.MAX_WBITS
"""Both of zlib's formats: gzip, and what HTTP calls deflate."""


async def unpacked(pieces: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """The pieces as they were before they were compressed; `encoding` is the header
    Content-Encoding. Raises ValueError for an unknown encoding, and for data that is not of it."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(f"the encoding {encoding[:40]!r} was not asked for")
    unpacker = zlib.decompressobj(_EITHER)
    async for piece in pieces:
        for part in _parts(unpacker, piece):
            yield part


def _parts(unpacker: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    try:
        while packed and not unpacker.eof:
            part = unpacker.decompress(packed, PIECE)
            packed = unpacker.unconsumed_tail
            if part:
                yield part
    except zlib.error as error:
        raise ValueError(str(error)) from None
