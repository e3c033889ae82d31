"""What no model has told of yet, as the request to ask one with (R21, R26). Pure.

`of_cut` is for rows that no request has any more. `ahead` is for providers that cache prompts: it
asks before the next cut, while all that the cut will cover is still read from the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .draft import Draft
from .log import ChatLog
from .projections import Projections
from .rendering import alternate
from .summary.llm_summary import Telling, apart, appended
from .summary.state import extended
from .summary.text import room_for_told

LEAST_WORDS = 80
"""A summary with less room for a model's text is better off with what is computed alone."""
NEAR_SHARE = 0.5
"""Of its room, what a request has from which on the next cut is near."""
NEW_SHARE = 0.2
"""Of the same room, what must be new since the last time, so that a cut is preceded by two or
three, not by one after each turn."""


def of_cut(
    log: ChatLog, projections: Projections, most_message: int, most_read: int, focus: str
) -> Telling | None:
    """The request for what was cut and not told of; None where there is nothing of that, and where
    the summary message of at most `most_message` tokens has no room. `most_read` are the tokens of
    the transcript."""
    summary = projections.summary
    if summary is None:
        return None
    last, end = projections.last_told
    groups = log.groups_between(max(end, summary.first), projections.end)
    spoken = [group for group in groups if group.role != "system"]
    most = room_for_told(summary, most_message, log.facts)
    if not spoken or most.words < LEAST_WORDS:
        return None
    return apart(last, spoken, projections.end, most, most_tokens=most_read, focus=focus)


def ahead(
    log: ChatLog,
    projections: Projections,
    draft: Draft,
    tools: tuple[Mapping[str, Any], ...],
    *,
    room: int,
    most_message: int,
    alternation: bool,
    focus: str,
    by_hand: bool,
) -> Telling | None:
    """The request for all that is in `draft`, where that fits `room` tokens; None while the next
    cut is far or little is new, unless it is about to be made `by_hand`."""
    last, end = projections.last_told
    untold = [group for group in draft.whole if group.first >= end and group.role != "system"]
    new = sum(group.tokens for group in untold)
    due = new >= room * NEW_SHARE and draft.tokens >= room * NEAR_SHARE
    if not untold or draft.tokens > room or not (due or by_hand):
        return None
    # Whatever the cut will cover, its computed sections will have no more than this.
    coming = extended(projections.summary, untold, untold[0].first, len(log))
    most = room_for_told(coming, most_message, log.facts)
    if most.words < LEAST_WORDS:
        return None
    telling = appended(draft.messages, tools, len(log), last, most, focus)
    return replace(telling, messages=alternate(telling.messages)) if alternation else telling
