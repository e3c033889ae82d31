"""The notes of a turn: texts that its requests have beside the chat's messages (R54, R56).

They are made once for a turn and then stay in the conversation's tail, so that each request of the
turn extends the request before. Events come from the log; passages are searched among the messages
that requests leave out, with `LLM_RECALL_TOKENS` as their limit (0 switches recall off).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from ..context.handles import rows_of
from ..context.notes import Note, events_note
from ..context.tail import Tail
from ..errors import AssistantError
from ..messages.parts import Message
from ..tools.ports import ChatHistory
from .conversation import Conversation

logger = logging.getLogger("comfyui_assistant")

MOST_PASSAGES = 10
"""Passages that are considered; most of them are in the requests already, or do not fit."""
LONGEST_QUERY = 1_000
"""Characters of the user's message that are searched for."""


@dataclass(frozen=True, slots=True)
class NoteSources:
    """The sources of a turn's notes: the chat's log, and the events since the user message before.
    `answer_id` is the message that the turn writes."""

    history: ChatHistory
    answer_id: str
    events: tuple[Message, ...] = ()


async def begin_tail(
    conversation: Conversation,
    sources: NoteSources,
    history: Sequence[Message],
    recall_tokens: int,
) -> None:
    """Begins the tail of the turn whose messages are `history`, unless it has a tail already: a
    turn that was suspended keeps its notes."""
    asked = conversation.context.asked_row
    if conversation.tail_of == sources.answer_id and conversation.tail.asked == asked:
        return
    conversation.tail_of, conversation.tail = sources.answer_id, Tail(asked)
    events = events_note([event.text for event in sources.events])
    passages = await _recalled(conversation, sources.history, history, recall_tokens)
    conversation.tail = conversation.tail.with_note(events).with_note(passages)


async def _recalled(
    conversation: Conversation, log: ChatHistory, history: Sequence[Message], most_tokens: int
) -> Note | None:
    """The passages that fit the user's message. A failing search is logged and gives no
    passages."""
    query = next((m.text for m in reversed(history) if m.role == "user"), "")[:LONGEST_QUERY]
    if not most_tokens or not conversation.context.projections.cuts or not query.strip():
        return None
    try:
        passages = await log.search(query, MOST_PASSAGES)
    except AssistantError as error:
        logger.warning("Nothing could be recalled: %s", ascii(error.message)[1:-1])
        return None

    def work() -> Note | None:
        with conversation.lock:
            found = [rows_of(passage.handle) for passage in passages]
            return conversation.context.recalled(found, most_tokens)

    return await asyncio.to_thread(work)
