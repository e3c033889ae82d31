"""The settings as the numbers that planning works with."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Settings
from .fidelity import ShapeLimits
from .window import Budget

BELOW_LIMIT = 2 / 3
"""A cut by number goes a third below its limit, so that the next ones come rarely (R50)."""
ROUND_SHARE = 0.5
"""Results of one round have at most this share of the prompt where nothing is cached."""
CACHED_ROUND_SHARE = 1 / 25
"""The same where prompts are cached: what is admitted stays as it is until a batch is masked, so
giants are clamped when they come in. Measured by bench/replay.py."""
LEAST_ROUND = 256
"""Tokens of a round's results that are always admitted."""
HEAD_SHARE = 0.04
"""The pinned first request has at most this share of the prompt."""
LEAST_WITH_HEAD = 8
"""Under so many messages none can be spared for the first request."""
LEAST_PAGE, MOST_PAGE = 400, 6_000
"""Characters of a page of a recalled text."""
PAGE_CHARS_PER_TOKEN = 2
"""Dense JSON has about this many characters a token, with its wrapping."""
SUMMARY_SHARE = 0.30
"""Of what system message and tools leave (R20)."""
SUMMARY_OF_TARGET, CACHED_SUMMARY_OF_TARGET = 1 / 3, 1 / 2
"""Nor is a summary more than this share of what a cut aims at: it is paid for in every request, in
full where nothing is cached."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens, messages and turns; 0 is no limit. A cut by number goes down to `target_messages` and
    `target_turns`. `cached`: commitments gather into batches."""

    prompt: int
    trigger: int
    target: int
    messages: int
    target_messages: int
    target_turns: int
    keep_rounds: int
    least_recent: int
    since_messages: int
    since_turns: int
    head: int
    summary: int
    summary_share: float
    summarise: bool
    cached: bool
    shapes: ShapeLimits

    @property
    def page_chars(self) -> int:
        """How much of a recalled text is admitted as it is."""
        return max(LEAST_PAGE, min(MOST_PAGE, self.shapes.admit * PAGE_CHARS_PER_TOKEN))


def limits_of(settings: Settings, budget: Budget) -> Limits:
    """The numbers for a budget. Where nothing is cached the limits by number hold always; where it
    is, only the window does."""
    cached = settings.prompt_cache == "auto"
    whole = budget.prompt
    prompt = int(whole / budget.factor)
    most = 0 if cached else settings.history_max_messages
    since_messages = 0 if cached else settings.summary_max_messages
    since_turns = 0 if cached else settings.summary_max_turns
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
        least_recent=settings.min_recent_messages,
        since_messages=since_messages,
        since_turns=since_turns,
        head=int(prompt * HEAD_SHARE) if most == 0 or most >= LEAST_WITH_HEAD else 0,
        summary=int(target * (CACHED_SUMMARY_OF_TARGET if cached else SUMMARY_OF_TARGET)),
        summary_share=SUMMARY_SHARE,
        # The one message that may always be sent is the user's.
        summarise=settings.summary != "off" and most != 1,
        cached=cached,
        shapes=ShapeLimits(
            # Not by the factor: what was admitted stays as it is.
            admit=max(LEAST_ROUND, int(whole * share)),
            clamp=settings.tool_output_trim_chars,
            repeat=settings.repeat_min_chars,
        ),
    )


def _below(limit: int) -> int:
    """What a cut by number goes down to; no limit has none."""
    return max(1, int(limit * BELOW_LIMIT)) if limit > 0 else 0
