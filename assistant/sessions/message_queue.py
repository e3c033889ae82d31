"""The messages that wait in one chat (R36): stored, and answered one after the other.

Messages with priority come first, then the others by their time. The queue is held after a stop, a
failure or a restart: no message begins by itself until the user resumes the queue or sends another
message.
"""

from __future__ import annotations

import logging
from typing import Any

from ..chats import Queued
from ..chats.queue import FULL_RETRY_SECONDS, MOST_QUEUED
from ..errors import AssistantError, InvalidRequest, NotFound, Refused
from ..messages.parts import Message
from ..turn.turn_request import TurnRequest
from .chat_turns import ChatTurns
from .live_chat import LiveChat
from .session_services import SessionServices
from .states import BUSY, WAITING

logger = logging.getLogger("comfyui_assistant")

USER_MESSAGE = "user_message"


class MessageQueue:
    """One chat's queue. The caller holds the session's lock of commands. `LiveChat.queue` equals
    the stored queue, unless another ComfyUI process or a damaged file took something from that."""

    def __init__(
        self, chat_id: str, services: SessionServices, live: LiveChat, turns: ChatTurns
    ) -> None:
        self._id = chat_id
        self._store = services.queue
        self._log = services.store
        self._service = services.turns
        self._now = services.now
        self._live = live
        self._turns = turns

    def holds(self, message_id: str) -> bool:
        return any(entry.id == message_id for entry in self._live.queue)

    async def add(self, message: Message, priority: bool, client_id: str | None) -> None:
        """Adds a message to the queue. Raises Refused (`queue_full`) and StoreError."""
        if len(self._live.queue) >= MOST_QUEUED:
            raise Refused(
                f"{MOST_QUEUED} messages wait already; cancel one of them.",
                code="queue_full",
                status=429,
                retry_after=FULL_RETRY_SECONDS,
            )
        details: dict[str, Any] = {} if client_id is None else {"client_id": client_id}
        entry = Queued(message.id, USER_MESSAGE, self._now(), message, priority, details)
        await self._store.enqueue(self._id, entry)
        before = self._live.queue
        place = sum(other.priority for other in before) if priority else len(before)
        # The turn that was to end first may have failed meanwhile.
        held = self._live.held or self._live.state == "error"
        self._live.set_queue((*before[:place], entry, *before[place:]), held)

    async def cancel(self, entry_id: str) -> None:
        """Raises NotFound for an entry that does not wait."""
        try:
            await self._store.dequeue(self._id, entry_id)
        except NotFound:
            if not self.holds(entry_id):
                raise
        self._service.forget_workflow(self._id, entry_id)
        self._live.left_queue(entry_id)

    def hold(self) -> None:
        self._live.set_queue(self._live.queue, held=True)

    def release(self) -> None:
        self._live.set_queue(self._live.queue, held=False)

    async def run_next(self) -> None:
        """Begins the turn of the first message, if the chat is free and the queue is not held. A
        message that cannot begin stays first, and the queue is held."""
        state = self._live.state
        if not self._live.queue or self._live.held or state in BUSY | WAITING:
            return
        try:
            await self._begin(self._live.queue[0])
        except AssistantError as error:
            logger.warning("A queued message waits on: %s", ascii(error.message)[1:-1])
            self.hold()
            self._live.failed(error)

    async def _begin(self, entry: Queued) -> None:
        request = TurnRequest(
            message=entry.message,
            chat_id=self._id,
            client_id=entry.details.get("client_id"),
        )
        try:
            await self._turns.begin(request, entry.id)
        except (NotFound, InvalidRequest):
            # The stored queue has lost it. In the log it is where another ComfyUI process has
            # answered it.
            if not await self._log.knows(self._id, entry.id):
                await self._turns.begin(request)
            await self.cancel(entry.id)
            await self.run_next()
