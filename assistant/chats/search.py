"""Finding messages by their words, in one chat or in all of them (R49, R41).

    search = HistorySearch(database)
    hits = await search.search("c1", "which seed did I like?", 10)

The whole log is searched, branches included, whatever a request left out of it. Rows are indexed by
the search that first needs them. Where there can be no index (a Python without FTS5, a full disk)
the rows are read through instead: slower, with the same result. A query is plain text; no sign in
it is an operator. Any query is answered, if only by nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import Connection, func, select

from ..database import Database
from ..errors import StoreError
from ..messages.parts import Role
from . import log, schema, search_index, table
from .identity import chat_id as check_chat_id
from .placing import Document, Placed, first_place, place_all
from .ranking import Window, rank
from .record import decode
from .scan import ScannedPostings
from .schema import chats, messages
from .search_index import State
from .searchable import text_of
from .snippet import snippet
from .words import index_terms, query_terms

logger = logging.getLogger("comfyui_assistant")

MOST_HITS: Final = 100
ROWS_PER_STEP: Final = 200
"""Rows that are read and indexed at once, so that a turn's own writes never wait long."""
HIT_CHARS: Final = 400
NEIGHBOUR_CHARS: Final = 240


@dataclass(frozen=True, slots=True)
class Passage:
    """A message as a search shows it. `marks` are the places (start, end) of the query's words in
    the snippet, in characters."""

    row: int
    message_id: str
    role: Role
    snippet: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Hit(Passage):
    """A found message with up to two messages from around it, in their order."""

    chat_id: str
    score: float
    neighbours: tuple[Passage, ...]


class HistorySearch:
    """Search over the chats in one database. For one event loop; raises StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._indexing = asyncio.Lock()
        self._prepared = False
        self._said = False

    async def search(
        self, chat_id: str | None, query: str, k: int = 10, before_row: int | None = None
    ) -> tuple[Hit, ...]:
        """Up to `k` hits in a chat, or in all (None), the best first; no message is in two of them.

        `before_row` leaves out that row and what came after it, such as the question that is being
        answered. Raises NotFound for an unknown chat, InvalidRequest for an id that names none."""
        wanted = _Wanted(chat_id and check_chat_id(chat_id), query_terms(query), k, before_row)
        indexed = await self._catch_up(chat_id)
        return await self._database.read(lambda c: _find(c, wanted, indexed))

    async def forget(self, chat_id: str, work: Callable[[Connection], bool]) -> bool:
        """Drop all words of a chat from the index in the transaction of `work`, which removes the
        chat itself and says whether it did."""

        def both(connection: Connection) -> bool:
            removed = work(connection)
            if removed and search_index.has_fts5():
                search_index.remove(connection, chat_id)
            return removed

        async with self._indexing:
            await self._prepare()
            return await self._database.write(both)

    async def _prepare(self) -> None:
        if not self._prepared:
            await self._database.write(_make_tables)
            self._prepared = True

    async def _catch_up(self, chat_id: str | None) -> bool:
        """Index the rows that are not yet; says whether there is an index."""
        if not search_index.has_fts5():
            self._say("this Python's SQLite has no FTS5")
            return False
        async with self._indexing:
            try:
                await self._prepare()
                for identity in await self._database.read(lambda c: _behind(c, chat_id)):
                    await self._index(identity)
            except StoreError:
                self._say("the index cannot be written")
                return False
        return True

    async def _index(self, chat_id: str) -> None:
        """Index all rows of the chat that are not yet, some at a time: the words are taken apart
        in a reader, so that the writer is free for turns."""
        more = True
        while more:
            rows = await self._database.read(lambda c: _next_rows(c, chat_id))
            await self._database.write(partial(_add, rows=rows))
            more = len(rows.documents) == ROWS_PER_STEP

    def _say(self, reason: str) -> None:
        if not self._said:
            self._said = True
            logger.warning("Search: %s; searches read all messages, which is slower.", reason)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A search: in one chat or in all (None), for terms, so many hits, before a row."""

    chat_id: str | None
    terms: tuple[str, ...]
    k: int
    before_row: int | None


def _make_tables(connection: Connection) -> None:
    schema.prepare(connection)
    if search_index.has_fts5():
        search_index.prepare(connection)


