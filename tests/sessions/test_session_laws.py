"""The laws of a session, whatever is done to it and in whichever order.

Only the listed transitions; no command lost or run twice; everything can be stopped; a reader that
folds the events has the state of the server, also a reader that comes later or reconnects after any
event.
"""

import asyncio
import itertools
import tempfile
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from plugin.assistant.chats import Branches
from plugin.assistant.chats.log import chat_log
from plugin.assistant.errors import AssistantError
from plugin.assistant.llm.stream_events import Finish, TextDelta, ToolCallStart
from plugin.assistant.messages.ui import message_to_ui
from plugin.assistant.sessions import commands
from plugin.assistant.sessions.chat_session import ChatSession
from plugin.assistant.sessions.commands import Command
from plugin.assistant.sessions.states import TRANSITIONS
from plugin.assistant.sessions.submissions import Sender
from plugin.assistant.turn.decisions import Decision, ToolResult
from plugin.tests.chats.examples import user
from plugin.tests.sessions.folding import fold_event, shown

from .stage import Reader, Stage, events_in, reading, snapshot_of

pytestmark = pytest.mark.slow

Result = TypeVar("Result")
PLACES = st.integers(0, 30)
PANELS = st.sampled_from([None, "p1", "p2"])
SAME = ("chat", "stream", "queue", "held", "draft", "runtime", "context")


