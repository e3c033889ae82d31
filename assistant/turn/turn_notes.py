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


def begin_tail(conversation: Conversation, sources: NoteSources) -> bool:
    """Begins the tail of a turn with its events; returns False for a turn that has a tail already:
    a turn that was suspended keeps its notes. The caller has fed the conversation."""
    asked = conversation.context.asked_row
    if conversation.tail_of == sources.answer_id and conversation.tail.asked == asked:
        return False
    events = events_note([event.text for event in sources.events])
    conversation.tail_of = sources.answer_id
    conversation.tail = Tail(asked).with_note(events)
    return True


def recalls(conversation: Conversation, query: str, most_tokens: int) -> bool:
    """Whether the turn's tail may have passages: requests leave messages out, and recall is on."""
    return bool(most_tokens and conversation.context.projections.cuts and query.strip())


async def add_recalled(
    conversation: Conversation, sources: NoteSources, query: str, most_tokens: int
) -> None:
    """Adds the passages that fit `query`, the user's message, to the turn's tail."""
    passages = await _recalled(conversation, sources.history, query, most_tokens)
    conversation.tail = conversation.tail.with_note(passages)


def query_of(history: Sequence[Message]) -> str:
    """The user's message, as far as it is searched for."""
    return next((m.text for m in reversed(history) if m.role == "user"), "")[:LONGEST_QUERY]


async def _recalled(
    conversation: Conversation, log: ChatHistory, query: str, most_tokens: int
) -> Note | None:
    """The passages that fit the query. A failing search is logged and gives no passages."""
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
