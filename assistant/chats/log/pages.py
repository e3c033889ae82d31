"""Pages from the middle of a chat's path: around a message, and after a message.

    stretch = await around(store, "c1", message_id, 50)      around a message that a search found
    stretch = await after(store, "c1", message_id, 50)       the messages after it

A page costs the same wherever it lies in a chat, and however long the chat is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from ...database import Transaction
from ...errors import NotFound
from ...messages.parts import Message
from .. import chat_rows
from ..chat import MOST_PER_PAGE
from ..transactions import ChatTransactions
from . import chat_log, paths


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages of the current path that follow each other, and whether older and later messages are
    left."""

    messages: tuple[Message, ...]
    has_more: bool
    has_later: bool


async def around(store: ChatTransactions, chat_id: str, message_id: str, limit: int) -> Stretch:
    """Up to `limit` messages with this one in the middle; near the end of the path more
    messages before it. Raises NotFound when it is not on the path, and StoreError."""
    bounded = max(1, min(limit, MOST_PER_PAGE))

    def work(transaction: Transaction) -> Stretch:
        head, row = _place(transaction, chat_id, message_id)
        later, has_later = _later(transaction, chat_id, head, row, bounded // 2)
        left = bounded - 1 - len(later)
        earlier, has_more = paths.page(transaction, chat_id, head, message_id, left)
        return _read(transaction, chat_id, (*earlier, row, *later), has_more, has_later)

    return await store.read(chat_id, work)


async def after(store: ChatTransactions, chat_id: str, message_id: str, limit: int) -> Stretch:
    """The first `limit` messages that follow this one. Raises NotFound when it is not on the path,
    and StoreError."""
    bounded = max(1, min(limit, MOST_PER_PAGE))

    def work(transaction: Transaction) -> Stretch:
        head, row = _place(transaction, chat_id, message_id)
        later, has_later = _later(transaction, chat_id, head, row, bounded)
        return _read(transaction, chat_id, later, True, has_later)

    return await store.read(chat_id, work)


def _place(transaction: Transaction, chat_id: str, message_id: str) -> tuple[int | None, int]:
    """The end of the path, and the message's row on it."""
    head = chat_rows.require(transaction, chat_id).head_row
    found = paths.rows_on_path(transaction, chat_id, head, [message_id])
    if message_id not in found:
        raise NotFound(f"There is no message {message_id!r} on this chat's current path.")
    return head, found[message_id]


def _later(
    transaction: Transaction, chat_id: str, head: int | None, row: int, limit: int
) -> tuple[tuple[int, ...], bool]:
    """The first rows of the path after `row`, and whether more follow."""
    ranges = paths.ranges_after(transaction, chat_id, head, row)
    numbers = (number for one in ranges for number in range(one.first, one.last + 1))
    rows = tuple(islice(numbers, limit + 1))
    return rows[:limit], len(rows) > limit


def _read(
    transaction: Transaction, chat_id: str, rows: tuple[int, ...], has_more: bool, has_later: bool
) -> Stretch:
    read = chat_log.read_rows(transaction, chat_id, rows)
    return Stretch(tuple(read[row].message for row in rows if row in read), has_more, has_later)
