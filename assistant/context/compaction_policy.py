"""When more is left out, and how much: the one place that decides (R15, R21, R50).

Where nothing is cached, limits hold always, and a cut goes well below them. Where prompts are
cached, breaking the prefix costs what has to be read again; so masks and cuts wait until the prompt
is due, and come early only if they save more over the coming requests than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .draft import Draft
from .limits import Limits
from .log import Group
from .window import Prices

LEAST_SAVING = 0.1
"""A compaction that saves less of the request is not committed, and a summary has at most the rest
of what it replaces (R27)."""
HAND_SUMMARY_SHARE = 0.5
"""A summary that the user asks for has at most this share of what it replaces: it is to save."""
COMING_REQUESTS = 12
"""How many requests a commitment is expected to serve: about two turns with tools."""
MASKED_ENOUGH = 0.45
"""A mask alone will do if it brings the prompt to this share of its room; else a cut is due."""


@dataclass(frozen=True, slots=True)
class Saving:
    """What a compaction made of a request, in tokens of its messages."""

    before: int
    after: int


def cut_due(draft: Draft, limits: Limits) -> bool:
    """Whether a limit is met that asks for a cut (R15, R21)."""
    groups = [group for group in draft.whole if group.role != "system"]
    return (
        draft.tokens > limits.trigger
        or _exceeds(draft.count, limits.messages)
        or _exceeds(sum(len(group) for group in groups), limits.since_messages)
        or _exceeds(sum(group.role == "user" for group in groups), limits.since_turns)
    )


def _exceeds(value: int, limit: int) -> bool:
    return 0 < limit < value


def compacts(before: Draft, after: Draft, limits: Limits) -> bool:
    """Whether a cut is worth committing (R27): it saves tokens; or messages, where there are more
    of them than always may be (R15)."""
    saves_messages = after.count <= before.count * (1 - LEAST_SAVING)
    return saves_enough(before, after) or (
        _exceeds(before.count, limits.messages) and saves_messages
    )


def saves_enough(before: Draft, after: Draft) -> bool:
    return after.tokens <= most_after(before.tokens)


def most_after(before: int) -> int:
    """The most tokens of a request that had `before`, for a compaction to be worth it (R27)."""
    return int(before * (1 - LEAST_SAVING))


def most_of_summary(replaced: int, *, by_hand: bool) -> int:
    """The most tokens of a summary that stands for so many tokens of a request."""
    return int(replaced * (HAND_SUMMARY_SHARE if by_hand else 1 - LEAST_SAVING))


def cut_place(
    groups: Sequence[Group],
    asked: Group | None,
    fixed_tokens: int,
    fixed_count: int,
    limits: Limits,
) -> int:
    """How many of `groups`, the tail as it would be sent, to cut, so that what stays meets the
    target. The newest group always stays, and so does `asked`, the last user message, which has to
    be paid for even where the cut goes past it; the least recent messages stay if the limits allow.
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
        if recent < limits.least_recent:
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


def cut_place_by_hand(
    groups: Sequence[Group],
    asked: Group | None,
    fixed_tokens: int,
    fixed_count: int,
    limits: Limits,
) -> int:
    """The same when the user asks for it: only the least recent messages stay; 0 where fewer than
    those are older."""
    place = cut_place(groups, asked, fixed_tokens, fixed_count, replace(limits, target=0))
    older = sum(len(group) for group in groups[:place] if group.role != "system")
    return place if older >= limits.least_recent else 0


def mask_place(groups: Sequence[Group], keep_rounds: int) -> int:
    """The row before which results become lines, so that the last rounds stay; 0 for no mask."""
    rounds = [group for group in groups if group.is_round]
    if keep_rounds <= 0 or len(rounds) <= keep_rounds:
        return 0
    return rounds[-keep_rounds].first


def mask_is_worth(before: Draft, after: Draft, room: int, prices: Prices) -> bool:
    """Whether a mask is to be committed: it must, and is enough; or it pays (R27, R50)."""
    if not saves_enough(before, after):
        return False
    if before.tokens > room:
        return after.tokens <= room * MASKED_ENOUGH
    saved = (before.tokens - after.tokens) * prices.read * COMING_REQUESTS
    broken = after.tokens - common_tokens(before, after)
    return saved > broken * (prices.write - prices.read)


def common_tokens(before: Draft, after: Draft) -> int:
    """Tokens of the beginning that both have: what stays cached."""
    if before.summary is not after.summary:
        return min(before.prefix_tokens, after.prefix_tokens)
    common = before.fixed_tokens
    for old, new in zip(before.tail, after.tail, strict=False):
        if old is not new:
            break
        common += new.tokens
    return common
