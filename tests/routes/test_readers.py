"""Clients that read slowly or not at all, over real sockets: they are let go, and harm nobody."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.errors import Refused
from plugin.assistant.messages.parts import Message, TextPart
from plugin.assistant.routes import body as bodies
from plugin.assistant.routes.places import Places
from plugin.assistant.routes.sending import SLICE
from plugin.tests.chatting import Chatting, chatting, until
from plugin.tests.providers import Script

STALLED = {"ASSISTANT_STALLED_SECONDS": "1"}
ONE_PLACE = {**STALLED, "ASSISTANT_MAX_STREAMS": "1"}
LONG = [{"text": "The fox sleeps under a low sun. " * 4_000} for _ in range(14)]
"""1.8 MB: more than the buffers of a connection hold, less than an answer may have."""
PATIENCE = 30.0
"""Seconds, for what takes one or two."""


@contextlib.asynccontextmanager
async def deaf(
    chat: Chatting, method: str, path: str, body: Any = None, *, buffer: int = 4096
) -> AsyncIterator[Any]:
    """A client that sends a request and never reads; its socket. `buffer` are the bytes that its
    system takes by itself."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, (chat.client.host, chat.client.port))
    content = json.dumps(body).encode() if body is not None else b""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    await loop.sock_sendall(connection, head.encode() + content)
    try:
        yield connection
    finally:
        connection.close()


async def with_a_large_chat(chat: Chatting, megabytes: int) -> None:
    store = chat.assistant.space_of("default").chats
    text = "The fox sleeps under a low sun. " * 32_768
    messages = [Message(f"u{n}", "user", (TextPart(text),)) for n in range(megabytes)]
    await store.import_messages("c1", tuple(messages))


async def test_a_turn_needs_no_reader_and_its_place_is_free_again(tmp_path: Path) -> None:
    async with chatting(tmp_path, ONE_PLACE) as chat:
        chat.provider.queue(Script([*LONG, {"wait": "go"}, {"text": "The end."}]))
        body = {"id": "c1", "message": chat.user("Tell")}
        async with deaf(chat, "POST", "/api/chat", body):
            await chat.provider.reached("go")
            assert (await chat.say("And you?", "c2")).status == 503
            chat.provider.queue("Here")
            end = time.monotonic() + PATIENCE
            while (answer := await chat.say("And you?", "c2")).status == 503:
                assert time.monotonic() < end, "the deaf client keeps its place"
                await asyncio.sleep(0.05)
            assert answer.text == "Here"
            chat.provider.release("go")
            await chat.idle("c1")
        stored = (await chat.stored("c1"))["messages"][-1]["parts"][-1]["text"]
        assert stored.endswith("The end.")
        assert len(stored) == sum(len(step["text"]) for step in LONG) + len("The end.")


async def test_a_turn_without_a_chat_ends_with_its_deaf_client(tmp_path: Path) -> None:
    async with chatting(tmp_path, ONE_PLACE) as chat:
        chat.provider.queue(Script([*LONG, {"wait": "never"}]))
        async with deaf(chat, "POST", "/api/chat", {"message": chat.user("Tell")}):
            await chat.provider.reached("never")
            await until(lambda: not chat.assistant.gate._streams._taken)
        chat.provider.release("never")


async def test_a_deaf_subscriber_is_let_go_and_its_panel_counts_as_gone(tmp_path: Path) -> None:
    async with chatting(tmp_path, ONE_PLACE) as chat:
        await with_a_large_chat(chat, 4)
        path = "/api/chats/subscribe?chat_id=c1&client_id=p1"
        async with deaf(chat, "GET", path):
            session = await chat.assistant.space_of("default").sessions.of("c1")
            await until(lambda: session.live.present("p1"))
            await until(lambda: not session.live.present("p1"))
            assert session.events.readers == 0


async def test_a_reader_who_takes_a_little_at_a_time_is_not_let_go(tmp_path: Path) -> None:
    async with chatting(tmp_path, ONE_PLACE) as chat:
        await with_a_large_chat(chat, 1)
        path = "/api/chats/subscribe?chat_id=c1"
        async with deaf(chat, "GET", path, buffer=65_536) as connection:
            loop = asyncio.get_running_loop()
            size, begun = 0, time.monotonic()
            while size < 1_000_000:
                got = await asyncio.wait_for(loop.sock_recv(connection, 40_000), PATIENCE)
                assert got, "the connection was closed"
                size += len(got)
                await asyncio.sleep(0.08)
            assert time.monotonic() - begun > 1.5, "it was too fast to tell"


