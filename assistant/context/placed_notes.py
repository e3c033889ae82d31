"""The notes of a request in their places: those of the running turn, and passages that stay from
earlier turns where prompts are cached (R50, R56)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .draft import CountedMessage, PlacedNote
from .log import ChatLog
from .notes import KINDS, RECALLED
from .passages import note_of, recalled_note, shown_of
from .projections import Projections
from .tail import Tail, fit
from .tokens import TextTokens


def placed_notes(
    tail: Tail,
    log: ChatLog,
    projections: Projections,
    summary: CountedMessage | None,
    most_tokens: int,
    count: TextTokens | None,
) -> tuple[PlacedNote, ...]:
    """The notes of `tail` within `most_tokens`, after those that stay. A tail of another turn has
    none. What stands in the `summary` is not recalled."""
    asked = log.last_user
    if asked is None:
        return ()
    staying = tuple(_staying(projections, asked, count))
    kept = next((note_of(one) for one in projections.shown if one.row == asked), None)
    if tail.asked != asked:
        tail = Tail(asked)
    elif kept is None and tail.found is not None:
        visible = summary.message.text if summary is not None else ""
        tail = tail.with_note(recalled_note(log, projections, tail.found, visible))
    if kept is not None:
        tail = tail.with_note(kept)
    notes = list(fit(tail.notes, most_tokens))
    if kept is not None and kept not in notes:
        # The window is smaller by now, or a note came that stands before it.
        others = (note for note in tail.notes if note.kind is not RECALLED)
        notes = [kept, *fit(tuple(others), most_tokens - kept.tokens)]
        notes.sort(key=lambda note: KINDS.index(note.kind))
    return (*staying, *(PlacedNote.of(note, asked, count) for note in notes))


def with_shown(projections: Projections, log: ChatLog, notes: Iterable[PlacedNote]) -> Projections:
    """The projections with the recalled passages among the running turn's `notes`, unless they are
    kept already."""
    asked = log.last_user
    if asked is None or any(one.row == asked for one in projections.shown):
        return projections
    recalled = (placed.note for placed in notes if placed.note.kind is RECALLED)
    shown = tuple(shown_of(log, asked, note) for note in recalled)
    return replace(projections, shown=(*projections.shown, *shown)) if shown else projections


def _staying(
    projections: Projections, asked: int, count: TextTokens | None
) -> Iterator[PlacedNote]:
    for shown in projections.shown:
        if shown.row != asked:
            yield replace(PlacedNote.of(note_of(shown), shown.row, count), stays=True)
