"""Indexing the rows of the log, some at a time. Functions over a transaction.

A row is read once for both indexes: its terms in pieces for the search that models use, its words
in fields for the search that people use (`search_index`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BindParameter, Select, bindparam, exists, func, select

from ...database import Statement, Transaction
from ...errors import StoreError
from ...messages.origin import EVENT
from ...messages.parts import Message
from ...search.folded_words import BREAK, line_of
from ...search.positions import Document, Piece, Placed, first_place, place_all
from ...search.words import index_terms
from .. import chat_rows
from ..attachments import decode_searchable
from ..log import paths
from ..row_values import MOST
from ..schema import chats, messages
from . import search_index
from .message_text import FIELDS, fields_of, pieces_of
from .search_index import PLACES, State

ROWS_PER_STEP: Final = 200
"""Rows that are read and indexed at once, so that a turn's own writes never wait long."""
_UNREADABLE: Final = (
    StoreError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
    RecursionError,
)
"""What a damaged text of a row raises."""


def _behind_query(last: int | BindParameter[int]) -> Select[Any]:
    """The chats with rows up to `last` that are not indexed."""
    newest = select(func.max(messages.c.row)).where(
        messages.c.chat_id == chats.c.id, messages.c.role != EVENT, messages.c.row.between(1, last)
    )
    known = search_index.indexed_chats
    return (
        select(chats.c.id)
        .outerjoin(known, known.c.chat_id == chats.c.id)
        .where(
            chats.c.deleted.is_(None),
            func.coalesce(newest.scalar_subquery(), 0) > func.coalesce(known.c.row_number, 0),
        )
    )


_BEHIND: Final = Statement(_behind_query(MOST))
_IS_BEHIND: Final = Statement(
    _behind_query(bindparam("last")).where(chats.c.id == bindparam("chat"))
)


def behind(
    transaction: Transaction, chat_id: str | None, before_row: int | None = None
) -> list[str]:
    """The chats, or this chat, with rows (this chat: before `before_row`) that are not indexed."""
    if chat_id is None:
        found = transaction.rows(_BEHIND)
    else:
        last = MOST if before_row is None else before_row - 1
        found = transaction.rows(_IS_BEHIND, chat=chat_id, last=last)
    return [identity for (identity,) in found]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to index: how far the chat is indexed, the documents from its last row on, and the lines
    of words (`search_index.add`) of the rows that have new ones."""

    chat_id: str
    known: State | None
    documents: list[Document]
    lines: dict[int, tuple[str, ...]]


def next_rows(transaction: Transaction, chat_id: str) -> Rows:
    known = search_index.state(transaction, chat_id)
    found: list[Document] = []
    lines: dict[int, tuple[str, ...]] = {}
    for document, message in _read(transaction, chat_id, known, ROWS_PER_STEP):
        found.append(document)
        if message is not None and document.row < PLACES:
            lines[document.row] = lines_of(message)
    return Rows(chat_id, known, found, lines)


def lines_of(message: Message) -> tuple[str, ...]:
    """The words of a message: a line for each of FIELDS."""
    texts: dict[str, list[str]] = {name: [] for name in FIELDS}
    for name, text in fields_of(message):
        texts[name].append(line_of(text))
    return tuple(f" {BREAK} ".join(filter(None, texts[name])) for name in FIELDS)


def documents(transaction: Transaction, chat_id: str) -> Iterator[Document]:
    """All rows of the chat, as they are indexed."""
    return (document for document, _ in _read(transaction, chat_id, None, None))


def _rows_query() -> Select[Any]:
    """The rows of a chat from one on, whether an older row of the same message has the same text,
    and the role of the row before."""
    older, parents = messages.alias(), messages.alias()
    again = exists().where(
        older.c.chat_id == messages.c.chat_id,
        older.c.message_id == messages.c.message_id,
        # `+ 0` keeps the database from using the index of the rows, which would read all older rows
        # for each row.
        older.c.row + 0 < messages.c.row,
        older.c.body == messages.c.body,
    )
    columns = (messages.c.row, messages.c.parent_row, messages.c.message_id, messages.c.body)
    query = select(*columns, again.label("again"), parents.c.role.label("parent_role"))
    joined = messages.outerjoin(
        parents,
        (parents.c.chat_id == messages.c.chat_id) & (parents.c.row == messages.c.parent_row),
    )
    query = query.select_from(joined).where(
        messages.c.chat_id == bindparam("chat"),
        # Rows with damaged numbers are not found.
        messages.c.row.between(bindparam("first"), MOST),
        messages.c.role != EVENT,
    )
    return query.order_by(messages.c.row).limit(bindparam("most"))


_ROWS: Final = _rows_query()


def _read(
    transaction: Transaction, chat_id: str, known: State | None, limit: int | None
) -> Iterator[tuple[Document, Message | None]]:
    """The rows from the last that is `known` on, without events: what follows an event follows the
    message before it. A row with the text of an older row of its message, which was added anew on
    another path, has no pieces: it is found once. Where it is the next version of the row before,
    as an answer that waits is after an event, it has the pieces of that row. A row has its message
    where its words are in no earlier row of it, and are not known."""
    last: tuple[Document, str] | None = None
    asked = {"chat": chat_id, "first": known.row if known else 1, "most": limit or MOST}
    for row, parent, message_id, body, is_again, parent_role in transaction.execute(_ROWS, asked):
        if parent_role == EVENT:
            parent = paths.before_events(transaction, chat_id, parent)
        message: Message | None = None
        pieces: tuple[Piece, ...] = ()
        if last and (message_id, parent, body) == (last[0].message_id, last[0].parent_row, last[1]):
            pieces = last[0].pieces
        elif known and row == known.row:
            pieces = _pieces(message_in(transaction, body)) if known.end_place > known.place else ()
        elif not is_again:
            message = message_in(transaction, body)
            pieces = _pieces(message)
        last = Document(row, parent, message_id, pieces), body
        yield last[0], message


def message_in(transaction: Transaction, body: object) -> Message | None:
    """A row's message with its texts; None where the row cannot be read, so that other rows are
    still found."""
    try:
        return decode_searchable(transaction, body) if isinstance(body, str) else None
    except _UNREADABLE:
        return None


def _pieces(message: Message | None) -> tuple[Piece, ...]:
    pieces = pieces_of(message) if message is not None else ()
    return tuple(Piece(index_terms(piece.text), piece.round) for piece in pieces)


def add(transaction: Transaction, rows: Rows) -> None:
    """Index these rows, unless another process did so meanwhile, or the chat is gone."""
    if not chat_rows.is_taken(transaction, rows.chat_id):
        return
    known = search_index.state(transaction, rows.chat_id)
    if known != rows.known or not rows.documents:
        return
    if known is None:
        number = search_index.open_chat(transaction, rows.chat_id)
        placed = place_all(rows.documents, first_place(number))
    else:
        number = known.number
        last = Placed(known.place, known.beat, rows.documents[0])
        placed = place_all(rows.documents[1:], known.place, last)
    search_index.add(transaction, number, placed, rows.lines)
