"""Histories that no provider would accept, made valid with as little change as possible (R53).

Aborted tools, clients that lost a message, and servers that reuse ids leave calls without results,
results without calls, results out of order and ids used twice. A valid history comes back
unchanged.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..messages.conversion import INTERRUPTED, output_text
from ..messages.prompt import PromptMessage


@dataclass(frozen=True, slots=True)
class Repaired:
    """The valid history, and how many messages had to be added, changed or left out; 1 where
    messages were only moved, 0 for a history that was valid."""

    messages: tuple[PromptMessage, ...]
    changes: int


def repair(messages: Iterable[PromptMessage]) -> Repaired:
    """The history with every call answered right after it, once, in the order of the calls.

    A result is matched to the latest earlier call with its id that has none yet. What answers no
    call is left out, what has no result gets one that says so, and an id that an earlier call has
    used gets a suffix. Messages without any content are left out, too.
    """
    history = tuple(messages)
    results = _results_by_call(history)
    used: dict[str, int] = {}
    repaired: list[PromptMessage] = []
    for index, message in enumerate(history):
        if message.role == "tool" or message.is_empty:
            continue
        if not message.tool_calls:
            repaired.append(message)
            continue
        names = []
        answers = []
        for number, call in enumerate(message.tool_calls):
            name = _free_id(call.id, used)
            names.append(replace(call, id=name) if name != call.id else call)
            answer = results.get((index, number)) or _interrupted(message)
            answers.append(
                replace(answer, tool_call_id=name) if answer.tool_call_id != name else answer
            )
        changed = any(new is not old for new, old in zip(names, message.tool_calls, strict=True))
        repaired.append(replace(message, tool_calls=tuple(names)) if changed else message)
        repaired.extend(answers)
    return Repaired(tuple(repaired), _differences(history, repaired))


def _results_by_call(history: tuple[PromptMessage, ...]) -> dict[tuple[int, int], PromptMessage]:
    """(message, call) positions -> the result that answers that call."""
    waiting: dict[str, deque[tuple[int, int]]] = defaultdict(deque)
    results: dict[tuple[int, int], PromptMessage] = {}
    for index, message in enumerate(history):
        if message.tool_calls:
            # A call of the same id in an older message will not be answered any more.
            for call in message.tool_calls:
                waiting[call.id].clear()
            for number, call in enumerate(message.tool_calls):
                waiting[call.id].append((index, number))
        elif message.role == "tool" and message.tool_call_id and waiting[message.tool_call_id]:
            results[waiting[message.tool_call_id].popleft()] = message
    return results


def _free_id(wanted: str, used: dict[str, int]) -> str:
    """`wanted`, or the next `wanted-2`, `wanted-3` that is free; `used` counts the tries so far."""
    base = wanted or "call"
    name = base
    while name in used:
        used[base] += 1
        name = f"{base}-{used[base]}"
    used[name] = 1
    return name


def _interrupted(call: PromptMessage) -> PromptMessage:
    return PromptMessage(
        "tool", output_text({"error": INTERRUPTED}), failed=True, source=call.source
    )


def _differences(before: tuple[PromptMessage, ...], after: list[PromptMessage]) -> int:
    old, new = ([id(message) for message in messages] for messages in (before, after))
    if old == new:
        return 0
    counts, counts_now = Counter(old), Counter(new)
    return max(1, (counts - counts_now).total(), (counts_now - counts).total())
