"""The same search over texts that are in no chat: an index in memory, gone with its object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from ...search.positions import Document, Piece, Placed, first_place
from ...search.ranking import Postings, rank
from ...search.scanned_postings import ScannedPostings
from ...search.words import index_terms, query_terms
from . import search_index

_NAME = "texts"
"""Of the only chat in the index."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """The index of the text that was found, and of those shown with it, itself included."""

    index: int
    indexes: tuple[int, ...]


class TextIndex:
    """A search over texts in their order, as `HistorySearch` searches a chat."""

    def __init__(self, postings: Postings, first: int) -> None:
        self._postings = postings
        self._first = first

    @classmethod
    def of(cls, texts: Sequence[str], rounds: Sequence[int] | None = None) -> TextIndex:
        """Index the texts. `rounds` gives each the number of its round, as a call and its results
        share one; without, each text is a round."""
        numbers = rounds or range(len(texts))
        documents = (
            Document(row, row - 1 if row else None, f"{row}", (Piece(index_terms(text)),))
            for row, text in enumerate(texts)
        )
        if not search_index.has_fts5():
            placed = [Placed(d.row, numbers[d.row], d) for d in documents]
            return cls(ScannedPostings(placed), 0)
        connection = _empty_index()
        number = search_index.open_chat(connection, _NAME)
        first = first_place(number)
        placed = [Placed(first + d.row, numbers[d.row], d) for d in documents]
        search_index.add(connection, number, placed)
        return cls(search_index.IndexedPostings(connection, number), first)

    def search(self, query: str, k: int = 10) -> list[TextHit]:
        """Up to `k` hits, the best first; no text is in two of them."""
        windows = rank(query_terms(query), self._postings, k)
        return [
            TextHit(w.place - self._first, tuple(place - self._first for place in w.places))
            for w in windows
        ]


def _empty_index() -> Connection:
    connection = create_engine("sqlite://", poolclass=StaticPool).connect()
    search_index.prepare(connection)
    return connection
