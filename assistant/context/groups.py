"""What stays or goes together: a round, or a single message.

A round is one assistant message with tool calls and the results that follow it (R14). Cutting
inside a round makes an invalid request, so every limit works on groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..messages.prompt import PromptMessage


@dataclass(frozen=True, slots=True)
class Group:
    """Messages `start` to `start + len(messages)` of a history, kept or dropped as one."""

    start: int
    messages: tuple[PromptMessage, ...]

    @property
    def is_round(self) -> bool:
        return bool(self.messages[0].tool_calls)

    @property
    def role(self) -> str:
        return self.messages[0].role


def groups_of(messages: Iterable[PromptMessage]) -> tuple[Group, ...]:
    """The groups in order; together they are exactly `messages`."""
    groups: list[Group] = []
    current: list[PromptMessage] = []
    start = 0
    for index, message in enumerate(messages):
        joins = bool(current) and bool(current[0].tool_calls) and message.role == "tool"
        if current and not joins:
            groups.append(Group(start, tuple(current)))
            current = []
        if not current:
            start = index
        current.append(message)
    if current:
        groups.append(Group(start, tuple(current)))
    return tuple(groups)


def last_user_group(groups: tuple[Group, ...]) -> int | None:
    """The index of the last user message's group, or None."""
    users = [index for index, group in enumerate(groups) if group.role == "user"]
    return users[-1] if users else None
