"""Decides when a mask or a cut is due, and how many groups it covers (R15, R21, R50).

Where prompts are not cached, the limits always hold, and a cut goes well below the limits. Where
prompts are cached, a change of the prefix makes the provider read the rest of the request again; so
masks and cuts wait until the room is full. (Masks that came earlier, whenever they saved more over
the next requests than the second reading costs, were measured: with results whole they broke the
prefix more often and cost more.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .draft import Draft
from .limits import Limits
from .log import Group
from .report import TURNS_SINCE

LEAST_SAVING = 0.1
"""A compaction must save this share of the request's tokens, and a summary has at most the rest of
the tokens that it replaces (R27)."""
MANUAL_SUMMARY_SHARE = 0.5
"""A summary that the user asked for has at most this share of the tokens that it replaces."""
NEARLY = 0.85
"""The share of the hard limits up to which earlier turns stay whole, so that the next cut is not
due at once."""
MASKED_SHARE = 0.45
"""When the window is full, a mask is enough if it brings the prompt to this share of its room; else
a cut is due."""


@dataclass(frozen=True, slots=True)
class TokenSaving:
    """Tokens of a request's messages before and after a compaction."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Trigger:
    """A limit that asks for a cut when `now` exceeds `at`: `what` is counted, `setting` is the
    variable that sets the limit (R21, R32)."""

    what: str
    setting: str
    now: int
    at: int

    @property
    def met(self) -> bool:
        return self.now > self.at

    @property
    def share(self) -> float:
        return self.now / self.at


def triggers(draft: Draft, limits: Limits, coming: int = 0) -> tuple[Trigger, ...]:
    """All limits that may ask for a cut of the draft, with their progress; `coming` user messages
    more are counted. Where prompts are cached, a cut waits until the room is full. Messages and
    turns since the last summary are those that came after it was made, not those that it left."""
    groups = [
        group
        for group in draft.whole
        if group.role != "system" and group.first >= draft.summarised_at
    ]
    since = sum(map(len, groups)) + coming
    turns = sum(group.role == "user" for group in groups) + coming
    tokens, setting = limits.trigger, limits.trigger_setting
    if limits.cached:
        tokens, setting = limits.room, limits.room_setting
    found = (
        Trigger("tokens", setting, draft.tokens, tokens),
        Trigger("messages", "LLM_HISTORY_MAX_MESSAGES", draft.count + coming, limits.messages),
        Trigger(
            "messages since the last summary",
            "LLM_SUMMARY_MAX_MESSAGES",
            since,
            limits.since_messages,
        ),
        Trigger(TURNS_SINCE, "LLM_SUMMARY_MAX_TURNS", turns, limits.since_turns),
    )
    return tuple(trigger for trigger in found if trigger.at > 0)


def met(draft: Draft, limits: Limits, coming: int = 0) -> Trigger | None:
    """The limit that asks for a cut now, or with `coming` user messages more, the one that is
    exceeded most; None while none does."""
    exceeded = [trigger for trigger in triggers(draft, limits, coming) if trigger.met]
    return max(exceeded, key=lambda trigger: trigger.share, default=None)


def leaving_room(limits: Limits, coming: int) -> Limits:
    """The limits of a cut before `coming` user messages, each of which begins a turn that counts
    among those that stay whole."""
    if not coming:
        return limits
    return replace(
        limits,
        messages=max(1, limits.messages - coming) if limits.messages else 0,
        target_messages=max(1, limits.target_messages - coming) if limits.target_messages else 0,
        target_turns=max(1, limits.target_turns - coming) if limits.target_turns else 0,
        keep_turns=max(0, limits.keep_turns - coming),
        min_recent_messages=max(0, limits.min_recent_messages - coming),
    )


def _exceeds(value: int, limit: int) -> bool:
    return 0 < limit < value


def cut_saves_enough(before: Draft, after: Draft, limits: Limits) -> bool:
    """Whether a cut is worth committing (R27): it saves a tenth of the tokens, or messages when
    their number exceeds its limit (R15)."""
    return saves_enough(before, after) or (
        _exceeds(before.count, limits.messages) and after.count < before.count
    )


def saves_enough(before: Draft, after: Draft) -> bool:
    return after.tokens <= most_after(before.tokens)


def most_after(before: int) -> int:
    """The most tokens after a compaction of a request of `before` tokens (R27)."""
    return int(before * (1 - LEAST_SAVING))


def most_of_summary(replaced: int, *, manual: bool) -> int:
    """The most tokens of a summary that replaces `replaced` tokens of a request."""
    return int(replaced * (MANUAL_SUMMARY_SHARE if manual else 1 - LEAST_SAVING))


@dataclass(frozen=True, slots=True)
class Fixed:
    """Tokens and messages of a request that every cut leaves; `relief` are the tokens by which the
    results of the running turn can be shortened instead of a cut inside it."""

    tokens: int
    count: int
    relief: int = 0


