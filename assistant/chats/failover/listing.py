"""The list of chats: the chats in the file and, while the file fails, the chats in memory."""

from __future__ import annotations

from ...database import Transaction
from ...errors import FileFailed
from .. import chat_rows
from ..chat import ChatSummary
from .failover import Failover


async def pinned(failover: Failover, limit: int) -> tuple[ChatSummary, ...]:
    """Up to `limit` chats that are pinned, however old, last changed first. Raises FileFailed when
    there is nothing in memory either."""
    return await _listed(failover, limit, None, only_pinned=True)


async def newest(failover: Failover, limit: int, before: str | None) -> tuple[ChatSummary, ...]:
    """Up to `limit` chats, last changed first; `before` is the last id of the page before. Chats in
    memory come first: they were changed after all chats in the file.

    Raises NotFound for an unknown `before`, FileFailed when there is nothing in memory either."""
    return await _listed(failover, limit, before)


async def _listed(
    failover: Failover, limit: int, before: str | None, only_pinned: bool = False
) -> tuple[ChatSummary, ...]:
    found: tuple[ChatSummary, ...] = ()
    if failover.held and (before is None or before in failover.held):
        found = await failover.memory.read(
            lambda c: chat_rows.newest(c, limit, before, (), only_pinned)
        )
        before = None
    left, listed = limit - len(found), {chat.id for chat in found}

    def work(transaction: Transaction, hidden: frozenset[str]) -> tuple[ChatSummary, ...]:
        # A chat that was in memory may be in the file again by now.
        return chat_rows.newest(transaction, left, before, hidden | listed, only_pinned)

    if left == 0:
        return found
    try:
        return (*found, *await failover.read_file(work))
    except FileFailed:
        if not failover.held:
            raise
        return found
