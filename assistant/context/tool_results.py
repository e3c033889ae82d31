"""Old tool results: one line each; long ones: head and tail (R14, R17)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..messages.prompt import PromptMessage, ToolCall
from .clamp import clamp_result
from .digest import digest, is_digest
from .groups import Group, groups_of


@dataclass(frozen=True, slots=True)
class Shortened:
    """The history, and how many rounds (or results) a stage changed."""

    messages: tuple[PromptMessage, ...]
    count: int


def omit_old_results(messages: tuple[PromptMessage, ...], keep_last_rounds: int) -> Shortened:
    """Only the last `keep_last_rounds` rounds keep their results; 0 keeps all (R14).

    A result that is shorter than its line stays as it is.
    """
    if keep_last_rounds <= 0:
        return Shortened(messages, 0)
    groups = groups_of(messages)
    rounds = [index for index, group in enumerate(groups) if group.is_round]
    old = set(rounds[:-keep_last_rounds])
    return _change(groups, old, _to_line)


def clamp_long_results(messages: tuple[PromptMessage, ...], limit: int) -> Shortened:
    """Results over `limit` characters are clamped, except in the newest round; 0 clamps none
    (R17)."""
    if limit <= 0:
        return Shortened(messages, 0)
    groups = groups_of(messages)
    rounds = [index for index, group in enumerate(groups) if group.is_round]
    return _change(groups, set(rounds[:-1]), lambda _, result: _clamped(result, limit))


def admit_results(messages: tuple[PromptMessage, ...], limit: int) -> Shortened:
    """No result anywhere exceeds `limit` characters, so that one giant cannot fill the window."""
    groups = groups_of(messages)
    everywhere = {index for index, group in enumerate(groups) if group.is_round}
    return _change(groups, everywhere, lambda _, result: _clamped(result, limit))


def _change(
    groups: tuple[Group, ...],
    chosen: set[int],
    shorten: Callable[[ToolCall, PromptMessage], PromptMessage],
) -> Shortened:
    """Every result of the chosen rounds through `shorten`; counts the rounds that changed."""
    changed: list[PromptMessage] = []
    count = 0
    for index, group in enumerate(groups):
        if index not in chosen:
            changed.extend(group.messages)
            continue
        calls = {call.id: call for call in group.messages[0].tool_calls}
        results = [
            shorten(calls[result.tool_call_id or ""], result) for result in group.messages[1:]
        ]
        count += any(new is not old for new, old in zip(results, group.messages[1:], strict=True))
        changed.extend((group.messages[0], *results))
    return Shortened(tuple(changed), count)


def _to_line(call: ToolCall, result: PromptMessage) -> PromptMessage:
    if is_digest(result):
        return result
    line = digest(call, result)
    return replace(result, content=line) if len(line) < len(result.text) else result


def _clamped(result: PromptMessage, limit: int) -> PromptMessage:
    text = clamp_result(result.text, limit)
    return replace(result, content=text) if text != result.text else result
