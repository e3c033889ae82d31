"""What was learned from a chat, when the chat is deleted or brought back."""

from __future__ import annotations

from collections.abc import Callable

from .pending import PendingStore
from .store import MemoryStore


class Learned:
    """For one event loop and one user. `stop` ends what goes on to learn from a chat. Methods raise
    StoreError."""

    def __init__(
        self, memories: MemoryStore, pending: PendingStore, stop: Callable[[str], None]
    ) -> None:
        self._memories = memories
        self._pending = pending
        self._stop = stop
        self._gone: dict[str, tuple[str, ...]] = {}

    async def chat_deleted(self, chat_id: str, *, memories: bool) -> None:
        """The chat is deleted; with `memories` what came from it goes, too."""
        self._stop(chat_id)
        await self._pending.forget(chat_id)
        if memories:
            self._gone[chat_id] = await self._memories.of_chat(chat_id)
            await self._memories.delete(self._gone[chat_id])

    async def chat_restored(self, chat_id: str) -> None:
        """The chat is back; so are the memories that went with it, within a minute."""
        gone = self._gone.pop(chat_id, ())
        if gone:
            await self._memories.restore(gone)
