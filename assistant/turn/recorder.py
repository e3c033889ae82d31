"""Stores a turn's answer: checkpoints while it grows, one row when it ends.

A slow or failing database costs durability, never the answer: checkpoints are written beside the
stream, and a notice at the end of the turn says what could not be stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from ..chats import Chat, ChatState
from ..errors import AssistantError
from ..messages.parts import Message

logger = logging.getLogger("comfyui_assistant")

CHECKPOINT_SECONDS = 1.0
CHECKPOINT_CHUNKS = 400
"""About 4 kB of text at a few characters a chunk."""


class AnswerStore(Protocol):
    """The part of the chat store that a turn writes to."""

    async def checkpoint(self, chat_id: str, message: Message) -> None: ...
    async def finish_answer(
        self, chat_id: str, message: Message, state: ChatState, unread: bool
    ) -> Chat | None: ...
    async def set_state(self, chat_id: str, state: ChatState) -> None: ...
    def check_saved(self, chat_id: str) -> None: ...


class NoStore:
    """The store of a turn without a chat: it stores nothing."""

    async def checkpoint(self, chat_id: str, message: Message) -> None:
        return

    async def finish_answer(
        self, chat_id: str, message: Message, state: ChatState, unread: bool
    ) -> Chat | None:
        return None

    async def set_state(self, chat_id: str, state: ChatState) -> None:
        return

    def check_saved(self, chat_id: str) -> None:
        return


class Recorder:
    """Stores one answer. For one event loop; `clock` gives seconds.

    `chat` is the chat as it was stored with the whole answer; None before that, and where it could
    not be stored."""

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
        self._saving: asyncio.Task[None] | None = None
        self.chat: Chat | None = None

    def grew(self, message: Callable[[], Message]) -> None:
        """Called after each chunk; starts a checkpoint when a second or some 4 kB have passed.

        The stream does not wait for it. While one checkpoint is being written (a disk that loads a
        model is slow), no other begins.
        """
        self._chunks += 1
        due = self._clock() - self._saved_at >= CHECKPOINT_SECONDS
        if (due or self._chunks >= CHECKPOINT_CHUNKS) and not self._is_saving():
            self._reset()
            self._saving = asyncio.get_running_loop().create_task(self._checkpoint(message()))

    async def save(self, message: Message) -> None:
        """Stores the answer so far and waits for it: the effect of a tool must not be lost."""
        await self._saved()
        self._reset()
        await self._checkpoint(message)

    async def state(self, state: ChatState) -> None:
        """Stores the chat's state; a failure is logged only."""
        try:
            await self._store.set_state(self._chat_id, state)
        except AssistantError as error:
            _log(error)

    async def finish(
        self, message: Message, state: ChatState, unread: bool = False
    ) -> AssistantError | None:
        """Makes the answer a row of the log. Returns the error if it could not be stored, else
        None."""
        await self._saved()
        try:
            self.chat = await self._store.finish_answer(self._chat_id, message, state, unread)
            self._store.check_saved(self._chat_id)
        except AssistantError as error:
            _log(error)
            return error
        return None

    async def _checkpoint(self, message: Message) -> None:
        try:
            await self._store.checkpoint(self._chat_id, message)
        except AssistantError as error:
            _log(error)

    def _reset(self) -> None:
        self._chunks = 0
        self._saved_at = self._clock()

    def _is_saving(self) -> bool:
        return self._saving is not None and not self._saving.done()

    async def _saved(self) -> None:
        """Waits for the checkpoint that is being written, so that no older checkpoint is written
        after a newer checkpoint."""
        if self._saving is not None:
            await asyncio.wait([self._saving])


def _log(error: AssistantError) -> None:
    logger.warning("A chat could not be saved: %s", ascii(error.message)[1:-1])
