"""The conversations of one ComfyUI user's chats; the last used ones stay in memory.

Projections (what a chat's requests leave out) are stored beside its log, so that a model reads the
same after a restart.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from ..chats import ChatEdits, ChatStore
from ..config import Settings
from ..context.projections import Projections
from ..context.report import Report
from ..context.tool_facts import ToolFacts
from ..errors import AssistantError
from ..messages.parts import Message
from .conversation import Conversation

logger = logging.getLogger("comfyui_assistant")

MOST_CONVERSATIONS = 16
"""Chats whose rows stay in memory; the rows of other chats are read again on use."""
MOST_CHARS = 32_000_000
"""Characters of their messages, pictures included. The chat that was used last stays in any
case."""


BeforeCut = Callable[[str, Sequence[Message]], Awaitable[None]]
"""Gets a chat and its messages before a cut of it is stored."""


async def nothing_first(chat_id: str, path: Sequence[Message]) -> None:
    """Does nothing before a cut."""


class Conversations:
    """For one event loop."""

    def __init__(
        self,
        store: ChatStore,
        settings: Settings,
        facts: ToolFacts,
        before_cut: BeforeCut = nothing_first,
        edits: ChatEdits | None = None,
    ) -> None:
        self._store = store
        self._edits = edits or ChatEdits(store)
        self._before_cut = before_cut
        self._settings = settings
        self._facts = facts
        self._known: dict[str, Conversation] = {}
        self._kept: dict[str, Projections] = {}

    async def of_chat(self, chat_id: str, is_new: bool = False) -> Conversation:
        """The chat's conversation, with its stored projections: a chat that `is_new`, which is not
        stored yet, has none. It knows which edits people have taken back by now."""
        known = self._known.pop(chat_id, None)
        if known is None:
            kept = Projections() if is_new else await self._stored(chat_id)
            self._kept[chat_id] = kept
            known = Conversation(self._settings, kept, self._facts)
        self._known[chat_id] = known
        while len(self._known) > 1 and self._is_full():
            self.forget(next(iter(self._known)))
        if not is_new:
            known.taken_back = await self._taken_back(chat_id, known)
        return known

    def _is_full(self) -> bool:
        chars = sum(known.chars for known in self._known.values())
        return len(self._known) > MOST_CONVERSATIONS or chars > MOST_CHARS

    def report(self, chat_id: str) -> Report | None:
        """The report of the chat's last request; None if it is not in memory."""
        known = self._known.get(chat_id)
        return known.report if known is not None else None

    def forget(self, chat_id: str) -> None:
        """Drops a chat from memory, such as a deleted one."""
        self._known.pop(chat_id, None)
        self._kept.pop(chat_id, None)

    def stateless(self) -> Conversation:
        """A new conversation, for a turn without a chat."""
        return Conversation(self._settings, facts=self._facts)

    async def keep(self, chat_id: str, conversation: Conversation) -> None:
        """Stores the projections of the chat's conversation if they changed, also after it left
        memory. A failure is logged only: after a restart the chat is planned anew."""
        projections = conversation.context.projections
        kept = self._kept.get(chat_id)
        if projections is kept:
            return
        if projections.cuts != (() if kept is None else kept.cuts):
            await self._before_cut(chat_id, conversation.messages)
        try:
            await self._store.keep_projections(chat_id, projections)
        except AssistantError as error:
            logger.warning("Projections were not kept: %s", ascii(error.message)[1:-1])
            return
        if chat_id in self._known:
            self._kept[chat_id] = projections

    async def _stored(self, chat_id: str) -> Projections:
        try:
            return await self._store.projections(chat_id)
        except AssistantError as error:
            logger.warning("Projections could not be read: %s", ascii(error.message)[1:-1])
            return Projections()

    async def _taken_back(self, chat_id: str, known: Conversation) -> frozenset[str]:
        try:
            return await self._edits.taken_back_by_people(chat_id)
        except AssistantError as error:
            logger.warning("Edits could not be read: %s", ascii(error.message)[1:-1])
            return known.taken_back
