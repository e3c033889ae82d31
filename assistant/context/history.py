"""Which of the history is sent: the newest groups that fit (R15, R20). Takes a repaired history.

Whole groups stay or go. The last user message and the newest round after it always stay, even over
a limit: without them there is nothing to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..messages.prompt import PromptMessage
from .groups import Group, groups_of, protected


@dataclass(frozen=True, slots=True)
class Kept:
    """The messages that stay, in order, and how many were left out."""

    messages: tuple[PromptMessage, ...]
    left_out: int = 0


def limit_messages(messages: tuple[PromptMessage, ...], most: int) -> Kept:
    """At most `most` non-system messages; 0 keeps all (R15). System messages always stay."""
    if most <= 0:
        return Kept(messages)
    return _newest(messages, most, lambda group: len(group.messages))


def limit_tokens(
    messages: tuple[PromptMessage, ...], most: int, tokens: Callable[[PromptMessage], int]
) -> Kept:
    """At most `most` tokens of non-system messages, as `tokens` counts them (R20)."""
    return _newest(messages, most, lambda group: sum(tokens(m) for m in group.messages))


def from_first_user(messages: tuple[PromptMessage, ...]) -> Kept:
    """Without the answers before the first user message, which have lost their question."""
    first = next((n for n, message in enumerate(messages) if message.role == "user"), 0)
    system = tuple(message for message in messages[:first] if message.role == "system")
    return Kept((*system, *messages[first:]), first - len(system))


def _newest(messages: tuple[PromptMessage, ...], most: int, cost: Callable[[Group], int]) -> Kept:
    groups = groups_of(messages)
    kept = {n for n, group in enumerate(groups) if group.role == "system"}
    always = protected(groups)
    kept |= always
    spent = sum(cost(groups[n]) for n in always)
    for n in reversed(range(len(groups))):
        if n in kept:
            continue
        spent += cost(groups[n])
        if spent > most:
            break
        kept.add(n)
    chosen = tuple(m for n, group in enumerate(groups) if n in kept for m in group.messages)
    return Kept(chosen, len(messages) - len(chosen))
