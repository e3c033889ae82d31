"""The chosen messages as a server wants them (R19)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..messages.prompt import Content, PromptMessage, TextContent

OPENING = "(The earlier conversation is not shown.)"
"""Stands where a server wants a user message first and the history begins with an answer."""


def alternate(messages: Iterable[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Neighbouring user messages become one, and the conversation begins with the user.

    Chat templates of local models refuse anything else. Neighbouring answers, which a stopped turn
    can leave, become one too, unless one of them has calls.
    """
    rendered: list[PromptMessage] = []
    for message in messages:
        previous = rendered[-1] if rendered else None
        first = all(earlier.role == "system" for earlier in rendered)
        if first and message.role == "assistant":
            rendered.append(PromptMessage("user", OPENING))
            rendered.append(message)
        elif previous is not None and _joins(previous, message):
            rendered[-1] = replace(previous, content=_joined(previous.content, message.content))
        else:
            rendered.append(message)
    return tuple(rendered)


def _joins(previous: PromptMessage, message: PromptMessage) -> bool:
    if previous.role != message.role or message.role not in ("user", "assistant"):
        return False
    return not previous.tool_calls and not message.tool_calls


def _joined(first: Content, second: Content) -> Content:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return (*_parts(first), *_parts(second))


def _parts(content: Content) -> tuple:  # type: ignore[type-arg]
    return (TextContent(content),) if isinstance(content, str) else content
