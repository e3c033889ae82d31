"""The notes of one turn, and the budget that they share (R54, R56).

The notes stay as they are until the turn ends, so that each request of the turn extends the one
before it; the next turn has notes of its own. Notes never stand in the system message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .notes import KINDS, WRAP_UP_TEXT, Note, NoteKind, wrap_up_note
from .passages import Found
from .tokens import text_tokens
from .window import Budget

WINDOW_SHARE = 1 / 8
LEAST_TOKENS, MOST_TOKENS = 800, 2_400
PROMPT_SHARE = 1 / 4
"""The tail's budget is the share of the window, from 800 to 2,400 tokens, and never more than the
share of the prompt's room."""
REMINDER_TOKENS = text_tokens(WRAP_UP_TEXT)
"""Always kept free of background, since a reminder may come in the middle of a turn and must not
change what stands before it."""
EARLIER_SHARE = 0.25
"""When earlier turns have more than this share of a request, a cut makes room, and the turn need
not end."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The notes of the turn that answers the user message at the row `asked`; one note of each kind
    at most, in the order of `notes.KINDS`. Which of the passages in `found` are shown is decided by
    each plan, since a cut may hide messages that were in sight when they were searched for."""

    asked: int | None = None
    notes: tuple[Note, ...] = ()
    found: Found | None = None

    def with_note(self, note: Note | None) -> Tail:
        """The tail with `note` instead of an earlier note of its kind; the same tail for None."""
        if note is None:
            return self
        others = (other for other in self.notes if other.kind != note.kind)
        notes = sorted((*others, note), key=lambda each: KINDS.index(each.kind))
        return replace(self, notes=tuple(notes))

    def without(self, kind: NoteKind) -> Tail:
        """The tail without its note of this kind."""
        return replace(self, notes=tuple(note for note in self.notes if note.kind != kind))

    def with_wrap_up(self, asked: int, row: int) -> Tail:
        """The tail with the reminder to finish, before the row `row`; a tail of the same turn that
        has the reminder stays as it is."""
        tail = self if self.asked == asked else Tail(asked)
        note = wrap_up_note(row)
        known = any(other.kind == note.kind for other in tail.notes)
        return tail if known else tail.with_note(note)


def tail_tokens(budget: Budget, setting: int | None = None) -> int:
    """The most tokens of a turn's notes: those of the `setting`, else as many as the window allows.
    They depend on these alone, so that they are the same for all requests of a turn."""
    if setting is not None:
        return min(setting, budget.prompt)
    wanted = max(int(budget.window.tokens * WINDOW_SHARE), LEAST_TOKENS)
    return min(wanted, MOST_TOKENS, int(budget.prompt * PROMPT_SHARE))


def fit(notes: Sequence[Note], tokens: int) -> tuple[Note, ...]:
    """The notes within `tokens`. Each background note, in order, takes up to its own most and
    leaves a line for each of the following ones; a note is left out only when there is no room for
    a line of it. Reminders are sent whole."""
    left = tokens - REMINDER_TOKENS
    background = [note for note in notes if not note.kind.is_reminder]
    fitted: list[Note] = []
    for index, note in enumerate(background):
        later = sum(other.line_tokens for other in background[index + 1 :])
        share = min(note.most_tokens, left, max(left - later, note.line_tokens))
        shorter = note.within(share)
        if shorter is not None:
            fitted.append(shorter)
            left -= shorter.tokens
    return (*fitted, *(note for note in notes if note.kind.is_reminder))


def almost_full(spent: int, usable: int, share: float) -> bool:
    """Whether a request and its answer, `spent` tokens, reach `share` of the `usable` tokens of the
    window; a share of 0 is never reached."""
    return share > 0 and spent >= share * usable