@pytest.mark.parametrize("path", ["/api/chats/c1", "/api/chats/c1/export?format=jsonl"])
async def test_a_page_that_nobody_reads_is_kept_in_slices_only(tmp_path: Path, path: str) -> None:
    async with chatting(tmp_path, STALLED) as chat:
        await with_a_large_chat(chat, 6)
        places = chat.assistant.gate._large_answers
        async with deaf(chat, "GET", path):
            await until(lambda: bool(places._taken))
            waiting = 0
            while places._taken:
                [connection] = places._taken
                transport = connection._request.transport
                waiting = max(waiting, transport.get_write_buffer_size() if transport else 0)
                await asyncio.sleep(0.02)
        assert 0 < waiting <= 4 * SLICE


async def test_a_panel_gets_a_place_of_a_program_that_took_all(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"ASSISTANT_MAX_STREAMS": "4"}) as chat:
        path = "/api/chats/subscribe"
        async with contextlib.AsyncExitStack() as opened:
            program = [await opened.enter_async_context(chat.client.get(path)) for _ in range(4)]
            assert {one.status for one in program} == {200}
            async with chat.client.get(path) as refused:
                assert refused.status == 503
                assert int(refused.headers["Retry-After"]) > 0
            panel = f"{path}?client_id=p1"
            for _ in range(2):
                stream = await opened.enter_async_context(chat.client.get(panel))
                assert stream.status == 200
                assert b"snapshot" in await stream.content.readany()
            async with chat.client.get(panel) as refused:
                assert refused.status == 503, "each has its half"


async def test_places_are_given_back_also_after_an_error(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"ASSISTANT_MAX_STREAMS": "2"}) as chat:
        gate = chat.assistant.gate
        request: Any = _NoClient()
        with gate.stream_slot(request), gate.stream_slot(request):
            with pytest.raises(Refused) as refused, gate.stream_slot(request):
                pass
            assert refused.value.status == 503 and refused.value.retry_after
        with pytest.raises(ZeroDivisionError), gate.stream_slot(request):
            raise ZeroDivisionError
        with gate.stream_slot(request), gate.stream_slot(request):
            pass


async def test_the_stalest_stream_of_the_client_with_the_most_goes() -> None:
    places = Places(3, 1000.0)
    requests: list[Any] = [_NoClient() for _ in range(3)]
    with contextlib.ExitStack() as opened:
        for request in requests:
            opened.enter_context(places.taken(request, "greedy"))
        requests[1].transport.waiting = 10
        requests[1].writer.output_size = 10
        next(iter(places._taken)).since += 1
        for number, connection in enumerate(places._taken):
            connection.since -= 100 if number == 1 else 0
        with places.taken(requests[0], "modest"):
            assert [one.transport.aborted for one in requests] == [False, True, False]


class _NoClient:
    """A request whose client takes nothing."""

    class Transport:
        waiting = 0
        aborted = False

        def get_extra_info(self, name: str) -> Any:
            return ("127.0.0.1", 1) if name == "peername" else None

        def get_write_buffer_size(self) -> int:
            return self.waiting

        def abort(self) -> None:
            self.aborted = True

    class Writer:
        output_size = 0

    def __init__(self) -> None:
        self.transport = self.Transport()
        self.writer = self.Writer()


async def test_a_client_that_sends_half_a_body_is_let_go(tmp_path: Path) -> None:
    async with chatting(tmp_path, STALLED) as chat:
        head = (
            b"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b'Connection: close\r\nContent-Length: 5000\r\n\r\n{"message": '
        )
        reader, writer = await asyncio.open_connection(chat.client.host, chat.client.port)
        writer.write(head)
        answer = await asyncio.wait_for(reader.readuntil(b"}}"), PATIENCE)
        writer.close()
    assert answer.startswith(b"HTTP/1.1 408")


async def test_large_bodies_are_held_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "MOST_HELD_BYTES", 3_000_000)
    headers = {"Content-Type": "application/json"}
    async with chatting(tmp_path) as chat:
        for megabytes, status in ((4, 503), (2, 400), (2, 400)):
            sent = BytesIO(b'{"x": "' + b"x" * megabytes * 1_000_000 + b'"}')
            async with chat.client.post("/api/chats", data=sent, headers=headers) as response:
                assert response.status == status
                assert ("Retry-After" in response.headers) == (status == 503)
