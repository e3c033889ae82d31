"""A plan: the messages of one request, what was left out, and the report. A value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..messages.prompt import PromptMessage
from .left_out import LeftOut
from .report import Report
from .window import Budget

__all__ = ["Budget", "LeftOut", "Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One request: its messages, its tools as they are sent, the report, and what was left out: the
    ranges of cuts, which are as many as the chat had, and single rows. `earlier_tokens` are those
    of messages before the user's last one, which a cut could take away."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, Any], ...]
    report: Report
    ranges: tuple[LeftOut, ...] = ()
    shortened: tuple[LeftOut, ...] = ()
    earlier_tokens: int = 0

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """All that was left out. Put together here, so that a plan of a long chat costs no more."""
        return (*self.ranges, *self.shortened)

    @property
    def tokens(self) -> int:
        """Estimated tokens of messages and tools."""
        return self.report.total.tokens
