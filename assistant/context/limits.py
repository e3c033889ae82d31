"""The limits of a plan, in tokens, messages and turns, computed from the settings and the
budget."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Settings
from .fidelity import FidelityLimits
from .window import Budget

BELOW_LIMIT = 2 / 3
"""A cut by number leaves this share of its limit, so that the next cut is not due soon (R50)."""
BELOW_TOKENS = 0.57
"""A cut by tokens leaves at most this share of the limit that asked for it (R50)."""
LEAST_ROUND = 256
"""Tokens that the results of a round always have."""
HEAD_SHARE = 0.04
"""The most that the pinned first request has of the prompt, and its answer as much again (R22)."""
LEAST_WITH_HEAD = 8
"""With a smaller limit by number nothing is pinned."""
LEAST_PAGE, MOST_PAGE = 400, 6_000
"""Characters of a page of a recalled text."""
PAGE_CHARS_PER_TOKEN = 2
"""Characters of dense JSON for each token, its wrapping included."""
SUMMARY_OF_TARGET, CACHED_SUMMARY_OF_TARGET = 1 / 3, 1 / 2
"""The most that a summary has of a cut's target, since every request pays for the summary, in full
where prompts are not cached."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens, messages and turns; 0 is no limit.

    `room` is the most tokens of the messages, system messages included. A cut is due above
    `trigger` tokens, which the setting `trigger_setting` gives, above `messages` messages, or when
    more than `since_messages` messages or `since_turns` turns follow the last cut; it goes down to
    `target`, `target_messages` and `target_turns`, and leaves the last `keep_turns` turns whole
    where the limits allow. `head` is the most tokens of the pinned first request, and of its
    answer; `summary` of the summary. `cached` says that the provider caches prompts.
    """

    room: int
    trigger: int
    trigger_setting: str
    target: int
    messages: int
    target_messages: int
    target_turns: int
    keep_rounds: int
    keep_turns: int
    min_recent_messages: int
    since_messages: int
    since_turns: int
    head: int
    summary: int
    summary_share: float
    summarise: bool
    cached: bool
    fidelity: FidelityLimits

    @property
    def room_setting(self) -> str:
        """The setting that gives `room`."""
        by_share = self.trigger_setting == "LLM_SUMMARY_TRIGGER"
        return "LLM_CONTEXT_WINDOW" if by_share else self.trigger_setting

    @property
    def page_chars(self) -> int:
        """Characters of a recalled text that one result may have."""
        return max(LEAST_PAGE, min(MOST_PAGE, self.fidelity.round_tokens * PAGE_CHARS_PER_TOKEN))


def limits_of(settings: Settings, budget: Budget, taken: int = 0, system: int = 0) -> Limits:
    """The limits for a budget of which tools have `taken` tokens, and a system message `system`.

    The limits by number hold only where prompts are not cached. No request is planned for more than
    LLM_SUMMARY_MAX_TOKENS, however large the window. With LLM_SUMMARY=off only the window and
    LLM_HISTORY_MAX_MESSAGES cut."""
    cached = settings.prompt_cache == "auto"
    # With a limit of one message there is only room for the user's message.
    summarise = settings.summary != "off" and (cached or settings.history_max_messages != 1)
    by_share, absolute = budget.prompt - taken, settings.summary_max_tokens
    whole = min(by_share, absolute - taken) if absolute and summarise else by_share
    trigger = min(int(by_share * settings.summary_trigger), whole) if summarise else whole
    room = int(whole / budget.factor)
    most = 0 if cached else settings.history_max_messages
    since_messages = settings.summary_max_messages if summarise and not cached else 0
    since_turns = settings.summary_max_turns if summarise and not cached else 0
    target = int(min(by_share * settings.summary_target, trigger * BELOW_TOKENS) / budget.factor)
    return Limits(
        room=room,
        trigger=int(trigger / budget.factor),
        trigger_setting=_trigger_setting(settings, trigger, whole, by_share, summarise=summarise),
        target=target,
        messages=most,
        target_messages=_below(min(filter(None, (most, since_messages)), default=0)),
        target_turns=_below(since_turns),
        keep_rounds=settings.tool_result_keep_last_rounds,
        keep_turns=settings.keep_last_turns,
        min_recent_messages=settings.min_recent_messages,
        since_messages=since_messages,
        since_turns=since_turns,
        head=int(room * HEAD_SHARE) if most == 0 or most >= LEAST_WITH_HEAD else 0,
        summary=int(target * (CACHED_SUMMARY_OF_TARGET if cached else SUMMARY_OF_TARGET)),
        summary_share=settings.summary_share,
        summarise=summarise,
        cached=cached,
        fidelity=FidelityLimits(
            # Without the factor, which changes, so that a capped round keeps its bytes.
            round_tokens=max(LEAST_ROUND, trigger - system),
            result_chars=settings.tool_output_trim_chars,
            repeat_chars=settings.repeat_min_chars,
        ),
    )


def _trigger_setting(
    settings: Settings, trigger: int, whole: int, by_share: int, *, summarise: bool
) -> str:
    """The setting that gives the trigger by tokens."""
    if whole < by_share and trigger == whole:
        return "LLM_SUMMARY_MAX_TOKENS"
    if summarise and settings.summary_trigger < 1:
        return "LLM_SUMMARY_TRIGGER"
    return "LLM_CONTEXT_WINDOW"


def _below(limit: int) -> int:
    """The count after a cut by number: two thirds of `limit`; 0 stays 0."""
    return max(1, int(limit * BELOW_LIMIT)) if limit > 0 else 0
