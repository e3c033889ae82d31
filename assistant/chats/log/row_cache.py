"""Messages that were read or written lately: a turn in a long chat does not read all of it again,
and a chat whose file cannot be read any more is still known.

Rows never change, so what is kept here never goes stale; it is only dropped when it gets too much,
and with its chat. Changed by one thread (the event loop's), read by any.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from ...messages.parts import Message
from .chat_log import Added, Stored

CACHE_CHARS = 32_000_000
"""Most characters of row text kept, over all chats: tens of long ones, or a few with images."""


class RowCache:
    """Rows of the chats that were used last; dropped by whole chats, the longest unused first."""

    def __init__(self, limit_chars: int = CACHE_CHARS) -> None:
        self._limit = limit_chars
        self._chats: OrderedDict[str, dict[int, Stored]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def rows(self, chat_id: str) -> Mapping[int, Stored]:
        """What is known of the chat: its current path, by row. Later there may be more of it, but
        what is there stays."""
        return self._chats.get(chat_id, {})

    def chats(self) -> frozenset[str]:
        """The chats of which something is known."""
        return frozenset(self._chats)

    def keep(self, chat_id: str, path: Mapping[int, Stored]) -> None:
        """Know these rows of the chat from now on, and no others."""
        self._chats[chat_id] = dict(path)
        self._sizes[chat_id] = sum(stored.chars for stored in path.values())
        self._bound(chat_id)

    def grow(self, chat_id: str, messages: Sequence[Message], added: Added) -> None:
        """Know these too, if what they follow is known; the path ends with them then."""
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
        """Know nothing of the chat any more; for one that is deleted."""
        if self._chats.pop(chat_id, None) is not None:
            del self._sizes[chat_id]
