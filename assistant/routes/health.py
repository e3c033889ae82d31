"""GET /assistant/health: what is configured, without secrets, and what is wrong, in words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web

from ...user_context_loader import Defaults
from .. import __version__
from ..chats import Saving
from ..config import Problem
from ..context.window import DEFAULT_WINDOW
from ..errors import ProviderError
from ..llm.provider import Provider
from ..user_context.skills import SkillLibrary
from .answers import answer
from .guard import Gate, guarded


class Providers(Protocol):
    """Who knows which provider answers (`llm.resolver`)."""

    async def current(self) -> Provider: ...

    async def window(self, provider: Provider) -> int | None: ...

    def problems(self) -> Sequence[Problem]: ...


class Kept(Protocol):
    """Where a user's chats are kept (`database`)."""

    @property
    def set_aside(self) -> Path | None: ...


class Chats(Protocol):
    """The user's chats (`chats`)."""

    @property
    def saving(self) -> Saving: ...


class HealthSpace(Protocol):
    """What belongs to the user who asks."""

    @property
    def skills(self) -> SkillLibrary: ...

    @property
    def database(self) -> Kept: ...

    @property
    def chats(self) -> Chats: ...

    def defaults(self) -> Defaults: ...


class HealthHost(Protocol):
    """The server that we run in."""

    @property
    def comfyui_version(self) -> str | None: ...

    @property
    def preview(self) -> bool: ...


class Installation(Protocol):
    """All that health tells of (`app.Assistant`). `problems` are those of the start."""

    @property
    def host(self) -> HealthHost: ...

    @property
    def resolver(self) -> Providers: ...

    @property
    def problems(self) -> Sequence[Problem]: ...

    def space(self, request: web.Request) -> HealthSpace: ...


def health_routes(gate: Gate, installation: Installation) -> list[web.RouteDef]:
    async def show_health(request: web.Request) -> web.Response:
        space = installation.space(request)
        provider, failure = await _provider_json(installation.resolver)
        problems = [
            *failure,
            *installation.problems,
            *await asyncio.to_thread(installation.resolver.problems),
            *_set_aside(space.database),
        ]
        return answer(
            {
                "status": "ok",
                "version": __version__,
                "provider": provider,
                "problems": [_problem_json(problem) for problem in problems],
                "comfyui": installation.host.comfyui_version,
                "preview": installation.host.preview,
                "skills": await asyncio.to_thread(_count_skills, space.skills),
                "defaults": (await asyncio.to_thread(space.defaults)).to_json(),
                "saving": space.chats.saving.to_json(),
            }
        )

    return [web.get("/assistant/health", guarded(show_health, gate))]


async def _provider_json(providers: Providers) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The provider that answers now, or None and why there is none.

    `context_window` is the one that requests are planned for, in tokens.
    """
    try:
        provider = await providers.current()
        window = await providers.window(provider)
    except ProviderError as error:
        return None, [Problem(error.code, error.message)]
    return {
        "name": provider.name,
        "base_url": provider.base_url,
        "model": provider.model,
        "context_window": window or DEFAULT_WINDOW,
        "source": provider.source,
        "demo": provider.demo,
        "local": provider.local,
    }, []


def _count_skills(library: SkillLibrary) -> int:
    return len(library.list_user()) + len(library.list_system())


def _set_aside(database: Kept) -> list[Problem]:
    if database.set_aside is None:
        return []
    message = (
        f"The file with your chats was damaged. It is kept as {database.set_aside.name},"
        " and a new one was begun."
    )
    return [Problem("database_set_aside", message)]


def _problem_json(problem: Problem) -> dict[str, str]:
    body = {"code": problem.code, "message": problem.message}
    return body if problem.variable is None else {**body, "variable": problem.variable}
