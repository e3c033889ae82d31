"""The search that people use: the messages that hold all words of a query.

Functions over a transaction. What holding a word means is the law of `search.word_query`. A message
is one hit, whose text is that of its newest row: a hit opens a message, which shows that text. What
a person wrote stands above what a model answered, and that above what tools, attachments and slash
commands hold; in each of the three the best match is first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import bindparam, func, select

from ...database import Statement, Transaction
from ...messages.origin import EVENT
from ...messages.parts import Role
from ...search.fragments import found_in, shown
from ...search.readable import readable
from ...search.word_query import Phrase
from ..row_values import MOST
from ..schema import chats, messages
from . import row_indexing, search_index
from .message_text import FIELDS, Field, fields_of

MOST_RANKED: Final = 8
"""Phrases of a query whose hits are ordered by their worth, which costs a look at each place of
each phrase. The hits of longer queries are few and come newest first."""
SHORTEST_RANKED: Final = 3
"""Letters of the shortest beginning of a word whose hits are ordered by their worth: a shorter one
begins a large share of all words."""
_LEVELS: Final[tuple[Field | None, ...]] = ("person", "answer", None)
"""The field that has all words; None where they stand in any fields."""

_IDENTITY: Final = Statement(
    select(messages.c.message_id).where(
        messages.c.chat_id == bindparam("chat"), messages.c.row == bindparam("at")
    )
)
_NEWEST: Final = Statement(
    select(messages.c.row, messages.c.body)
    .where(
        messages.c.chat_id == bindparam("chat"),
        messages.c.message_id == bindparam("message"),
        messages.c.row.between(1, MOST),
    )
    .order_by(messages.c.row.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class WordHit:
    """A message that holds all words. `snippet` is one line without the marks of Markdown, `marks`
    are the places (start, end) of the words in it, in characters. `level` is 0 where a person wrote
    them, 1 for an answer, else 2."""

    chat_id: str
    message_id: str
    row: int
    role: Role
    snippet: str
    marks: tuple[tuple[int, int], ...]
    level: int


def find_indexed(
    transaction: Transaction, phrases: Sequence[Phrase], most: int
) -> tuple[WordHit, ...]:
    """The first `most` hits, from the index."""
    hits: list[WordHit] = []
    seen: set[tuple[str, str]] = set()
    for level, field in enumerate(_LEVELS):
        if len(hits) >= most:
            break
        for chat_id, row in _candidates(transaction, phrases, field, most):
            identity = transaction.row(_IDENTITY, chat=chat_id, at=row)
            if identity is None or (chat_id, identity[0]) in seen:
                continue
            hit = _hit(transaction, phrases, chat_id, identity[0], level)
            if hit is not None:
                seen.add((chat_id, hit.message_id))
                hits.append(hit)
                if len(hits) >= most:
                    break
    return tuple(sorted(hits, key=lambda hit: hit.level))


def find_scanned(
    transaction: Transaction, phrases: Sequence[Phrase], most: int
) -> tuple[WordHit, ...]:
    """The same hits without an index, from all messages; on each level the newest first."""
    newest = (
        select(messages.c.chat_id, messages.c.message_id, func.max(messages.c.row).label("newest"))
        .join(chats, chats.c.id == messages.c.chat_id)
        .where(chats.c.deleted.is_(None), messages.c.role != EVENT, messages.c.row.between(1, MOST))
        .group_by(messages.c.chat_id, messages.c.message_id)
        .order_by(chats.c.activity.desc(), func.max(messages.c.row).desc())
    )
    hits: list[list[WordHit]] = [[] for _ in _LEVELS]
    for chat_id, message_id, _ in transaction.execute(newest).all():
        hit = _hit(transaction, phrases, chat_id, message_id, 0)
        if hit is not None and len(hits[hit.level]) < most:
            hits[hit.level].append(hit)
    return tuple(hit for level in hits for hit in level)[:most]


def _candidates(
    transaction: Transaction, phrases: Sequence[Phrase], field: Field | None, most: int
) -> Iterator[tuple[str, int]]:
    """Chat and row of the rows in the index that hold the words in this field, the best first;
    deleted chats are left out."""
    ranked = len(phrases) <= MOST_RANKED and not any(
        one.prefix and len(one.words[-1]) < SHORTEST_RANKED for one in phrases
    )
    find = partial(search_index.rows_with, transaction, phrases, field, ranked)
    named: dict[int, str | None] = {}
    given, limit = 0, 2 * most
    while True:
        rows = find(limit)
        for number, row in rows[given:]:
            if number not in named:
                named[number] = search_index.chat_of(transaction, number)
            if (chat_id := named[number]) is not None:
                yield chat_id, row
        if len(rows) < limit:
            return
        given, limit = len(rows), 8 * limit


def _hit(
    transaction: Transaction, phrases: Sequence[Phrase], chat_id: str, message_id: str, level: int
) -> WordHit | None:
    """The hit of a message; None where its newest row cannot be read or does not hold the words.
    Its words are looked for from this level on."""
    newest = transaction.row(_NEWEST, chat=chat_id, message=message_id)
    message = row_indexing.message_in(transaction, newest[1]) if newest is not None else None
    if newest is None or message is None:
        return None
    texts = list(fields_of(message))
    for at in range(level, len(_LEVELS)):
        among = FIELDS if _LEVELS[at] is None else (_LEVELS[at],)
        found = found_in([text for field, text in texts if field in among], phrases)
        if len(found.phrases) == len(phrases):
            piece = readable(shown(found))
            return WordHit(
                chat_id, message.id, newest[0], message.role, piece.text, piece.marks, at
            )
    return None
