"""Unique ids for the tool calls of a chat: some servers number their calls from 0 in each
answer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..messages.parts import Message

NAMELESS = "call"


class CallIds:
    """The ids of a chat's calls. For one turn; `messages` are read once."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages

    @cached_property
    def _used(self) -> set[str]:
        """Read when the turn has its first call: most turns have none."""
        return {part.tool_call_id for message in self._messages for part in message.tool_parts}

    def free(self, wanted: str) -> str:
        """`wanted` if no call has it, else `wanted` with a number. An id that is empty or not
        printable is replaced."""
        base = wanted if wanted and wanted.isprintable() else NAMELESS
        name, number = base, 2
        while name in self._used:
            name, number = f"{base}-{number}", number + 1
        self._used.add(name)
        return name
