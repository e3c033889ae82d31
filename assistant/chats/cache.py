"""Messages that were read lately, so that a turn in a long chat does not read all of it again.

Rows never change, so what is kept here never goes stale; it is only dropped when it gets too much,
and with its chat. For one thread (the event loop's).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from .log import Stored

CACHE_CHARS = 32_000_000
"""Most characters of row text kept, over all chats: tens of long ones, or a few with images."""


class RowCache:
    """Rows of the chats that were used last; dropped by whole chats, the longest unused first."""

    def __init__(self, limit_chars: int = CACHE_CHARS) -> None:
        self._limit = limit_chars
        self._chats: OrderedDict[str, Mapping[int, Stored]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def rows(self, chat_id: str) -> Mapping[int, Stored]:
        """What is known of the chat, by row; never changed later, so any thread may read it."""
        return self._chats.get(chat_id, {})

    def keep(self, chat_id: str, path: Mapping[int, Stored]) -> None:
        """Know these rows of the chat from now on, and no others."""
        self._chats[chat_id] = path
        self._chats.move_to_end(chat_id)
        self._sizes[chat_id] = sum(stored.chars for stored in path.values())
        while sum(self._sizes.values()) > self._limit:
            dropped, _ = self._chats.popitem(last=False)
            del self._sizes[dropped]

    def forget(self, chat_id: str) -> None:
        """Know nothing of the chat any more; for one that is deleted."""
        if self._chats.pop(chat_id, None) is not None:
            del self._sizes[chat_id]
