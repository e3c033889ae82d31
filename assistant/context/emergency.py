"""Shortens one request by force when the committed projections do not make it fit (R29).

Nothing here is committed: the next request is planned anew. The steps, until the request fits:

1. background notes of earlier turns are left out, those of this turn shortened to a line each
2. images become a note, but for those of the message to answer
3. results of finished turns are clamped, then become digests
4. results of the running turn are shortened, the longest first, to `LEAST_ROUND` tokens together
5. the oldest groups are left out, but for the recent messages
6. what the running turn is to keep is shortened, then all its results to any size
7. images of the message to answer become a note
8. recent messages are left out, the oldest first
9. the background notes are left out, and steps 2 to 8 begin anew

The message to answer, the newest group and system messages are never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .draft import Draft, PlacedNote, without_repeats
from .fidelity import Fidelity, GroupReducer, without_images
from .limits import LEAST_ROUND
from .log import Group
from .relief import relieved
from .tail import REMINDER_TOKENS, fit
from .tokens import TextTokens


def fitted(
    draft: Draft,
    room: int,
    reducer: GroupReducer,
    asked: int,
    count: TextTokens | None = None,
    recent: int = 0,
) -> Draft:
    """The draft within `room` tokens, or as close to it as the steps come. `asked` is the row of
    the message to answer, `recent` the number of newest messages that are left out last; `count`
    counts the tokens of notes."""
    if draft.tokens > room:
        draft = _with_shorter_notes(draft, room, asked, count)
    if draft.tokens <= room:
        return draft
    draft = replace(draft, forced=True, tail=draft.reduced)
    forced = _forced(draft, room, reducer, asked, recent)
    reminders = _reminders(draft)
    if forced.tokens > room and reminders != draft.notes:
        forced = _forced(replace(draft, notes=reminders), room, reducer, asked, recent)
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


def _forced(draft: Draft, room: int, reducer: GroupReducer, asked: int, recent: int) -> Draft:
    def older_at(fidelity: Fidelity) -> Callable[[Draft], Draft]:
        return lambda draft: _with_older_at(draft, fidelity, reducer, asked)

    steps: tuple[Callable[[Draft], Draft], ...] = (
        lambda draft: _without_images(draft, asked),
        older_at(Fidelity.CLAMPED),
        older_at(Fidelity.DIGESTS),
        lambda draft: relieved(draft, room, asked, reducer, least=LEAST_ROUND),
        lambda draft: _without_oldest(draft, room, asked, recent),
        lambda draft: relieved(draft, room, asked, reducer, least=LEAST_ROUND, kept=True),
        lambda draft: relieved(draft, room, asked, reducer, least=1, kept=True),
        lambda draft: _without_images(draft, None),
        lambda draft: _without_oldest(draft, room, asked, 0),
    )
    for step in steps:
        if draft.tokens <= room:
            break
        draft = step(draft)
    return draft


def _without_images(draft: Draft, asked: int | None) -> Draft:
    """The draft with a note instead of each image outside the message at the row `asked`."""

    def bare(group: Group) -> Group:
        return group if group.first == asked else without_images(group)

    return replace(
        draft,
        asked=tuple(map(bare, draft.asked)),
        tail=tuple(map(bare, draft.tail)),
    )


def _with_older_at(draft: Draft, fidelity: Fidelity, reducer: GroupReducer, asked: int) -> Draft:
    """The draft with the rounds before the newest at `fidelity`; those of the running turn keep
    what it is to keep."""
    newest = newest_of(draft)

    def older(sent: Group, whole: Group) -> Group:
        if whole is newest or not whole.is_round:
            return sent
        reduced = (reducer.running if whole.first > asked else reducer)(whole, fidelity)
        return min(sent, without_images(reduced), key=lambda group: group.tokens)

    tail = tuple(older(sent, whole) for sent, whole in zip(draft.tail, draft.whole, strict=True))
    return replace(draft, tail=tail)


def _without_oldest(draft: Draft, room: int, asked: int, recent: int) -> Draft:
    """The draft without its oldest groups, as many as have to go for it to fit; the newest `recent`
    messages stay."""
    newest, excess = newest_of(draft), draft.tokens - room
    left = sum(len(group) for group in draft.whole if group.role != "system")
    kept: list[tuple[Group, Group]] = []
    dropped: list[Group] = []
    for sent, whole in zip(draft.tail, draft.whole, strict=True):
        protected = whole is newest or whole.first == asked or whole.role == "system"
        if excess > 0 and not protected and left > recent:
            dropped.append(whole)
            excess -= sent.tokens
        else:
            kept.append((sent, whole))
        left -= len(whole) if whole.role != "system" else 0
    if not dropped:
        return draft
    return replace(
        draft,
        tail=tuple(sent for sent, _ in kept),
        whole=tuple(whole for _, whole in kept),
        dropped=(*draft.dropped, *dropped),
    )
