"""Chats that are deleted while something happens in them."""

import asyncio
from typing import Any

from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script
from plugin.tests.turn.tools import Bench


async def restored(chat: Chatting) -> dict[str, Any]:
    async with chat.client.post("/api/chats/c1/restore") as response:
        assert response.status == 200
    return await chat.stored()


async def test_a_running_turn_is_stopped_before_its_chat_is_deleted(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Half"}, {"wait": "never"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("never")
    assert (await chat.client.delete("/api/chats/c1")).status == 204
    assert (await saying).types[-1] == "abort"
    assert chat.assistant.space_of("default").sessions.running("c1") is None
    back = await restored(chat)
    assert back["state"] == "idle"
    assert back["messages"][-1]["parts"][-1]["text"] == "Half"


async def test_a_turn_that_waits_still_waits_in_a_chat_that_came_back(
    chat: Chatting, bench: Bench
) -> None:
    chat.provider.queue(Script([{"tool": {"name": "erase", "arguments": "{}", "id": "e1"}}]))
    await chat.say("Hi")
    before = await chat.stored()
    assert before["state"] == "paused"
    await chat.client.delete("/api/chats/c1")
    assert await restored(chat) == before


async def test_a_deleted_chat_takes_no_message_until_it_comes_back(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    await chat.client.delete("/api/chats/c1")
    refused = await chat.say("Still there?")
    assert (refused.status, refused.error["code"]) == (409, "chat_deleted")
    assert (await chat.command(type="abort")).status == 404
    await restored(chat)
    chat.provider.queue("Here I am")
    assert (await chat.say("And now?")).text == "Here I am"


async def test_nothing_of_a_deleted_chat_stays_in_memory(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    space = chat.assistant.space_of("default")
    assert await space.sessions.report("c1") is not None
    await chat.client.delete("/api/chats/c1")
    await restored(chat)
    assert await space.sessions.report("c1") is None