def cut_index(
    groups: Sequence[Group],
    asked: Group | None,
    fixed: Fixed,
    limits: Limits,
    near: float = NEARLY,
) -> int:
    """How many of `groups`, the tail as it would be sent, to cut, so that the rest meets the
    target; 0 for none (R22).

    A cut ends before a user message. The last `limits.keep_turns` turns, and as many turns as have
    `limits.min_recent_messages` messages, stay whole as far as they have at most the share `near`
    of the limits. Only a turn that alone exceeds the target is cut inside, between its rounds; its
    user message is sent all the same, and so are `asked`, the last one, and the newest group.
    """
    rest = _Rest(groups, asked, fixed)
    nearly = replace(
        limits,
        trigger=int(limits.trigger * near),
        messages=max(1, int(limits.messages * near)) if limits.messages else 0,
    )
    begins = [index for index, group in enumerate(groups) if group.role == "user"]
    end, through = len(groups), -1
    for turns, begin in enumerate(reversed(begins), start=1):
        recent = turns <= limits.keep_turns or rest.messages(end) < limits.min_recent_messages
        if groups[begin] is asked:
            fits = rest.within_limits(begin, limits, fixed.relief)
        else:
            fits = recent and rest.within_limits(begin, nearly)
        if not fits and not rest.within_target(begin, limits):
            through = begin
            break
        end = begin
    alone = through >= 0 and rest.exceeds_target(through, end, limits)
    if end == len(groups) or alone:
        return rest.inside(through, end, limits, nearly)
    return end


def manual_cut_index(
    groups: Sequence[Group], asked: Group | None, fixed: Fixed, limits: Limits
) -> int:
    """How many of `groups` to cut when the user asks for it: all but the turns that hold
    `limits.min_recent_messages` messages; 0 when fewer messages than that are older."""
    index = cut_index(groups, asked, fixed, replace(limits, target=0, keep_turns=0), near=1.0)
    older = sum(len(group) for group in groups[:index] if group.role != "system")
    return index if older >= limits.min_recent_messages else 0


class _Rest:
    """What a request has when the groups before an index are cut."""

    def __init__(self, groups: Sequence[Group], asked: Group | None, fixed: Fixed) -> None:
        self._groups = groups
        self._asked = asked
        self._place = next((i for i, group in enumerate(groups) if group is asked), -1)
        self._fixed = fixed
        sizes = [(group.tokens, _messages(group), group.role == "user") for group in groups]
        # Sums of the groups from each index on.
        self._sums = [(0, 0, 0)]
        for size in reversed(sizes):
            self._sums.append(tuple(map(sum, zip(self._sums[-1], size, strict=True))))  # type: ignore[arg-type]
        self._sums.reverse()

    def messages(self, index: int) -> int:
        return self._sums[index][1]

    def within_limits(
        self, index: int, limits: Limits, relief: int = 0, user: Group | None = None
    ) -> bool:
        tokens, count, _ = self._at(index, user)
        return tokens - relief <= limits.trigger and not _exceeds(count, limits.messages)

    def within_target(self, index: int, limits: Limits, user: Group | None = None) -> bool:
        tokens, count, turns = self._at(index, user)
        return (
            tokens <= limits.target
            and not _exceeds(count, limits.target_messages)
            and not _exceeds(turns, limits.target_turns)
        )

    def exceeds_target(self, begin: int, end: int, limits: Limits) -> bool:
        """Whether the turn of the groups from `begin` up to `end` alone exceeds the target."""
        (tokens, count, _), (later, others, _) = self._sums[begin], self._sums[end]
        return tokens - later > limits.target or _exceeds(count - others, limits.target_messages)

    def inside(self, begin: int, end: int, limits: Limits, nearly: Limits) -> int:
        """The index of a cut inside the turn of the groups from `begin` up to `end`: its newest
        rounds within the target stay, and `limits.min_recent_messages` messages within the limits.
        The newest group of all stays whatever its size."""
        user = self._groups[begin] if begin >= 0 else None
        last = end
        if end == len(self._groups):
            spoken = (index for index, group in enumerate(self._groups) if group.role != "system")
            last = max(spoken, default=0)
        for index in range(last - 1, begin, -1):
            recent = self.messages(index + 1) < limits.min_recent_messages
            if not (
                self.within_target(index, limits, user)
                or (recent and self.within_limits(index, nearly, user=user))
            ):
                break
            last = index
        return last

    def _at(self, index: int, user: Group | None) -> tuple[int, int, int]:
        """Tokens, messages and turns with the user message of the turn that a cut goes through."""
        tokens, count, turns = self._sums[index]
        asked = self._asked
        extra = [asked] if asked is not None and not 0 <= index <= self._place else []
        if user is not None and user is not asked:
            extra.append(user)
        tokens += self._fixed.tokens + sum(group.tokens for group in extra)
        return tokens, count + self._fixed.count + len(extra), turns


def _messages(group: Group) -> int:
    return len(group) if group.role != "system" else 0


def mask_end(groups: Sequence[Group], keep_rounds: int) -> int:
    """The row before which a mask makes results digests, so that the last `keep_rounds` rounds
    stay; 0 for no mask."""
    rounds = [group for group in groups if group.is_round]
    if keep_rounds <= 0 or len(rounds) <= keep_rounds:
        return 0
    return rounds[-keep_rounds].first


def mask_is_enough(before: Draft, after: Draft, room: int) -> bool:
    """Whether a mask saves enough to be worth committing, and makes enough room by itself, so that
    no cut is needed soon (R27, R50)."""
    return saves_enough(before, after) and after.tokens <= room * MASKED_SHARE
