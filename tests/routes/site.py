"""A server with all routes of this room but the chat's, for its tests.

    async with site(tmp_path, settings) as ours:
        answer = await ours.client.get("/api/user-context/rules")

The skills, the database and the provider's book are real and below the given folder; only the
peer's address is the test's to choose (`local=False`: the client is on another machine).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.assistant.config import Settings
from plugin.assistant.database import Database
from plugin.assistant.routes.guard import Gate
from plugin.assistant.routes.session import session_routes
from plugin.assistant.routes.system_context import system_context_routes
from plugin.assistant.routes.user_context import user_context_routes
from plugin.assistant.user_context.rules import UserContextStore
from plugin.assistant.user_context.skills import SkillLibrary

SYSTEM_CONTEXT = Path(__file__).resolve().parents[2] / "system_context"

Client = TestClient[web.Request, web.Application]


@dataclass(frozen=True)
class Space:
    skills: SkillLibrary
    user_context: UserContextStore


@dataclass(frozen=True)
class Site:
    client: Client
    gate: Gate
    routes: tuple[web.RouteDef, ...]
    folder: Path

    @property
    def authority(self) -> str:
        return f"{self.client.host}:{self.client.port}"

    @property
    def own_origin(self) -> str:
        return f"http://{self.authority}"

    def calls(self) -> Iterator[tuple[str, str]]:
        """Every route as method and path, its variables filled with something harmless."""
        for route in self.routes:
            path = "/api" + route.path
            for variable in ("slug", "id", "key", "name"):
                path = path.replace("{" + variable + "}", "1")
            yield route.method, path


@asynccontextmanager
async def site(
    folder: Path, settings: Settings | None = None, *, local: bool = True
) -> AsyncIterator[Site]:
    settings = settings or Settings()
    gate = Gate(settings, is_local=lambda request: local)
    database = Database(folder / "user" / "assistant.db")
    space = Space(SkillLibrary(SYSTEM_CONTEXT, folder / "user"), UserContextStore(database))
    await space.user_context.open()
    routes = (
        *session_routes(gate, settings),
        *user_context_routes(gate, lambda request: space),
        *system_context_routes(gate, lambda request: space),
    )
    async with serving(*routes) as client:
        yield Site(client, gate, routes, folder)
    await database.close()


@asynccontextmanager
async def serving(*routes: web.RouteDef) -> AsyncIterator[Client]:
    app = web.Application(client_max_size=1024)  # ComfyUI's limit is not ours
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
