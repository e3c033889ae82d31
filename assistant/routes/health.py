"""GET /assistant/health: what is configured, without secrets, and what is wrong, in words."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from .. import __version__
from ..context.window import DEFAULT_WINDOW
from ..errors import Problem, ProviderError
from ..llm.resolver import Resolver
from ..space import UserSpace
from ..user_context.skills import SkillLibrary
from .answers import answer
from .route import PlainRequest, Route


async def read_health(request: PlainRequest) -> web.Response:
    """What is configured, without secrets, and what is wrong, in words."""
    installation, space = request.installation, request.space
    provider, failure = await _provider_json(installation.resolver)
    problems = [
        *failure,
        *installation.problems(),
        *await asyncio.to_thread(installation.resolver.problems),
        *_set_aside(space),
        *space.database.problems(),
    ]
    return answer(
        {
            "status": "ok",
            "version": __version__,
            "provider": provider,
            "problems": [_problem_json(problem) for problem in problems],
            "comfyui": installation.comfyui_version,
            "preview": installation.preview,
            "skills": await asyncio.to_thread(_count_skills, space.skills),
            "defaults": (await asyncio.to_thread(space.defaults)).to_json(),
            "saving": space.chats.saving.to_json(),
        }
    )


ROUTES = (Route("GET", "/assistant/health", read_health, {200: "Health"}),)


async def _provider_json(providers: Resolver) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The provider in use, or None and the problem why no provider is in use.

    `context_window`, in tokens, is the window for which requests are planned.
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


def _set_aside(space: UserSpace) -> list[Problem]:
    if (file := space.database.set_aside) is None:
        return []
    message = (
        f"The file with your chats was damaged. It is kept as {file.name}, and a new one was begun."
    )
    return [Problem("database_set_aside", message)]


def _problem_json(problem: Problem) -> dict[str, str]:
    body = {"code": problem.code, "message": problem.message}
    return body if problem.variable is None else {**body, "variable": problem.variable}
