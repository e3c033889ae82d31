"""What stays or goes together: a round, or a single message.

A round is one assistant message with tool calls and the results that follow it (R14). Cutting
inside a round makes an invalid request, so every limit works on groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    def results(self) -> tuple[PromptMessage, ...]:
        """The results of a round; nothing for a single message."""
        return self.messages[1:]

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


def protected(groups: Sequence[Group]) -> frozenset[int]:
    """The indices of the last user message and of the newest group, its open round in a tool loop:
    without them there is nothing to answer (R15). System messages are not meant."""
    conversation = [index for index, group in enumerate(groups) if group.role != "system"]
    users = [index for index in conversation if groups[index].role == "user"]
    return frozenset((*conversation[-1:], *users[-1:]))
