"""Finding messages by their words, in one chat or in all of them (R49, R41).

    search = HistorySearch(database)
    hits = await search.search("c1", "which seed did I like?", 10)      for a model
    hits = await search.find_words("low sun", 10)                      for a person

The whole log is searched, branches included, but for events. Rows are indexed by the search that
first needs them, mostly before by `index_soon`: some at a time, so that turns go on meanwhile. A
search waits for its index for a bounded time and then finds what is indexed so far. Where there
can be no index (a database without an index of terms, a full disk) a search reads all rows: slower,
with the same hits. A query is plain text; no character in it is an operator, and no query is an
error.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from sqlalchemy import select

from ...database import Transaction, Transactions
from ...errors import FileFailed, StoreError
from ...search.positions import PieceOrigin, Placed, first_place, place_all
from ...search.ranking import Ranking, rank
from ...search.scanned_postings import ScannedPostings
from ...search.word_query import word_query
from ...search.words import query_terms
from .. import chat_rows, schema
from ..failover.failover import Failover
from ..identity import chat_id as check_chat_id
from ..schema import chats
from . import row_indexing, search_index, word_search
from .found_pieces import FoundPiece, PieceQuery, named, row_of
from .hits import Found, Hit, show
from .word_search import WordHit

logger = logging.getLogger("comfyui_assistant")

MOST_HITS: Final = 100
PATIENCE_SECONDS: Final = 5.0
"""How long a search waits for rows that are not indexed; then it goes on without them."""
SHARE: Final = 1.0
"""The pause after each step of the indexing that nobody waits for, as a share of the time that the
step took: making terms would else take every second turn of the interpreter."""
_DAMAGED_INDEX: Final = (StoreError, TypeError, ValueError, KeyError, ArithmeticError)
"""What a damaged index raises: values of wrong types, or the database's own error."""


FoundT = TypeVar("FoundT", Hit, WordHit, FoundPiece)
HitT = TypeVar("HitT", Hit, WordHit)
Find = Callable[[Transaction, bool], tuple[FoundT, ...]]
"""Finds hits in a transaction, in the index (True) or in all rows."""


def _no_row(_: Transaction) -> None:
    return None


