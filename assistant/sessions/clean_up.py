"""Cleaning up: deleting the chats in which nothing happened for long (R34).

await clean_up.old(90)         the chats that would go
await clean_up.delete(90)      deletes them, as a person does
await clean_up.undo()          brings back what the last `delete` took, within a minute
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from ..chats import ChatSummary
from ..chats.trash import Trash
from ..errors import Conflict, NotFound
from .sessions import Sessions


class CleanUp:
    """Over the chats of one user. Pinned chats stay, and chats that are being answered. Methods
    raise StoreError."""

    def __init__(self, sessions: Sessions, trash: Trash) -> None:
        self._sessions = sessions
        self._trash = trash
        self._last: tuple[str, ...] = ()

    async def old(self, days: int) -> tuple[ChatSummary, ...]:
        """The chats that did not change for `days` days, the last changed first."""
        return await self._trash.untouched(days)

    async def delete(self, days: int) -> tuple[ChatSummary, ...]:
        """Delete these chats; returns those that were deleted. They can be brought back also where
        the caller is cancelled, as `/cleanup` is when its turn is stopped."""
        return await self._sessions.unbroken.run(self._delete(days))

    async def _delete(self, days: int) -> tuple[ChatSummary, ...]:
        old = await self.old(days)
        sessions, trash = self._sessions, self._trash
        used = [chat.id for chat in old if sessions.known(chat.id) is not None]
        deleted: set[str] = set()
        for identity in used:
            if sessions.running(identity) is None:
                with suppress(NotFound, Conflict):
                    await sessions.delete(identity, partial(trash.delete, identity))
                    deleted.add(identity)
        unused = await trash.delete_all([chat.id for chat in old if chat.id not in used])
        for identity in unused:
            sessions.deleted(identity)
        deleted.update(unused)
        found = tuple(chat for chat in old if chat.id in deleted)
        self._last = tuple(chat.id for chat in found)
        return found

    async def undo(self) -> tuple[ChatSummary, ...]:
        """Bring back what the last `delete` took; returns the chats that are back. A chat that was
        deleted more than a minute ago stays away."""
        last, self._last = self._last, ()
        restored = []
        for identity in last:
            with suppress(NotFound):
                chat = await self._trash.restore(identity)
                self._sessions.created(chat)
                restored.append(chat)
        return tuple(restored)
