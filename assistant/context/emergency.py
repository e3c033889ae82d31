"""A request made to fit by force, where what was committed to was not enough (R29).

Nothing here is committed: the next request is planned anew. In this order, until it fits: the older
results are clamped, become lines, and lose their images; the results of the newest round share what
is left, down to a little; the oldest groups go; the newest results give up the rest. The message
that is being answered, the newest group and system messages stay.
"""

from __future__ import annotations

from dataclasses import replace

from .draft import Draft, once
from .fidelity import Shape, Shaper, admitted
from .limits import LEAST_ROUND
from .log import Group
from .tokens import MESSAGE_TOKENS


def fitted(draft: Draft, room: int, shaper: Shaper, answered: int) -> Draft:
    """The draft within `room` tokens, or as near as that comes; `answered` is the row of the
    message to answer."""
    if draft.tokens <= room:
        return draft
    return once(
        _forced(replace(draft, forced=True, tail=draft.shaped), room, shaper, answered), shaper
    )


def _forced(draft: Draft, room: int, shaper: Shaper, answered: int) -> Draft:
    for shape in (Shape.CLAMPED, Shape.LINES, Shape.BARE):
        if draft.tokens <= room:
            return draft
        draft = _with_older_in(draft, shape, shaper, answered)
    draft = _with_newest_within(draft, room, LEAST_ROUND)
    draft = _without_oldest(draft, room, answered)
    return _with_newest_within(draft, room, 1)


def newest_of(draft: Draft) -> Group | None:
    """The newest group of the conversation, as the log has it."""
    return next((group for group in reversed(draft.whole) if group.role != "system"), None)


def _with_older_in(draft: Draft, shape: Shape, shaper: Shaper, answered: int) -> Draft:
    newest = newest_of(draft)
    tail = (
        shaped if whole is newest or whole.first == answered else shaper(whole, shape)
        for shaped, whole in zip(draft.tail, draft.whole, strict=True)
    )
    return replace(draft, tail=tuple(tail))


def _with_newest_within(draft: Draft, room: int, least: int) -> Draft:
    """The results of the newest round within what the rest leaves, or within `least` tokens."""
    newest, excess = newest_of(draft), draft.tokens - room
    if newest is None or not newest.is_round or excess <= 0:
        return draft
    place = draft.whole.index(newest)
    sent = draft.tail[place]
    results = sum(sent.sizes[1:]) - MESSAGE_TOKENS * len(newest.results)
    shorter = admitted(newest, max(least, results - excess))
    if shorter.tokens >= sent.tokens:
        return draft
    return replace(draft, tail=(*draft.tail[:place], shorter, *draft.tail[place + 1 :]))


def _without_oldest(draft: Draft, room: int, answered: int) -> Draft:
    newest, excess = newest_of(draft), draft.tokens - room
    kept: list[tuple[Group, Group]] = []
    dropped: list[Group] = []
    for shaped, whole in zip(draft.tail, draft.whole, strict=True):
        protected = whole is newest or whole.first == answered or whole.role == "system"
        if excess > 0 and not protected:
            dropped.append(whole)
            excess -= shaped.tokens
        else:
            kept.append((shaped, whole))
    if not dropped:
        return draft
    return replace(
        draft,
        tail=tuple(shaped for shaped, _ in kept),
        whole=tuple(whole for _, whole in kept),
        dropped=tuple(dropped),
    )
