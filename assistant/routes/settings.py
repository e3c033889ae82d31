"""/assistant/settings, providers and models: the LLM servers, without their keys.

Which values a provider may have is the book's to check, which provider answers the resolver's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from aiohttp import web

from ..errors import NotFound
from ..llm.book import ProviderBook, provider_from
from ..llm.models import ModelInfo
from ..llm.provider import Provider
from .answers import answer, nothing
from .body import only, read_json, refuse_fields, text
from .guard import Gate, guarded

PROVIDER_FIELDS = ("base_url", "model", "context_window", "api_key")
LONGEST_NAME = 200
"""Characters; names of providers that we find ourselves are longer than those that users give."""
UNSAVED = "this provider"
"""How sentences call a provider that is tested before it has a name."""


class Providers(Protocol):
    """Who knows all providers and lists their models (`llm.resolver`)."""

    async def current(self) -> Provider: ...

    async def providers(self) -> Sequence[Provider]: ...

    async def activate(self, name: str) -> None: ...

    async def models(self, provider: Provider) -> Sequence[ModelInfo]: ...


Check = Callable[[Provider], Awaitable[Mapping[str, Any]]]
"""Tries a chat and a tool call (`llm.check`); reports what a server does instead of raising."""


def settings_routes(
    gate: Gate, book: ProviderBook, providers: Providers, check: Check
) -> list[web.RouteDef]:
    async def show_settings(request: web.Request) -> web.Response:
        known = await providers.providers()
        chosen = await asyncio.to_thread(lambda: book.active)
        return answer(
            {
                "providers": [provider_json(provider) for provider in known],
                "active": active_name(known, chosen),
            }
        )

    async def put_provider(request: web.Request) -> web.Response:
        """Make or replace one. Without `api_key` the key stays as long as the address does."""
        body = await read_json(request)
        only(body, *PROVIDER_FIELDS)
        name = request.match_info["name"]
        return answer(provider_json(await asyncio.to_thread(book.put, name, body)))

    async def delete_provider(request: web.Request) -> web.Response:
        await asyncio.to_thread(book.delete, request.match_info["name"])
        return nothing()

    async def activate_provider(request: web.Request) -> web.Response:
        """Choose one of any source -> 204."""
        await refuse_fields(request)
        await providers.activate(request.match_info["name"])
        return nothing()

    async def list_models(request: web.Request) -> web.Response:
        """`?provider=name` (else the one that answers now) -> the models that chat; 502."""
        name = request.query.get("provider")
        provider = await _named(providers, name) if name else await providers.current()
        found = await providers.models(provider)
        shown = [model for model in found if model.chats] or found
        return answer({"models": [model_json(model) for model in shown], "provider": provider.name})

    async def test_provider(request: web.Request) -> web.Response:
        """A real chat and a real tool call, each reported: `{"chat": {...}, "tools": {...}}`.

        Takes `{"name"}`, or the fields of a provider that is not saved; that one is asked with the
        key that is sent along, never with a stored one.
        """
        body = await read_json(request)
        if "name" in body:
            only(body, "name")
            provider = await _named(providers, text(body, "name", most=LONGEST_NAME))
        else:
            only(body, *PROVIDER_FIELDS)
            provider = provider_from(UNSAVED, body)
        return answer(await check(provider))

    return [
        web.get("/assistant/settings", guarded(show_settings, gate)),
        web.post("/assistant/settings/test", guarded(test_provider, gate)),
        web.get("/assistant/models", guarded(list_models, gate)),
        web.put("/assistant/providers/{name}", guarded(put_provider, gate)),
        web.delete("/assistant/providers/{name}", guarded(delete_provider, gate)),
        web.post("/assistant/providers/{name}/activate", guarded(activate_provider, gate)),
    ]


def provider_json(provider: Provider) -> dict[str, Any]:
    """A provider as clients see it: whether there is a key, and nothing of it."""
    return {
        "name": provider.name,
        "base_url": provider.base_url,
        "model": provider.model,
        "context_window": provider.context_window,
        "has_key": bool(provider.api_key),
        "source": provider.source,
    }


def model_json(model: ModelInfo) -> dict[str, Any]:
    body: dict[str, Any] = {"id": model.id}
    return (
        body if model.context_window is None else {**body, "context_window": model.context_window}
    )


def active_name(known: Sequence[Provider], chosen: str | None) -> str | None:
    """The user's choice while it exists, else the first that needs no choosing."""
    if any(provider.name == chosen for provider in known):
        return chosen
    return next((p.name for p in known if p.source != "settings"), None)


async def _named(providers: Providers, name: str) -> Provider:
    for provider in await providers.providers():
        if provider.name == name:
            return provider
    raise NotFound(f"There is no provider named {name[:LONGEST_NAME]!r}.")
