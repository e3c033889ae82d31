"""The limits of a plan, in tokens, messages and turns, computed from the settings and the
budget."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Settings
from .fidelity import FidelityLimits
from .window import Budget

BELOW_LIMIT = 2 / 3
"""A cut by number leaves this share of its limit, so that the next cut is not due soon (R50)."""
ROUND_SHARE = 0.5
"""The most that the results of one round have of the prompt where prompts are not cached."""
CACHED_ROUND_SHARE = 1 / 25
"""The same share where prompts are cached. There a result stays in the request until a mask, so
long results are shortened when they first appear. Measured by bench/replay.py."""
LEAST_ROUND = 256
"""Tokens that the results of a round always have."""
HEAD_SHARE = 0.04
"""The most that the pinned first request has of the prompt."""
LEAST_WITH_HEAD = 8
"""With a smaller limit by number the first request is not pinned."""
LEAST_PAGE, MOST_PAGE = 400, 6_000
"""Characters of a page of a recalled text."""
PAGE_CHARS_PER_TOKEN = 2
"""Characters of dense JSON for each token, its wrapping included."""
SUMMARY_SHARE = 0.30
"""The most that a summary has of the room that system message and tools leave (R20)."""
SUMMARY_OF_TARGET, CACHED_SUMMARY_OF_TARGET = 1 / 3, 1 / 2
"""The most that a summary has of a cut's target, since every request pays for the summary, in full
where prompts are not cached."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens, messages and turns; 0 is no limit.

    `prompt` is the room for system message, tools and messages. A cut is due above `trigger` tokens
    or `messages` messages, or when more than `since_messages` messages or `since_turns` turns
    follow the last cut; it goes down to `target`, `target_messages` and `target_turns`. `head` and
    `summary` are the most tokens of the pinned first request and of the summary. `cached` says that
    the provider caches prompts.
    """

    prompt: int
    trigger: int
    target: int
    messages: int
    target_messages: int
    target_turns: int
    keep_rounds: int
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
    def page_chars(self) -> int:
        """Characters of a recalled text that no fidelity shortens."""
        return max(LEAST_PAGE, min(MOST_PAGE, self.fidelity.round_tokens * PAGE_CHARS_PER_TOKEN))


def limits_of(settings: Settings, budget: Budget) -> Limits:
    """The limits for a budget. The limits by number hold only where prompts are not cached."""
    cached = settings.prompt_cache == "auto"
    whole = budget.prompt
    prompt = int(whole / budget.factor)
    most = 0 if cached else settings.history_max_messages
    # Without summaries, the limits that ask for one do not cut.
    unasked = cached or settings.summary == "off"
    since_messages = 0 if unasked else settings.summary_max_messages
    since_turns = 0 if unasked else settings.summary_max_turns
    share = CACHED_ROUND_SHARE if cached else ROUND_SHARE
    target = int(prompt * settings.summary_target)
    return Limits(
        prompt=prompt,
        trigger=min(int(prompt * settings.summary_trigger), settings.summary_max_tokens or prompt),
        target=target,
        messages=most,
        target_messages=_below(min(filter(None, (most, since_messages)), default=0)),
        target_turns=_below(since_turns),
        keep_rounds=settings.tool_result_keep_last_rounds,
        min_recent_messages=settings.min_recent_messages,
        since_messages=since_messages,
        since_turns=since_turns,
        head=int(prompt * HEAD_SHARE) if most == 0 or most >= LEAST_WITH_HEAD else 0,
        summary=int(target * (CACHED_SUMMARY_OF_TARGET if cached else SUMMARY_OF_TARGET)),
        summary_share=SUMMARY_SHARE,
        # With a limit of one message there is only room for the user's message.
        summarise=settings.summary != "off" and most != 1,
        cached=cached,
        fidelity=FidelityLimits(
            # Without the factor, which changes, so that a capped round keeps its bytes.
            round_tokens=max(LEAST_ROUND, int(whole * share)),
            result_chars=settings.tool_output_trim_chars,
            repeat_chars=settings.repeat_min_chars,
        ),
    )


def _below(limit: int) -> int:
    """The count after a cut by number: two thirds of `limit`; 0 stays 0."""
    return max(1, int(limit * BELOW_LIMIT)) if limit > 0 else 0
