"""An idle chat and its summariser, over real HTTP against the scripted provider."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.window import Window
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.provider import Provider
from plugin.assistant.messages.parts import Message
from plugin.assistant.turn.conversation import Conversation
from plugin.assistant.turn.idle.job import IdleChat
from plugin.assistant.turn.idle.summariser import Summariser
from plugin.assistant.turn.preparation import Preparation
from plugin.tests.chats.examples import answer, user
from plugin.tests.models import OneProvider
from plugin.tests.providers import ScriptedProvider

TOLD = "Goal: a fox in the snow\nNext step: the upscaler"
SYSTEM = SystemText("You help with ComfyUI.", "full")


@dataclass
class Gate:
    """A sleep that lasts until the test lets it end; `slept` are the seconds asked for."""

    slept: list[float] = field(default_factory=list)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.opened.wait()


class IdleScene:
    """A chat whose turns are planned like real turns, but not sent to a model. `now` is the
    clock."""

    def __init__(
        self, server: ScriptedProvider, client: Client, settings: Settings, window: int
    ) -> None:
        self.chat_id = "c1"
        self.server = server
        self.settings = settings
        self.providers = OneProvider(Provider("scripted", server.base_url, "scripted"), window)
        self.now = 0.0
        self.gate = Gate()
        self.kept: list[Projections] = []
        self.conversation = Conversation(settings)
        self.path: tuple[Message, ...] = ()
        self.summariser = Summariser(
            self.providers, client, settings, clock=lambda: self.now, sleep=self.gate.sleep
        )

    @property
    def context(self) -> ChatContext:
        return self.conversation.context

    @property
    def preparation(self) -> Preparation:
        window = Window(self.providers.tokens, known=True)
        return Preparation(
            self.providers.provider,
            window,
            SYSTEM,
            (),
            self.settings,
            self.path,
            self.conversation,
        )

    def beside(self) -> IdleScene:
        """Another chat of the same user."""
        other = copy.copy(self)
        other.chat_id, other.path, other.kept = "c2", (), []
        other.conversation = Conversation(self.settings)
        return other

    def talk(self, turns: int, words: int = 60, *, planned: bool = True) -> None:
        """Adds answered turns. All turns are planned; without `planned`, as in an import, the last
        one only."""
        for turn in range(1, turns + 1):
            number = len(self.path)
            asked = user(f"u{number}", f"Question {number}: " + f"word{number} " * words)
            self.path = (*self.path, asked)
            if planned or turn == turns:
                self.conversation.feed(self.path)
                self.preparation.ready().plan()
            said = answer(f"a{number}", f"Answer {number}: " + f"fact{number} " * words)
            self.path = (*self.path, said)
        self.conversation.feed(self.path)

    def turn_ended(self) -> asyncio.Task[Any]:
        """Begins the summariser's work; returns its task."""
        before = asyncio.all_tasks()
        self.summariser.begin(self.between_turns())
        (task,) = asyncio.all_tasks() - before
        return task

    async def idle(self) -> None:
        """Lets the chat be idle for long enough, and waits until the summariser's work is done."""
        self.gate.opened.set()
        await asyncio.wait([self.turn_ended()])

    def between_turns(self) -> IdleChat:
        return IdleChat(self.chat_id, self.conversation, self.path, self.keep)

    async def keep(self) -> None:
        self.kept.append(self.context.projections)


@contextlib.asynccontextmanager
async def idle_chat(window: int = 32_768, **settings: Any) -> AsyncIterator[IdleScene]:
    chosen = Settings(**settings)
    async with ScriptedProvider() as server:
        client = Client(chosen)
        chat = IdleScene(server, client, chosen, window)
        try:
            yield chat
        finally:
            await chat.summariser.close()
            await client.close()