def _behind(connection: Connection, chat_id: str | None) -> list[str]:
    """The chats, or this one, with rows that are not indexed."""
    newest = select(func.max(messages.c.row)).where(messages.c.chat_id == chats.c.id)
    query = select(chats.c.id, newest.scalar_subquery()).where(chats.c.deleted.is_(None))
    if chat_id is not None:
        query = query.where(chats.c.id == chat_id)
    indexed = search_index.last_rows(connection, chat_id)
    return [
        identity
        for identity, row in connection.execute(query)
        if row is not None and row > indexed.get(identity, 0)
    ]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows to index: how far the chat is indexed, and the documents from its last row on."""

    chat_id: str
    known: State | None
    documents: list[Document]


def _next_rows(connection: Connection, chat_id: str) -> _Rows:
    known = search_index.state(connection, chat_id)
    first = known.last_row if known else 0
    return _Rows(chat_id, known, list(_documents(connection, chat_id, first, ROWS_PER_STEP)))


def _documents(
    connection: Connection, chat_id: str, first_row: int = 0, limit: int | None = None
) -> Iterator[Document]:
    columns = (messages.c.row, messages.c.parent_row, messages.c.message_id, messages.c.body)
    query = select(*columns).where(messages.c.chat_id == chat_id, messages.c.row >= first_row)
    for row, parent_row, message_id, body in connection.execute(
        query.order_by(messages.c.row).limit(limit)
    ):
        yield Document(row, parent_row, message_id, _terms(body))


def _terms(body: str) -> frozenset[str]:
    """The terms of a row; none where it cannot be read, so that the others are still found."""
    try:
        return index_terms(text_of(decode(body)))
    except StoreError:
        return frozenset()


def _add(connection: Connection, rows: _Rows) -> None:
    """Index these rows, unless somebody else did meanwhile, or the chat is gone."""
    if not table.is_taken(connection, rows.chat_id):
        return
    known = search_index.state(connection, rows.chat_id)
    if known != rows.known or not rows.documents:
        return
    if known is None:
        number = search_index.open_chat(connection, rows.chat_id)
        placed = place_all(rows.documents, first_place(number))
    else:
        number = known.number
        starts = search_index.starts_line(connection, known.last_place)
        last = Placed(known.last_place, rows.documents[0], starts)
        placed = place_all(rows.documents[1:], known.last_place, last)
    search_index.add(connection, number, placed)


def _find(connection: Connection, wanted: _Wanted, indexed: bool) -> tuple[Hit, ...]:
    if wanted.chat_id is not None:
        table.require(connection, wanted.chat_id)
    hits = min(wanted.k, MOST_HITS)
    if not indexed:
        placed = _scan(connection, wanted)
        windows = rank(wanted.terms, ScannedPostings(placed.values()), hits)
        origins = {place: (chat, one.document.row) for (chat, place), one in placed.items()}
        return _hits(connection, windows, origins, wanted.terms)
    state = wanted.chat_id and search_index.state(connection, wanted.chat_id)
    if wanted.chat_id and not state:
        return ()  # an empty chat
    number = state.number if state else None
    postings = search_index.IndexedPostings(
        connection, number, wanted.before_row, hidden=_hidden(connection)
    )
    windows = rank(wanted.terms, postings, hits)
    shown = [place for window in windows for place in window.places]
    return _hits(connection, windows, search_index.origins(connection, shown), wanted.terms)


def _hidden(connection: Connection) -> frozenset[int]:
    """The numbers of the chats that are deleted and still in the index."""
    deleted = connection.execute(select(chats.c.id).where(chats.c.deleted.is_not(None))).scalars()
    states = [search_index.state(connection, chat_id) for chat_id in deleted.all()]
    return frozenset(state.number for state in states if state)


def _scan(connection: Connection, wanted: _Wanted) -> dict[tuple[str, int], Placed]:
    """All messages in which to search, by chat and place."""
    present = select(chats.c.id).where(chats.c.deleted.is_(None))
    every = connection.execute(present.order_by(chats.c.id)).scalars().all()
    found: dict[tuple[str, int], Placed] = {}
    for number, chat_id in enumerate([wanted.chat_id] if wanted.chat_id else every):
        documents = _documents(connection, chat_id)
        before = wanted.before_row
        kept = (one for one in documents if before is None or one.row < before)
        placed = place_all(kept, first_place(number))
        found.update({(chat_id, one.place): one for one in placed})
    return found


def _hits(
    connection: Connection,
    windows: Sequence[Window],
    origins: Mapping[int, tuple[str, int]],
    terms: Sequence[str],
) -> tuple[Hit, ...]:
    """The windows with their messages."""
    rows: dict[str, list[int]] = {}
    for chat_id, row in origins.values():
        rows.setdefault(chat_id, []).append(row)
    read = {chat_id: log.read_rows(connection, chat_id, some) for chat_id, some in rows.items()}
    looked_for = frozenset(terms)

    def passage(place: int, chars: int) -> Passage:
        chat_id, row = origins[place]
        message = read[chat_id][row].message
        piece = snippet(text_of(message), looked_for, chars)
        return Passage(row, message.id, message.role, piece.text, piece.marks)

    hits = []
    for window in windows:
        if window.place in origins:
            chat_id, _ = origins[window.place]
            around = (place for place in window.places if place != window.place)
            neighbours = tuple(passage(place, NEIGHBOUR_CHARS) for place in around)
            found = passage(window.place, HIT_CHARS)
            hits.append(
                Hit(
                    found.row,
                    found.message_id,
                    found.role,
                    found.snippet,
                    found.marks,
                    chat_id,
                    window.score,
                    neighbours,
                )
            )
    return tuple(hits)
