"""A cache of messages that were read or written lately: a turn in a long chat does not read all of
it again, and a chat whose file cannot be read any more is not lost.

Rows never change, so cached rows are never wrong. They are dropped when the cache is full, and with
their chat. The event loop's thread changes the cache, any thread reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...messages.parts import Message
from .chat_log import Added, Stored, text_chars
from .paths import rows_of
from .read_path import NOT_READ, ReadPath

MOST_BYTES: Final = 16 * 1024 * 1024
"""Memory of the cached rows: about seventy chats of a hundred messages."""
LARGEST_CHAT: Final = 16 * MOST_BYTES
"""Memory of the rows of the chat that was used last, which is kept even beyond MOST_BYTES, but
alone then: a few images have megabytes, and a chat of a hundred thousand messages would be read
whole in each turn. Its conversation holds the same messages."""


class RowCache:
    """The rows of the chats that were used last; a full cache drops the chat unused for longest."""

    def __init__(self, most_bytes: int = MOST_BYTES, largest_chat: int = LARGEST_CHAT) -> None:
        self._most_bytes = most_bytes
        self._largest_chat = largest_chat
        self._chats: dict[str, dict[int, Stored]] = {}
        self._sizes: dict[str, int] = {}
        self._paths: dict[str, ReadPath] = {}
        self._size = 0

    def rows(self, chat_id: str) -> Mapping[int, Stored]:
        """The cached part of the chat's current path, by row. A later call may return more rows,
        the rows of this mapping stay."""
        return self._chats.get(chat_id, {})

    def chats(self) -> frozenset[str]:
        """The ids of the chats with cached rows."""
        return frozenset(self._chats)

    def path(self, chat_id: str) -> ReadPath:
        """The chat's path as it was read last."""
        return self._paths.get(chat_id, NOT_READ)

    def keep(
        self,
        chat_id: str,
        newer: Mapping[int, Stored],
        read: ReadPath = NOT_READ,
        before: ReadPath = NOT_READ,
    ) -> None:
        """Replace the cached rows of the chat by those of the path `read`, which are those of the
        path `before`, as `path` returned it, and after them the rows `newer`."""
        known, size = self._chats.get(chat_id, {}), self._sizes.get(chat_id, 0)
        if len(known) != len(before.messages) + len(newer) or not known.keys() >= newer.keys():
            same = rows_of(before.ranges)
            if not known.keys() >= set(same):
                # Dropped meanwhile. The cached rows are a whole path, or none.
                self.forget(chat_id)
                return
            known = {row: known[row] for row in same} | dict(newer)
            size = _size(known)
        self._put(chat_id, known, size, read)

    def grow(self, chat_id: str, messages: Sequence[Message], added: Added) -> None:
        """Add these messages to the end of the path, if the row that they follow is cached."""
        path = self._chats.get(chat_id, {})
        if not messages or (added.parent_row is not None and added.parent_row not in path):
            return
        size, read = self._sizes.get(chat_id, 0), self.path(chat_id)
        if added.parent_row != next(reversed(path), None):
            path = {row: one for row, one in path.items() if row <= (added.parent_row or 0)}
            size, read = _size(path), NOT_READ
        texts = [text_chars(message) for message in messages]
        rest = max(0, added.chars - sum(texts)) // len(messages)
        for row, message, chars in zip(added.rows, messages, texts, strict=True):
            path[row] = Stored(message, chars + rest)
            size += path[row].held
        self._put(chat_id, path, size, read)

    def _put(self, chat_id: str, path: dict[int, Stored], size: int, read: ReadPath) -> None:
        self.forget(chat_id)
        if size > self._largest_chat:
            return
        self._chats[chat_id], self._sizes[chat_id], self._paths[chat_id] = path, size, read
        self._size += size
        while self._size > self._most_bytes and len(self._chats) > 1:
            self.forget(next(iter(self._chats)))

    def forget(self, chat_id: str) -> None:
        """Drop the chat's rows."""
        if self._chats.pop(chat_id, None) is not None:
            self._size -= self._sizes.pop(chat_id)
            del self._paths[chat_id]


def _size(path: Mapping[int, Stored]) -> int:
    return sum(stored.held for stored in path.values())
