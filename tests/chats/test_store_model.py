"""The store against a model in memory: any order of appends, branches, versions and crashes."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from plugin.assistant.chats import Parent, TurnStart
from plugin.assistant.messages.parts import Message

from .examples import answer, user
from .machine import OnDisk

pytestmark = pytest.mark.slow

CHAT = "c"
PAGE = 3


class StoredPath(OnDisk):
    """The model is the current path as a list; the log's branches need not be modelled, since
    nothing but the path can be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.path: list[Message] = []
        self.answering: Message | None = None

    def parent(self, place: int) -> tuple[Parent, int]:
        """The message before `place`, as the store takes it, and its place in the model."""
        place %= len(self.path) + 1
        return (self.path[place - 1].id if place else None), place

    @initialize()
    def create(self) -> None:
        self.run(self.store.create(CHAT))

    @precondition(lambda self: self.answering is None)
    @rule()
    def append(self) -> None:
        message = user(self.name())
        self.run(self.store.append(CHAT, message))
        self.path.append(message)

    @precondition(lambda self: self.answering is None)
    @rule(place=st.integers(0, 20), count=st.integers(1, 3))
    def branch(self, place: int, count: int) -> None:
        parent, place = self.parent(place)
        messages = [user(self.name()) for _ in range(count)]
        self.run(self.store.append_all(CHAT, messages, parent))
        self.path[place:] = messages

    @precondition(lambda self: self.answering is None and self.path)
    @rule(place=st.integers(0, 20))
    def version(self, place: int) -> None:
        place %= len(self.path)
        parent, _ = self.parent(place)
        message = answer(self.path[place].id, f"version {self.name()}")
        self.run(self.store.append(CHAT, message, parent))
        self.path[place:] = [message]

    @precondition(lambda self: self.answering is None)
    @rule()
    def begin_answer(self) -> None:
        self.answering = answer(self.name(), "")
        self.run(self.store.begin_turn(CHAT, TurnStart(self.answering)))

    @precondition(lambda self: self.answering is None)
    @rule(place=st.integers(0, 20))
    def begin_another_answer(self, place: int) -> None:
        parent, place = self.parent(place)
        self.answering = answer(self.name(), "")
        self.run(self.store.begin_turn(CHAT, TurnStart(self.answering, parent=parent)))
        self.path[place:] = []

    @precondition(lambda self: self.answering is not None)
    @rule(text=st.text(max_size=5))
    def checkpoint(self, text: str) -> None:
        assert self.answering is not None
        self.answering = answer(self.answering.id, text)
        self.run(self.store.checkpoint(CHAT, self.answering))

    @precondition(lambda self: self.answering is not None)
    @rule()
    def finish_answer(self) -> None:
        assert self.answering is not None
        finished = answer(self.answering.id, "finished")
        self.run(self.store.finish_answer(CHAT, finished))
        self.path.append(finished)
        self.answering = None

    @rule()
    def crash(self) -> None:
        """A new process: nothing but the file is left."""
        self.open()
        if self.answering is not None:
            self.path.append(answer(self.answering.id, self.answering.text, cut="cut"))
            self.answering = None

    @invariant()
    def the_path_is_the_models(self) -> None:
        assert self.run(self.store.path(CHAT)) == tuple(self.path)

    @invariant()
    def the_count_is_the_paths(self) -> None:
        chat = self.run(self.store.get(CHAT))
        assert chat is not None
        assert chat.messages == len(self.path)

    @invariant()
    def the_pages_make_up_the_path(self) -> None:
        found: tuple[Message, ...] = ()
        before, more = None, True
        while more:
            page, more = self.run(self.store.page(CHAT, before, PAGE))
            found = (*page, *found)
            assert len(found) <= len(self.path)
            before = page[0].id if page else None
        assert found == tuple(self.path)


TestStoredPath = StoredPath.TestCase
TestStoredPath.settings = settings(max_examples=30, stateful_step_count=20)
