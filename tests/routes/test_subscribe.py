"""`GET /api/chats/subscribe` and commands over real HTTP, as a panel uses them."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from plugin.assistant.messages.chunks import KEEP_ALIVE
from plugin.assistant.routes import subscribe
from plugin.assistant.sessions import feed as sessions_feed
from plugin.tests.chatting import ASSISTANT, Chatting, app_of, chatting
from plugin.tests.providers import Script
from plugin.tests.sessions.folding import State, fold_event, shown
from plugin.tests.sessions.stage import events_in
from plugin.tests.turn.tools import Bench

PIECES = 60
CUTS = 200
LONG = "The sampler of the portrait is euler and its steps are twenty. " * 12
WORDS = ("a ", "fox ", "\u00fcber ", "\n\n")
LONGEST_READ = 3_000
"""Bytes that a client reads before its connection is cut; an event has 150 to 1,500 bytes."""


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as chat:
        yield chat


class Panel:
    """A client of the events; it keeps the number of the last event that it read."""

    def __init__(self, chat: Chatting, identity: str | None = "c1", **query: str) -> None:
        self._client = chat.client
        self._query = query if identity is None else {"chat_id": identity, **query}
        self.seen: list[dict[str, Any]] = []
        self.state: State | None = None
        self._rest = b""
        self._read: list[dict[str, Any]] = []

    @contextlib.asynccontextmanager
    async def connected(self, *, again: bool = True) -> AsyncIterator[aiohttp.ClientResponse]:
        """Opens a connection; with `again` it resumes after the last event that was read."""
        headers = {}
        query = dict(self._query)
        if again and self.seen:
            headers["Last-Event-ID"] = str(self.seen[-1]["seq"])
            query["epoch"] = self.seen[-1]["epoch"]
        async with self._client.get(
            "/api/chats/subscribe", params=query, headers=headers
        ) as response:
            assert response.status == 200, await response.text()
            self._rest, self._read = b"", []
            yield response

    async def until(self, response: aiohttp.ClientResponse, kind: str, **fields: Any) -> Any:
        """Reads events up to the next one of this type that has these fields."""
        while True:
            while self._read:
                event = self.take(self._read.pop(0))
                if event["type"] == kind and fields.items() <= event.items():
                    return event
            assert not response.content.at_eof(), "the stream has ended"
            self._rest += await response.content.readany()
            whole, border, self._rest = self._rest.rpartition(b"\n\n")
            self._read += events_in(whole + border)

    def take(self, event: dict[str, Any]) -> dict[str, Any]:
        if "seq" in event:
            self.seen.append(event)
            if (
                "chat_id" in event
                and "chats" not in event
                and not event["type"].startswith("chat_")
            ):
                self.state = fold_event(self.state, event)
        return event

    @property
    def done(self) -> bool:
        """Whether the answer has ended and the chat is idle."""
        if self.state is None or self.state["stream"] is not None:
            return False
        answered = bool(self.state["messages"]) and self.state["messages"][-1]["role"] != "user"
        return answered and self.state["runtime"]["state"] == "idle"


async def test_what_happens_in_a_chat_reaches_every_reader_alike(chat: Chatting) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    panels = [Panel(chat) for _ in range(3)]
    async with contextlib.AsyncExitStack() as open_streams:
        streams = [await open_streams.enter_async_context(one.connected()) for one in panels]
        chat.provider.queue(Script([{"text": "Hel"}, {"text": "lo"}]))
        taken = await chat.command(type="user_message", message=chat.user("Hi"))
        assert (taken.status, await taken.json()) == (202, {"accepted": True, "queued": 0})
        for panel, stream in zip(panels, streams, strict=True):
            await panel.until(stream, "thread_updated", chat={"state": "idle"})
            assert stream.headers["Content-Type"] == "text/event-stream"
    assert panels[0].state == panels[1].state == panels[2].state
    assert panels[0].state is not None
    assert shown(panels[0].state) == (await chat.stored())["messages"]


async def test_a_turn_of_the_other_route_is_told_too(chat: Chatting) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    panel = Panel(chat)
    async with panel.connected() as stream:
        chat.provider.queue("Hello")
        await chat.say("Hi")
        await panel.until(stream, "thread_updated", chat={"state": "idle"})
    assert panel.state is not None
    assert shown(panel.state) == (await chat.stored())["messages"]


@pytest.mark.slow
async def test_text_survives_two_hundred_cuts(chat: Chatting) -> None:
    """The connection is cut at random places of the stream, also in the middle of an event, and
    before the first number."""
    chance = random.Random(7)
    cuts = 0
    while cuts < CUTS:
        identity = f"c{cuts}"
        await chat.client.post("/api/chats", json={"id": identity})
        words = [chance.choice(WORDS) for _ in range(PIECES)]
        chat.provider.queue(Script([{"text": word} for word in words]))
        await chat.command(identity, type="user_message", message=chat.user("Tell"))
        panel = Panel(chat, identity)
        while not panel.done:
            async with panel.connected(again=chance.random() < 0.8) as stream:
                content = await stream.content.read(chance.randrange(1, LONGEST_READ))
            whole, border, _ = content.rpartition(b"\n\n")
            for event in events_in(whole + border):
                panel.take(event)
            cuts += content != KEEP_ALIVE
        assert panel.state is not None
        stored = await chat.stored(identity)
        assert shown(panel.state) == stored["messages"]
        assert stored["messages"][-1]["parts"][-1]["text"] == "".join(words)


async def test_what_was_missed_is_replayed_and_another_time_begins_anew(chat: Chatting) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    panel = Panel(chat)
    async with panel.connected() as stream:
        first = (await panel.until(stream, "snapshot"))["seq"]
    await chat.command(type="set_draft", text="A fox")
    async with panel.connected() as stream:
        missed = await panel.until(stream, "thread_updated")
        assert missed["seq"] == first + 1 and missed["draft"] == "A fox"
    panel.seen[-1] = {**panel.seen[-1], "epoch": "another"}
    async with panel.connected() as stream:
        again = await panel.until(stream, "snapshot")
        assert (again["seq"], again["draft"]) == (first + 1, "A fox")
    panel.seen[-1] = {**again, "seq": first + 99}
    async with panel.connected() as stream:
        assert (await panel.until(stream, "snapshot"))["seq"] == first + 1


async def test_a_number_without_its_epoch_is_not_taken_for_one_of_a_new_epoch(
    tmp_path: Path,
) -> None:
    """A browser sends the old number without its epoch after a restart of the server."""
    async with chatting(tmp_path) as chat:
        await chat.client.post("/api/chats", json={"id": "c1"})
        panel = Panel(chat)
        async with panel.connected() as stream:
            await panel.until(stream, "snapshot")
            await chat.command(type="set_draft", text="A fox")
            await panel.until(stream, "thread_updated")
    async with chatting(tmp_path) as chat:
        for text in ("A", "A f", "A fox at"):
            async with chat.client.get("/api/chats/subscribe?chat_id=c1"):
                await chat.command(type="set_draft", text=text)
        seen = {"Last-Event-ID": str(panel.seen[-1]["seq"])}
        path = "/api/chats/subscribe?chat_id=c1"
        async with chat.client.get(path, headers=seen) as response:
            content = await response.content.readany()
        assert events_in(content)[0]["type"] == "snapshot"


async def test_the_list_begins_with_what_is_pinned_however_old(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_feed, "ENTRIES", 3)
    for number in range(6):
        await chat.client.post("/api/chats", json={"id": f"c{number}"})
    for identity in ("c1", "c4"):
        await chat.client.patch(f"/api/chats/{identity}", json={"pinned": True})
    async with (feed := Panel(chat, None)).connected() as stream:
        chats = (await feed.until(stream, "snapshot"))["chats"]
    assert [one["id"] for one in chats] == ["c4", "c1", "c5", "c3"]


async def test_the_feed_tells_of_every_chat(chat: Chatting) -> None:
    feed = Panel(chat, None)
    async with feed.connected() as stream:
        assert (await feed.until(stream, "snapshot"))["chats"] == []
        await chat.client.post("/api/chats", json={"id": "c1", "title": "A fox"})
        made = await feed.until(stream, "chat_created", chat_id="c1")
        assert made["chat"]["title"] == "A fox"
        chat.provider.queue("Hello")
        await chat.command(type="user_message", message=chat.user("Hi"))
        states = [""]
        while states[-1] != "idle" or "generating" not in states:
            states.append((await feed.until(stream, "chat_changed"))["chat"]["state"])
        await chat.client.patch("/api/chats/c1", json={"pinned": True})
        while not (await feed.until(stream, "chat_changed"))["chat"]["pinned"]:
            pass
        branch = await chat.command(
            type="branch_from_chat", message_id=(await chat.stored())["messages"][0]["id"]
        )
        identity = (await branch.json())["chat_id"]
        await feed.until(stream, "chat_created", chat_id=identity)
        await chat.client.delete("/api/chats/c1")
        await feed.until(stream, "chat_deleted", chat_id="c1")
        await chat.client.post("/api/chats/c1/restore")
        await feed.until(stream, "chat_created", chat_id="c1")
    async with chat.client.get("/api/chats") as response:
        listed = (await response.json())["chats"]
    assert {one["id"]: one["unread"] for one in listed} == {"c1": True, identity: False}


async def test_a_deleted_chats_stream_ends_with_the_reason(chat: Chatting) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    panel = Panel(chat)
    async with panel.connected() as stream:
        await chat.client.delete("/api/chats/c1")
        assert (await panel.until(stream, "closed"))["reason"] == "deleted"
        assert await stream.content.read() == b""


async def test_a_chat_that_was_deleted_before_a_reader_takes_messages_once_it_is_back(
    chat: Chatting,
) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    panel = Panel(chat)
    async with panel.connected() as stream:
        await panel.until(stream, "snapshot")
        await chat.client.delete("/api/chats/c1")
        assert (await chat.client.post("/api/chats/c1/restore")).status == 200
        kept = await chat.command(type="set_draft", text="Still here")
    assert kept.status == 202


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?chat_id=nobody", 404, "not_found"),
        ("?chat_id=a/b", 400, "invalid_request"),
        ("?chat_id=c1&last_event_id=-1", 400, "invalid_request"),
        ("?chat_id=c1&last_event_id=x", 400, "invalid_request"),
        ("?chat_id=c1&client_id=" + "x" * 200, 400, "invalid_request"),
    ],
)
async def test_a_wrong_subscription_is_refused(
    chat: Chatting, query: str, status: int, code: str
) -> None:
    await chat.client.post("/api/chats", json={"id": "c1"})
    async with chat.client.get("/api/chats/subscribe" + query) as response:
        assert response.status == status
        assert (await response.json())["error"]["code"] == code


async def test_too_many_streams_are_refused_with_a_time_to_come_again(tmp_path: Path) -> None:
    async with (
        chatting(tmp_path, {"ASSISTANT_MAX_STREAMS": "2"}) as chat,
        Panel(chat, None).connected(),
        Panel(chat, None).connected(),
        chat.client.get("/api/chats/subscribe") as response,
    ):
        assert response.status == 503
        assert int(response.headers["Retry-After"]) > 0


async def test_a_silent_stream_is_kept_open(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscribe, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(subscribe, "KEEP_ALIVE_SECONDS", 0.02)
    async with Panel(chat, None).connected() as stream:
        content = b""
        while content.count(b": keep-alive\n\n") < 2:
            content += await stream.content.readany()


async def test_a_panel_that_leaves_is_noticed_by_a_server_like_comfyuis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ComfyUI's server does not cancel a handler: a silent stream must check its client."""
    monkeypatch.setattr(subscribe, "LOOK_SECONDS", 0.01)
    app = app_of(tmp_path, {"ASSISTANT_DISCOVER": "0"})
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}/api/chats"
    sessions = app[ASSISTANT].space_of("default").sessions
    async with aiohttp.ClientSession() as client:
        await client.post(base, json={"id": "c1"})
        stream = await client.get(f"{base}/subscribe?chat_id=c1&client_id=p1")
        session = await sessions.of("c1")
        assert session.live.present("p1")
        left, gone = session.live.reader_left, asyncio.Event()

        def leave(client_id: str | None, canvas: bool) -> None:
            left(client_id, canvas)
            gone.set()

        monkeypatch.setattr(session.live, "reader_left", leave)
        stream.close()
        await gone.wait()
        assert not session.live.present("p1")
    await runner.cleanup()


