"""The list of a user's chats as it changes, for `GET /api/chats/subscribe` without a chat.

Each event holds a whole entry of the list, so a client may apply it twice: a snapshot may include
changes that come again as events, and misses none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..chats import ChatStore, ChatSummary
from ..chats.failover import listing
from .event_log import EventLog, first_seq, new_epoch
from .serialization import Json

ENTRIES: Final = 200
"""The largest number of pinned chats and of other chats in a snapshot, last changed first; clients
read older chats page by page."""


class Feed:
    """For one event loop, and the chats of one ComfyUI user. `entry` makes a chat's entry of the
    list."""

    def __init__(self, store: ChatStore, entry: Callable[[ChatSummary], Json]) -> None:
        self._store = store
        self._entry = entry
        self.events = EventLog(new_epoch(), {}, seq=first_seq())

    async def snapshot(self) -> Json:
        """The data of a new reader's first event. Raises StoreError."""
        data = self.events.data("snapshot", {})
        newest = await self._store.list(ENTRIES)
        pinned = await listing.pinned(self._store.failover, ENTRIES)
        shown = {chat.id: chat for chat in (*pinned, *newest)}
        return {**data, "chats": [self._entry(chat) for chat in shown.values()]}

    def created(self, entry: Json) -> None:
        self.events.add("chat_created", {"chat_id": entry["id"], "chat": entry})

    def changed(self, entry: Json) -> None:
        self.events.add("chat_changed", {"chat_id": entry["id"], "chat": entry})

    def deleted(self, chat_id: str) -> None:
        self.events.add("chat_deleted", {"chat_id": chat_id})
