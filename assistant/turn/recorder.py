"""A turn's answer in the log: checkpoints while it grows, one row when it ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from ..chats import ChatState
from ..errors import AssistantError
from ..messages.parts import Message

logger = logging.getLogger("comfyui_assistant")

CHECKPOINT_SECONDS = 1.0
CHECKPOINT_CHUNKS = 400
"""About 4 kB of text at a few characters a chunk."""


class AnswerStore(Protocol):
    """What of the chat store a turn needs."""

    async def checkpoint(self, chat_id: str, message: Message) -> None: ...
    async def finish_answer(self, chat_id: str, message: Message, state: ChatState) -> int: ...
    async def set_state(self, chat_id: str, state: ChatState) -> None: ...


class Recorder:
    """Keeps one answer. A database that fails costs durability, never the answer itself."""

    def __init__(
        self,
        store: AnswerStore,
        chat_id: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._chat_id = chat_id
        self._clock = clock
        self._saved_at = clock()
        self._chunks = 0
        self.failed: AssistantError | None = None

    async def grew(self, message: Callable[[], Message]) -> None:
        """Called after each chunk; saves when a second or some 4 kB have passed."""
        self._chunks += 1
        due = self._clock() - self._saved_at >= CHECKPOINT_SECONDS
        if due or self._chunks >= CHECKPOINT_CHUNKS:
            await self.save(message())

    async def save(self, message: Message) -> None:
        """Saves how far the answer is."""
        self._chunks = 0
        try:
            await self._store.checkpoint(self._chat_id, message)
        except AssistantError as error:
            self._note(error)
        self._saved_at = self._clock()

    async def state(self, state: ChatState) -> None:
        try:
            await self._store.set_state(self._chat_id, state)
        except AssistantError as error:
            self._note(error)

    async def finish(self, message: Message, state: ChatState) -> None:
        try:
            await self._store.finish_answer(self._chat_id, message, state)
        except AssistantError as error:
            self._note(error)

    def _note(self, error: AssistantError) -> None:
        if self.failed is None:
            logger.error("A chat could not be saved: %s", ascii(error.message)[1:-1])
        self.failed = error


class NoRecorder(Recorder):
    """For a turn without a chat: nothing is stored."""

    def __init__(self) -> None:
        self.failed = None

    async def grew(self, message: Callable[[], Message]) -> None:
        return

    async def save(self, message: Message) -> None:
        return

    async def state(self, state: ChatState) -> None:
        return

    async def finish(self, message: Message, state: ChatState) -> None:
        return
