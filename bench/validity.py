"""A strict check of a request, written apart from the engine's own validator.

OpenAI-compatible servers refuse an unanswered call, a result without its call or away from it, an
id used twice, an unknown role, an assistant message with nothing in it. Besides that, the order of
parallel results must be that of their calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ROLES = frozenset(("system", "developer", "user", "assistant", "tool"))


def faults(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The faults of a request; empty for a valid request."""
    found = _shape_faults(messages)
    expected: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            answered = message.get("tool_call_id")
            if answered not in expected:
                found.append(f"{index}: orphan result")
            else:
                if expected[0] != answered:
                    found.append(f"{index}: results out of order")
                expected.remove(str(answered))
            continue
        if expected:
            found.append(f"{index}: unanswered call")
        expected = []
        for call in message.get("tool_calls") or ():
            if call.get("id") in seen:
                found.append(f"{index}: duplicate id")
            seen.add(str(call.get("id")))
            expected.append(str(call.get("id")))
    if expected:
        found.append("end: unanswered call")
    return found


def _shape_faults(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    if not any(message.get("role") in ("user", "tool") for message in messages):
        found.append("nothing to answer")
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in ROLES:
            found.append(f"{index}: role {role!r}")
        calls = message.get("tool_calls")
        if calls and role != "assistant":
            found.append(f"{index}: calls in a {role} message")
        if role == "assistant" and not calls and not message.get("content"):
            found.append(f"{index}: empty assistant message")
        if role in ("user", "system", "tool") and message.get("content") is None:
            found.append(f"{index}: no content")
    return found
