"""Ids of tool calls that are unique in a chat: some servers count their calls from 0 each time."""

from __future__ import annotations

from collections.abc import Iterable

from ..messages.parts import Message

NAMELESS = "call"


class CallIds:
    """The ids that the calls of a chat have. For one turn."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._used = {part.tool_call_id for message in messages for part in message.tool_parts}

    def free(self, wanted: str) -> str:
        """`wanted`, or with a number what no call has yet; an id that no log can hold is left."""
        base = wanted if wanted and wanted.isprintable() else NAMELESS
        name, number = base, 2
        while name in self._used:
            name, number = f"{base}-{number}", number + 1
        self._used.add(name)
        return name
