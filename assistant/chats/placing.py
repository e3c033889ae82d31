"""Messages on the line that a search looks along. Pure.

A place is a number: the chat's, then the message's in the order of the log. Messages that follow
each other in the conversation have places that follow each other. An answer that was suspended and
went on is several rows of the log; they share one place, which the last one holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

CHAT_BITS: Final = 32
"""Places of one chat: more than a log can have rows."""


@dataclass(frozen=True, slots=True)
class Document:
    """A row of a chat's log with its terms."""

    row: int
    parent_row: int | None
    message_id: str
    terms: frozenset[str]

    def continues(self, other: Document) -> bool:
        """Whether this is a newer version of `other` that lacks nothing of it."""
        return (
            self.message_id == other.message_id
            and self.parent_row == other.parent_row
            and self.terms >= other.terms
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """A document at its place; `starts` when the place before is not the message before."""

    place: int
    document: Document
    starts: bool


def first_place(number: int) -> int:
    """The first place of the chat with this number."""
    return number << CHAT_BITS


def number_of(place: int) -> int:
    """The number of the chat with this place."""
    return place >> CHAT_BITS


def place_all(
    documents: Iterable[Document], first: int, last: Placed | None = None
) -> tuple[Placed, ...]:
    """A place for each document, in the order of their rows.

    `last` is the last one that has a place already; without one, `first` is given to the first
    document. A place that occurs again is held by the later document from then on.
    """
    placed: list[Placed] = []
    places = {last.document.row: last.place} if last else {}
    for document in documents:
        if last and document.continues(last.document):
            last = Placed(last.place, document, last.starts)
        else:
            place = last.place + 1 if last else first
            before = None if document.parent_row is None else places.get(document.parent_row)
            last = Placed(place, document, before is None or before != place - 1)
        places[document.row] = last.place
        placed.append(last)
    return tuple(placed)