class Chatting(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.made = itertools.count(1)
        self.sent: dict[str, str] = {}
        self.cancelled: set[str] = set()
        self.asks: Counter[str] = Counter()
        self.readers: list[Reader] = []

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run(self.scene.close())
        self.loop.close()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.scene = self.run(self._stage())
        self.session = self.run(self._open())

    async def _stage(self) -> Stage:
        return Stage(Path(self.folder.name))

    async def _open(self) -> ChatSession:
        session = await self.scene.session()
        self.readers = [await reading(session)]
        return session

    async def _send(self, command: Command, panel: str | None = None) -> bool:
        """Whether the command was accepted."""
        try:
            await self.session.command(command, Sender(panel))
        except AssistantError:
            return False
        return True

    async def _path(self) -> list[str]:
        return [message.id for message in await self.scene.store.path("c1")]

    def do(self, command: Command, panel: str | None = None) -> bool:
        accepted = self.run(self._send(command, panel))
        self.run(self.scene.settled(self.session))
        return accepted

    def message(self) -> Any:
        number = next(self.made)
        return user(f"u{number}", f"Question {number}")

    def message_at(self, place: int) -> str:
        path = self.run(self._path())
        return path[place % len(path)] if path else "none"

    # What a client does.

    @rule(priority=st.booleans(), panel=PANELS)
    def say(self, priority: bool, panel: str | None) -> None:
        message = self.message()
        if self.do(commands.UserMessage(message, priority), panel):
            self.sent[message.id] = message.text
            self.asks[message.text] += 1

    @rule()
    def say_twice(self) -> None:
        """A client sends a message again, since it got no response to its first request."""
        command = commands.UserMessage(self.message())

        async def both() -> bool:
            return any(await asyncio.gather(self._send(command), self._send(command)))

        if self.run(both()):
            self.sent[command.message.id] = command.message.text
            self.asks[command.message.text] += 1
        self.run(self.scene.settled(self.session))

    @rule(place=PLACES, edit=st.booleans(), by_index=st.booleans())
    def retry(self, place: int, edit: bool, by_index: bool) -> None:
        path = self.run(self.scene.store.path("c1"))
        if not path:
            return
        place %= len(path)
        message = self.message() if edit else None
        index, identity = (place, None) if by_index else (None, path[place].id)
        if self.do(commands.RetryFromIndex(index, identity, message)):
            self.asks[message.text if message else path[place].text] += 1
            if message:
                self.sent[message.id] = message.text

    @rule()
    def regenerate(self) -> None:
        path = self.run(self.scene.store.path("c1"))
        asked = [message.text for message in path if message.role == "user"]
        if self.do(commands.Regenerate()):
            self.asks[asked[-1]] += 1

    @rule()
    def abort(self) -> None:
        assert self.do(commands.Abort())
        assert self.session.live.state in ("idle", "error", "completed")
        assert not self.scene.model.waits

    @rule(priority=st.booleans())
    def abort_while_it_begins(self, priority: bool) -> None:
        message = self.message()

        async def both() -> tuple[bool, bool]:
            say = self._send(commands.UserMessage(message, priority))
            return await asyncio.gather(say, self._send(commands.Abort()))

        accepted, stopped = self.run(both())
        assert stopped
        if accepted:
            self.sent[message.id] = message.text
            self.asks[message.text] += 1
        self.run(self.scene.settled(self.session))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The id of the call that the chat waits for, or of none."""
        waits = self.session.live._waiting
        return tuple(one["tool_call_id"] for one in waits) or ("none",)

    @rule(approved=st.booleans(), panel=PANELS)
    def decide(self, approved: bool, panel: str | None) -> None:
        self.do(Decision(self.waiting, approved), panel)

    @rule(failed=st.booleans(), panel=PANELS)
    def result(self, failed: bool, panel: str | None) -> None:
        [call] = self.waiting
        self.do(ToolResult(call, None if failed else {"ok": 1}, "no" if failed else None), panel)

    @rule(panel=PANELS)
    def take_over(self, panel: str | None) -> None:
        self.do(commands.TakeOver(), panel)

    @rule(place=PLACES)
    def cancel(self, place: int) -> None:
        queue = self.session.live.queue
        if queue and self.do(commands.CancelQueued(queue[place % len(queue)].id)):
            self.cancelled.add(queue[place % len(queue)].id)

    @rule()
    def resume(self) -> None:
        assert self.do(commands.ResumeQueue())

    @rule(place=PLACES)
    def remove(self, place: int) -> None:
        self.do(commands.RemoveMessage(self.message_at(place)))

    @rule(place=PLACES)
    def reword(self, place: int) -> None:
        self.do(commands.UpdateMessage(self.message_at(place), user("x", "Other words")))

    @rule(place=PLACES)
    def truncate(self, place: int) -> None:
        self.do(commands.TruncateMessages(message_id=self.message_at(place)))

    @rule(place=PLACES)
    def switch(self, place: int) -> None:
        rows = self.run(self._rows())
        if rows:
            self.do(commands.SwitchVersion(rows[place % len(rows)]))

    @rule(text=st.sampled_from(["", "A fox"]))
    def type(self, text: str) -> None:
        assert self.do(commands.SetDraft(text))

    @rule()
    def rename(self) -> None:
        async def rename() -> None:
            title = f"Chat {next(self.made)}"
            await self.scene.sessions.changed(await self.scene.store.change("c1", title))

        self.run(rename())

    # What the model does.

    @precondition(lambda self: self.scene.model.waits)
    @rule(words=st.lists(st.sampled_from(["a", "b ", "c\n"]), min_size=1, max_size=5))
    def answer(self, words: list[str]) -> None:
        self.scene.model.answer(*map(TextDelta, words), Finish("stop"))
        self.run(self._gone_on())

    @precondition(lambda self: self.scene.model.waits)
    @rule(tools=st.lists(st.sampled_from(["erase", "runWorkflow", "odd", "none"]), max_size=3))
    def call(self, tools: list[str]) -> None:
        calls = [ToolCallStart(n, f"t{next(self.made)}", tool) for n, tool in enumerate(tools)]
        self.scene.model.answer(TextDelta("I act."), *calls, Finish("tool-calls"))
        self.run(self._gone_on())

    @precondition(lambda self: self.scene.model.waits)
    @rule()
    def fail(self) -> None:
        self.scene.model.answer(TextDelta("Half"), RuntimeError("a bug of the test"))
        self.run(self._gone_on())

    async def _gone_on(self) -> None:
        await asyncio.sleep(0)
        await self.scene.settled(self.session)

    # Who reads.

    @precondition(lambda self: len(self.readers) < 4)
    @rule()
    def look(self) -> None:
        self.readers.append(self.run(reading(self.session)))

    @rule(panel=PANELS)
    def come_and_go(self, panel: str | None) -> None:
        async def watch() -> None:
            async with self.session.watched(panel):
                self.session.live.tell_runtime()

        self.run(watch())

    @rule()
    def restart(self) -> None:
        async def again() -> ChatSession:
            await self.scene.close()
            self.scene.begin()
            return await self._open()

        self.session = self.run(again())
        self.run(self.scene.settled(self.session))

    # The laws.

    async def _rows(self) -> list[str]:
        rows = await self.scene.store.read("c1", lambda c: chat_log.every_row(c, "c1"))
        return [message.id for _, _, message, _ in rows]

    @invariant()
    def readers_have_what_the_server_has(self) -> None:
        async def check() -> None:
            there = await snapshot_of(self.session)
            path = [message_to_ui(one) for one in await self.scene.store.path("c1")]
            if there["stream"] is not None:
                path = [one for one in path if one["id"] != there["stream"]["message"]["id"]]
            versions = await Branches(self.scene.store).versions(
                "c1", [message["id"] for message in path]
            )
            assert shown(there)[: len(there["messages"])] == path[-50:]
            for reader in self.readers:
                state = await reader.read()
                assert not reader.ended
                assert {name: state[name] for name in SAME} == {name: there[name] for name in SAME}
                count = len(state["messages"])
                assert state["messages"] == path[len(path) - count :]
                assert state["has_more"] is (count < len(path))
                for message in state["messages"]:
                    known = versions.get(message["id"])
                    expected = known and {"index": known.index, "ids": list(known.ids)}
                    assert state["versions"].get(message["id"]) == expected

        self.run(check())

    @invariant()
    def whoever_comes_back_misses_nothing(self) -> None:
        async def check() -> None:
            first = self.readers[0]
            for seen in {first.seen[0]["seq"], first.seq - 1, first.seq}:
                if not self.session.events.holds(seen):
                    continue
                state = None
                for event in first.seen:
                    if event["seq"] <= seen:
                        state = fold_event(state, event)
                async for piece in self.session.events.follow(seen, silence=0):
                    if piece is None:
                        break
                    for event in events_in(piece):
                        state = fold_event(state, event)
                assert state == first.state

        self.run(check())

    @invariant()
    def only_listed_transitions_happen(self) -> None:
        states = [
            event["runtime"]["state"]
            for event in self.readers[0].seen
            if event["type"] in ("snapshot", "runtime_updated")
        ]
        changes = [pair for pair in itertools.pairwise(states) if pair[0] != pair[1]]
        assert all(pair in TRANSITIONS for pair in changes)

    @invariant()
    def no_message_is_lost_or_asked_twice(self) -> None:
        rows = set(self.run(self._rows()))
        queue = [entry.id for entry in self.session.live.queue]
        stored = self.run(self.scene.sessions._services.queue.queue("c1"))
        assert queue == [entry.id for entry in stored]
        assert not rows & set(queue)
        assert set(self.sent) <= rows | set(queue) | self.cancelled
        asked = Counter(self.scene.model.texts)
        assert all(asked[text] <= self.asks[text] for text in self.sent.values())


Chatting.TestCase.settings = settings(max_examples=15, stateful_step_count=25)
TestChatting = Chatting.TestCase