async def test_a_refused_command_says_state_and_reason(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Slow"}, {"wait": "go"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    refused = await chat.command(type="regenerate")
    body = await refused.json()
    assert refused.status == 409
    assert body["error"]["code"] == "turn_running"
    assert (body["state"], body["reason"]) == ("generating", "busy")
    then = chat.user("Then")
    queued = await chat.command(type="user_message", message=then)
    assert (await queued.json()) == {"accepted": True, "queued": 1}
    gone = await chat.command(type="cancel_queued", id=then["id"])
    assert (await gone.json()) == {"accepted": True, "queued": 0}
    async with chat.client.get("/api/chats/c1") as response:
        assert (await response.json())["seq"] > 0
    chat.provider.release("go")
    await saying


async def test_commands_to_nobody_and_of_nobody_are_refused(chat: Chatting) -> None:
    assert (await chat.command("nobody", type="abort")).status == 404
    await chat.client.post("/api/chats", json={"id": "c1"})
    for body, where in (
        ({"type": "sing"}, "type"),
        ({"type": "abort", "workflow": 7}, "workflow"),
        ({"type": "set_params", "params": {"provider": "Nobody"}}, "params.provider"),
    ):
        refused = await chat.command(**body)
        assert refused.status == 400
        assert (await refused.json())["error"]["where"] == where


async def test_a_summary_of_the_older_messages_is_told(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_SUMMARY": "extractive"}) as chat:
        for number in range(10):
            chat.provider.queue(f"Answer {number}. {LONG}")
            await chat.say(f"Question {number}. {LONG}")
        panel = Panel(chat)
        async with panel.connected() as stream:
            first = await panel.until(stream, "snapshot")
            assert first["context"]["cuts"] == 0
            chat.provider.queue("Goal: a portrait with euler and twenty steps.")
            assert (await chat.command(type="compact")).status == 202
            told = await panel.until(stream, "context_compacted")
            assert told["report"]["cuts"] == 1
            assert "summarised" in told["text"]


async def test_a_waiting_call_is_told_with_its_panel(chat: Chatting) -> None:
    Bench().install(chat)
    await chat.client.post("/api/chats", json={"id": "c1"})
    panel = Panel(chat, client_id="p1")
    async with panel.connected() as stream:
        chat.provider.queue(
            Script([{"tool": {"name": "paintNode", "arguments": '{"node": 3}', "id": "t1"}}])
        )
        await chat.command(type="user_message", message=chat.user("Paint"), client_id="p1")
        await panel.until(stream, "thread_updated", chat={"state": "waiting_client"})
    assert panel.state is not None
    runtime = panel.state["runtime"]
    assert (runtime["client_id"], runtime["client_present"]) == ("p1", True)
    assert [(one["tool_call_id"], one["for"]) for one in runtime["waiting"]] == [("t1", "panel")]
    taken = await chat.command(type="take_over", client_id="p2")
    assert taken.status == 202