class HistorySearch:
    """Search over the chats in one database and, while its file fails, over the chats in
    memory too (`failover`). For one event loop; raises StoreError."""

    def __init__(self, database: Transactions, failover: Failover | None = None) -> None:
        self._database = database
        self._failover = failover
        self._unsaved = HistorySearch(failover.memory) if failover is not None else None
        self._indexing = asyncio.Lock()
        # What is being indexed now: a chat, or all chats (None). Each says in the end whether there
        # is an index.
        self._tasks: dict[str | None, asyncio.Task[bool]] = {}
        self._waiting = 0
        self._has_index: bool | None = None  # None: not asked yet
        self._said = False

    async def search(
        self, chat_id: str | None, query: str, k: int = 10, before_row: int | None = None
    ) -> tuple[Hit, ...]:
        """Up to `k` hits in a chat, or in all (None), the best first; no message is in two hits.

        `before_row` leaves out this row and all later rows, such as the question that is being
        answered. Raises NotFound for an unknown chat, InvalidRequest for an id that cannot name a
        chat."""
        identity = None if chat_id is None else check_chat_id(chat_id)
        wanted = _Wanted(identity, query_terms(query), min(k, MOST_HITS), before_row)

        def find(transaction: Transaction, indexed: bool) -> tuple[Hit, ...]:
            return _find(transaction, wanted, indexed)

        held = self._failover.held if self._failover is not None else frozenset()
        if self._unsaved is None or not held or (identity is not None and identity not in held):
            return await self._search(identity, find)
        unsaved = await self._unsaved.search(identity, query, k, before_row)
        if identity is not None:
            return unsaved
        saved = await self._saved(find, held)
        return tuple(sorted([*unsaved, *saved], key=lambda hit: -hit.score)[:k])

    async def pieces(self, wanted: PieceQuery) -> tuple[FoundPiece, ...]:
        """The pieces of a chat's messages that fit a query best, each alone: what a model gets.
        Raises as `search` does."""
        identity = check_chat_id(wanted.chat_id)

        def find(transaction: Transaction, indexed: bool) -> tuple[FoundPiece, ...]:
            return _find_pieces(transaction, wanted, indexed)

        def before_row(transaction: Transaction) -> int | None:
            return row_of(transaction, wanted)

        held = self._failover.held if self._failover is not None else frozenset()
        place = self._unsaved if self._unsaved is not None and identity in held else self
        return await place._search(identity, find, before_row)

    async def find_words(self, query: str, k: int = 10) -> tuple[WordHit, ...]:
        """Up to `k` messages in all chats that hold all words of the query, the best first
        (`word_search`)."""
        phrases, most = word_query(query), min(k, MOST_HITS)
        if not phrases or most < 1:
            return ()

        def find(transaction: Transaction, indexed: bool) -> tuple[WordHit, ...]:
            look = word_search.find_indexed if indexed else word_search.find_scanned
            return look(transaction, phrases, most)

        held = self._failover.held if self._failover is not None else frozenset()
        if self._unsaved is None or not held:
            return await self._search(None, find)
        unsaved = await self._unsaved.find_words(query, k)
        saved = await self._saved(find, held)
        return tuple(sorted([*unsaved, *saved], key=lambda hit: hit.level)[:k])

    async def _saved(self, find: Find[HitT], held: Collection[str]) -> list[HitT]:
        """The hits in the file, which may fail. Memory has the whole of the `held` chats, so the
        file's hits in these are left out."""
        try:
            return [hit for hit in await self._search(None, find) if hit.chat_id not in held]
        except StoreError:
            return []

    async def _search(
        self,
        chat_id: str | None,
        find: Find[FoundT],
        before_row: Callable[[Transaction], int | None] = _no_row,
    ) -> tuple[FoundT, ...]:
        """What `find` returns for a chat, or for all (None), with an index or without. It looks for
        nothing from `before_row` on, so these rows need no index."""

        def look(transaction: Transaction) -> tuple[FoundT, ...] | None:
            if row_indexing.behind(transaction, chat_id, before_row(transaction)):
                return None
            return find(transaction, True)

        if self._has_index:
            # Mostly there is nothing to index, so that one transaction is enough.
            try:
                found = await self._database.read(look)
                if found is not None:
                    return found
            except _DAMAGED_INDEX as error:
                await self._drop_index(error)
        if await self._catch_up(chat_id):
            try:
                return await self._database.read(lambda c: find(c, True))
            except _DAMAGED_INDEX as error:
                await self._drop_index(error)
        return await self._database.read(lambda c: find(c, False))

    def index_soon(self, chat_id: str | None = None) -> None:
        """Index what is not indexed of a chat, or of all (None), in the background: the messages of
        a turn that has ended, a long chat that was imported."""
        self._start(chat_id)

    async def close(self) -> None:
        """Stop indexing; the next search goes on with it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drop_index(self, error: Exception) -> None:
        """Have the index made anew, unless the file failed as a whole, which says nothing about the
        index in it. It may be another file by the next search."""
        self._has_index = None
        if isinstance(error, FileFailed):
            return
        with contextlib.suppress(StoreError):
            await self._database.write(search_index.discard)

    async def forget(
        self, chat_ids: Sequence[str], work: Callable[[Transaction, str], bool]
    ) -> list[str]:
        """Remove all words of these chats from the index in the transaction of `work`, which
        removes a chat's rows and returns whether it did; returns the ids of the removed chats."""

        def both(transaction: Transaction) -> list[str]:
            removed = [chat_id for chat_id in chat_ids if work(transaction, chat_id)]
            if removed:
                search_index.remove(transaction, *removed)
            return removed

        async with self._indexing:
            await self._prepare()
            return await self._database.write(both)

    async def _prepare(self) -> bool:
        """Make the tables; returns whether there is an index."""
        if self._has_index is None:
            self._has_index = await self._database.write(_make_tables)
        return self._has_index

    async def _catch_up(self, chat_id: str | None) -> bool:
        """Index the rows that are not indexed, or as many as the time allows; returns whether there
        is an index."""
        joined, until = chat_id in self._tasks, time.monotonic() + PATIENCE_SECONDS
        task = self._start(chat_id)
        self._waiting += 1
        try:
            done, _ = await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
            if done and joined and not task.cancelled():
                # It may have read its rows before the newest were stored.
                task = self._start(chat_id)
                done, _ = await asyncio.wait({task}, timeout=until - time.monotonic())
        finally:
            self._waiting -= 1
        return task.result() if done else True

    def _start(self, chat_id: str | None) -> asyncio.Task[bool]:
        task = self._tasks.get(chat_id)
        if task is None:
            work = self._index_all(chat_id)
            task = asyncio.get_running_loop().create_task(work, name="indexing of chats")
            self._tasks[chat_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(chat_id, None))
        return task

    async def _index_all(self, chat_id: str | None) -> bool:
        """Index the rows of a chat, or of all chats (None), that are not indexed; returns whether
        there is an index. Raises nothing."""
        try:
            async with self._indexing:
                if not await self._prepare():
                    self._say("the database cannot have an index of terms")
                    return False
            for identity in await self._database.read(lambda c: row_indexing.behind(c, chat_id)):
                await self._index(identity)
        except _DAMAGED_INDEX as error:
            self._say("the index cannot be written")
            await self._drop_index(error)
            return False
        return True

    async def _index(self, chat_id: str) -> None:
        """Index all rows of the chat that are not indexed, some at a time: a reader's thread makes
        the terms, so that the writer is free for turns."""
        more = True
        while more:
            begun = time.monotonic()
            async with self._indexing:
                rows = await self._database.read(lambda c: row_indexing.next_rows(c, chat_id))
                await self._database.write(partial(row_indexing.add, rows=rows))
            more = len(rows.documents) == row_indexing.ROWS_PER_STEP
            if more and not self._waiting:
                await asyncio.sleep(SHARE * (time.monotonic() - begun))

    def _say(self, reason: str) -> None:
        if not self._said:
            self._said = True
            logger.warning("Search: %s; searches read all messages, which is slower.", reason)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A search: in one chat or in all (None), for `terms`, at most `hits` hits, before a row, in
    the order of `rank`."""

    chat_id: str | None
    terms: tuple[str, ...]
    hits: int
    before_row: int | None
    rank: Ranking = rank


def _make_tables(transaction: Transaction) -> bool:
    schema.prepare(transaction)
    return search_index.prepare(transaction)


def _find(transaction: Transaction, wanted: _Wanted, indexed: bool) -> tuple[Hit, ...]:
    if wanted.chat_id is not None:
        chat_rows.require(transaction, wanted.chat_id)
    found = _ask_index(transaction, wanted) if indexed else _ask_rows(transaction, wanted)
    return show(transaction, found, frozenset(wanted.terms))


def _find_pieces(
    transaction: Transaction, wanted: PieceQuery, indexed: bool
) -> tuple[FoundPiece, ...]:
    chat_rows.require(transaction, wanted.chat_id)
    before = row_of(transaction, wanted)
    search = _Wanted(wanted.chat_id, wanted.terms, wanted.most, before, wanted.ranking)
    found = _ask_index(transaction, search) if indexed else _ask_rows(transaction, search)
    return named(transaction, wanted.chat_id, found)


def _ask_index(transaction: Transaction, wanted: _Wanted) -> Found:
    if wanted.chat_id is None:
        number, hidden = None, _hidden(transaction)
    else:
        known = search_index.state(transaction, wanted.chat_id)
        if known is None:
            return Found((), {})  # an empty chat
        number, hidden = known.number, frozenset[int]()
    postings = search_index.IndexedPostings(transaction, number, wanted.before_row, hidden)
    windows = wanted.rank(wanted.terms, postings, wanted.hits)
    places = [place for window in windows for place in window.places]
    return Found(windows, search_index.origins(transaction, places))


def _hidden(transaction: Transaction) -> frozenset[int]:
    """The index numbers of the deleted chats that are still in the index."""
    deleted = transaction.execute(select(chats.c.id).where(chats.c.deleted.is_not(None))).scalars()
    states = [search_index.state(transaction, chat_id) for chat_id in deleted.all()]
    return frozenset(state.number for state in states if state)


def _ask_rows(transaction: Transaction, wanted: _Wanted) -> Found:
    """The hits without an index, from all messages."""
    present = select(chats.c.id).where(chats.c.deleted.is_(None))
    every = transaction.execute(present.order_by(chats.c.id)).scalars().all()
    placed: list[Placed] = []
    origins: dict[int, PieceOrigin] = {}
    for number, chat_id in enumerate([wanted.chat_id] if wanted.chat_id else every):
        before = wanted.before_row
        documents = row_indexing.documents(transaction, chat_id)
        kept = (one for one in documents if before is None or one.row < before)
        for one in place_all(kept, first_place(number)):
            placed.append(one)
            for place, _, _ in one.places():
                origins[place] = PieceOrigin(chat_id, one.document.row, place - one.place)
    return Found(wanted.rank(wanted.terms, ScannedPostings(placed), wanted.hits), origins)
