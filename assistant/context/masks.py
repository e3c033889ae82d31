"""Masks: ranges of rounds whose results are sent as digests, where prompts are cached (R50)."""

from __future__ import annotations

from .compaction_policy import mask_end
from .draft import Draft, masked
from .fidelity import GroupReducer, kept_places
from .limits import Limits
from .log import ChatLog

Mask = tuple[int, tuple[int, ...]]
"""The row before which rounds are digests, and the rows of the rounds that it leaves out: those
with results that the running turn is to keep."""
NO_MASK: Mask = (0, ())


def masks(
    draft: Draft, done: int, log: ChatLog, limits: Limits, reducer: GroupReducer
) -> list[tuple[Mask, Draft]]:
    """The masks that would add something to one that ends at the row `done`, with the draft that
    each gives: first of the finished turns alone, then of all rounds but the last."""
    asked = log.last_user or 0
    end = mask_end(draft.whole, limits.keep_rounds)
    found = []
    for last in sorted({min(end, asked), end}):
        if last > done:
            running = (group for group in draft.whole if asked < group.first < last)
            kept = tuple(group.first for group in running if kept_places(group))
            found.append(((last, kept), masked(draft, last, kept, log, limits, reducer)))
    return found
