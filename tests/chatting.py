"""The whole backend over real HTTP against the scripted provider, for tests of turns.

async with chatting(tmp_path) as chat:
    chat.provider.queue("Hello")
    stream = await chat.say("Hi")
    assert stream.text == "Hello"
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.assistant.app import Assistant, Host, create_assistant
from plugin.assistant.comfy_port import ComfyPort
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import Message
from plugin.assistant.user_context.environment_summary import load_environment_summary
from plugin.tests.hosts import NO_COMFYUI
from plugin.tests.links import link_folder
from plugin.tests.providers import ScriptedProvider

ROOT = Path(__file__).resolve().parent.parent
ASSISTANT = web.AppKey("assistant", Assistant)


@dataclass(frozen=True)
class Stream:
    """The bytes and the chunks of an answer that a client got."""

    status: int
    raw: bytes
    headers: Mapping[str, str]
    chunks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def types(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    @property
    def text(self) -> str:
        return "".join(chunk["delta"] for chunk in self.chunks if chunk["type"] == "text-delta")

    @property
    def message(self) -> Message:
        return fold(Message("none", "assistant", ()), self.chunks)

    @property
    def error(self) -> dict[str, Any]:
        """The error object, of a refused request or in the stream's metadata."""
        if self.status != 200:
            found: dict[str, Any] = json.loads(self.raw)["error"]
            return found
        return dict(self.message.metadata["error"])

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [chunk for chunk in self.chunks if chunk["type"] == kind]


class Chatting:
    """A client of the backend, and the provider behind it."""

    def __init__(self, client: TestClient[Any, Any], provider: ScriptedProvider) -> None:
        self.client = client
        self.provider = provider
        self.assistant: Assistant = client.app[ASSISTANT]
        self._sent = 0

    def user(self, text: str, **parts: Any) -> dict[str, Any]:
        self._sent += 1
        return {
            "id": f"u{self._sent}",
            "role": "user",
            "parts": [{"type": "text", "text": text}, *parts.get("more", ())],
        }

    async def say(self, text: str, chat: str | None = "c1", **more: Any) -> Stream:
        """Sends one new user message to a chat; returns its answer."""
        body = {"message": self.user(text), **more}
        if chat is not None:
            body["id"] = chat
        return await self.post(body)

    async def post(self, body: Any, query: str = "?debug=context") -> Stream:
        async with self.client.post(f"/api/chat{query}", json=body) as response:
            return await read_stream(response)

    async def join(self, chat: str = "c1") -> Stream:
        async with self.client.get(f"/api/chat/{chat}/stream?debug=context") as response:
            return await read_stream(response)

    async def command(self, chat: str = "c1", **command: Any) -> aiohttp.ClientResponse:
        return await self.client.post(f"/api/chats/{chat}/commands", json=command)

    async def stored(self, chat: str = "c1") -> dict[str, Any]:
        """The stored chat, without the number of its last event."""
        async with self.client.get(f"/api/chats/{chat}") as response:
            assert response.status == 200, await response.text()
            body: dict[str, Any] = await response.json()
            del body["seq"]
            return body

    async def idle(self, chat: str = "c1") -> None:
        """Waits for the running turn of a chat to end."""
        turn = self.assistant.space_of("default").sessions.running(chat)
        if turn is not None:
            await turn.finished()

    async def counted(self) -> None:
        """Waits for the count of packages, which the system message has from then on."""
        folder = self.assistant.space_of("default").folder
        await until(lambda: bool(load_environment_summary(folder)))


async def until(is_true: Callable[[], bool]) -> None:
    """Waits for what a background task does; at most ten seconds."""
    for _ in range(1000):
        if is_true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen in ten seconds")


async def read_stream(response: aiohttp.ClientResponse) -> Stream:
    raw = await response.read()
    stream = Stream(response.status, raw, response.headers)
    if response.status == 200:
        stream.chunks.extend(chunks_of(raw))
    return stream


def chunks_of(raw: bytes) -> list[dict[str, Any]]:
    """The chunks of a whole stream, which must end with `[DONE]`."""
    events = [line[6:] for line in raw.decode().split("\n") if line.startswith("data: ")]
    assert events, "an empty stream"
    assert events[-1] == "[DONE]", f"the stream ended with {events[-1]!r}"
    return [json.loads(event) for event in events[:-1]]


@contextlib.asynccontextmanager
async def chatting(
    folder: Path,
    environ: Mapping[str, str] | None = None,
    provider: ScriptedProvider | None = None,
    comfyui: ComfyPort = NO_COMFYUI,
) -> AsyncIterator[Chatting]:
    """The backend with an own user folder, configured for `provider` (a new one by default)."""
    async with provider or ScriptedProvider() as scripted:
        configured = {
            "OPENAI_BASE_URL": scripted.base_url,
            "OPENAI_MODEL": "scripted",
            "ASSISTANT_DISCOVER": "0",
            "LLM_CONTEXT_WINDOW": "32768",
            **(environ or {}),
        }
        async with client_of(folder, configured, comfyui) as client:
            yield Chatting(client, scripted)


@contextlib.asynccontextmanager
async def client_of(
    folder: Path, environ: Mapping[str, str], comfyui: ComfyPort = NO_COMFYUI
) -> AsyncIterator[TestClient[Any, Any]]:
    """A client of a backend at the paths that ComfyUI gives it.

    The test server cancels a handler whose client goes away; ComfyUI's own does not.
    """
    async with TestClient(TestServer(app_of(folder, environ, comfyui))) as client:
        yield client


def app_of(
    folder: Path, environ: Mapping[str, str], comfyui: ComfyPort = NO_COMFYUI
) -> web.Application:
    """The backend at the paths that ComfyUI gives it, with an own user folder."""
    plugin = folder / "plugin"
    plugin.mkdir(parents=True, exist_ok=True)
    if not (plugin / "system_context").exists():
        link_folder(plugin / "system_context", ROOT / "system_context")
    host = Host(
        root=plugin,
        user_directory=folder / "user",
        user_of=lambda request: request.headers.get("Comfy-User", "default"),
        comfyui=comfyui,
        comfyui_version=None,
    )
    assistant = create_assistant(host, environ)
    app = web.Application()
    app[ASSISTANT] = assistant
    app.add_routes(
        [web.RouteDef(r.method, "/api" + r.path, r.handler, r.kwargs) for r in assistant.routes()]
    )

    async def start(_: web.Application) -> None:
        await assistant.start()

    async def close(_: web.Application) -> None:
        await assistant.close()

    app.on_startup.append(start)
    app.on_cleanup.append(close)
    return app
