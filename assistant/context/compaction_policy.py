"""Decides when a mask or a cut is due, and how many groups it covers (R15, R21, R50).

Where prompts are not cached, the limits always hold, and a cut goes well below the limits. Where
prompts are cached, a change of the prefix makes the provider read the rest of the request again; so
masks and cuts wait until the window is full, and come earlier only when they save more over the
coming requests than the second reading costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .draft import Draft
from .limits import Limits
from .log import Group
from .window import Prices

LEAST_SAVING = 0.1
"""A compaction must save this share of the request's tokens, and a summary has at most the rest of
the tokens that it replaces (R27)."""
MANUAL_SUMMARY_SHARE = 0.5
"""A summary that the user asked for has at most this share of the tokens that it replaces."""
COMING_REQUESTS = 12
"""The number of requests that a mask is expected to serve: about two turns with tools."""
MASKED_SHARE = 0.45
"""When the window is full, a mask is enough if it brings the prompt to this share of its room; else
a cut is due."""


@dataclass(frozen=True, slots=True)
class TokenSaving:
    """Tokens of a request's messages before and after a compaction."""

    before: int
    after: int


def cut_due(draft: Draft, limits: Limits, coming: int = 0) -> bool:
    """Whether the draft, with `coming` user messages more, exceeds a limit that asks for a cut
    (R15, R21)."""
    groups = [group for group in draft.whole if group.role != "system"]
    return (
        draft.tokens > limits.trigger
        or _exceeds(draft.count + coming, limits.messages)
        or _exceeds(sum(len(group) for group in groups) + coming, limits.since_messages)
        or _exceeds(sum(group.role == "user" for group in groups) + coming, limits.since_turns)
    )


def _exceeds(value: int, limit: int) -> bool:
    return 0 < limit < value


def cut_saves_enough(before: Draft, after: Draft, limits: Limits) -> bool:
    """Whether a cut is worth committing (R27): it saves a tenth of the tokens, or a tenth of the
    messages when their number exceeds its limit (R15)."""
    saves_messages = after.count <= before.count * (1 - LEAST_SAVING)
    return saves_enough(before, after) or (
        _exceeds(before.count, limits.messages) and saves_messages
    )


def saves_enough(before: Draft, after: Draft) -> bool:
    return after.tokens <= most_after(before.tokens)


def most_after(before: int) -> int:
    """The most tokens after a compaction of a request of `before` tokens (R27)."""
    return int(before * (1 - LEAST_SAVING))


def most_of_summary(replaced: int, *, manual: bool) -> int:
    """The most tokens of a summary that replaces `replaced` tokens of a request."""
    return int(replaced * (MANUAL_SUMMARY_SHARE if manual else 1 - LEAST_SAVING))


def cut_index(
    groups: Sequence[Group],
    asked: Group | None,
    fixed_tokens: int,
    fixed_count: int,
    limits: Limits,
) -> int:
    """How many of `groups`, the tail as it would be sent, to cut, so that the rest meets the
    target.

    The newest group is never cut. `asked`, the last user message, is sent even when the cut covers
    it, so its tokens always count. `limits.min_recent_messages` messages stay if the limits allow.
    `fixed_tokens` and `fixed_count` are those of the request's other segments.
    """
    tokens, count, recent, turns = fixed_tokens, fixed_count, 0, 0
    if asked is not None:
        tokens, count = tokens + asked.tokens, count + len(asked)
    for index in range(len(groups) - 1, -1, -1):
        group = groups[index]
        size = len(group) if group.role != "system" else 0
        turns += group.role == "user"
        if group is not asked:
            tokens, count = tokens + group.tokens, count + size
        if recent < limits.min_recent_messages:
            over = tokens > limits.prompt or _exceeds(count, limits.messages)
        else:
            over = (
                tokens > limits.target
                or _exceeds(count, limits.target_messages)
                or _exceeds(turns, limits.target_turns)
            )
        if over and recent > 0:
            return index + 1
        recent += size
    return 0


def manual_cut_index(
    groups: Sequence[Group],
    asked: Group | None,
    fixed_tokens: int,
    fixed_count: int,
    limits: Limits,
) -> int:
    """How many of `groups` to cut when the user asks for it: all but `limits.min_recent_messages`
    messages; 0 when fewer messages than that are older."""
    index = cut_index(groups, asked, fixed_tokens, fixed_count, replace(limits, target=0))
    older = sum(len(group) for group in groups[:index] if group.role != "system")
    return index if older >= limits.min_recent_messages else 0


def mask_end(groups: Sequence[Group], keep_rounds: int) -> int:
    """The row before which a mask makes results digests, so that the last `keep_rounds` rounds
    stay; 0 for no mask."""
    rounds = [group for group in groups if group.is_round]
    if keep_rounds <= 0 or len(rounds) <= keep_rounds:
        return 0
    return rounds[-keep_rounds].first


def mask_pays(before: Draft, after: Draft, room: int, prices: Prices) -> bool:
    """Whether a mask is worth committing (R27, R50): when the prompt exceeds `room`, whether the
    mask alone is enough; else whether it saves more than the broken prefix costs."""
    if not saves_enough(before, after):
        return False
    if before.tokens > room:
        return after.tokens <= room * MASKED_SHARE
    saved = (before.tokens - after.tokens) * prices.read * COMING_REQUESTS
    broken = after.tokens - common_tokens(before, after)
    return saved > broken * (prices.write - prices.read)


def common_tokens(before: Draft, after: Draft) -> int:
    """Tokens of the beginning that both drafts share, which stays cached."""
    if before.summary is not after.summary:
        return min(before.prefix_tokens, after.prefix_tokens)
    common = before.fixed_tokens
    for old, new in zip(before.tail, after.tail, strict=False):
        if old is not new:
            break
        common += new.tokens
    return common
