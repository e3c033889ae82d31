"""A chat's whole log, for the tools that search it and recall parts of it, and for what is recalled
without a tool (R49, R56).

Both ask the same search: the database's index for a stored chat, the messages in memory for a turn
without a chat, with the same ranking. The search finds pieces of messages, and each piece belongs
to a row of the context; so each passage has a handle. The message that is being answered is never
found.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from ..chats.search.found_pieces import FoundPiece, PieceQuery
from ..chats.search.history_search import HistorySearch
from ..chats.search.message_text import pieces_of
from ..context.clamp_json import fair_share
from ..context.handles import json_part, range_handle
from ..messages.parts import Message
from ..search.positions import Document, Piece, first_place, place_all
from ..search.recall_terms import recall_terms
from ..search.scanned_postings import ScannedPostings
from ..search.snippet import snippet, stretch
from ..search.words import index_terms
from ..tools.ports import Passage
from .conversation import Conversation
from .found_rows import FoundRow, line_of, rows_of_pieces, with_answers

PASSAGE_ROWS = 3
"""Rows of a passage, its hit's neighbours included."""
LEAST_PASSAGE = 600
"""Characters that each passage has on average, where the page of a result has less."""
LONGEST_LOOK = 20_000
"""Characters of a long message in which the best part is looked for."""
LEAST_EXCERPT = 120
"""Characters of the shortest excerpt of a message."""


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
        """The best passages; a passage is a message with its neighbours: a question with its
        answer, a tool's result with its call."""
        found = await self.rows(query, PASSAGE_ROWS * k)
        return await asyncio.to_thread(self._passages, found, recall_terms(query).every, k)

    async def rows(
        self,
        query: str,
        most: int,
        telling: frozenset[str] | None = None,
        names: frozenset[str] = frozenset(),
    ) -> tuple[FoundRow, ...]:
        """Up to `most` rows before the message that is answered, the best first; `telling` and
        `names` are those of `PieceQuery`."""
        words, asked = recall_terms(query), self._asked_message()
        before = asked.id if asked is not None else None
        chat_id = self._chat_id or ""
        wanted = PieceQuery(chat_id, words.terms, most, before, telling, names, words.related)
        if self._search is not None and self._chat_id is not None:
            found = await self._search.pieces(wanted)
        else:
            found = await asyncio.to_thread(self._scanned, wanted)
        return rows_of_pieces(self._conversation, found, self._asked)

    def _asked_message(self) -> Message | None:
        conversation, asked = self._conversation, self._asked
        return conversation.message_at(asked) if asked < len(conversation.context) else None

    def _scanned(self, wanted: PieceQuery) -> tuple[FoundPiece, ...]:
        """The pieces found by reading all messages before the one that is answered."""
        asked = self._asked_message()
        messages = self._conversation.messages
        earlier = messages[: messages.index(asked)] if asked is not None else messages
        placed = place_all(map(_document, range(1, len(earlier) + 1), earlier), first_place(0))
        owners = {place: (one, place - one.place) for one in placed for place, _, _ in one.places()}
        windows = wanted.ranking(wanted.terms, ScannedPostings(placed), wanted.most)
        return tuple(
            FoundPiece(owner.document.message_id, piece, window.share, window.fewest)
            for window in windows
            for owner, piece in [owners[window.place]]
        )

    def _passages(
        self, found: Sequence[FoundRow], terms: frozenset[str], k: int
    ) -> tuple[Passage, ...]:
        conversation = self._conversation
        rows = with_answers(conversation, found, self._asked)
        passages = [
            (shown, [line_of(conversation, row) for row in shown]) for shown in _grouped(rows, k)
        ]
        sizes = [len(line) for _, lines in passages for line in lines]
        longest = max(LEAST_EXCERPT, fair_share(sizes, max(self.page_chars, k * LEAST_PASSAGE)))
        return tuple(
            Passage(
                range_handle(shown.start, shown.stop),
                conversation.context.rows(shown.start, shown.stop)[0].role,
                "\n".join(_part(line, terms, longest) for line in lines),
            )
            for shown, lines in passages
        )


def _document(row: int, message: Message) -> Document:
    pieces = tuple(Piece(index_terms(one.text), one.round) for one in pieces_of(message))
    return Document(row, row - 1 if row > 1 else None, message.id, pieces)


def _grouped(found: Sequence[FoundRow], k: int) -> Iterator[range]:
    """Up to `k` runs of rows that follow each other, in the order of their best rows."""
    wanted = {one.row for one in found}
    seen: set[int] = set()
    made = 0
    for one in found:
        if one.row in seen or made == k:
            continue
        first = last = one.row
        while last + 1 in wanted - seen and last + 1 - first < PASSAGE_ROWS:
            last += 1
        while first - 1 in wanted - seen and last + 1 - first < PASSAGE_ROWS:
            first -= 1
        seen.update(range(first, last + 1))
        made += 1
        yield range(first, last + 1)


def _part(line: str, terms: frozenset[str], chars: int) -> str:
    return snippet(stretch(line, terms, LONGEST_LOOK), terms, chars).text
