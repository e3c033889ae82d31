"""What a search found for the message to answer, and the note that shows it (R56)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from ..messages.fences import indented
from .handles import row_handle
from .log import ChatLog
from .notes import RECALLED, Note
from .projections import Projections, Shown


@dataclass(frozen=True, slots=True)
class Passage:
    """A message that a search found: its row, and its text, whole or the part that fits best.
    `date` is its day, empty where unknown; `whole` is False for a part of a message. `share` is how
    much of the question it has, 0 to 1, `telling` whether it is reason enough to show passages."""

    row: int
    role: str
    text: str
    date: str = ""
    whole: bool = True
    share: float = 0.0
    telling: bool = True

    @property
    def line(self) -> str:
        """The passage as a line of a transcript; a part of a message names the whole's handle."""
        who = self.role if self.whole else f"{self.role} (part of {row_handle(self.row)})"
        return indented(f"{who}: {self.text}")


@dataclass(frozen=True, slots=True)
class Found:
    """The passages for the message of a turn, the best first, and the most tokens of their note.
    `by_words` says that the message is no question: then passages are shown only when they have
    more of its words than the messages that requests have anyway."""

    passages: tuple[Passage, ...]
    most_tokens: int
    by_words: bool = False


def recalled_note(
    log: ChatLog, projections: Projections, found: Found, visible: str = ""
) -> Note | None:
    """The note with those passages of `found` that are out of sight; None where nothing out of
    sight is reason enough. Rows that requests still have are left out, and so are messages that
    stand word for word in the text `visible`."""
    in_sight = _in_sight(log, projections)
    hidden = [
        passage
        for passage in found.passages
        if passage.row < projections.end
        and passage.row not in in_sight
        and passage.text not in visible
    ]
    told = max((one.share for one in _sent(found, projections, in_sight)), default=0.0)
    reasons = [one for one in hidden if one.telling and not (found.by_words and one.share <= told)]
    if not reasons:
        return None
    hint = f" {log.facts.recall} gives the whole of a part." if log.facts.recall else ""
    return Note(
        RECALLED,
        tuple(passage.line for passage in hidden),
        found.most_tokens,
        hint=hint if any(not passage.whole for passage in hidden) else "",
        places=tuple(passage.row for passage in hidden),
        dates=tuple(passage.date for passage in hidden),
    )


def shown_of(log: ChatLog, asked: int, note: Note) -> Shown:
    """What keeps the note before the user message at the row `asked`."""
    content_hash = log.content_hash(asked, asked + 1)
    return Shown(asked, note.places, note.items, note.dates, note.hint, content_hash)


def note_of(shown: Shown) -> Note:
    """The note that was kept, with the same text."""
    note = Note(RECALLED, shown.texts, hint=shown.hint, places=shown.rows, dates=shown.dates)
    return replace(note, most_tokens=note.tokens)


def _in_sight(log: ChatLog, projections: Projections) -> Collection[int]:
    """The rows before the end of the last cut that requests have."""
    kept = (row for one in projections.shown for row in one.rows)
    pinned = (projections.head_row, projections.answer_row, projections.asked_row)
    return {row for row in (*pinned, log.last_user, *kept) if row is not None}


def _sent(found: Found, projections: Projections, in_sight: Collection[int]) -> Iterator[Passage]:
    for passage in found.passages:
        if passage.row >= projections.end or passage.row in in_sight:
            yield passage
