"""Whether an LLM summary is due, and the request for it (R21, R26). Pure.

`request_after_cut` covers rows that requests no longer have. `request_before_cut` is for providers
that cache prompts: the request comes before the next cut, while the rows that the cut will cover
are still in the provider's cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .draft import Draft
from .log import ChatLog
from .projections import Projections
from .rendering import alternate
from .summary.llm_summary import SummaryRequest, cached_request, transcript_request
from .summary.state import extended
from .summary.text import room_for_llm_text

LEAST_WORDS = 80
"""With room for fewer words, the computed summary is better without an LLM summary."""
NEAR_SHARE = 0.5
"""The next cut is near when a request has this share of its room."""
NEW_SHARE = 0.2
"""An LLM summary before a cut is due when this share of the room is not covered by the last one, so
that a cut is preceded by two or three requests instead of one after each turn."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a summary before the next cut has to fit: the `room` of a request and the most tokens of
    the summary message. `focus` is what the user wants to be kept, `manual` says that the user
    asked for the cut."""

    room: int
    most_message: int
    alternation: bool
    focus: str = ""
    manual: bool = False


def request_after_cut(
    log: ChatLog, projections: Projections, most_message: int, most_read: int, focus: str
) -> SummaryRequest | None:
    """The request for an LLM summary of the rows that are cut and that the last LLM summary does
    not cover. None without such rows, and when the summary message of at most `most_message` tokens
    has no room. `most_read` is the most tokens of the transcript."""
    summary = projections.summary
    if summary is None:
        return None
    last, end = projections.last_llm_summary
    groups = log.groups_between(max(end, summary.first), projections.end)
    spoken = [group for group in groups if group.role != "system"]
    most = room_for_llm_text(summary, most_message, log.facts)
    if not spoken or most.words < LEAST_WORDS:
        return None
    return transcript_request(
        last, spoken, projections.end, most, most_tokens=most_read, focus=focus
    )


def request_before_cut(
    log: ChatLog,
    projections: Projections,
    draft: Draft,
    tools: tuple[Mapping[str, Any], ...],
    ahead: Ahead,
) -> SummaryRequest | None:
    """The request for an LLM summary of all messages of `draft`, if they fit the room. None while
    the next cut is far or few tokens are new, unless the user asked for the cut."""
    room = ahead.room
    last, end = projections.last_llm_summary
    new = [group for group in draft.whole if group.first >= end and group.role != "system"]
    due = (
        sum(group.tokens for group in new) >= room * NEW_SHARE and draft.tokens >= room * NEAR_SHARE
    )
    if not new or draft.tokens > room or not (due or ahead.manual):
        return None
    # The coming cut covers at most these groups, so its computed sections are no longer.
    taken_back = projections.taken_back
    coming = extended(projections.summary, new, new[0].first, len(log), taken_back)
    most = room_for_llm_text(coming, ahead.most_message, log.facts)
    if most.words < LEAST_WORDS:
        return None
    request = cached_request(draft.messages, tools, len(log), last, most, ahead.focus)
    return replace(request, messages=alternate(request.messages)) if ahead.alternation else request
