"""Events of a chat: hidden messages that the model reads once, in the next turn (R40, R54)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from plugin.assistant.context.notes import EVENTS
from plugin.assistant.errors import NotFound
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script

DONE = "The run of okapi.json is done: okapi_00001.png."


async def happened(chat: Chatting, text: str = DONE, chat_id: str = "c1") -> None:
    await chat.assistant.space_of("default").sessions.add_event(chat_id, text)


def notes(chat: Chatting, request: int = -1) -> list[str]:
    """The notes of events in a request."""
    contents = [message["content"] for message in chat.provider.requests[request].messages]
    return [text for text in contents if text and text.startswith(EVENTS.heading)]


async def roles(chat: Chatting) -> list[tuple[str, Any]]:
    messages = (await chat.stored())["messages"]
    return [(m["role"], m.get("metadata", {}).get("origin")) for m in messages]


async def test_an_event_is_a_hidden_message_that_starts_no_turn(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    await happened(chat)
    event = (await chat.stored())["messages"][-1]
    assert event["role"] == "user"
    assert event["metadata"] == {"origin": "event", "hidden": True}
    assert event["parts"][0]["text"] == DONE
    assert (await chat.stored())["state"] == "idle"
    assert len(chat.provider.requests) == 1


async def test_the_model_reads_an_event_in_the_next_turn_only(chat: Chatting) -> None:
    chat.provider.queue("Hello", "I see", "Yes")
    await chat.say("Hi")
    await happened(chat)
    await chat.say("And?")
    [note] = notes(chat)
    assert DONE in note
    assert chat.provider.requests[-1].messages[-1]["content"] == "And?"
    await chat.say("Sure?")
    assert not notes(chat)
    assert not any(DONE in str(m["content"]) for m in chat.provider.requests[-1].messages)


async def test_an_event_during_an_answer_stands_before_it(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Hel"}, {"wait": "go"}, {"text": "lo"}]), "I see")
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    await happened(chat)
    chat.provider.release("go")
    await saying
    assert await roles(chat) == [("user", "person"), ("user", "event"), ("assistant", None)]
    await chat.say("And?")
    assert DONE in notes(chat)[0]


async def test_a_client_that_does_not_know_of_the_event_continues_the_chat(chat: Chatting) -> None:
    chat.provider.queue("Hello", "I see")
    first = chat.user("Hi")
    await chat.post({"id": "c1", "messages": [first]})
    answer = (await chat.stored())["messages"][1]
    await happened(chat)
    await chat.post({"id": "c1", "messages": [first, answer, chat.user("And?")]})
    assert [role for role, _ in await roles(chat)] == ["user", "assistant"] + ["user"] * 2 + [
        "assistant"
    ]
    assert DONE in notes(chat)[0]


async def test_another_answer_reads_the_event_again(chat: Chatting) -> None:
    chat.provider.queue("Hello", "I see", "I know")
    await chat.say("Hi")
    await happened(chat)
    await chat.say("And?")
    await chat.command(type="regenerate")
    await chat.idle()
    assert DONE in notes(chat)[0]


async def test_an_event_is_in_no_history_search_or_count(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    await happened(chat)
    stream = await chat.say("/history")
    assert "okapi" not in stream.text
    found = await (await chat.client.get("/api/chats/search?q=okapi")).json()
    assert found["results"] == []
    [entry] = (await (await chat.client.get("/api/chats")).json())["chats"]
    assert entry["messages"] == 4


async def test_an_unknown_chat_has_no_events(chat: Chatting) -> None:
    with pytest.raises(NotFound):
        await happened(chat, chat_id="nowhere")


async def test_a_message_that_is_sent_again_after_an_event_changes_nothing(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.post({"id": "c1", "message": {**chat.user("Hi"), "id": "u1"}})
    await happened(chat)
    again = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    assert (await chat.command(type="user_message", message=again)).status == 202
    assert len(chat.provider.requests) == 1


async def test_a_question_without_an_answer_may_be_sent_again_after_an_event(
    chat: Chatting,
) -> None:
    chat.provider.queue("Hello", "One", "Two")
    await chat.say("Hi")
    question = {**chat.user("What?"), "id": "q"}
    await chat.post({"id": "c1", "message": question})
    answer = (await chat.stored())["messages"][-1]["id"]
    await chat.command(type="truncate_messages", message_id=answer)
    await happened(chat)
    await chat.post({"id": "c1", "message": question})
    assert (await chat.stored())["messages"][-1]["parts"][-1]["text"] == "Two"


async def test_another_answer_to_the_question_before_reads_the_event(chat: Chatting) -> None:
    chat.provider.queue("Hello", "Hello again")
    await chat.say("Hi")
    await happened(chat)
    await chat.command(type="regenerate")
    await chat.idle()
    assert DONE in notes(chat)[0]


async def test_a_question_in_the_place_of_another_reads_the_event(chat: Chatting) -> None:
    chat.provider.queue("Hello", "One", "Two")
    await chat.say("Hi")
    await chat.post({"id": "c1", "message": {**chat.user("What?"), "id": "q"}})
    await chat.command(type="truncate_messages", message_id="q")
    await happened(chat)
    await chat.say("And?")
    assert DONE in notes(chat)[0]


async def test_a_restored_chat_keeps_what_it_has(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    response = await chat.client.get("/api/chats/c1/export?format=trajectory")
    trajectory = await response.json()
    assert (await chat.command(type="restore_from_trajectory", trajectory=trajectory)).status == 202
    again = await (await chat.client.get("/api/chats/c1/export?format=trajectory")).json()
    assert again == trajectory
