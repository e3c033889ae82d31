"""The places of the pieces of messages, for search. Pure.

A place is a number: the chat's number, then the number of the piece in the order of the log. Pieces
that follow each other in the conversation have places that follow each other. An answer that was
suspended and went on is several rows of the log; a piece that is in several of these rows has one
place, which belongs to the last row.

The beat of a place is a count of rounds along the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .ranking import REACH

CHAT_BITS: Final = 32
"""Bits for the places of one chat: more places than a log has pieces."""
GAP: Final = REACH + 1
"""Beats between messages that do not follow each other."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The terms of a piece of a message. `round` counts the rounds inside the message, from 0."""

    terms: frozenset[str]
    round: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """A row of a chat's log in pieces: its text, and each of its tool calls."""

    row: int
    parent_row: int | None
    message_id: str
    pieces: tuple[Piece, ...]

    def continues(self, other: Document) -> bool:
        """Whether this is a newer version of `other` with all its pieces and their terms."""
        return (
            self.message_id == other.message_id
            and self.parent_row == other.parent_row
            and len(self.pieces) >= len(other.pieces)
            and all(
                new.terms >= old.terms for new, old in zip(self.pieces, other.pieces, strict=False)
            )
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """A document with its first place and the beat there; each piece has the next place."""

    place: int
    beat: int
    document: Document

    @property
    def end(self) -> int:
        """The place after its last piece."""
        return self.place + len(self.document.pieces)

    @property
    def end_beat(self) -> int:
        rounds = (piece.round for piece in self.document.pieces)
        return self.beat + max(rounds, default=-1) + 1

    def places(self) -> Iterable[tuple[int, int, Piece]]:
        """Place, beat and piece."""
        for number, piece in enumerate(self.document.pieces):
            yield self.place + number, self.beat + piece.round, piece


@dataclass(frozen=True, slots=True)
class PieceOrigin:
    """The piece in a place: the row, and the number of the piece in the message."""

    chat_id: str
    row: int
    piece: int


def first_place(number: int) -> int:
    """The first place of the chat with this number."""
    return number << CHAT_BITS


def number_of(place: int) -> int:
    """The number of the chat with this place."""
    return place >> CHAT_BITS


def place_all(
    documents: Iterable[Document], first: int, last: Placed | None = None
) -> tuple[Placed, ...]:
    """Places for the documents, in the order of their rows, from the place `first` on.

    `last` is the last document that has places already. A place that occurs again belongs to the
    later document.
    """
    placed: list[Placed] = []
    for document in documents:
        if last is None:
            last = Placed(first, 0, document)
        elif document.continues(last.document):
            last = Placed(last.place, last.beat, document)
        else:
            follows = document.parent_row == last.document.row
            beat = last.end_beat + (0 if follows else GAP)
            last = Placed(last.end, beat, document)
        placed.append(last)
    return tuple(placed)


def held(placed: Sequence[Placed]) -> dict[int, tuple[Placed, int, Piece]]:
    """For each place: the last document that it belongs to, the beat there and the piece."""
    return {place: (one, beat, piece) for one in placed for place, beat, piece in one.places()}
