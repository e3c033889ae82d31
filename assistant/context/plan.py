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
    """One request: its messages, its tools as they are sent, what was left out, and the report."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, Any], ...]
    report: Report
    left_out: tuple[LeftOut, ...] = ()

    @property
    def tokens(self) -> int:
        """Estimated tokens of messages and tools."""
        return self.report.total.tokens
