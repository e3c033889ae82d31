"""Passages that fit the turn's user message, from messages that requests leave out.

They are searched once for a turn, ranked as by the tool for history search, and then stay in the
conversation's tail, so that the turn's requests extend each other. `LLM_RECALL_TOKENS` is their
limit; 0 switches recall off.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from ..context.handles import rows_of
from ..context.notes import Note
from ..context.tail import Tail
from ..errors import AssistantError
from ..messages.parts import Message
from ..tools.ports import ChatHistory
from .conversation import Conversation

logger = logging.getLogger("comfyui_assistant")

MOST_PASSAGES = 10
"""Passages that are looked at; most of them are still sent, or do not fit."""
LONGEST_QUERY = 1_000
"""Characters of the user's message that are searched for."""


async def recall_into_tail(
    conversation: Conversation, memory: ChatHistory, history: Sequence[Message], most_tokens: int
) -> None:
    """Begins the turn's tail, unless the turn has a tail already. A failing search is logged and
    recalls nothing."""
    asked = conversation.context.asked_row
    if conversation.tail.asked == asked:
        return
    conversation.tail = Tail(asked)
    query = next((m.text for m in reversed(history) if m.role == "user"), "")[:LONGEST_QUERY]
    if not most_tokens or not conversation.context.projections.cuts or not query.strip():
        return
    try:
        passages = await memory.search(query, MOST_PASSAGES)
    except AssistantError as error:
        logger.warning("Nothing could be recalled: %s", ascii(error.message)[1:-1])
        return

    def work() -> Note | None:
        with conversation.lock:
            found = [rows_of(passage.handle) for passage in passages]
            return conversation.context.recalled(found, most_tokens)

    conversation.tail = conversation.tail.with_note(await asyncio.to_thread(work))
