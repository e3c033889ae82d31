"""Old tool results: one line each; long ones: head and tail (R14, R17).

Each stage takes and gives a repaired history: every result stands in the round of its call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..messages.prompt import PromptMessage, ToolCall
from .clamp import clamp_result
from .digest import digest, is_digest
from .groups import Group, groups_of
from .tokens import text_tokens


@dataclass(frozen=True, slots=True)
class Shortened:
    """The history, and how many rounds and results a stage changed."""

    messages: tuple[PromptMessage, ...]
    rounds: int = 0
    results: int = 0


def omit_old_results(messages: tuple[PromptMessage, ...], keep_last_rounds: int) -> Shortened:
    """Only the last `keep_last_rounds` rounds keep their results; 0 keeps all (R14).

    A result that is shorter than its line stays as it is.
    """
    if keep_last_rounds <= 0:
        return Shortened(messages)
    groups = groups_of(messages)
    return _change(groups, set(_rounds(groups)[:-keep_last_rounds]), _to_lines)


def clamp_long_results(messages: tuple[PromptMessage, ...], limit: int) -> Shortened:
    """Results over `limit` characters are clamped, except in the newest round and lines that
    stand for a result already; 0 clamps none (R17)."""
    if limit <= 0:
        return Shortened(messages)

    def clamp(group: Group) -> list[PromptMessage]:
        return [
            result if is_digest(result) else _with_text(result, clamp_result(result.text, limit))
            for result in group.results
        ]

    groups = groups_of(messages)
    return _change(groups, set(_rounds(groups)[:-1]), clamp)


def admit_results(messages: tuple[PromptMessage, ...], tokens: int) -> Shortened:
    """No round's results have more than `tokens` tokens together, so that none fills the window.

    The short ones stay; the long ones share what is left equally.
    """

    def admit(group: Group) -> list[PromptMessage]:
        sizes = [text_tokens(result.text) for result in group.results]
        share = fair_share(sizes, tokens)
        return [
            result if size <= share else _with_text(result, _within(result.text, size, share))
            for result, size in zip(group.results, sizes, strict=True)
        ]

    groups = groups_of(messages)
    return _change(groups, set(_rounds(groups)), admit)


def fair_share(sizes: Sequence[int], total: int) -> int:
    """The largest share such that `sizes`, each cut down to it, add up to at most `total`."""
    left = max(0, total)
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _rounds(groups: Sequence[Group]) -> list[int]:
    return [index for index, group in enumerate(groups) if group.is_round]


def _change(
    groups: tuple[Group, ...],
    chosen: set[int],
    shorten: Callable[[Group], list[PromptMessage]],
) -> Shortened:
    """The results of the chosen rounds through `shorten`, all else as it is."""
    messages: list[PromptMessage] = []
    rounds = results = 0
    for index, group in enumerate(groups):
        if index not in chosen:
            messages.extend(group.messages)
            continue
        shorter = shorten(group)
        changed = sum(new is not old for new, old in zip(shorter, group.results, strict=True))
        rounds += changed > 0
        results += changed
        messages.extend((group.messages[0], *shorter))
    return Shortened(tuple(messages), rounds, results)


def _to_lines(group: Group) -> list[PromptMessage]:
    calls = {call.id: call for call in group.messages[0].tool_calls}
    return [_to_line(calls[result.tool_call_id or ""], result) for result in group.results]


def _to_line(call: ToolCall, result: PromptMessage) -> PromptMessage:
    if is_digest(result):
        return result
    line = digest(call, result)
    return _with_text(result, line) if len(line) < len(result.text) else result


def _within(text: str, size: int, tokens: int) -> str:
    """`text`, which has `size` tokens, within `tokens` of them, or as near as clamping comes."""
    limit = len(text) * tokens // size
    clamped = clamp_result(text, max(1, limit))
    while text_tokens(clamped) > tokens and limit > 1:
        # Head and tail may be denser than the whole.
        limit = limit * 3 // 4
        clamped = clamp_result(text, max(1, limit))
    return clamped


def _with_text(result: PromptMessage, text: str) -> PromptMessage:
    return replace(result, content=text) if text != result.text else result
