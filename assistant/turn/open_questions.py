"""The questions about calls that the server asked in turns without a chat, until they are answered.

No log holds such a turn: its client sends all messages, so the server itself keeps which calls it
asked about. A decision lets a call run once, with the arguments that are kept here. After a
restart, and for a question that is older than the newest `MOST_QUESTIONS`, it is refused.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from ..messages.json_text import json_text
from ..messages.outside import is_decided, same_arguments
from ..messages.parts import Message, ToolPart

MOST_QUESTIONS = 1_000
MOST_CHARACTERS = 8_000_000
"""Of the arguments of all open questions. Beyond it the oldest question is dropped."""


class OpenQuestions:
    """For one event loop, and one ComfyUI user."""

    def __init__(self) -> None:
        self._parts: dict[str, ToolPart] = {}
        self._sizes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._parts)

    def ask(self, part: ToolPart) -> str:
        """Keeps a call that is about to be asked about; returns the id of the question, which
        nobody can guess."""
        identity = f"approve-{secrets.token_hex(16)}"
        self._parts[identity] = part
        self._sizes[identity] = len(json_text(part.input))
        while len(self._parts) > MOST_QUESTIONS or (
            len(self._parts) > 1 and sum(self._sizes.values()) > MOST_CHARACTERS
        ):
            self._forget(next(iter(self._parts)))
        return identity

    def answered(self, part: ToolPart) -> ToolPart | None:
        """The call as it was asked about, with the decision of `part`; None where just this call
        with just these arguments was not asked about, or is answered already."""
        kept = self._parts.get(part.approval.id) if part.approval else None
        if kept is None or (kept.tool_call_id, kept.tool_name) != (
            part.tool_call_id,
            part.tool_name,
        ):
            return None
        if part.input is not None and not same_arguments(kept.input, part.input):
            return None
        return replace(kept, state=part.state, approval=part.approval)

    def close(self, answer: Message) -> None:
        """Drops the questions that the decisions in this answer answer."""
        for part in answer.tool_parts:
            if is_decided(part) and part.approval is not None:
                self._forget(part.approval.id)

    def _forget(self, identity: str) -> None:
        self._parts.pop(identity, None)
        self._sizes.pop(identity, None)
