"""The notes of a turn: texts that its requests have beside the chat's messages (R54, R56).

They are made once for a turn and then stay in the conversation's tail, so that each request of the
turn extends the request before. Events come from the log; passages are searched among the messages
that requests leave out, with `LLM_RECALL_TOKENS` as their limit (0 switches recall off).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..context.notes import events_note
from ..context.passages import Found, Passage
from ..context.tail import Tail
from ..context.tokens import text_tokens
from ..errors import AssistantError
from ..messages.parts import Message
from ..search.asking import FILLERS, Need, need_of
from ..search.recall_terms import recall_terms
from ..search.snippet import snippet, stretch
from .conversation import Conversation
from .found_rows import FoundRow, line_of, with_answers
from .history import ConversationHistory

logger = logging.getLogger("comfyui_assistant")

MOST_FOUND = 60
"""Messages that are considered: some are in the requests already, and the shortest ones fit."""
LONGEST_QUERY = 1_000
"""Characters of the user's message that are searched for."""
MOST_OF_WORDS = 0.7
"""The share of a message's words that an earlier message must have where the message only refers to
earlier ones. Chosen with `bench/sense.py`."""
ALL_WORDS, LEAST_WORDS = 0.95, 3
"""The same share, and the least number of words, where the message asks for nothing."""
RARE = 2
"""A name that stands in at most this many messages is reason enough to show them."""
ENOUGH = 3
"""So many times the tokens of the note are looked for, since some passages are in sight."""
LONGEST_LOOK = 8_000
"""Characters of a long message in which the best part is looked for."""
SHORTEST_NAME = 4
"""Characters."""
_SIGN = re.compile(r"[\d_]")
BEST, BEST_TOKENS, PART_TOKENS = 2, 400, 200
"""The most tokens of a passage: of the first two, and of each other. Longer messages are shown in
part."""


@dataclass(frozen=True, slots=True)
class NoteSources:
    """The sources of a turn's notes: the chat's log, and the events since the user message before.
    `answer_id` is the message that the turn writes."""

    history: ConversationHistory
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
    """Whether to search for the user's message: recall is on, the message may need earlier ones,
    and requests leave messages out, or soon will. The caller has prepared the context."""
    telling = _telling(query)
    if not most_tokens or not telling or (len(telling) == 1 and telling <= FILLERS):
        return False
    if need_of(query) is Need.NAMES and len(telling) < LEAST_WORDS and not _names(telling):
        return False
    return conversation.context.hides


def _telling(query: str) -> frozenset[str]:
    """The terms of the message that say what it is about."""
    terms = frozenset(recall_terms(query).terms)
    return terms - FILLERS or terms


async def add_recalled(
    conversation: Conversation, sources: NoteSources, query: str, most_tokens: int
) -> bool:
    """Adds what was found for `query`, the user's message, to the turn's tail; returns whether
    anything was. A failing search is logged and finds nothing."""
    try:
        telling = _telling(query)
        found = await sources.history.rows(query, MOST_FOUND, telling, _names(telling))
    except AssistantError as error:
        logger.warning("Nothing could be recalled: %s", ascii(error.message)[1:-1])
        return False

    def work() -> bool:
        with conversation.held_for(sources.answer_id):
            made = _found(conversation, found, query, most_tokens)
            conversation.tail = replace(conversation.tail, found=made)
            return bool(made.passages)

    return await asyncio.to_thread(work)


def query_of(history: Sequence[Message]) -> str:
    """The user's message, as far as it is searched for."""
    return next((m.text for m in reversed(history) if m.role == "user"), "")[:LONGEST_QUERY]


def _found(
    conversation: Conversation,
    found: Sequence[FoundRow],
    query: str,
    most_tokens: int,
) -> Found:
    """The passages of the rows that were found; none where the message is no reason to show any."""
    need, terms, telling = need_of(query), recall_terms(query).every, _telling(query)
    reasons = {one.row for one in found if _is_reason(one, need, telling)}
    if not reasons:
        return Found((), most_tokens)
    rows = with_answers(conversation, found, conversation.context.asked_row)
    passages: list[Passage] = []
    left = ENOUGH * most_tokens
    for rank, one in enumerate(rows):
        if left <= 0:
            break
        longest = BEST_TOKENS if rank < BEST else PART_TOKENS
        passage = _passage(conversation, one, terms, longest)
        passages.append(replace(passage, telling=one.row in reasons))
        left -= text_tokens(passage.text)
    return Found(tuple(passages), most_tokens, by_words=need is not Need.ASKS)


def _is_reason(one: FoundRow, need: Need, telling: frozenset[str]) -> bool:
    """Whether the row is worth its tokens, by what the user's message needs."""
    if need is Need.ASKS:
        return True
    if need is Need.REFERS:
        return one.share >= MOST_OF_WORDS
    if one.share >= ALL_WORDS and len(telling) >= LEAST_WORDS:
        return True
    return 0 < one.fewest <= RARE


def _names(terms: frozenset[str]) -> frozenset[str]:
    """The terms that are the name of a file, an id or a long number, rather than a word."""
    return frozenset(term for term in terms if len(term) >= SHORTEST_NAME and _SIGN.search(term))


def _passage(
    conversation: Conversation, one: FoundRow, terms: frozenset[str], most_tokens: int
) -> Passage:
    """The row as a passage: a text within `most_tokens` whole, of a longer one the part with the
    most of `terms`. A tool's result stands with its call."""
    (message,) = conversation.context.rows(one.row, one.row + 1)
    text = message.text
    if message.role == "tool":
        text = line_of(conversation, one.row).partition(": ")[2]
    size = text_tokens(text)
    if size > most_tokens:
        chars = len(text) * most_tokens // size
        text = snippet(stretch(text, terms, LONGEST_LOOK), terms, chars).text
    return Passage(one.row, message.role, text, one.date, size <= most_tokens, one.share)
