"""A real session over a real store, with a model whose every answer the test gives.

async with stage(tmp_path) as scene:
    session = await scene.session("c1")
    await session.command(UserMessage(user("u1")), Sender())
    await scene.model.asked()                     a request has come in and waits
    scene.model.answer(TextDelta("Hello"), Finish("stop"))
    await scene.settled(session)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plugin.agent_prompts import SystemPrompt
from plugin.assistant.chats import ChatStore
from plugin.assistant.config import Settings
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.messages.json_pieces import whole
from plugin.assistant.sessions.chat_session import ChatSession
from plugin.assistant.sessions.sessions import Sessions
from plugin.assistant.tools.toolset import Toolset
from plugin.assistant.turn.idle.summariser import Summariser
from plugin.assistant.turn.service import TurnService
from plugin.assistant.turn.turn_services import Services
from plugin.assistant.user_context.skills import SkillLibrary
from plugin.assistant.user_context.sources import SourceCache
from plugin.tests.models import Model, OneProvider
from plugin.tests.sessions.folding import State, fold_event
from plugin.tests.turn.tools import Bench

QUIET = Settings(summary="off", discover=False)


class Prompts:
    async def statements(self) -> None: ...

    def system_prompt(self, statements: Any, **_: Any) -> SystemPrompt:
        return SystemPrompt("You help.", "full")


class Stage:
    """One user's sessions. `restart` opens the same file as a new process would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = Model()
        self.bench = Bench()
        self.now = 0.0
        self.begin()

    def begin(self) -> None:
        self.database = SqliteDatabase(self.folder / "assistant.db")
        self.store = ChatStore(self.database)
        skills = SkillLibrary(self.folder / "system", self.folder, SourceCache())
        summariser = Summariser(OneProvider(), self.model, QUIET)
        services = Services(
            OneProvider(),
            self.model,
            Prompts(),
            Toolset(self.bench.tools),
            QUIET,
            summariser,
        )
        turns = TurnService(services, self.store, skills, (summariser,))
        self.sessions = Sessions(turns, self.store, clock=lambda: self.now)

    async def session(self, chat: str = "c1") -> ChatSession:
        """The session of a chat, which is made if there is none."""
        if await self.store.get(chat) is None:
            self.sessions.created(await self.store.create(chat))
        return await self.sessions.of(chat)

    async def settled(self, session: ChatSession) -> None:
        """Waits until nothing goes on by itself: until a request waits, or nothing runs."""
        while not self.model.waits:
            turn, tasks = session.running, session._work.tasks
            work = [*tasks] if turn is None else [asyncio.ensure_future(turn.finished())]
            if not work:
                return
            asked = asyncio.ensure_future(self.model.asked())
            await asyncio.wait([*work, asked], return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()

    async def close(self) -> None:
        await self.sessions.close()
        await self.store.close()
        await self.database.close()


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    scene = Stage(folder)
    yield scene
    await scene.close()


class Reader:
    """Folds the events of a session, as a panel does; `seen` are all events that it got."""

    def __init__(self, session: ChatSession) -> None:
        self.session = session
        self.seen: list[dict[str, Any]] = []
        self.state: State | None = None
        self.ended = False

    async def begin(self) -> None:
        self._take(await snapshot_of(self.session))

    @property
    def seq(self) -> int:
        return int(self.seen[-1]["seq"])

    async def read(self) -> State:
        """Reads all events so far; returns the state after them."""
        async for events in self.session.events.follow(self.seq, silence=0):
            if events is None:
                break
            for event in events_in(events):
                if event["type"] == "closed":
                    self.ended = True
                else:
                    self._take(event)
        assert self.state is not None
        return self.state

    def _take(self, event: dict[str, Any]) -> None:
        if self.seen and event["type"] != "closed":
            assert event["seq"] == self.seq + 1
            assert event["epoch"] == self.seen[-1]["epoch"]
        self.seen.append(event)
        self.state = fold_event(self.state, event)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.seen if event["type"] == kind]


async def snapshot_of(session: ChatSession) -> dict[str, Any]:
    """The first event of a new reader, as it arrives there."""
    data: dict[str, Any] = json.loads(whole(await session.snapshot()))
    return data


def events_in(content: bytes) -> list[dict[str, Any]]:
    """The data of server-sent events; checks the lines before it against them."""
    found = []
    for block in content.decode().split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":")
        )
        if not fields:
            continue
        data = json.loads(fields["data"])
        assert fields["event"] == data["type"]
        assert fields.get("id") == (str(data["seq"]) if "seq" in data else None)
        found.append(data)
    return found


async def reading(session: ChatSession) -> Reader:
    reader = Reader(session)
    await reader.begin()
    return reader
