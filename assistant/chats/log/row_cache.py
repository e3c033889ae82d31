"""A cache of messages that were read or written lately: a turn in a long chat does not read all of
it again, and a chat whose file cannot be read any more is not lost.

Rows never change, so cached rows are never wrong. They are dropped when the cache is full, and with
their chat. The event loop's thread changes the cache, any thread reads it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from ...messages.parts import Message
from .chat_log import Added, Stored

CACHE_CHARS = 32_000_000
"""Most characters of row text in the cache: tens of long chats, or a few with images."""


class RowCache:
    """The rows of the chats that were used last; a full cache drops the chat unused for longest."""

    def __init__(self, limit_chars: int = CACHE_CHARS) -> None:
        self._limit = limit_chars
        self._chats: OrderedDict[str, dict[int, Stored]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def rows(self, chat_id: str) -> Mapping[int, Stored]:
        """The cached part of the chat's current path, by row. A later call may return more rows,
        the rows of this mapping stay."""
        return self._chats.get(chat_id, {})

    def chats(self) -> frozenset[str]:
        """The ids of the chats with cached rows."""
        return frozenset(self._chats)

    def keep(self, chat_id: str, path: Mapping[int, Stored]) -> None:
        """Replace the cached rows of the chat by these."""
        self._chats[chat_id] = dict(path)
        self._sizes[chat_id] = sum(stored.chars for stored in path.values())
        self._bound(chat_id)

    def grow(self, chat_id: str, messages: Sequence[Message], added: Added) -> None:
        """Add these messages to the end of the path, if the row that they follow is cached."""
        path = self._chats.get(chat_id, {})
        if not messages or (added.parent_row is not None and added.parent_row not in path):
            return
        if added.parent_row != next(reversed(path), None):
            path = {row: one for row, one in path.items() if row <= (added.parent_row or 0)}
            self._sizes[chat_id] = sum(stored.chars for stored in path.values())
        self._chats[chat_id] = path
        chars = added.chars // len(messages)
        for row, message in zip(added.rows, messages, strict=True):
            path[row] = Stored(message, chars)
        self._sizes[chat_id] = self._sizes.get(chat_id, 0) + added.chars
        self._bound(chat_id)

    def _bound(self, chat_id: str) -> None:
        self._chats.move_to_end(chat_id)
        while sum(self._sizes.values()) > self._limit:
            dropped, _ = self._chats.popitem(last=False)
            del self._sizes[dropped]

    def forget(self, chat_id: str) -> None:
        """Drop the chat's rows; for a chat that is deleted."""
        if self._chats.pop(chat_id, None) is not None:
            del self._sizes[chat_id]
