"""The log of one chat: its rows, and the groups of rows that are sent or left out together.

A row is one message and never changes. A group is a single message, or a round: one assistant
message with calls, and the results that answer them (R14). Each message is processed once, when it
is appended: its tokens are counted, and what would make a request invalid is repaired (R53). An id
that is used twice gets a suffix; a call without a result gets one that says so; a result without a
call stays in the log and out of every request.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..messages.conversion import INTERRUPTED, output_text
from ..messages.json_text import json_text, mended
from ..messages.prompt import PromptMessage, ToolCall, to_openai
from .tokens import TextTokens, message_tokens
from .tool_facts import NO_FACTS, ToolFacts


@dataclass(frozen=True)
class Group:
    """The `messages` of the rows from `first` up to `end`. `rows` has each message's own row, None
    for a result that the log added. Rows of the range that are not in `rows` are never sent."""

    first: int
    end: int
    messages: tuple[PromptMessage, ...]
    rows: tuple[int | None, ...]
    count: TextTokens | None = field(default=None, compare=False, repr=False)
    """Counts the tokens of a text; None: tokens are estimated."""
    facts: ToolFacts = field(default=NO_FACTS, compare=False, repr=False)

    @property
    def role(self) -> str:
        return self.messages[0].role

    @property
    def is_round(self) -> bool:
        return bool(self.messages[0].tool_calls)

    @property
    def results(self) -> tuple[PromptMessage, ...]:
        """The results of a round; empty for a single message."""
        return self.messages[1:]

    def call_of(self, result: PromptMessage) -> ToolCall:
        return next(c for c in self.messages[0].tool_calls if c.id == result.tool_call_id)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Tokens of each message."""
        return tuple(message_tokens(message, self.count) for message in self.messages)

    @cached_property
    def tokens(self) -> int:
        return sum(self.sizes)

    def with_messages(self, messages: tuple[PromptMessage, ...]) -> Group:
        """The group with `messages` instead of its own; messages that stay are not counted
        again."""
        group = replace(self, messages=messages)
        known = self.__dict__.get("sizes")
        if known is not None:
            group.__dict__["sizes"] = tuple(
                size if new is old else message_tokens(new, self.count)
                for size, new, old in zip(known, messages, self.messages, strict=True)
            )
        return group

    def __len__(self) -> int:
        return len(self.messages)


