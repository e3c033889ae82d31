"""`POST /api/chat` with `Prefer: respond-async`: 202 at once, the answer as the chat's events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.sessions.live_chat import LiveChat
from plugin.assistant.turn import turn_places as places
from plugin.tests.chatting import Chatting, chatting, until
from plugin.tests.providers import Script, tool_call

ASYNC = {"Prefer": "respond-async"}
MOST_QUEUED = 32


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as client:
        yield client


async def submit(
    chat: Chatting, text: str = "Hi", message_id: str | None = None, **more: Any
) -> tuple[int, dict[str, Any]]:
    message = chat.user(text)
    if message_id is not None:
        message["id"] = message_id
    return await post(chat, {"id": "c1", "message": message, **more})


async def post(chat: Chatting, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    async with chat.client.post("/api/chat", json=body, headers=ASYNC) as response:
        return response.status, await response.json()


async def texts(chat: Chatting) -> list[str]:
    messages = (await chat.stored())["messages"]
    return ["".join(p.get("text", "") for p in m["parts"]) for m in messages]


def live(chat: Chatting, identity: str = "c1") -> LiveChat:
    session = chat.assistant.space_of("default").sessions.known(identity)
    assert session is not None
    return session.live


async def answered(chat: Chatting, count: int) -> None:
    """Waits until the chat has so many messages, is idle, and has nothing in its queue."""
    await until(lambda: live(chat).state == "idle" and not live(chat).queue)
    assert len((await chat.stored())["messages"]) == count


async def busy(chat: Chatting) -> None:
    """A chat whose first answer waits for `go`."""
    chat.provider.queue(Script([{"text": "One"}, {"wait": "go"}]))
    status, _ = await submit(chat, "First", "m1")
    assert status == 202
    await chat.provider.reached("go")


async def test_a_message_is_taken_at_once_and_answered_in_the_chat(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    status, body = await submit(chat, "Hi", "m1")
    assert status == 202
    assert set(body) == {"id", "message_id", "seq", "epoch", "state", "queued"}
    assert (body["id"], body["message_id"]) == ("c1", "m1")
    assert (body["state"], body["queued"]) == ("generating", 0)
    await answered(chat, 2)
    assert await texts(chat) == ["Hi", "Hello"]


async def test_its_events_follow_the_number_in_the_response(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    _, body = await submit(chat, "Hi", "m1")
    await answered(chat, 2)
    query = {"chat_id": "c1", "last_event_id": str(body["seq"]), "epoch": body["epoch"]}
    async with chat.client.get("/api/chats/subscribe", params=query) as events:
        seen = []
        async for line in events.content:
            if line.startswith(b"event: "):
                seen.append(line[7:].decode().strip())
            if "stream_finished" in seen:
                break
    assert seen.index("message_added") < seen.index("stream_started")
    assert "snapshot" not in seen


async def test_the_response_says_that_the_preference_holds(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    body = {"id": "c1", "message": chat.user("Hi")}
    headers = {"Prefer": "wait=5, Respond-Async; x=1"}
    async with chat.client.post("/api/chat", json=body, headers=headers) as response:
        assert response.status == 202
        assert response.headers["Preference-Applied"] == "respond-async"
    await answered(chat, 2)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"message": {"id": "m", "role": "user", "parts": [{"type": "text", "text": "x"}]}}, "id"),
        ({"id": "c1"}, "messages"),
        ({"id": "c1", "message": {"id": "m", "role": "assistant", "parts": []}}, "messages"),
    ],
)
async def test_what_cannot_be_taken_says_where(
    chat: Chatting, body: dict[str, Any], where: str
) -> None:
    status, refused = await post(chat, body)
    assert status == 400
    assert refused["error"]["where"] == where


async def test_in_a_busy_chat_messages_wait_and_priority_goes_first(chat: Chatting) -> None:
    await busy(chat)
    chat.provider.queue("Three", "Two")
    assert (await submit(chat, "Second", "m2"))[1]["queued"] == 1
    status, body = await submit(chat, "Third", "m3", priority=True)
    assert (status, body["queued"], body["state"]) == (202, 2, "generating")
    chat.provider.release("go")
    await answered(chat, 6)
    assert await texts(chat) == ["First", "One", "Third", "Three", "Second", "Two"]


async def test_a_pending_approval_stays_pending(chat: Chatting) -> None:
    asked = tool_call("createUserSkill", {"name": "Moon", "description": "d", "instructions": "i"})
    chat.provider.queue(Script([asked]))
    await submit(chat, "Save it", "m1")
    await until(lambda: live(chat).state == "paused")
    status, body = await submit(chat, "And now?", "m2")
    assert (status, body["state"], body["queued"]) == (202, "paused", 1)
    stored = await chat.stored()
    assert stored["state"] == "paused"
    states = [part.get("state") for part in stored["messages"][-1]["parts"]]
    assert "approval-requested" in states


async def test_an_id_that_the_log_knows_changes_nothing_whatever_its_text(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await submit(chat, "Hi", "m1")
    await answered(chat, 2)
    before = await chat.stored()
    status, body = await submit(chat, "Something else", "m1")
    assert (status, body["message_id"], body["state"]) == (202, "m1", "idle")
    assert await chat.stored() == before
    assert len(chat.provider.requests) == 1


async def test_an_id_that_waits_changes_nothing_and_may_come_again_when_it_was_taken_out(
    chat: Chatting,
) -> None:
    await busy(chat)
    await submit(chat, "Second", "m2")
    assert (await submit(chat, "Other words", "m2"))[1]["queued"] == 1
    assert [entry.message and entry.message.text for entry in live(chat).queue] == ["Second"]
    await chat.command(type="cancel_queued", id="m2")
    assert (await submit(chat, "Now so", "m2"))[1]["queued"] == 1
    chat.provider.queue("Two")
    chat.provider.release("go")
    await answered(chat, 4)
    assert (await texts(chat))[2:] == ["Now so", "Two"]


async def test_an_empty_message_does_not_wait_for_a_turn_that_cannot_answer_it(
    chat: Chatting,
) -> None:
    await busy(chat)
    status, body = await submit(chat, "  ")
    assert (status, body["error"]["where"]) == (400, "message")
    assert not live(chat).queue
    chat.provider.release("go")
    await answered(chat, 2)


async def test_the_queue_has_32_places(chat: Chatting) -> None:
    await busy(chat)
    for number in range(MOST_QUEUED):
        assert (await submit(chat, "More", f"q{number}"))[0] == 202
    status, body = await submit(chat, "One too many", "q-last")
    assert (status, body["error"]["code"]) == (429, "queue_full")
    await chat.command(type="abort")


async def test_another_answer_is_refused_in_a_busy_chat_and_given_in_an_idle_one(
    chat: Chatting,
) -> None:
    await busy(chat)
    again = {"id": "c1", "trigger": "regenerate-message"}
    status, body = await post(chat, again)
    assert (status, body["error"]["code"], body["state"]) == (409, "turn_running", "generating")
    chat.provider.release("go")
    await answered(chat, 2)
    chat.provider.queue("Better")
    status, body = await post(chat, again)
    assert (status, body["state"]) == (202, "generating")
    await answered(chat, 2)
    assert await texts(chat) == ["First", "Better"]


@pytest.mark.parametrize("new_id", ["m1", "m9"])
async def test_message_id_asks_an_earlier_message_in_other_words(
    chat: Chatting, new_id: str
) -> None:
    chat.provider.queue("One", "Two")
    await submit(chat, "First", "m1")
    await answered(chat, 2)
    status, body = await submit(chat, "First, better", new_id, messageId="m1")
    assert status == 202
    await answered(chat, 2)
    stored = await chat.stored()
    assert await texts(chat) == ["First, better", "Two"]
    assert stored["messages"][0]["id"] == body["message_id"] != "m1"
    assert stored["versions"][body["message_id"]]["ids"][0] == "m1"


async def test_without_the_header_a_busy_chat_refuses_as_before(chat: Chatting) -> None:
    await busy(chat)
    refused = await chat.say("Second")
    assert (refused.status, refused.error["code"]) == (409, "turn_running")
    chat.provider.release("go")
    await answered(chat, 2)


async def test_over_the_limit_a_turn_waits_and_can_be_stopped(tmp_path: Path) -> None:
    environ = {"ASSISTANT_MAX_TURNS": "1"}
    async with chatting(tmp_path, environ=environ) as chat:
        await busy(chat)
        status, body = await post(chat, {"id": "c2", "message": chat.user("Other")})
        assert (status, body["state"]) == (202, "generating")
        third = asyncio.create_task(chat.say("Third", chat="c3"))
        sessions = chat.assistant.space_of("default").sessions
        await until(lambda: sessions.running("c3") is not None)
        assert len(chat.provider.requests) == 1
        assert (await chat.command("c2", type="abort")).status == 202
        assert (await chat.stored("c2"))["state"] == "idle"
        chat.provider.queue("Three")
        chat.provider.release("go")
        assert (await third).text == "Three"


async def test_when_too_many_wait_a_turn_is_refused_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MOST_WAITING", 1)
    async with chatting(tmp_path, environ={"ASSISTANT_MAX_TURNS": "1"}) as chat:
        await busy(chat)
        await post(chat, {"id": "c2", "message": chat.user("Other")})
        await asyncio.sleep(0.05)
        refused = await chat.say("Third", chat="c3")
        assert (refused.status, refused.error["code"]) == (429, "busy")
        assert "Retry-After" in refused.headers
        assert (await chat.client.get("/api/chats/c3")).status == 404
        await chat.command("c2", type="abort")
        chat.provider.release("go")
        await answered(chat, 2)
