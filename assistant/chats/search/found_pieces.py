"""Pieces of a chat's messages that fit a query, for a model: without texts, which it has itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlalchemy import bindparam, select

from ...database import Statement, Transaction, among
from ...search.ranking import Ranking, best_places
from ..log import paths
from ..schema import messages
from .hits import Found

_NAMES: Final = Statement(
    select(messages.c.row, messages.c.message_id, messages.c.created).where(
        messages.c.chat_id == bindparam("chat"), among(messages.c.row)
    )
)


@dataclass(frozen=True, slots=True)
class PieceQuery:
    """Up to `most` pieces of a chat for `terms` and, with less weight, `related` terms. The message
    `before`, such as the question that is being answered, and all later ones are not found; None
    leaves out none. `telling` are the terms whose share in a piece counts (None: all), `names`
    those whose rarity does."""

    chat_id: str
    terms: tuple[str, ...]
    most: int
    before: str | None = None
    telling: frozenset[str] | None = None
    names: frozenset[str] = frozenset()
    related: tuple[str, ...] = ()

    @property
    def ranking(self) -> Ranking:
        return partial(best_places, telling=self.telling, names=self.names, related=self.related)


@dataclass(frozen=True, slots=True)
class FoundPiece:
    """The number of a piece in its message (`message_text.pieces_of`), and how well it fits, as in
    `ranking.ScoredWindow`. `created` is when the message was stored, in ISO 8601."""

    message_id: str
    piece: int
    share: float
    fewest: int
    created: str = ""


def row_of(transaction: Transaction, wanted: PieceQuery) -> int | None:
    """The newest row of the message `before`; None where there is none."""
    if wanted.before is None:
        return None
    return max(paths.rows_of_message(transaction, wanted.chat_id, wanted.before), default=None)


def named(transaction: Transaction, chat_id: str, found: Found) -> tuple[FoundPiece, ...]:
    """The pieces of `found`, in its order. Rows that are not in the log any more are left out."""
    origins = [(window, found.origins.get(window.place)) for window in found.windows]
    names = _names(transaction, chat_id, {origin.row for _, origin in origins if origin})
    return tuple(
        FoundPiece(message_id, origin.piece, window.share, window.fewest, created)
        for window, origin in origins
        if origin is not None and origin.row in names
        for message_id, created in [names[origin.row]]
    )


def _names(
    transaction: Transaction, chat_id: str, rows: Iterable[int]
) -> dict[int, tuple[str, str]]:
    """The id of the message in each of these rows, and when it was stored."""
    found = transaction.rows_among(_NAMES, sorted(rows), chat=chat_id)
    return {row: (f"{message_id}", f"{created}") for row, message_id, created in found}
