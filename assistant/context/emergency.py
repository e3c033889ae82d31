"""Shortens one request by force when the committed projections do not make it fit (R29).

Nothing here is committed: the next request is planned anew. The steps, until the request fits:

1. background notes of earlier turns are left out, those of this turn shortened to a line at least
2. older results are clamped, become digests, and lose their images
3. the results of the newest round share the rest of the room, `LEAST_ROUND` tokens at least
4. the oldest groups are left out
5. the results of the newest round are shortened to any size
6. the background notes are left out, and steps 2 to 5 begin anew

The message to answer, the newest group and system messages are never left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .draft import Draft, PlacedNote, without_repeats
from .fidelity import Fidelity, GroupReducer, capped
from .limits import LEAST_ROUND
from .log import Group
from .tail import REMINDER_TOKENS, fit
from .tokens import MESSAGE_TOKENS, TextTokens


def fitted(
    draft: Draft,
    room: int,
    reducer: GroupReducer,
    asked: int,
    count: TextTokens | None = None,
) -> Draft:
    """The draft within `room` tokens, or as close to it as the steps come. `asked` is the row of
    the message to answer; `count` counts the tokens of notes."""
    if draft.tokens > room:
        draft = _with_shorter_notes(draft, room, asked, count)
    if draft.tokens <= room:
        return draft
    draft = replace(draft, forced=True, tail=draft.reduced)
    forced = _forced(draft, room, reducer, asked)
    reminders = _reminders(draft)
    if forced.tokens > room and reminders != draft.notes:
        forced = _forced(replace(draft, notes=reminders), room, reducer, asked)
    return without_repeats(forced, reducer)


def newest_of(draft: Draft) -> Group | None:
    """The newest group that is no system message, as the log has it."""
    return next((group for group in reversed(draft.whole) if group.role != "system"), None)


def _with_shorter_notes(draft: Draft, room: int, asked: int, count: TextTokens | None) -> Draft:
    """The draft with background notes so short that it fits, or with a line of each; passages that
    stayed from earlier turns go first, the oldest before the others."""
    notes = list(draft.notes)
    while (excess := replace(draft, notes=tuple(notes)).tokens - room) > 0:
        oldest = next((placed for placed in notes if placed.stays), None)
        if oldest is None:
            return replace(draft, forced=True, notes=_shortened(notes, excess, asked, count))
        notes.remove(oldest)
    return replace(draft, forced=True, notes=tuple(notes))


def _shortened(
    placed: Sequence[PlacedNote], excess: int, asked: int, count: TextTokens | None
) -> tuple[PlacedNote, ...]:
    """The notes with `excess` tokens less, but a line of each background note at least."""
    notes = [one.note for one in placed]
    background = [note for note in notes if not note.kind.is_reminder]
    lines = sum(note.line_tokens for note in background)
    least = max(sum(note.tokens for note in background) - excess, lines)
    fitted = fit(notes, REMINDER_TOKENS + least)
    return tuple(PlacedNote.of(note, asked, count) for note in fitted)


def _reminders(draft: Draft) -> tuple[PlacedNote, ...]:
    return tuple(placed for placed in draft.notes if placed.note.kind.is_reminder)


def _forced(draft: Draft, room: int, reducer: GroupReducer, asked: int) -> Draft:
    for fidelity in (Fidelity.CLAMPED, Fidelity.DIGESTS, Fidelity.TEXT_ONLY):
        if draft.tokens <= room:
            return draft
        draft = _with_older_at(draft, fidelity, reducer, asked)
    draft = _with_newest_within(draft, room, LEAST_ROUND)
    draft = _without_oldest(draft, room, asked)
    return _with_newest_within(draft, room, 1)


def _with_older_at(draft: Draft, fidelity: Fidelity, reducer: GroupReducer, asked: int) -> Draft:
    """The draft with all groups but the newest and the message to answer at `fidelity`."""
    newest = newest_of(draft)
    tail = (
        sent if whole is newest or whole.first == asked else reducer(whole, fidelity)
        for sent, whole in zip(draft.tail, draft.whole, strict=True)
    )
    return replace(draft, tail=tuple(tail))


def _with_newest_within(draft: Draft, room: int, least: int) -> Draft:
    """The draft with the results of the newest round shortened so that it fits, but not under
    `least` tokens."""
    newest, excess = newest_of(draft), draft.tokens - room
    if newest is None or not newest.is_round or excess <= 0:
        return draft
    index = draft.whole.index(newest)
    sent = draft.tail[index]
    results = sum(sent.sizes[1:]) - MESSAGE_TOKENS * len(newest.results)
    shorter = capped(newest, max(least, results - excess))
    if shorter.tokens >= sent.tokens:
        return draft
    return replace(draft, tail=(*draft.tail[:index], shorter, *draft.tail[index + 1 :]))


def _without_oldest(draft: Draft, room: int, asked: int) -> Draft:
    """The draft without its oldest groups, as many as have to go for it to fit."""
    newest, excess = newest_of(draft), draft.tokens - room
    kept: list[tuple[Group, Group]] = []
    dropped: list[Group] = []
    for sent, whole in zip(draft.tail, draft.whole, strict=True):
        protected = whole is newest or whole.first == asked or whole.role == "system"
        if excess > 0 and not protected:
            dropped.append(whole)
            excess -= sent.tokens
        else:
            kept.append((sent, whole))
    if not dropped:
        return draft
    return replace(
        draft,
        tail=tuple(sent for sent, _ in kept),
        whole=tuple(whole for _, whole in kept),
        dropped=tuple(dropped),
    )
