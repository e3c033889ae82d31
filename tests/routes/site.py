"""The assistant with all its routes on a test server.

    async with site(tmp_path, settings) as ours:
        answer = await ours.client.get("/api/user-context/rules")

All parts are real and store their files below the given folder. Only the peer is chosen by the test
(`local=False`: the client is on another machine), and the model's client does not wait between two
tries.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.assistant.app import Assistant, Host
from plugin.assistant.comfy_port import ComfyPort
from plugin.assistant.config import Settings
from plugin.assistant.errors import Problem
from plugin.assistant.llm.client import Client as ModelClient
from plugin.assistant.routes.guard import Gate
from plugin.tests.hosts import NO_COMFYUI

ROOT = Path(__file__).resolve().parents[2]
USER = "default"
QUIET = Settings(discover=False)
"""The defaults, without looking for a local LLM server."""

Client = TestClient[web.Request, web.Application]


@dataclass(frozen=True)
class Site:
    client: Client
    assistant: Assistant
    folder: Path

    @property
    def authority(self) -> str:
        return f"{self.client.host}:{self.client.port}"

    def calls(self) -> Iterator[tuple[str, str]]:
        """Every route as method and path, its variables filled with 1."""
        for route in self.assistant.routes():
            path = "/api" + route.path
            for variable in ("slug", "id", "key", "name", "revision"):
                path = path.replace("{" + variable + "}", "1")
            assert "{" not in path, path
            yield route.method, path

    def files(self) -> dict[str, bytes]:
        """The files below the folder, without the database and the count of packages."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return {
            str(path): path.read_bytes()
            for path in paths
            if "assistant.db" not in path.name and path.parent.name != "environment"
        }


@asynccontextmanager
async def site(
    folder: Path,
    settings: Settings = QUIET,
    *,
    local: bool = True,
    root: Path = ROOT,
    problems: tuple[Problem, ...] = (),
    comfyui: ComfyPort = NO_COMFYUI,
) -> AsyncIterator[Site]:
    host = Host(
        root=root,
        user_directory=folder,
        user_of=lambda request: USER,
        comfyui=comfyui,
        comfyui_version="0.33.0",
        preview=True,
    )
    assistant = Assistant(host, settings, problems)
    assistant.gate = Gate(settings, is_local=lambda request: local)
    assistant.client = ModelClient(settings, prepare=assistant.resolver.prepare, sleep=_no_wait)
    await assistant.start()
    async with serving(*assistant.routes()) as client:
        yield Site(client, assistant, folder)
    await assistant.close()


async def _no_wait(seconds: float) -> None:
    """The pause between two tries of the model's client."""


@asynccontextmanager
async def serving(*routes: web.RouteDef) -> AsyncIterator[Client]:
    app = web.Application(client_max_size=1024)  # the host's limit is not ours
    app.add_routes(web.route(route.method, "/api" + route.path, route.handler) for route in routes)
    client: Client = TestClient(TestServer(app))
    async with client:
        yield client


async def raw(client: Client, request: bytes) -> bytes:
    """The server's response to these bytes, until it closes the connection."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(request)
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def error_of(body: object) -> dict[str, str]:
    """The error object of a response; fails for any other shape."""
    assert isinstance(body, dict) and isinstance(body["error"], dict)
    error = body["error"]
    assert isinstance(error["code"], str) and error["code"]
    assert isinstance(error["message"], str) and error["message"]
    return error
