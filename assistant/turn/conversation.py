"""A chat's messages as the rows of its context.

A turn plans several requests over almost the same messages, and so does the next turn. Messages
that the context has already are not converted again. A chat whose past has changed (another branch,
an edited message) is fed anew, and projections that do not fit the new past are dropped (R51).
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..config import Settings
from ..context.chat_context import ChatContext
from ..context.projections import Projections
from ..context.report import Report
from ..context.tail import Tail
from ..context.tokens import message_chars
from ..context.tool_facts import NO_FACTS, ToolFacts
from ..context.window import Budget
from ..errors import Conflict
from ..memory.choice import Choice
from ..messages.conversion import rows_of
from ..messages.parts import Message
from ..messages.prompt import PromptMessage


class Conversation:
    """One chat's context, and the messages that it holds.

    Feeding, planning and compacting happen in threads, and a thread goes on when the turn that
    waits for it is stopped: so feeding, planning and compacting each hold `lock`, the innermost
    lock of a turn (the others are in `sessions.chat_session`). Only threads take it: in the event
    loop all of ComfyUI would wait. `report` describes the last answered request, or the request
    that would be sent after a compaction. `tail` is text that stands in the current turn's requests
    only; it stays the same until the next turn. `tail_of` is the id of that turn's answer,
    `memories` those that it was given. `answering` is the id of the newest turn's answer, also
    before that turn has its tail. `lines` are the last one-line notes by their kinds
    (`standing_notes`). `taken_back` are the ids of the answers whose edits a person took back; the
    context knows them when it is fed.
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
        self._messages: list[Message] = []
        # For each message the row after its last one.
        self._ends: list[int] = []
        self._places: dict[str, int] = {}
        self._sizes: list[int] = []
        self.chars = 0
        self.lock = threading.RLock()
        self.report: Report | None = None
        self.tail = Tail()
        self.tail_of: str | None = None
        self.answering: str | None = None
        self.memories = Choice()
        self.lines: dict[str, str] = {}
        self.taken_back = frozenset(projections.taken_back if projections else ())
        self.context = ChatContext(settings, Budget(), facts=facts)

    @contextmanager
    def held_for(self, answer_id: str) -> Iterator[None]:
        """Holds the lock for the turn of this answer. Raises Conflict (`turn_running`) where a
        later turn has begun: this one was stopped, and only its thread goes on."""
        with self.lock:
            if self.answering not in (None, answer_id):
                raise Conflict("A later answer has begun in this chat.", code="turn_running")
            yield

    def feed(self, messages: Sequence[Message], answer: Message | None = None) -> ChatContext:
        """The context of `messages`, the chat's path so far without system messages, and of
        `answer`, which follows them."""
        common = self._common(messages)
        new = list(messages[common:])
        if answer is not None and (new or self._messages[common : common + 1] != [answer]):
            new.append(answer)
        elif answer is not None:
            common += 1
        first = self._ends[common - 1] if common else 0
        converted = [rows_of(message) for message in new]
        rows = [row for made in converted for row in made]
        if self._restored is not None or not self.context.continues(first, rows):
            self._begin_anew([*self.context.rows(0, first), *rows])
        for row in rows[len(self.context) - first :]:
            self.context.append(row)
        end = first
        self.chars -= sum(self._sizes[common:])
        del self._messages[common:], self._ends[common:], self._sizes[common:]
        for message, made in zip(new, converted, strict=True):
            end += len(made)
            self._places[message.id] = len(self._messages)
            self._messages.append(message)
            self._ends.append(end)
            self._sizes.append(sum(map(_chars, made)))
            self.chars += self._sizes[-1]
        self.context.take_back(self.taken_back)
        return self.context

    def feed_locked(self, messages: Sequence[Message]) -> None:
        """`feed` for callers that do not hold the lock."""
        with self.lock:
            self.feed(messages)

    @property
    def messages(self) -> Sequence[Message]:
        """The messages that were fed, in their order."""
        return list(self._messages)

    def message(self, message_id: str) -> tuple[Message, range] | None:
        """A message with its rows; None where it is not on the path."""
        place = self._places.get(message_id, len(self._messages))
        # The place is an old one where the path is another now.
        if place >= len(self._messages) or self._messages[place].id != message_id:
            return None
        first = self._ends[place - 1] if place else 0
        return self._messages[place], range(first, self._ends[place])

    def message_at(self, row: int) -> Message:
        """The message that the row belongs to."""
        return self._messages[bisect_right(self._ends, row)]

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
        """The number of messages at the beginning of `messages` that were fed already."""
        # Mostly only the last one differs, of thousands: many are compared as a whole.
        same, most = 0, min(len(self._messages), len(messages))
        middle = most
        while same < most:
            if self._messages[same:middle] == list(messages[same:middle]):
                same = middle
            else:
                most = middle - 1
            middle = (same + most + 1) // 2
        return same


def _chars(row: PromptMessage) -> int:
    return message_chars(row) + sum(len(image.url) for image in row.images)