class ChatLog:
    """Rows in order, and their groups. The log only grows, and returned values never change.

    `systems` are the rows of system messages, `last_user` is the row of the last user message,
    `first_turn` says that no assistant message comes before it (R1), and `unsent` are the rows that
    no request may have.
    """

    def __init__(
        self,
        messages: Iterable[PromptMessage] = (),
        count: TextTokens | None = None,
        facts: ToolFacts = NO_FACTS,
    ) -> None:
        self._count = count
        self.facts = facts
        self._rows: list[PromptMessage] = []
        self._closed: list[Group] = []
        self._open: _OpenRound | None = None
        self._uses: dict[str, int] = {}
        self._answered = False
        self.systems: list[int] = []
        self.unsent: list[int] = []
        self.last_user: int | None = None
        self.first_turn = True
        self._repairs = 0
        for message in messages:
            self.append(message)

    @property
    def repairs(self) -> int:
        """The number of repairs, including repairs in an open round."""
        added = 0
        if self._open is not None:
            added = sum(row is None for row in self._open.group(len(self._rows)).rows)
        return self._repairs + added

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> PromptMessage:
        return self._rows[index]

    def rows(self, first: int = 0, end: int | None = None) -> tuple[PromptMessage, ...]:
        """The rows from `first` up to `end`, which is not included; to the last row without it."""
        return tuple(self._rows[first:end])

    def append(self, message: PromptMessage) -> None:
        """Adds a row."""
        index = len(self._rows)
        self._rows.append(message)
        if message.role == "tool":
            self._append_result(index, message)
            return
        self._close_round()
        self._note_role(index, message)
        if message.is_empty:
            self._leave_out(index)
        elif message.tool_calls:
            calls = tuple(self._unique(call) for call in message.tool_calls)
            same = all(new is old for new, old in zip(calls, message.tool_calls, strict=True))
            self._repairs += not same
            self._open = _OpenRound(
                index,
                message if same else replace(message, tool_calls=calls),
                message.tool_calls,
                self._count,
                self.facts,
            )
        else:
            self._closed.append(
                Group(index, index + 1, (message,), (index,), self._count, self.facts)
            )

    def groups_from(self, row: int) -> tuple[Group, ...]:
        """The groups that begin at `row` or later, an open round included."""
        start = bisect_left(self._closed, row, key=_first)
        found = self._closed[start:]
        if self._open is not None:
            found.append(self._open.group(len(self._rows)))
        return tuple(found)

    def groups_between(self, first: int, end: int) -> tuple[Group, ...]:
        """The closed groups that begin in the rows from `first` up to `end`."""
        start, stop = (bisect_left(self._closed, row, key=_first) for row in (first, end))
        return tuple(self._closed[start:stop])

    def group_at(self, row: int) -> Group | None:
        """The closed group that begins at `row`."""
        index = bisect_left(self._closed, row, key=_first)
        found = self._closed[index : index + 1]
        return found[0] if found and found[0].first == row else None

    def content_hash(self, first: int, end: int) -> str:
        """A hash of the rows from `first` up to `end`, which shows whether a projection still
        fits."""
        hashed = hashlib.blake2b(digest_size=12)
        for row in self._rows[first:end]:
            hashed.update(json_text(to_openai(row)).encode("utf-8", "surrogatepass"))
            hashed.update(b"\n")
        return hashed.hexdigest()

    def _note_role(self, index: int, message: PromptMessage) -> None:
        if message.role == "system" and not message.is_empty:
            self.systems.append(index)
        elif message.role == "user":
            self.last_user = index
            self.first_turn = not self._answered
        elif message.role == "assistant":
            self._answered = True

    def _append_result(self, index: int, message: PromptMessage) -> None:
        if self._open is None or not self._open.answer(index, message):
            self._leave_out(index)

    def _close_round(self) -> None:
        if self._open is not None:
            group = self._open.group(len(self._rows) - 1)
            self._repairs += sum(row is None for row in group.rows)
            self._closed.append(group)
            self._open = None

    def _leave_out(self, index: int) -> None:
        self._repairs += 1
        self.unsent.append(index)

    def _unique(self, call: ToolCall) -> ToolCall:
        base = mended(call.id) or "call"
        name = base
        while name in self._uses:
            self._uses[base] += 1
            name = f"{base}-{self._uses[base]}"
        self._uses[name] = 1
        return call if name == call.id else replace(call, id=name)


def _first(group: Group) -> int:
    return group.first


class _OpenRound:
    """A round that may still get results."""

    def __init__(
        self,
        first: int,
        message: PromptMessage,
        original: tuple[ToolCall, ...],
        count: TextTokens | None,
        facts: ToolFacts,
    ) -> None:
        self._first = first
        self._count = count
        self._facts = facts
        self._message = message
        self._original = original
        self._answers: dict[int, tuple[int, PromptMessage]] = {}
        self._made: tuple[int, Group] | None = None

    def answer(self, index: int, result: PromptMessage) -> bool:
        """Adds the result to the first call with its id that has no result; False without such a
        call."""
        for number, call in enumerate(self._original):
            if call.id == result.tool_call_id and number not in self._answers:
                self._answers[number] = (index, result)
                return True
        return False

    def group(self, end: int) -> Group:
        if self._made is not None and self._made[0] == end:
            return self._made[1]
        messages = [self._message]
        rows: list[int | None] = [self._first]
        for number, call in enumerate(self._message.tool_calls):
            row, result = self._answers.get(number, (None, None))
            if result is None:
                result = PromptMessage("tool", output_text({"error": INTERRUPTED}), failed=True)
            if result.tool_call_id != call.id:
                result = replace(result, tool_call_id=call.id)
            messages.append(result)
            rows.append(row)
        group = Group(self._first, end, tuple(messages), tuple(rows), self._count, self._facts)
        self._made = (end, group)
        return group
