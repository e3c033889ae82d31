"""Fixtures of the `llm` tests: a scripted server, and a client that records its waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest
from aiohttp import web
from plugin.assistant.config import Settings
from plugin.assistant.errors import ProviderError
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.request import LLMRequest
from plugin.assistant.llm.stream_events import Event
from plugin.assistant.messages.prompt import PromptMessage
from plugin.tests.providers import ScriptedProvider

Routes = Mapping[str, Any]
StartServer = Callable[[Routes], Awaitable[int]]
KEY = "sk-scripted-0123456789"
ASK = LLMRequest((PromptMessage("user", "Hi"),))


class Answer:
    """The events of one request, and the error that ended them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.error: ProviderError | None = None

    @property
    def failure(self) -> ProviderError:
        assert self.error is not None, f"No error, but {self.events}"
        return self.error


async def answer_of(client: Client, provider: Provider, request: LLMRequest) -> Answer:
    answer = Answer()
    try:
        async with contextlib.aclosing(client.stream(provider, request)) as events:
            async for event in events:
                answer.events.append(event)
    except ProviderError as error:
        answer.error = error
    return answer


class PatientClient(Client):
    """A client that does not wait; `waits` records the waits in seconds."""

    def __init__(self, settings: Settings | None = None, *, grace_seconds: float = 5.0) -> None:
        self.waits: list[float] = []
        super().__init__(
            settings or Settings(timeout_seconds=20.0),
            clock=lambda: sum(self.waits),
            sleep=self._wait,
            grace_seconds=grace_seconds,
        )

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def ask(self, provider: Provider, request: LLMRequest = ASK) -> Answer:
        return await answer_of(self, provider, request)


@pytest.fixture
async def client() -> AsyncIterator[PatientClient]:
    client = PatientClient()
    yield client
    await client.close()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedProvider]:
    async with ScriptedProvider() as server:
        yield server


@pytest.fixture
def provider(server: ScriptedProvider) -> Provider:
    return Provider("scripted", server.base_url, "scripted", KEY)


Serve = Callable[[bytes], Awaitable[str]]


@pytest.fixture
async def serve_bytes() -> AsyncIterator[Serve]:
    """A server that answers every request with the same bytes and closes: for broken HTTP."""
    servers: list[asyncio.Server] = []

    async def serve(answer: bytes) -> str:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            writer.write(answer)
            await writer.drain()
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    yield serve
    for server in servers:
        server.close()
        await server.wait_closed()


@pytest.fixture
async def silent_server() -> AsyncIterator[str]:
    """A server that reads a request and never answers."""
    gone = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    gone.set()
    server.close()
    await server.wait_closed()


@pytest.fixture
async def start_server() -> AsyncIterator[StartServer]:
    """A server that answers each path with JSON, or with the result of a function of the body."""
    runners: list[web.AppRunner] = []

    async def start(routes: Routes) -> int:
        async def answer(request: web.Request) -> web.Response:
            found = routes.get(request.path)
            if found is None:
                return web.Response(status=404)
            body = await request.json() if request.can_read_body else None
            return web.json_response(found(body) if callable(found) else found)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port: int = runner.addresses[0][1]
        return port

    yield start
    for runner in runners:
        await runner.cleanup()
