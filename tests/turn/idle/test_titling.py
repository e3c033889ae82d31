"""A chat's title by a model: when the model is asked, and when the chat gets the title."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.config import Settings
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.provider import Provider
from plugin.assistant.messages.parts import Message
from plugin.assistant.turn.conversation import Conversation
from plugin.assistant.turn.idle import titling
from plugin.assistant.turn.idle.job import IdleChat
from plugin.assistant.turn.idle.titling import IDLE_SECONDS, MOST_READ_CHARS, Titling, prompt_for
from plugin.tests.chats.examples import answer, user
from plugin.tests.chatting import chatting
from plugin.tests.models import OneProvider
from plugin.tests.providers import Script, ScriptedProvider, failure, text
from plugin.tests.turn.idling import Gate

ASKED = user("u1", "How do I sharpen a fox?")
SAID = answer("a1", "Upscale it.")
RULE = "How do I sharpen a fox"


class Chat:
    """A chat with one answered turn, and the job that gives it a title."""

    def __init__(self, server: ScriptedProvider, store: ChatStore, settings: Settings) -> None:
        self.server, self.store = server, store
        self.gate = Gate()
        self.path: tuple[Message, ...] = (ASKED, SAID)
        self.provider = OneProvider(Provider("scripted", server.base_url, "scripted"))
        self.client = Client(settings, sleep=self.gate.sleep)
        self.titling = Titling(
            self.provider, self.client, settings, store, self.rename, sleep=self.gate.sleep
        )

    async def rename(self, chat_id: str, title: str) -> None:
        await self.store.set_title(chat_id, title, "model")

    def between_turns(self, chat_id: str) -> IdleChat:
        async def keep() -> None:
            """A title changes no projections."""

        return IdleChat(chat_id, Conversation(Settings()), tuple(self.path), keep)

    def ended(self) -> set[asyncio.Task[Any]]:
        """Begins the work after a turn; returns the tasks that this began."""
        before = asyncio.all_tasks()
        self.titling.begin(self.between_turns("c"))
        return asyncio.all_tasks() - before

    async def idle(self) -> None:
        """Lets the chat be idle for long enough after a turn, and waits until the work is done."""
        self.gate.opened.set()
        if tasks := self.ended():
            await asyncio.wait(tasks)

    async def title(self) -> str:
        chat = await self.store.get("c")
        assert chat is not None
        return chat.title


@asynccontextmanager
async def idle_chat(folder: Path, titles: str = "model") -> AsyncIterator[Chat]:
    database = SqliteDatabase(folder / "assistant.db")
    store = ChatStore(database)
    await store.import_messages("c", (ASKED, SAID), RULE)
    async with ScriptedProvider() as server:
        chat = Chat(server, store, Settings(titles=titles))
        yield chat
        await chat.titling.close()
        await chat.client.close()
    await database.close()


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with idle_chat(tmp_path) as opened:
        yield opened


async def test_the_model_names_an_idle_chat_in_one_request(chat: Chat) -> None:
    chat.server.queue('"Sharper foxes."')
    await chat.idle()
    assert await chat.title() == "Sharper foxes"
    assert chat.gate.slept == [IDLE_SECONDS]
    (request,) = chat.server.requests
    (message,) = request.body["messages"]
    assert message["role"] == "user" and "tools" not in request.body
    assert ASKED.text in message["content"] and SAID.text in message["content"]
    await chat.idle()
    assert len(chat.server.requests) == 1, "a title that a model gave is not asked for again"


async def test_by_default_no_model_is_asked(tmp_path: Path) -> None:
    assert Settings().titles == "rule"
    async with idle_chat(tmp_path, "rule") as chat:
        await chat.idle()
        assert (chat.server.requests, await chat.title()) == ([], RULE)


async def test_the_user_s_name_stays_and_saves_the_request(chat: Chat) -> None:
    await chat.store.change("c", title="Mine")
    await chat.idle()
    assert (chat.server.requests, await chat.title()) == ([], "Mine")


async def test_a_name_that_the_user_gives_meanwhile_stays(chat: Chat) -> None:
    chat.server.queue(Script([{"wait": "renamed"}, {"text": "Sharper foxes"}]))
    chat.gate.opened.set()
    tasks = chat.ended()
    await chat.server.reached("renamed")
    await chat.store.change("c", title="Mine")
    chat.server.release("renamed")
    await asyncio.wait(tasks)
    assert await chat.title() == "Mine"


async def test_a_turn_that_begins_ends_the_request(chat: Chat) -> None:
    chat.server.queue(Script([{"wait": "for ever"}]))
    chat.gate.opened.set()
    tasks = chat.ended()
    await chat.server.reached("for ever")
    chat.titling.stop("c")
    await asyncio.wait(tasks)
    await chat.server.client_left()
    assert await chat.title() == RULE


async def test_a_turn_that_begins_at_once_asks_nobody(chat: Chat) -> None:
    tasks = chat.ended()
    chat.titling.stop("c")
    await asyncio.wait(tasks)
    assert chat.server.requests == []


@pytest.mark.parametrize(
    "script",
    [
        text(""),
        text(' "" '),
        text("I cannot do that. " * 40),
        failure(401, "No."),
    ],
)
async def test_whatever_fails_leaves_the_rule_s_title(chat: Chat, script: Any) -> None:
    chat.server.queue(script)
    await chat.idle()
    assert await chat.title() == RULE


async def test_a_deleted_chat_and_the_demo_model_get_no_title(chat: Chat) -> None:
    chat.provider.provider = replace(chat.provider.provider, source="demo")
    await chat.idle()
    chat.titling.begin(chat.between_turns("gone"))
    assert (chat.server.requests, await chat.title()) == ([], RULE)


def test_only_a_model_s_whole_answer_gives_a_title() -> None:
    command = replace(SAID, metadata={"command": "help"})
    for last in (command, answer("a1", "Half", cut="aborted"), answer("a1", ""), user("u2", "x")):
        assert prompt_for((ASKED, last)) is None
    assert prompt_for((ASKED,)) is None
    assert prompt_for((user("u0", "/help"), replace(command, id="a0"), ASKED, SAID)) is not None


def test_a_chat_that_is_known_by_its_title_keeps_it() -> None:
    later = [one for n in range(2, 5) for one in (user(f"u{n}"), answer(f"a{n}"))]
    assert prompt_for((ASKED, SAID, *later[:4])) is not None
    assert prompt_for((ASKED, SAID, *later)) is None


def test_the_model_reads_the_beginning_only() -> None:
    prompt = prompt_for((user("u1", "{x} " * 9_000), answer("a1", "y" * 90_000)))
    assert prompt is not None and len(prompt) < 2 * MOST_READ_CHARS + 1_000


async def test_a_title_is_sent_to_every_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titling, "IDLE_SECONDS", 0.0)
    async with chatting(tmp_path, {"ASSISTANT_TITLES": "model"}) as chat:
        chat.provider.queue("Upscale it.", "Sharper foxes")
        await chat.say("How do I sharpen a fox?")
        async with chat.client.get("/api/chats/subscribe?chat_id=c1") as events:
            while (event := await next_event(events))["chat"].get("title") != "Sharper foxes":
                assert event["type"] in ("snapshot", "thread_updated")
        assert (await chat.stored())["title"] == "Sharper foxes"
        shown = await (await chat.client.patch("/api/chats/c1", json={"title": "Mine"})).json()
        assert shown["title"] == "Mine"


async def next_event(events: aiohttp.ClientResponse) -> dict[str, Any]:
    """The next event with the field `chat`."""
    while True:
        line = await asyncio.wait_for(events.content.readline(), 10)
        if line.startswith(b"data: ") and "chat" in (data := json.loads(line[6:])):
            return dict(data)
