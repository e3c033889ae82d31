"""The chosen messages as a server wants them (R19)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..messages.prompt import Content, ImageContent, PromptMessage, TextContent

OPENING = PromptMessage("user", "(The conversation goes on from here.)")
"""Stands before an assistant message that would come first: after a cut without a summary, or a
greeting."""


def alternate(messages: Iterable[PromptMessage]) -> tuple[PromptMessage, ...]:
    """System messages in front as one, then user and assistant in turns, the user first.

    Chat templates of local models refuse anything else. Neighbouring messages of one role become
    one.
    """
    rendered: list[PromptMessage] = []
    talking = False
    for message in sorted(messages, key=lambda message: message.role != "system"):
        if not talking and message.role == "assistant":
            rendered.append(OPENING)
        talking = talking or message.role != "system"
        if rendered and _joins(rendered[-1], message):
            earlier = rendered[-1]
            # The later one stays what it is: it may have calls, and it may be the newest.
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
