"""Checks the pairing, order and roles of a request before it is sent (R53).

`faults` names everything that an OpenAI-compatible server would refuse. A fault in a plan is a bug
of this room: `ChatContext.plan` raises an error instead of sending the request.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..messages.prompt import PromptMessage


def faults(messages: Sequence[PromptMessage], *, alternation: bool = False) -> tuple[str, ...]:
    """The faults of a request, in order of position; empty for a valid request.

    With `alternation`, system messages come first, and user and assistant take turns after them,
    beginning with the user; results aside.
    """
    found: list[str] = []
    waiting: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id in waiting:
                waiting.remove(message.tool_call_id or "")
            else:
                found.append(f"message {index}: a result without its call")
            continue
        if waiting:
            found.append(f"message {index}: {len(waiting)} calls before it have no result")
            waiting = []
        for call in message.tool_calls:
            if call.id in seen:
                found.append(f"message {index}: the id {call.id!r} is used twice")
            seen.add(call.id)
            waiting.append(call.id)
        if message.tool_calls and message.role != "assistant":
            found.append(f"message {index}: tool calls in a {message.role} message")
        if message.is_empty:
            found.append(f"message {index}: an empty {message.role} message")
    if waiting:
        found.append(f"{len(waiting)} calls at the end have no result")
    conversation = [message.role for message in messages if message.role in ("user", "assistant")]
    if not conversation:
        found.append("no message for the model to answer")
    if alternation:
        found.extend(_alternation_faults(messages))
    return tuple(found)


def _alternation_faults(messages: Sequence[PromptMessage]) -> list[str]:
    found: list[str] = []
    previous: str | None = None
    for index, message in enumerate(messages):
        if message.role == "user" and previous == "user":
            found.append(f"message {index}: two user messages in a row")
        if message.role == "assistant" and previous == "assistant":
            found.append(f"message {index}: two assistant messages in a row")
        if message.role == "assistant" and previous is None:
            found.append(f"message {index}: an assistant message before any user message")
        if message.role == "system" and previous is not None:
            found.append(f"message {index}: a system message within the conversation")
        if message.role != "system":
            previous = message.role
    return found
