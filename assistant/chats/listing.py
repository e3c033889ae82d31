"""The list of the chats, of those in the file and of those that are in memory while it fails."""

from __future__ import annotations

from sqlalchemy import Connection

from ..errors import FileFailed
from . import table
from .chat import ChatSummary
from .keeper import Keeper


async def pinned(keeper: Keeper, limit: int) -> tuple[ChatSummary, ...]:
    """Up to `limit` chats that are pinned, however old, last changed first. Raises FileFailed when
    there is nothing in memory either."""
    return await _listed(keeper, limit, None, only_pinned=True)


async def newest(keeper: Keeper, limit: int, before: str | None) -> tuple[ChatSummary, ...]:
    """Up to `limit` chats, last changed first; `before` is the last id of the page before. What is
    in memory was changed after all that is in the file.

    Raises NotFound for an unknown `before`, FileFailed when there is nothing in memory either."""
    return await _listed(keeper, limit, before)


async def _listed(
    keeper: Keeper, limit: int, before: str | None, only_pinned: bool = False
) -> tuple[ChatSummary, ...]:
    found: tuple[ChatSummary, ...] = ()
    if keeper.held and (before is None or before in keeper.held):
        found = await keeper.memory.read(lambda c: table.newest(c, limit, before, (), only_pinned))
        before = None
    left = limit - len(found)

    def work(connection: Connection, hidden: frozenset[str]) -> tuple[ChatSummary, ...]:
        return table.newest(connection, left, before, hidden, only_pinned)

    if left == 0:
        return found
    try:
        return (*found, *await keeper.read_file(work))
    except FileFailed:
        if not keeper.held:
            raise
        return found
