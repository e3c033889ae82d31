"""Which of the history is sent: the newest groups that fit (R15, R20).

Whole groups stay or go. The last user message and the newest round after it always stay, even over
a limit: without them there is nothing to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..messages.prompt import PromptMessage
from .groups import Group, groups_of, last_user_group


@dataclass(frozen=True, slots=True)
class Kept:
    """The messages that stay, in order, and how many were left out."""

    messages: tuple[PromptMessage, ...]
    left_out: int


def limit_messages(messages: tuple[PromptMessage, ...], most: int) -> Kept:
    """At most `most` non-system messages; 0 keeps all (R15). System messages always stay."""
    if most <= 0:
        return Kept(messages, 0)
    return _newest(messages, most, lambda group: len(group.messages))


def limit_tokens(
    messages: tuple[PromptMessage, ...], most: int, tokens: Callable[[PromptMessage], int]
) -> Kept:
    """At most `most` tokens of non-system messages, as `tokens` counts them (R20)."""
    return _newest(messages, most, lambda group: sum(tokens(m) for m in group.messages))


def _newest(messages: tuple[PromptMessage, ...], most: int, cost: Callable[[Group], int]) -> Kept:
    groups = groups_of(messages)
    conversation = [n for n, group in enumerate(groups) if group.role != "system"]
    if not conversation:
        return Kept(messages, 0)
    kept = {n for n, group in enumerate(groups) if group.role == "system"}
    user = last_user_group(groups)
    protected = {conversation[-1]} | ({user} if user is not None else set())
    spent = sum(cost(groups[n]) for n in protected)
    kept |= protected
    for n in reversed(conversation):
        if n in protected:
            continue
        spent += cost(groups[n])
        if spent > most:
            break
        kept.add(n)
    chosen = tuple(m for n, group in enumerate(groups) if n in kept for m in group.messages)
    return Kept(chosen, len(messages) - len(chosen))
