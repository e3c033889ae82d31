"""The index of the chats' words, in the same database as the chats.

Functions over a transaction. The index is derived from the log: it may be dropped at any time and
is made again by the next search. `search.words` makes the terms, `search.positions` the places; the
database's index of terms keeps which terms stand in which place, and the tables here keep the
origin of each place. `search.ranking` decides which places are best.

The search that people use has an index of words of its own, in which a place is a row of the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

from sqlalchemy import (
    Column,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    select,
    update,
)

from ...database import LongInteger, Statement, TermIndex, Transaction, WordIndex, among
from ...search.positions import CHAT_BITS, PieceOrigin, Placed, first_place, held, number_of
from ...search.postings import MOST_READ, Entry, Group, Word
from ...search.word_query import Phrase
from ..row_values import are_counts, is_count
from ..schema import chats
from .message_text import FIELDS, Field

INDEX_VERSION: Final = 5
"""Of the tables and of the rules by which text becomes terms; an index of another version in the
database is made anew."""
DAMAGED: Final = "The index of the chats' words is damaged."
PLACES: Final = 1 << CHAT_BITS
"""Places of one chat, and more rows than a log has."""
_TERMS: Final = "search_terms"
_WORDS: Final = "search_words"
_metadata: Final = MetaData()
_version: Final = Table("search_version", _metadata, Column("version", Integer, nullable=False))
indexed_chats: Final = Table(
    "search_chats",
    _metadata,
    Column("number", Integer, primary_key=True),
    Column("chat_id", Text, nullable=False, unique=True),
    Column("row_number", Integer, nullable=False),
    Column("place", LongInteger, nullable=False),
    Column("beat", Integer, nullable=False),
    Column("end_place", LongInteger, nullable=False),
)
_entries: Final = Table(
    "search_entries",
    _metadata,
    Column("place", LongInteger, primary_key=True, autoincrement=False),
    Column("row_number", Integer, nullable=False),
    Column("piece", Integer, nullable=False),
    Column("terms", Integer, nullable=False),
    Column("beat", Integer, nullable=False),
)
_STATE: Final = Statement(
    select(
        indexed_chats.c.number,
        indexed_chats.c.row_number,
        indexed_chats.c.place,
        indexed_chats.c.beat,
        indexed_chats.c.end_place,
    ).where(indexed_chats.c.chat_id == bindparam("chat"))
)
_CHAT: Final = Statement(
    select(chats.c.id)
    .join(indexed_chats, indexed_chats.c.chat_id == chats.c.id)
    .where(indexed_chats.c.number == bindparam("number"), chats.c.deleted.is_(None))
)
_DELETE_ENTRY: Final = Statement(delete(_entries).where(_entries.c.place == bindparam("at")))
_INSERT_ENTRY: Final = Statement(insert(_entries))
_ENTRIES: Final = Statement(
    select(_entries.c.place, _entries.c.terms, _entries.c.beat).where(
        among(_entries.c.place), _entries.c.row_number < bindparam("before")
    )
)
_ORIGINS: Final = Statement(
    select(_entries.c.place, indexed_chats.c.chat_id, _entries.c.row_number, _entries.c.piece)
    .join(indexed_chats, indexed_chats.c.number == _entries.c.place.op(">>")(CHAT_BITS))
    .where(among(_entries.c.place))
)
# Places follow each other, so the end of a chat's places says how many it has.
_TOTAL: Final = select(func.sum(indexed_chats.c.end_place.op("&")((1 << CHAT_BITS) - 1)))
_TOTAL_OF_ALL: Final = Statement(_TOTAL)
_TOTAL_OF_ONE: Final = Statement(_TOTAL.where(indexed_chats.c.number == bindparam("number")))


@dataclass(frozen=True, slots=True)
class State:
    """How far a chat is indexed: its number, and the last row with its first place and beat and the
    place after its last piece."""

    number: int
    row: int
    place: int
    beat: int
    end_place: int


def prepare(transaction: Transaction) -> bool:
    """Make the tables; tables of another version are dropped before. Returns False, and makes none,
    where the database cannot have an index of terms."""
    terms, words = transaction.terms(_TERMS), transaction.words(_WORDS, FIELDS)
    if terms is None or words is None:
        return False
    exists = inspect(transaction.connection).has_table(_version.name)
    if exists and transaction.scalar(select(func.max(_version.c.version))) == INDEX_VERSION:
        return True
    _metadata.drop_all(transaction.connection)
    transaction.create(_metadata)
    terms.create()
    words.create()
    transaction.execute(insert(_version).values(version=INDEX_VERSION))
    return True


def discard(transaction: Transaction) -> None:
    """Have the index made anew by the next `prepare`, such as a damaged index."""
    if inspect(transaction.connection).has_table(_version.name):
        transaction.execute(delete(_version))


def state(transaction: Transaction, chat_id: str) -> State | None:
    """How far the chat is indexed, or None for a chat that never was."""
    found = transaction.row(_STATE, chat=chat_id)
    if found and not all(is_count(value) for value in found):
        raise ValueError(DAMAGED)
    return State(*found) if found else None


def open_chat(transaction: Transaction, chat_id: str) -> int:
    """Give a number to a chat that has none; no row of it is indexed yet."""
    values = {"chat_id": chat_id, "row_number": 0, "place": 0, "beat": 0, "end_place": 0}
    inserted = transaction.execute(insert(indexed_chats).values(values)).inserted_primary_key
    assert inserted is not None
    return int(inserted[0])


def add(
    transaction: Transaction,
    number: int,
    placed: Sequence[Placed],
    lines: Mapping[int, Sequence[str]],
) -> None:
    """Index these documents of a chat. A place that has a piece already gets the new piece. `lines`
    are the words of rows: a line for each field of `message_text`."""
    if not placed:
        return
    first = first_place(number)
    _words(transaction).put({first + row: fields for row, fields in lines.items()})
    pieces = held(placed)
    _terms(transaction).put({place: piece.terms for place, (_, _, piece) in pieces.items()})
    transaction.run_each(_DELETE_ENTRY, [{"at": place} for place in pieces])
    entries: list[dict[str, Any]] = [
        {
            "place": place,
            "row_number": one.document.row,
            "piece": place - one.place,
            "terms": len(piece.terms),
            "beat": beat,
        }
        for place, (one, beat, piece) in pieces.items()
    ]
    transaction.run_each(_INSERT_ENTRY, entries)
    last = placed[-1]
    reached = {
        "row_number": last.document.row,
        "place": last.place,
        "beat": last.beat,
        "end_place": last.end,
    }
    transaction.execute(
        update(indexed_chats).where(indexed_chats.c.number == number).values(reached)
    )


def remove(transaction: Transaction, *chat_ids: str) -> None:
    """Remove all words of these chats; a chat that is not indexed, and a database that cannot have
    an index, are fine."""
    if transaction.terms(_TERMS) is None:
        return
    terms, words = _terms(transaction), _words(transaction)
    numbers = [one.number for one in (state(transaction, chat_id) for chat_id in chat_ids) if one]
    for number in numbers:
        first, last = first_place(number), first_place(number + 1) - 1
        terms.remove(first, last)
        words.remove(first, last)
        transaction.execute(delete(_entries).where(_entries.c.place.between(first, last)))
        transaction.execute(delete(indexed_chats).where(indexed_chats.c.number == number))
    if numbers:
        terms.erase_removed()
        words.erase_removed()


class IndexedPostings:
    """The postings of one chat, by its number, or of all (None), read from the index.

    Rows from `before_row` on, and chats whose number is in `hidden`, are not found. For one
    transaction.
    """

    def __init__(
        self,
        transaction: Transaction,
        number: int | None,
        before_row: int | None = None,
        hidden: frozenset[int] = frozenset(),
    ) -> None:
        self._hidden = hidden
        self._transaction = transaction
        self._number = number
        last = first_place(number + 1) if number is not None else 1 << 63
        self._span = (first_place(number or 0), last - 1)
        self._before_row = before_row
        self._kept: dict[Word, Sequence[int]] = {}

    @cached_property
    def _total(self) -> int:
        if self._number is None:
            found = self._transaction.row(_TOTAL_OF_ALL)
        else:
            found = self._transaction.row(_TOTAL_OF_ONE, number=self._number)
        return found[0] or 0 if found else 0

    def total(self) -> int:
        return self._total

    def count(self, *words: Word) -> int:
        groups = [[word] for word in words]
        if self._hidden or self.total() <= MOST_READ:
            return len(self.places(*groups))
        return _terms(self._transaction).count(groups, *self._span)

    def places(self, *groups: Group, most: int | None = None) -> Collection[int]:
        if most is not None or len(groups) > 1 or len(groups[0]) > 1:
            return self._read(groups, most)
        if groups[0][0] not in self._kept:
            self._kept[groups[0][0]] = self._read(groups, None)
        return self._kept[groups[0][0]]

    def _read(self, groups: Sequence[Group], most: int | None) -> Sequence[int]:
        terms = _terms(self._transaction)
        if not self._hidden:
            return terms.places(groups, *self._span, most)
        found = terms.places(groups, *self._span)
        return [place for place in found if number_of(place) not in self._hidden][:most]

    def standing(
        self, words: Collection[Word], places: Collection[int]
    ) -> Mapping[Word, frozenset[int]]:
        first, last = self._span
        seen = [
            place
            for place in places
            if first <= place <= last and number_of(place) not in self._hidden
        ]
        found = _terms(self._transaction).standing(words, seen)
        return {word: frozenset(here) for word, here in found}

    def entries(self, places: Iterable[int]) -> Mapping[int, Entry]:
        before = PLACES if self._before_row is None else self._before_row
        found = self._transaction.rows_among(_ENTRIES, places, before=before)
        if not are_counts([*chain.from_iterable(found)]):
            raise ValueError(DAMAGED)
        return {place: Entry(terms, beat) for place, terms, beat in found}


def origins(transaction: Transaction, places: Iterable[int]) -> dict[int, PieceOrigin]:
    """The origin of the piece in each of these places."""
    found = transaction.rows_among(_ORIGINS, places)
    origins = {place: PieceOrigin(chat_id, row, piece) for place, chat_id, row, piece in found}
    if not all(is_count(one.row) and is_count(one.piece) for one in origins.values()):
        raise ValueError(DAMAGED)
    return origins


def rows_with(
    transaction: Transaction,
    phrases: Sequence[Phrase],
    field: Field | None,
    ranked: bool,
    limit: int,
) -> list[tuple[int, int]]:
    """Chat number and row of up to `limit` rows that hold each phrase, as `WordIndex.find` orders
    them."""
    places = _words(transaction).find(phrases, field, ranked, limit)
    return [(number_of(place), place % PLACES) for place in places]


def chat_of(transaction: Transaction, number: int) -> str | None:
    """The chat with this number; None for a chat that was deleted."""
    found = transaction.row(_CHAT, number=number)
    return str(found[0]) if found else None


def _words(transaction: Transaction) -> WordIndex:
    words = transaction.words(_WORDS, FIELDS)
    assert words is not None, "prepare made an index"
    return words


def _terms(transaction: Transaction) -> TermIndex:
    terms = transaction.terms(_TERMS)
    assert terms is not None, "prepare made an index"
    return terms
