"""Rows of a conversation's context for the pieces of messages that a search found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..chats.search.found_pieces import FoundPiece
from ..chats.search.message_text import PieceParts, parts_of_pieces
from ..context.handles import transcript_line
from ..messages.parts import Message
from ..messages.prompt import PromptMessage
from .conversation import Conversation

QUESTIONS = 10
"""So many of the best rows bring the answer to their question with them."""
FARTHEST_ANSWER = 12
"""Rows after a question in which its answer is looked for; calls and results stand between."""
QUESTION_MARKS = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row. `share` and `fewest` are those of `FoundPiece`, `date` is the day of the message
    (YYYY-MM-DD), empty where it is not known."""

    row: int
    share: float = 0.0
    fewest: int = 0
    date: str = ""


def rows_of_pieces(
    conversation: Conversation, found: Sequence[FoundPiece], before: int
) -> tuple[FoundRow, ...]:
    """The rows of the pieces that are on the path and before the row `before`, each once, in the
    order of the pieces."""
    rows: dict[int, FoundRow] = {}
    for piece in found:
        known = conversation.message(piece.message_id)
        if known is None or not known[1] or known[1].start >= before:
            continue
        message, place = known
        pieces = parts_of_pieces(message)
        if not 0 <= piece.piece < len(pieces):
            continue
        row = _row_of_piece(pieces, piece.piece, conversation.context.rows(place.start, place.stop))
        made = FoundRow(
            place.start + row,
            piece.share,
            piece.fewest,
            piece.created[:10] or _day(message),
        )
        rows.setdefault(made.row, made)
    return tuple(rows.values())


def with_answers(
    conversation: Conversation, found: Sequence[FoundRow], before: int
) -> tuple[FoundRow, ...]:
    """The rows, and after each of the best that asks something the row that answers it."""
    rows: dict[int, FoundRow] = {}
    for number, one in enumerate(found):
        rows.setdefault(one.row, one)
        answer = _answer(conversation, one.row, before) if number < QUESTIONS else None
        if answer is not None:
            rows.setdefault(answer, FoundRow(answer, date=one.date))
    return tuple(rows.values())


def line_of(conversation: Conversation, row: int) -> str:
    """A row as a line of a transcript; a tool's result stands with its call."""
    (message,) = conversation.context.rows(row, row + 1)
    if message.role != "tool":
        return transcript_line(message)
    for before in reversed(conversation.context.rows(max(0, row - FARTHEST_ANSWER), row)):
        for call in before.tool_calls:
            if call.id == message.tool_call_id:
                return f"tool: [{call.name} {call.arguments}] {message.text}"
    return transcript_line(message)


def _answer(conversation: Conversation, row: int, before: int) -> int | None:
    """The row of the text that follows a question; None for a row that is no question."""
    shown = conversation.context.rows(row, min(before, row + 1 + FARTHEST_ANSWER))
    if not shown or shown[0].role == "tool" or not _asks(shown[0].text):
        return None
    for at, message in enumerate(shown[1:], start=row + 1):
        if message.role != "tool" and message.text:
            return at
    return None


def _asks(text: str) -> bool:
    return any(mark in text for mark in QUESTION_MARKS)


def _row_of_piece(pieces: Sequence[PieceParts], piece: int, rows: Sequence[PromptMessage]) -> int:
    """The place of a piece among the rows of its message: a text is in the row that begins its
    round, a call in the row of its result."""
    rounds = [at for at, row in enumerate(rows) if row.role != "tool"] or [0]
    begun = rounds[min(pieces[piece].round, len(rounds) - 1)]
    results = list(_results(rows, begun))
    calls = [
        at for at, one in enumerate(pieces) if one.round == pieces[piece].round and one.is_call
    ]
    if piece in calls and calls.index(piece) < len(results):
        return results[calls.index(piece)]
    return begun


def _results(rows: Sequence[PromptMessage], begun: int) -> Iterator[int]:
    """The results of the round that begins at `begun`."""
    for at in range(begun + 1, len(rows)):
        if rows[at].role != "tool":
            return
        yield at


def _day(message: Message) -> str:
    created = message.metadata.get("created")
    return created[:10] if isinstance(created, str) else ""
