"""A server with all routes of this room but the chats', for its tests.

    async with site(tmp_path, settings) as ours:
        answer = await ours.client.get("/api/user-context/rules")

The skills, the database, the providers' book and the client are real and keep what they store below
the given folder; only the peer is the test's to choose (`local=False`: on another machine).
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.assistant.config import Problem, Settings
from plugin.assistant.database import Database
from plugin.assistant.llm.book import ProviderBook
from plugin.assistant.llm.check import check
from plugin.assistant.llm.client import Client as ModelClient
from plugin.assistant.llm.resolver import Resolver
from plugin.assistant.routes.guard import Gate
from plugin.assistant.routes.health import health_routes
from plugin.assistant.routes.session import session_routes
from plugin.assistant.routes.settings import settings_routes
from plugin.assistant.routes.system_context import system_context_routes
from plugin.assistant.routes.user_context import user_context_routes
from plugin.assistant.user_context.rules import UserContextStore
from plugin.assistant.user_context.skills import SkillLibrary

SYSTEM_CONTEXT = Path(__file__).resolve().parents[2] / "system_context"
QUIET = Settings(discover=False)
"""The defaults, without looking for a local LLM server."""

Client = TestClient[web.Request, web.Application]


async def no_wait(seconds: float) -> None:
    """Between two tries of the model's client."""


@dataclass(frozen=True)
class Host:
    comfyui_version: str | None = "0.33.0"
    preview: bool = True


class Space:
    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "assistant.db")
        self.skills = SkillLibrary(SYSTEM_CONTEXT, folder)
        self.user_context = UserContextStore(self.database)


class Installation:
    """What the composition root is to these routes."""

    def __init__(self, folder: Path, settings: Settings, *, local: bool = True) -> None:
        self.host = Host()
        self.settings = settings
        self.problems: list[Problem] = []
        self.gate = Gate(settings, is_local=lambda request: local)
        self.book = ProviderBook(folder / "providers.json")
        self.resolver = Resolver(self.book, settings)
        self.model_client = ModelClient(settings, prepare=self.resolver.prepare, sleep=no_wait)
        self.user_space = Space(folder / "user")

    def space(self, request: web.Request) -> Space:
        return self.user_space

    def routes(self) -> tuple[web.RouteDef, ...]:
        try_provider = functools.partial(check, self.model_client)
        return (
            *session_routes(self.gate, self.settings),
            *user_context_routes(self.gate, self.space),
            *system_context_routes(self.gate, self.space),
            *health_routes(self.gate, self),
            *settings_routes(self.gate, self.book, self.resolver, try_provider),
        )

    async def close(self) -> None:
        await self.model_client.close()
        await self.resolver.close()
        await self.user_space.database.close()


@dataclass(frozen=True)
class Site:
    client: Client
    installation: Installation
    folder: Path

    @property
    def authority(self) -> str:
        return f"{self.client.host}:{self.client.port}"

    def calls(self) -> Iterator[tuple[str, str]]:
        """Every route as method and path, its variables filled with something harmless."""
        for route in self.installation.routes():
            path = "/api" + route.path
            for variable in ("slug", "id", "key", "name"):
                path = path.replace("{" + variable + "}", "1")
            yield route.method, path


@asynccontextmanager
async def site(
    folder: Path, settings: Settings = QUIET, *, local: bool = True
) -> AsyncIterator[Site]:
    installation = Installation(folder, settings, local=local)
    await installation.user_space.user_context.open()
    async with serving(*installation.routes()) as client:
        yield Site(client, installation, folder)
    await installation.close()


@asynccontextmanager
async def serving(*routes: web.RouteDef) -> AsyncIterator[Client]:
    app = web.Application(client_max_size=1024)  # the host's limit is not ours
    app.add_routes(web.route(route.method, "/api" + route.path, route.handler) for route in routes)
    client: Client = TestClient(TestServer(app))
    async with client:
        yield client


async def raw(client: Client, request: bytes) -> bytes:
    """What the server answers to these bytes, until it closes the connection."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(request)
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def error_of(body: object) -> dict[str, str]:
    """The error object of an answer; fails for any other shape."""
    assert isinstance(body, dict) and isinstance(body["error"], dict)
    error = body["error"]
    assert isinstance(error["code"], str) and error["code"]
    assert isinstance(error["message"], str) and error["message"]
    return error
