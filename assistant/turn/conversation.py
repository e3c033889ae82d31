"""A chat's messages as the rows of its context, fed as they come.

A turn plans several requests over almost the same messages, and the next turn over almost the same
again. What was fed is not converted a second time; only a chat whose past has changed (another
branch, an edited message) is fed anew, and its projections drop what does not fit any more (R51).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ..config import Settings
from ..context.chat_context import ChatContext
from ..context.projections import Projections
from ..context.report import Report
from ..context.tail import Tail
from ..context.tool_facts import NO_FACTS, ToolFacts
from ..context.window import Budget
from ..messages.conversion import rows_of
from ..messages.parts import Message
from ..messages.prompt import PromptMessage


class Conversation:
    """One chat's context, and the messages that it holds.

    Work on it is done in threads, and a thread goes on when the turn that waits for it is stopped:
    so whoever feeds, plans or compacts holds `lock`. `report` is that of the last request that was
    answered, or of the one that would be sent after a compaction. `tail` is what the current turn's
    requests say besides the chat; it is frozen until the next turn.
    """

    def __init__(
        self,
        settings: Settings,
        projections: Projections | None = None,
        facts: ToolFacts = NO_FACTS,
    ) -> None:
        self._settings = settings
        self._facts = facts
        self._restored = projections
        self._fed: list[tuple[Message, int]] = []
        self.lock = threading.Lock()
        self.report: Report | None = None
        self.tail = Tail()
        self.context = ChatContext(settings, Budget(), facts=facts)

    def feed(self, messages: Sequence[Message]) -> ChatContext:
        """The context of `messages`, the chat's path so far; system messages are not among them."""
        common = self._common(messages)
        first = self._fed[common - 1][1] if common else 0
        converted = [rows_of(message) for message in messages[common:]]
        rows = [row for made in converted for row in made]
        if self._restored is not None or not self.context.continues(first, rows):
            self._begin_anew([*self.context.rows(0, first), *rows])
        for row in rows[len(self.context) - first :]:
            self.context.append(row)
        end = first
        del self._fed[common:]
        for message, made in zip(messages[common:], converted, strict=True):
            end += len(made)
            self._fed.append((message, end))
        return self.context

    def rows_of_message(self, message_id: str) -> range:
        """The rows of a message; empty where it has none or is not on the path."""
        first = 0
        for message, end in self._fed:
            if message.id == message_id:
                return range(first, end)
            first = end
        return range(0)

    def _begin_anew(self, rows: Sequence[PromptMessage]) -> None:
        projections = self._restored or self.context.projections
        self._restored = None
        self.context = ChatContext(
            self._settings,
            Budget(),
            messages=rows,
            projections=projections,
            facts=self._facts,
        )

    def _common(self, messages: Sequence[Message]) -> int:
        """How many messages both begin with. The same object is the same message."""
        for place, ((fed, _), message) in enumerate(zip(self._fed, messages, strict=False)):
            if fed is not message and fed != message:
                return place
        return min(len(self._fed), len(messages))
