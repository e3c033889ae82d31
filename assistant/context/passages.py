"""Passages of rows that a cut covers, as the note that recalls them for one turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..messages.fences import indented
from .clamp import clamp_text
from .handles import range_handle, transcript_line
from .log import ChatLog
from .notes import RECALLED, Note
from .projections import Projections

LONGEST_PASSAGE = 600
"""Characters of one passage; `recall_result` with the passage's handle gives the rest."""


def recalled_note(
    log: ChatLog,
    projections: Projections,
    found: Iterable[range],
    most_tokens: int,
    visible: str = "",
) -> Note | None:
    """The note with those passages of `found`, best first, that fit `most_tokens`; None without
    any. Rows that requests still have are left out, and so are messages that stand word for word in
    the text `visible`."""
    passages = tuple(_passages(log, projections, found, visible))
    hint = f" {log.facts.recall} gives more." if log.facts.recall else ""
    return Note(RECALLED, passages, most_tokens, hint=hint).within(most_tokens)


def _passages(
    log: ChatLog, projections: Projections, found: Iterable[range], visible: str
) -> Iterator[str]:
    first = projections.cuts[0].first if projections.cuts else 0
    shown = {projections.head_row, projections.asked_row, log.last_user}
    seen: set[int] = set()
    for rows in found:
        hidden = [
            row
            for row in rows
            if first <= row < projections.end and row not in shown and row not in seen
        ]
        said = [row for row in hidden if log.row(row).text and log.row(row).text not in visible]
        if said:
            seen.update(hidden)
            lines = (transcript_line(log.row(row)) for row in said)
            handle = range_handle(said[0], said[-1] + 1)
            said_so = f"{handle} " + "\n".join(map(indented, lines))
            yield clamp_text(indented(said_so), LONGEST_PASSAGE)
