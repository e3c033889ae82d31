"""A chat's whole log, for the tools that search it and recall parts of it (R49).

Handles name rows of the context. The search finds messages, and `Conversation` has the rows of each
message: so each passage that was found has a handle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ..chats.search.history_search import HistorySearch
from ..chats.search.message_text import text_of_prompt
from ..context.handles import json_part, range_handle, transcript_line
from ..messages.prompt import PromptMessage
from ..search.text_index import TextIndex
from ..tools.ports import Passage
from .conversation import Conversation

LONGEST_PASSAGE = 600
"""Characters of an excerpt; `recall` with the passage's handle returns all of it."""


class ConversationHistory:
    """The log of one conversation. `chat_id` is None for a turn without a chat."""

    def __init__(
        self, conversation: Conversation, search: HistorySearch | None, chat_id: str | None
    ) -> None:
        self._conversation = conversation
        self._search = search
        self._chat_id = chat_id

    @property
    def page_chars(self) -> int:
        return self._conversation.context.page_chars

    @property
    def _asked(self) -> int:
        """The row of the user message that is being answered."""
        return self._conversation.context.asked_row

    def recall(self, handle: str, path: str | None = None) -> str:
        """The text that a handle names, or the part of it at a JSON path."""
        text = self._conversation.context.recall(handle)
        return json_part(text, path) if path else text

    async def search(self, query: str, k: int) -> Sequence[Passage]:
        """The best passages; a passage is a message with the tool calls and results around it."""
        if self._search is not None and self._chat_id is not None:
            # One hit more, since the question itself is found, too, and is dropped below.
            hits = await self._search.search(self._chat_id, query, k + 1)
            found = [self._conversation.rows_of_message(hit.message_id) for hit in hits]
            earlier = [rows for rows in found if rows and rows.start < self._asked]
            return [self._passage(rows) for rows in earlier[:k]]
        rows = self._conversation.context.rows(0, self._asked)
        found = await asyncio.to_thread(_found_in, rows, query, k)
        return [self._passage(rows) for rows in found]

    def _passage(self, rows: range) -> Passage:
        handle = range_handle(rows.start, rows.stop)
        shown = self._conversation.context.rows(rows.start, rows.stop)
        text = "\n".join(transcript_line(row) for row in shown)
        excerpt = text if len(text) <= LONGEST_PASSAGE else text[:LONGEST_PASSAGE] + " ..."
        return Passage(handle, shown[0].role, excerpt)


def _found_in(rows: Sequence[PromptMessage], query: str, k: int) -> list[range]:
    """The rows of each hit, found without a database."""
    index = TextIndex.of([text_of_prompt(row) for row in rows])
    return [range(min(hit.indexes), max(hit.indexes) + 1) for hit in index.search(query, k)]
