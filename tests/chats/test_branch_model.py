"""The laws of paths and of the queue, under any order of operations.

The model reads the log's rows as they are and computes paths by brute force, which the store finds
with row ranges and indexes.
"""

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from plugin.assistant.chats import (
    Branches,
    ChatQueue,
    Parent,
    Queued,
    TurnStart,
    Versions,
)
from plugin.assistant.errors import InvalidRequest, NotFound
from plugin.assistant.messages.origin import is_event, without_events
from plugin.assistant.messages.parts import Message
from sqlalchemy import text

from .examples import answer, user
from .machine import OnDisk

pytestmark = pytest.mark.slow

CHAT = "c"
NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)
PLACES = st.integers(0, 20)


@dataclass(frozen=True)
class Row:
    row: int
    parent_row: int | None
    message_id: str
    role: str
    depth: int
    body: str


class Branching(OnDisk):
    """Chats with their branches and their queue."""

    def open(self) -> None:
        super().open()
        self.branches = Branches(self.store)
        self.queue = ChatQueue(self.store)

    @initialize()
    def create(self) -> None:
        self.run(self.store.create(CHAT))

    @rule()
    def begin_anew(self) -> None:
        """A new process: nothing but the file is left."""
        self.open()


class Paths(Branching):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Row] = []
        self.path: list[Message] = []

    def rows(self) -> list[Row]:
        columns = '"row", parent_row, message_id, role, depth, body'
        query = text(f'SELECT {columns} FROM messages ORDER BY "row"')
        return self.run(self.database.read(lambda c: [Row(*row) for row in c.execute(query)]))

    def before(self, place: int) -> Parent:
        return self.path[place - 1].id if place else None

    @rule(role=st.sampled_from([user, answer]), count=st.integers(1, 3))
    def append(self, role: Any, count: int) -> None:
        messages = [role(self.name()) for _ in range(count)]
        self.run(self.store.append_all(CHAT, messages))
        self.path += messages

    @rule()
    def add_an_event(self) -> None:
        self.path.append(self.run(self.store.add_event(CHAT, user(self.name()))))

    @rule(place=PLACES, role=st.sampled_from([user, answer]))
    def grow_a_branch(self, place: int, role: Any) -> None:
        place %= len(self.path) + 1
        message = role(self.name())
        self.run(self.store.append(CHAT, message, self.before(place)))
        self.path[place:] = [message]

    @precondition(lambda self: self.path)
    @rule(place=PLACES, removed=st.booleans())
    def rewrite(self, place: int, removed: bool) -> None:
        place %= len(self.path)
        old = self.path[place]
        make = user if old.role == "user" else answer
        new = None if removed else make(old.id, f"changed {self.name()}")
        if is_event(old):
            with pytest.raises(NotFound):
                self.run(self.branches.rewrite(CHAT, old.id, new))
            return
        self.run(self.branches.rewrite(CHAT, old.id, new))
        self.path[place : place + 1] = [] if new is None else [new]

    @rule(place=PLACES)
    def truncate(self, place: int) -> None:
        place %= len(self.path) + 1
        self.run(self.branches.truncate(CHAT, self.path[place - 1].id if place else None))
        del self.path[place:]

    @rule(place=PLACES, count=st.integers(0, 2))
    def restore(self, place: int, count: int) -> None:
        place %= len(self.path) + 1
        wanted = [*self.path[:place], *(user(self.name()) for _ in range(count))]
        self.run(self.branches.restore(CHAT, wanted))
        self.path = wanted

    @precondition(lambda self: self.seen)
    @rule(number=st.integers(0, 200))
    def switch(self, number: int) -> None:
        wanted = self.seen[number % len(self.seen)].message_id
        known = {message.id for message in self.path}
        self.run(self.branches.switch_version(CHAT, wanted))
        found = list(self.run(self.store.path(CHAT)))
        assert wanted in {message.id for message in found}
        if wanted in known:
            assert found == self.path, "what is on the path already changes nothing"
        else:
            chat = self.run(self.store.get(CHAT))
            assert chat is not None and chat.head_row is not None
            behind = [row.parent_row for row in self.seen]
            assert chat.head_row not in behind, "a path goes on to the end of a branch"
        self.path = found

    @precondition(lambda self: self.path)
    @rule(place=PLACES)
    def branch_into_a_chat(self, place: int) -> None:
        place %= len(self.path)
        new = f"chat-{self.name()}"
        self.run(self.branches.branch(CHAT, self.path[place].id, new))
        assert self.run(self.store.path(new)) == tuple(self.path[: place + 1])
        self.run(self.store.append(new, user(self.name())))
        query = text("DELETE FROM messages WHERE chat_id = :chat")
        self.run(self.database.write(lambda c: c.execute(query, {"chat": new}) and None))

    @invariant()
    def nothing_in_the_log_is_changed_or_removed(self) -> None:
        rows = self.rows()
        assert rows[: len(self.seen)] == self.seen
        self.seen = rows

    @invariant()
    def the_path_is_the_models_and_valid(self) -> None:
        found = self.run(self.store.path(CHAT))
        assert found == tuple(self.path)
        _, read = self.run(self.store.find_path(CHAT))
        assert (read.messages, read.said) == (found, without_events(found))
        assert len({message.id for message in found}) == len(found)
        chat = self.run(self.store.get(CHAT))
        assert chat is not None
        by_row = {row.row: row for row in self.seen}
        row = chat.head_row
        walked: list[str] = []
        counted = 0
        while row is not None:
            assert by_row[row].depth == chat.messages - counted
            counted += by_row[row].role != "event"
            walked.append(by_row[row].message_id)
            assert (by_row[row].parent_row or 0) < row
            row = by_row[row].parent_row
        assert walked[::-1] == [message.id for message in found]
        assert chat.log_chars == sum(len(row.body) for row in self.seen)

    @invariant()
    def versions_are_those_that_followed_the_same_message(self) -> None:
        ids = [message.id for message in self.path]
        found = self.run(self.branches.versions(CHAT, ids))
        expected: dict[str, Versions] = {}
        before: Parent = None
        for message in without_events(self.path):
            group = self.followers(before, message.role)
            before = message.id
            if len(group) > 1:
                expected[message.id] = Versions(group.index(message.id), group)
        assert found == expected

    def followers(self, before: Parent, role: str) -> tuple[str, ...]:
        """The messages of that role that ever followed this one or events after it, each once."""
        by_row: dict[int | None, Row] = {row.row: row for row in self.seen}

        def followed(row: Row) -> Parent:
            parent = by_row.get(row.parent_row)
            while parent is not None and parent.role == "event":
                parent = by_row.get(parent.parent_row)
            return None if parent is None else parent.message_id

        after = (
            row.message_id for row in self.seen if row.role == role and followed(row) == before
        )
        return tuple(dict.fromkeys(after))


