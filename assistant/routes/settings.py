"""/assistant/settings, providers and models: the LLM servers, without their keys.

The provider book checks the values of a provider, the resolver chooses the provider in use.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Discriminator, Field, Tag, WithJsonSchema

from ..errors import NotFound
from ..llm.book import LONGEST_KEY, LONGEST_MODEL_NAME, provider_from
from ..llm.check import check
from ..llm.models import ModelInfo
from ..llm.provider import Provider
from ..llm.resolver import Resolver
from ..validation import Body, Flag, NoFields, Query, Whole, described_length
from .answers import answer, nothing
from .route import PlainRequest, Request, Route

LONGEST_NAME: Final = 200
"""Characters; names of providers that we find ourselves are longer than names that users give."""
UNSAVED: Final = "this provider"
"""In the place of the name of a provider that is tested before it has one; messages then name its
address."""

Window = Annotated[Whole, WithJsonSchema({"type": "integer", "minimum": 1})]


class ProviderFields(Body):
    """The provider book checks the values."""

    base_url: Annotated[str, WithJsonSchema({"type": "string", "minLength": 1})]
    model: Annotated[str, described_length(LONGEST_MODEL_NAME, least=0)] | None = None
    context_window: Window | None = Field(None, description="Tokens.")
    api_key: Annotated[str, described_length(LONGEST_KEY, least=0)] | None = None
    vision: Flag | None = Field(None, description="Whether its models see pictures; null: unknown.")

    @property
    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class ProviderName(Body):
    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


TestedProvider = Annotated[
    Annotated[ProviderName, Tag("name")] | Annotated[ProviderFields, Tag("fields")],
    Discriminator(lambda body: "name" if "name" in body else "fields"),
]


class ModelsQuery(Query):
    provider: str | None = Field(
        None, description="The provider's name; without it the provider that answers now."
    )


async def read_settings(request: PlainRequest) -> web.Response:
    """The providers, without their keys, and which one is in use."""
    resolver = request.installation.resolver
    known = await resolver.providers()
    return answer(
        {
            "providers": [provider_json(provider) for provider in known],
            "active": await resolver.in_use(known),
        }
    )


async def put_provider(request: Request[ProviderFields, None]) -> web.Response:
    """Make or replace a provider.

    Without `api_key` the key stays as long as the address does.
    """
    book, name = request.installation.book, request.variable("name")
    return answer(provider_json(await asyncio.to_thread(book.put, name, request.body.given)))


async def delete_provider(request: PlainRequest) -> web.Response:
    """Delete a provider with its key."""
    await asyncio.to_thread(request.installation.book.delete, request.variable("name"))
    return nothing()


async def activate_provider(request: Request[NoFields, None]) -> web.Response:
    """Use this provider, whatever its source, from now on."""
    await request.installation.resolver.activate(request.variable("name"))
    return nothing()


async def list_models(request: Request[None, ModelsQuery]) -> web.Response:
    """The models of a provider that can chat."""
    resolver, name = request.installation.resolver, request.query.provider
    provider = await _named(resolver, name) if name else await resolver.current()
    return await _models(resolver, provider)


async def list_models_of(request: Request[ProviderFields, None]) -> web.Response:
    """The models of a provider that is not saved; it is asked with the key that is sent along,
    never with a stored key."""
    provider = replace(provider_from(UNSAVED, request.body.given), name="")
    return await _models(request.installation.resolver, provider)


async def test_provider(request: Request[TestedProvider, None]) -> web.Response:
    """A real chat and a real tool call, each reported.

    Of a provider by its `name`, or of a provider that is not saved; that one is asked with the key
    that is sent along, never with a stored key.
    """
    asked = request.body
    if isinstance(asked, ProviderName):
        provider = await _named(request.installation.resolver, asked.name)
    else:
        provider = replace(provider_from(UNSAVED, asked.given), name="")
    return answer(await check(request.installation.client, provider))


_PROVIDER = "/assistant/providers/{name}"
ROUTES = (
    Route("GET", "/assistant/settings", read_settings, {200: "Settings"}),
    Route("POST", "/assistant/settings/test", test_provider, {200: "ProviderTest"}, errors=(404,)),
    Route("GET", "/assistant/models", list_models, {200: "ModelList"}, errors=(404, 502)),
    Route("POST", "/assistant/models", list_models_of, {200: "ModelList"}, errors=(502,)),
    Route("PUT", _PROVIDER, put_provider, {200: "Provider"}),
    Route("DELETE", _PROVIDER, delete_provider, {204: "Nothing"}, errors=(404,)),
    Route("POST", f"{_PROVIDER}/activate", activate_provider, {204: "Nothing"}, errors=(404,)),
)


def provider_json(provider: Provider) -> dict[str, Any]:
    """A provider as JSON for clients, with `has_key` instead of the key."""
    return {
        "name": provider.name,
        "base_url": provider.base_url,
        "model": provider.model,
        "context_window": provider.context_window,
        "vision": provider.vision,
        "has_key": bool(provider.api_key),
        "source": provider.source,
    }


def model_json(model: ModelInfo) -> dict[str, Any]:
    body: dict[str, Any] = {"id": model.id, "vision": model.vision, "tools": model.tools}
    return (
        body if model.context_window is None else {**body, "context_window": model.context_window}
    )


async def _models(resolver: Resolver, provider: Provider) -> web.Response:
    found = await resolver.models(provider)
    shown = [model for model in found if model.chats] or found
    return answer({"models": [model_json(model) for model in shown], "provider": provider.name})


async def _named(resolver: Resolver, name: str) -> Provider:
    for provider in await resolver.providers():
        if provider.name == name:
            return provider
    raise NotFound(f"There is no provider named {name[:LONGEST_NAME]!r}.")
