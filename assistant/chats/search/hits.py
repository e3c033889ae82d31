"""The passages that a search shows of the messages it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select

from ...database import Statement, Transaction
from ...messages.parts import Message, Role
from ...search.positions import PieceOrigin
from ...search.ranking import ScoredWindow
from ...search.snippet import snippet
from ..schema import messages as rows
from .message_text import pieces_of
from .row_indexing import message_in

HIT_CHARS: Final = 400
NEIGHBOUR_CHARS: Final = 240
_BODY: Final = Statement(
    select(rows.c.body).where(rows.c.chat_id == bindparam("chat"), rows.c.row == bindparam("at"))
)


@dataclass(frozen=True, slots=True)
class FoundText:
    """A piece of a message: text, or a tool call with its result. `marks` are the places (start,
    end) of the query's words in the snippet, in characters."""

    row: int
    message_id: str
    role: Role
    snippet: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Hit(FoundText):
    """A found passage with up to two passages from around it, in their order; they may be of the
    same message."""

    chat_id: str
    score: float
    neighbours: tuple[FoundText, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The windows of a search, and the pieces in their places."""

    windows: tuple[ScoredWindow, ...]
    origins: Mapping[int, PieceOrigin]


def show(transaction: Transaction, found: Found, terms: frozenset[str]) -> tuple[Hit, ...]:
    """The windows with their texts. Rows that are not in the log any more are left out."""
    messages = _messages(transaction, found)

    def passage(place: int, chars: int) -> FoundText | None:
        origin = found.origins.get(place)
        if origin is None or (origin.chat_id, origin.row) not in messages:
            return None
        message = messages[origin.chat_id, origin.row]
        pieces = pieces_of(message)
        if not 0 <= origin.piece < len(pieces):
            return None
        piece = snippet(pieces[origin.piece].text, terms, chars)
        return FoundText(origin.row, message.id, message.role, piece.text, piece.marks)

    hits = []
    for window in found.windows:
        hit = passage(window.place, HIT_CHARS)
        if hit is None:
            continue
        around = (passage(at, NEIGHBOUR_CHARS) for at in window.places if at != window.place)
        hits.append(
            Hit(
                row=hit.row,
                message_id=hit.message_id,
                role=hit.role,
                snippet=hit.snippet,
                marks=hit.marks,
                chat_id=found.origins[window.place].chat_id,
                score=window.score,
                neighbours=tuple(filter(None, around)),
            )
        )
    return tuple(hits)


def _messages(transaction: Transaction, found: Found) -> dict[tuple[str, int], Message]:
    """The messages of all places that are shown, as they were indexed: without pictures."""
    origins = (found.origins.get(place) for window in found.windows for place in window.places)
    messages: dict[tuple[str, int], Message] = {}
    for chat_id, row in {(one.chat_id, one.row) for one in origins if one is not None}:
        body = transaction.row(_BODY, chat=chat_id, at=row)
        message = message_in(transaction, body[0]) if body is not None else None
        if message is not None:
            messages[chat_id, row] = message
    return messages
