"""`/cleanup`: what would go, its deletion, and how it comes back (R34, R41)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from plugin.assistant.turn.slash.clean_up_command import LISTED, USAGE
from plugin.tests.chats.examples import user
from plugin.tests.chatting import Chatting, chatting, until
from sqlalchemy import text


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        yield running
        assert running.provider.unexpected == 0


async def old_chats(chat: Chatting, *titles: str, since: str = "2020-01-01") -> None:
    """Chats with these titles as ids, that did not change since that day."""
    space = chat.assistant.space_of("default")
    for title in titles:
        await space.chats.import_messages(title, [user("u1", "Hello")], title)
    change = text("UPDATE chats SET updated = :since WHERE id = :id")
    values = [{"since": f"{since}T00:00:00.000+00:00", "id": title} for title in titles]
    await space.database.write(lambda c: c.execute(change, values).rowcount)


async def ids(chat: Chatting) -> list[str]:
    async with chat.client.get("/api/chats") as response:
        return sorted(entry["id"] for entry in (await response.json())["chats"])


async def test_it_shows_first_what_would_go_and_how_to_confirm(chat: Chatting) -> None:
    await old_chats(chat, "Foxes", "Owls")
    await old_chats(chat, "New", since="2099-01-01")
    said = (await chat.say("/cleanup")).text
    assert "Nothing was deleted yet" in said and "90 days: 2 chats" in said
    assert "- 2020-01-01: Foxes" in said and "- 2020-01-01: Owls" in said and "New" not in said
    assert "`/cleanup 90 confirm`" in said
    assert await ids(chat) == ["Foxes", "New", "Owls", "c1"]
    assert "30 days: 2 chats" in (await chat.say("/cleanup 30 --dry-run")).text
    assert "`/cleanup 30 confirm`" in (await chat.say("/cleanup 30 days")).text


async def test_confirmed_it_deletes_and_undo_brings_back(chat: Chatting) -> None:
    await old_chats(chat, "Foxes", "Owls", "Kept")
    await chat.client.patch("/api/chats/Kept", json={"pinned": True})
    said = (await chat.say("/cleanup 30 confirm")).text
    assert "Deleted: 2 chats" in said and "Foxes" in said and "`/cleanup undo`" in said
    assert await ids(chat) == ["Kept", "c1"]
    assert "No chat would go" in (await chat.say("/cleanup 30")).text
    assert "Brought back: 2 chats" in (await chat.say("/cleanup undo")).text
    assert await ids(chat) == ["Foxes", "Kept", "Owls", "c1"]
    assert "Nothing was deleted" in (await chat.say("/cleanup undo")).text


async def test_what_a_stopped_clean_up_deletes_is_announced_and_can_be_brought_back(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await old_chats(chat, "Foxes", "Owls")
    space = chat.assistant.space_of("default")
    delete_all, hidden, go = space.trash.delete_all, asyncio.Event(), asyncio.Event()

    async def held(chat_ids: Sequence[str]) -> tuple[str, ...]:
        deleted = await delete_all(chat_ids)
        hidden.set()
        await go.wait()
        return deleted

    announced: list[str] = []
    monkeypatch.setattr(space.trash, "delete_all", held)
    monkeypatch.setattr(space.sessions.feed, "deleted", announced.append)
    saying = asyncio.create_task(chat.say("/cleanup 30 confirm"))
    await hidden.wait()
    await chat.command(type="abort")
    assert "abort" in (await saying).types
    go.set()
    await until(lambda: sorted(announced) == ["Foxes", "Owls"])
    assert "Brought back: 2 chats" in (await chat.say("/cleanup undo")).text
    assert await ids(chat) == ["Foxes", "Owls", "c1"]


async def test_the_chat_that_asks_stays(chat: Chatting) -> None:
    chat.provider.queue("Hi")
    await chat.say("Hello")
    await old_chats(chat, "Foxes")
    change = text("UPDATE chats SET updated = '2020-01-01T00:00:00.000+00:00'")
    space = chat.assistant.space_of("default")
    await space.database.write(lambda c: c.execute(change).rowcount)
    assert "Deleted: 1 chat." in (await chat.say("/cleanup confirm")).text
    assert await ids(chat) == ["c1"]


async def test_a_long_list_is_cut_and_counted(chat: Chatting) -> None:
    await old_chats(chat, *(f"chat{number}" for number in range(LISTED + 3)))
    said = (await chat.say("/cleanup")).text
    assert said.count("- 2020-01-01") == LISTED
    assert "- and 3 more" in said


@pytest.mark.parametrize("argument", ["0", "yes", "36501", "confirm --dry-run", "30 40", "-1"])
async def test_other_arguments_delete_nothing_and_say_how_it_works(
    chat: Chatting, argument: str
) -> None:
    await old_chats(chat, "Foxes")
    assert (await chat.say(f"/cleanup {argument}")).text == USAGE
    assert "Foxes" in await ids(chat)
