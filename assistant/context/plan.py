"""A plan: the messages of one request, the rows that it leaves out, and its report. A value."""

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
    """One request: its messages, its tool schemas, and its report. `ranges` are the rows that cuts
    cover, `shortened` the other rows that are not sent in full. `earlier_tokens` are the tokens of
    messages before the last user message, which a cut could remove."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, Any], ...]
    report: Report
    ranges: tuple[LeftOut, ...] = ()
    shortened: tuple[LeftOut, ...] = ()
    earlier_tokens: int = 0

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """All rows that are not sent in full. Joined on demand, so that a plan of a long chat does
        not copy its ranges."""
        return (*self.ranges, *self.shortened)

    @property
    def tokens(self) -> int:
        """Estimated tokens of messages and tools."""
        return self.report.total.tokens
