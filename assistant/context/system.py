"""Which system message a request gets (R1-R3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..messages.prompt import PromptMessage

SystemKind = Literal["full", "continuation", "compact", "client"]


@dataclass(frozen=True, slots=True)
class SystemText:
    """A system message with what its report needs: the share of the user context in characters,
    the limits that were applied to it and the names of what was left out."""

    text: str
    kind: SystemKind
    user_context_chars: int = 0
    limits: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def has_system(messages: Sequence[PromptMessage]) -> bool:
    """True when the client sent a system message, which then holds (R3)."""
    return any(message.role == "system" for message in messages)


def is_first_turn(messages: Sequence[PromptMessage]) -> bool:
    """True when no assistant message comes before the last user message (R1).

    So every request of the first turn's tool loop still has the full system message.
    """
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    before = messages[: users[-1]] if users else messages
    return not any(message.role == "assistant" for message in before)


def with_system(
    messages: tuple[PromptMessage, ...], system: SystemText | None
) -> tuple[PromptMessage, ...]:
    """The history behind its system message; unchanged when the client sent its own (R3)."""
    if system is None or has_system(messages) or not system.text:
        return messages
    return (PromptMessage("system", system.text), *messages)