class Waiting(Branching):
    """The model is the waiting entries in their order, and the entries that left the queue."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Queued] = []
        self.ran: list[str] = []

    @rule(priority=st.booleans())
    def enqueue(self, priority: bool) -> None:
        name = self.name()
        entry = Queued(f"q-{name}", "user_message", NOW, user(name), priority)
        if len(self.waiting) < 32:
            assert self.run(self.queue.enqueue(CHAT, entry)) == len(self.waiting) + 1
            self.waiting.append(entry)
            self.waiting.sort(key=lambda one: not one.priority)

    def answered(self, message: Message, entry_id: str) -> None:
        reply = answer(f"a-{message.id}")
        self.run(self.store.begin_turn(CHAT, TurnStart(reply, (message,), from_queue=entry_id)))
        self.run(self.store.finish_answer(CHAT, reply))

    @precondition(lambda self: self.waiting)
    @rule(twice=st.booleans())
    def run_the_next(self, twice: bool) -> None:
        entry = self.waiting.pop(0)
        assert entry.message is not None
        self.answered(entry.message, entry.id)
        self.ran += [entry.message.id, f"a-{entry.message.id}"]
        if twice:
            try:
                self.answered(user(self.name()), entry.id)
                raise AssertionError("it ran twice")
            except NotFound:
                pass

    @precondition(lambda self: self.waiting and self.ran)
    @rule()
    def fail_to_run_the_next(self) -> None:
        try:
            used = user(self.ran[-2])
            self.answered(used, self.waiting[0].id)
            raise AssertionError("an id was used twice")
        except InvalidRequest:
            pass

    @precondition(lambda self: self.waiting)
    @rule(number=st.integers(0, 40))
    def cancel(self, number: int) -> None:
        entry = self.waiting.pop(number % len(self.waiting))
        assert self.run(self.queue.dequeue(CHAT, entry.id)) == entry

    @invariant()
    def no_entry_is_lost_or_runs_twice(self) -> None:
        assert list(self.run(self.queue.queue(CHAT))) == self.waiting
        assert [message.id for message in self.run(self.store.path(CHAT))] == self.ran


TestPaths = Paths.TestCase
TestPaths.settings = settings(max_examples=30, stateful_step_count=20)
TestWaiting = Waiting.TestCase
TestWaiting.settings = settings(max_examples=15, stateful_step_count=20)
