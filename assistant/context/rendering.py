"""Orders messages for servers that require alternating roles (R19)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..messages.prompt import Content, ImageContent, PromptMessage, TextContent

OPENING = PromptMessage("user", "(The conversation goes on from here.)")
"""Stands before an assistant message that would be the first one, such as a greeting, or an answer
after a cut without a summary."""


def alternate(messages: Iterable[PromptMessage]) -> tuple[PromptMessage, ...]:
    """The messages with one system message in front, then user and assistant in turns, the user
    first; neighbouring messages of one role are joined. Chat templates of local models refuse any
    other order."""
    rendered: list[PromptMessage] = []
    talking = False
    for message in sorted(messages, key=lambda message: message.role != "system"):
        if not talking and message.role == "assistant":
            rendered.append(OPENING)
        talking = talking or message.role != "system"
        if rendered and _joins(rendered[-1], message):
            earlier = rendered[-1]
            # The later message keeps its other fields: it may have calls.
            rendered[-1] = replace(message, content=_joined(earlier.content, message.content))
        else:
            rendered.append(message)
    return tuple(rendered)


def _joins(previous: PromptMessage, message: PromptMessage) -> bool:
    return (
        previous.role == message.role
        and message.role in ("system", "user", "assistant")
        and not previous.tool_calls
    )


def _joined(first: Content, second: Content) -> Content:
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(filter(None, (first, second)))
    return (*_parts(first), *_parts(second))


def _parts(content: Content) -> tuple[TextContent | ImageContent, ...]:
    if isinstance(content, str):
        return (TextContent(content),) if content else ()
    return content
