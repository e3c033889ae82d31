"""A file that fails under running turns: they go on, and say that they are not saved."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite import database as database_module
from plugin.tests.chatting import Chatting, chatting


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(database_module, "IMPATIENT_SECONDS", 0.01)


@contextmanager
def locked(chat: Chatting) -> Iterator[None]:
    database = chat.assistant.space_of("default").database
    assert isinstance(database, SqliteDatabase)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


async def saving(chat: Chatting) -> dict[str, object]:
    async with chat.client.get("/api/assistant/health") as response:
        told: dict[str, object] = (await response.json())["saving"]
        return told


async def test_turns_go_on_while_the_file_is_locked_and_say_that_they_are_not_saved(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path) as chat:
        chat.provider.queue("One", "Two")
        assert (await chat.say("First")).text == "One"
        with locked(chat):
            stream = await chat.say("Second")
            assert stream.text == "Two"
            [notice] = stream.of("data-notice")
            assert notice["data"]["code"] == "not_saved"
            assert "another process is writing it" in notice["data"]["message"]
            assert (await saving(chat))["ok"] is False
            assert len((await chat.stored())["messages"]) == 4
    async with chatting(tmp_path) as chat:
        texts = [
            part["text"] for m in (await chat.stored())["messages"] for part in m["parts"][-1:]
        ]
        assert texts == ["First", "One", "Second", "Two"]
        assert await saving(chat) == {"ok": True}


async def test_a_new_chat_begins_while_the_file_is_locked(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.provider.queue("Hello")
        await chat.client.get("/api/chats")
        with locked(chat):
            assert (await chat.say("Hi", "new")).text == "Hello"
            async with chat.client.get("/api/chats") as response:
                listed = (await response.json())["chats"]
        assert [entry["id"] for entry in listed] == ["new"]
