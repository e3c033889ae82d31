"""Temporary chats: kept in memory only, in no list, search, archive, file or memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from plugin.assistant.memory.memory import Statement
from plugin.assistant.sessions.temporary_chats import UNREAD_SECONDS, TemporaryChats
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call

SECRET = "I always paint zanzibar foxes"


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        yield running


async def listed(chat: Chatting) -> list[str]:
    async with chat.client.get("/api/chats") as response:
        return [one["id"] for one in (await response.json())["chats"]]


async def test_a_temporary_chat_is_in_no_file_list_or_search(
    chat: Chatting, tmp_path: Path
) -> None:
    chat.provider.queue("Zebrafinch.", "Yes.")
    await chat.say(SECRET, "t1", temporary=True)
    await chat.say("And again?", "t1")
    assert SECRET in str(chat.provider.requests[-1].body)
    assert [m["role"] for m in (await chat.stored("t1"))["messages"]] == ["user", "assistant"] * 2
    assert await listed(chat) == []
    async with chat.client.get("/api/chats/search?q=zanzibar") as response:
        assert (await response.json())["results"] == []
    space = chat.assistant.space_of("default")
    archive = b"".join([piece async for piece in space.user_archive.pieces(frozenset())])
    assert b"t1" not in archive
    assert not files_with(tmp_path, b"zanzibar")


def files_with(folder: Path, words: bytes) -> list[Path]:
    every = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in every if words in path.read_bytes()]


async def test_nothing_of_it_is_remembered_but_it_is_given_memories(chat: Chatting) -> None:
    store = chat.assistant.space_of("default").memories
    await store.keep(Statement("My GPU has 12 GB"))
    call = tool_call("memory_write", {"text": SECRET, "quote": SECRET})
    chat.provider.queue(Script([call]), "Then not.")
    stream = await chat.say(SECRET, "t1", temporary=True)
    # What could not be kept is not asked about.
    assert not stream.of("tool-approval-request")
    assert "not kept" in str(stream.of("tool-output-error"))
    assert "12 GB" in str(chat.provider.requests[0].body)
    assert "off" in (await chat.say("/remember I like foxes", "t2", temporary=True)).text
    assert [one.text for one in (await store.read()).current] == ["My GPU has 12 GB"]


async def test_it_ends_by_delete_and_a_restart(chat: Chatting, tmp_path: Path) -> None:
    made = await chat.client.post("/api/chats", json={"id": "t1", "temporary": True})
    assert made.status == 201
    assert (await chat.client.get("/api/chats/t1")).status == 200
    assert (await chat.client.delete("/api/chats/t1")).status == 204
    assert (await chat.client.get("/api/chats/t1")).status == 404
    await chat.client.post("/api/chats", json={"id": "t2", "temporary": True})
    async with chatting(tmp_path / "other") as other:
        assert (await other.client.get("/api/chats/t2")).status == 404


async def test_a_kept_chat_does_not_become_temporary(chat: Chatting) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    refused = await chat.client.post("/api/chats", json={"id": "c1", "temporary": True})
    assert refused.status == 409
    assert await listed(chat) == ["c1"]


async def test_it_ends_after_ten_minutes_without_a_reader_or_a_request() -> None:
    now = 0.0
    readers = {"t1": True, "t2": False, "t3": False}
    used = {"t1": 0.0, "t2": 0.0, "t3": 90.0}
    ended: list[str] = []
    looks = asyncio.Queue[None]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        await looks.get()
        now += seconds

    async def delete(chat_id: str) -> None:
        ended.append(chat_id)

    def known(chat_id: str) -> Any:
        return SimpleNamespace(quiet=not readers[chat_id])

    sessions = cast("Any", SimpleNamespace(known=known, used=used.get))
    chats = TemporaryChats(sessions, delete, 9, clock=lambda: now, sleep=sleep)
    for chat_id in readers:
        chats.add(chat_id)
    for _ in range(int(UNREAD_SECONDS / 60)):
        looks.put_nowait(None)
    for _ in range(100):
        await asyncio.sleep(0)
    assert ended == [], "a reader may have left after the first look"
    looks.put_nowait(None)
    for _ in range(100):
        await asyncio.sleep(0)
    assert ended == ["t2"]
    assert "t1" in chats
    assert "t2" not in chats
    assert "t3" in chats
    await chats.close()


async def test_each_request_to_it_counts(chat: Chatting, monkeypatch: pytest.MonkeyPatch) -> None:
    await chat.client.post("/api/chats", json={"id": "t1", "temporary": True})
    sessions = chat.assistant.space_of("default").of_chat("t1").sessions
    monkeypatch.setattr(sessions, "_clock", lambda: 4711.0)
    chat.provider.queue("Hello")
    await chat.say("Hi", "t1")
    assert sessions.used("t1") == 4711.0
    assert sessions.used("t2") is None


async def test_a_branch_of_it_is_temporary_too(chat: Chatting) -> None:
    chat.provider.queue("Zebrafinch.")
    await chat.say(SECRET, "t1", temporary=True)
    last = (await chat.stored("t1"))["messages"][-1]["id"]
    made = await chat.client.post("/api/chats/t1/branch", json={"message_id": last})
    branch = (await made.json())["id"]
    assert len((await chat.stored(branch))["messages"]) == 2
    assert await listed(chat) == []


async def test_its_events_are_read_and_a_reader_keeps_it(chat: Chatting) -> None:
    await chat.client.post("/api/chats", json={"id": "t1", "temporary": True})
    async with chat.client.get("/api/chats/subscribe", params={"chat_id": "t1"}) as stream:
        assert stream.status == 200
        assert b'"type":"snapshot"' in await stream.content.readany()
    async with chat.client.get("/api/chats/subscribe", params={"chat_id": "t9"}) as stream:
        assert stream.status == 404


async def test_beyond_the_limit_the_one_ends_that_nobody_used_for_the_longest_time(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, {"ASSISTANT_MAX_TEMPORARY_CHATS": "2"}) as running:

        async def begin(chat_id: str) -> int:
            body = {"id": chat_id, "temporary": True}
            return (await running.client.post("/api/chats", json=body)).status

        async def there(chat_id: str) -> bool:
            return (await running.client.get(f"/api/chats/{chat_id}")).status == 200

        assert [await begin("t1"), await begin("t2")] == [201, 201]
        async with running.client.get("/api/chats/subscribe", params={"chat_id": "t1"}) as first:
            await first.content.readany()
            assert await begin("t3") == 201
            assert [await there(one) for one in ("t1", "t2", "t3")] == [True, False, True]
            async with running.client.get(
                "/api/chats/subscribe", params={"chat_id": "t3"}
            ) as second:
                await second.content.readany()
                refused = await running.say("Hi", "t4", temporary=True)
                assert (refused.status, refused.error["code"]) == (429, "busy")
                assert "leave one of them" in refused.error["message"]
                assert await there("t1") and await there("t3") and not await there("t4")


async def test_branches_beyond_the_limit_end_with_the_next_look() -> None:
    ended: list[str] = []
    looked = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await looked.wait()
        looked.clear()

    async def delete(chat_id: str) -> None:
        ended.append(chat_id)

    sessions = cast("Any", SimpleNamespace(known=lambda _: None, used=lambda _: None))
    times = iter(range(1000))
    chats = TemporaryChats(sessions, delete, 2, clock=lambda: next(times), sleep=sleep)
    for chat_id in ("t1", "t2", "t3", "t4"):
        chats.add(chat_id)
    assert ended == []
    looked.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert ended == ["t1", "t2"]
    await chats.close()


async def test_a_chat_that_is_opened_while_another_ends_goes_on() -> None:
    now = 0.0
    read: set[str] = set()
    ended: list[str] = []
    looked = asyncio.Event()

    async def sleep(seconds: float) -> None:
        nonlocal now
        await looked.wait()
        looked.clear()
        now += 2 * UNREAD_SECONDS

    async def delete(chat_id: str) -> None:
        ended.append(chat_id)
        read.add("t2")

    def known(chat_id: str) -> Any:
        return SimpleNamespace(quiet=chat_id not in read)

    sessions = cast("Any", SimpleNamespace(known=known, used=lambda _: None))
    chats = TemporaryChats(sessions, delete, 9, clock=lambda: now, sleep=sleep)
    chats.add("t1")
    chats.add("t2")
    looked.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert ended == ["t1"]
    assert "t2" in chats
    await chats.close()
