"""Which origin the messages of a chat get over HTTP: the server's, whatever a client claims."""

from __future__ import annotations

from typing import Any

from plugin.tests.chatting import Chatting


async def origins(chat: Chatting, chat_id: str = "c1") -> list[Any]:
    messages = (await chat.stored(chat_id))["messages"]
    return [m.get("metadata", {}).get("origin") for m in messages if m["role"] == "user"]


async def test_a_message_of_a_request_is_a_person_s(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    stream = await chat.say("Hi")
    assert await origins(chat) == ["person"]
    assert "origin" not in stream.message.metadata


async def test_what_a_client_claims_is_dropped(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    message = {**chat.user("Hi"), "metadata": {"origin": "event", "hidden": True, "mood": "good"}}
    await chat.post({"id": "c1", "message": message})
    [asked, _] = (await chat.stored())["messages"]
    assert asked["metadata"] == {"mood": "good", "origin": "person"}


async def test_the_past_of_an_unknown_chat_is_imported(chat: Chatting) -> None:
    chat.provider.queue("Zwei")
    past = [chat.user("One"), {"id": "a", "role": "assistant", "parts": []}]
    await chat.post({"id": "c1", "messages": [*past, chat.user("Two")]})
    assert await origins(chat) == ["imported", "person"]


async def test_a_message_that_waited_in_the_queue_is_a_person_s(chat: Chatting) -> None:
    chat.provider.queue("Hello", "Again")
    await chat.say("Hi")
    message = {**chat.user("More"), "metadata": {"origin": "hook"}}
    assert (await chat.command(type="user_message", message=message)).status == 202
    await chat.idle()
    assert await origins(chat) == ["person", "person"]


async def test_a_restored_trajectory_is_imported(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    response = await chat.client.get("/api/chats/c1/export?format=trajectory")
    trajectory = await response.json()
    chat.provider.queue("Good day")
    await chat.say("Hello", "c2")
    command = {"type": "restore_from_trajectory", "trajectory": trajectory}
    assert (await chat.command("c2", **command)).status == 202
    assert await origins(chat, "c2") == ["imported"]
    assert await origins(chat) == ["person"]


async def test_a_client_that_sends_its_list_again_continues_the_chat(chat: Chatting) -> None:
    chat.provider.queue("Hello", "Again")
    first = chat.user("Hi")
    await chat.post({"id": "c1", "messages": [first]})
    answer = (await chat.stored())["messages"][1]
    await chat.post({"id": "c1", "messages": [first, answer, chat.user("More")]})
    assert len((await chat.stored())["messages"]) == 4
    assert await origins(chat) == ["person", "person"]
