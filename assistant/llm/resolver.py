"""Chooses the provider that answers.

In this order, unless the user chose a provider by name: the environment's, the file of `LLM_GGUF`,
a local server, the demo model. Resolving is cheap and may be done often; only `prepare` starts a
server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from ..config import Problem, Settings
from ..errors import NotFound, ProviderError
from .book import ProviderBook
from .discovery import Discovery, LocalServer
from .gguf import GgufServer, ModelPlace, demo_model, gguf_model
from .models import ModelInfo, first_chat_model, list_models, reported_window
from .provider import OPENAI_BASE_URL, Provider, host_of, is_loopback, normal_base_url
from .stream_events import Usage

WINDOW_SECONDS = 0.6
# A local server may load another model or window, so its answer is cached for this long only.
KEPT_SECONDS = 10.0
# A server that counts less than this share of our estimate has cut the prompt: an estimate may be
# off by a third, and a cut halves the prompt at least.
READ_SHARE = 0.55
# Half of the smallest window that servers cut to, in tokens. A server that counts fewer tokens has
# counted only the tokens that were not in its cache.
SMALLEST_CUT = 1_024


class Resolver:
    """Chooses providers and models. Tests pass `discovery` and `clock` (monotonic seconds)."""

    def __init__(
        self,
        book: ProviderBook,
        settings: Settings,
        *,
        discovery: Discovery | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book = book
        self._settings = settings
        self._discovery = discovery or Discovery(enabled=settings.discover)
        self._clock = clock
        self._environment, self._environment_problem = environment_provider(settings)
        file = gguf_model(settings.gguf, settings.context_window) if settings.gguf else None
        self._file = GgufServer(file) if file else None
        self._demo = GgufServer(demo_model()) if settings.demo_model else None
        self._windows: dict[tuple[str, str], tuple[float, int | None]] = {}
        self._first_models: dict[str, tuple[float, str]] = {}

    async def current(self) -> Provider:
        """The provider that answers now, its model included. Raises `ProviderError`."""
        chosen = await asyncio.to_thread(lambda: self._book.active)
        first: Provider | None = None
        async with contextlib.aclosing(self._candidates()) as candidates:
            async for provider in candidates:
                first = first or provider
                if chosen is None or provider.name == chosen:
                    return await self._with_model(provider)
        if first is None:
            raise await self._nothing_found()
        return await self._with_model(first)

    async def named(self, name: str) -> Provider:
        """The provider of this name and any source, its model included. Raises `ProviderError`."""
        for provider in await self.providers():
            if provider.name == name:
                return await self._with_model(provider)
        raise ProviderError(
            f"There is no provider named {name!r} any more: choose another one for this chat.",
            code="no_provider",
            actions=("choose-model", "open-settings"),
        )

    async def providers(self) -> tuple[Provider, ...]:
        """All providers that could answer now; the providers of the panel come first."""
        saved = await asyncio.to_thread(self._book.list)
        others = [p async for p in self._candidates() if p.source != "settings"]
        return (*saved, *others)

    async def activate(self, name: str) -> None:
        """Make a provider of any source the active one. Raises `NotFound`."""
        if name not in {provider.name for provider in await self.providers()}:
            raise NotFound(f"There is no provider named {name!r}.")
        await asyncio.to_thread(self._book.activate, name)

    async def window(self, provider: Provider) -> int | None:
        """The context window in tokens; None when it is not known.

        A model that we serve ourselves has a known window. Of any other provider the panel's value
        comes first, then the setting's, then the window that a local server reports.
        """
        if provider.source in ("gguf", "demo"):
            return provider.context_window
        configured = provider.context_window or self._settings.context_window
        if configured or not is_loopback(provider.base_url):
            return configured
        key = (provider.base_url, provider.model)
        until, window = self._windows.get(key, (float("-inf"), None))
        if self._clock() >= until:
            window = await reported_window(*key, seconds=WINDOW_SECONDS)
            self._windows[key] = (self._clock() + KEPT_SECONDS, window)
        return window

    async def models(self, provider: Provider) -> tuple[ModelInfo, ...]:
        """The models that the provider offers. Raises `ProviderError`."""
        if provider.source in ("gguf", "demo"):
            return (ModelInfo(provider.model, provider.context_window),)
        return await list_models(provider)

    async def prepare(self, provider: Provider) -> Provider:
        """The provider with a model, and with a running server if we serve it ourselves.

        Raises `ProviderError`.
        """
        for server in self._servers():
            if server.model.source == provider.source:
                return await server.ready()
        return await self._with_model(provider)

    def place_of(self, provider: Provider) -> ModelPlace | None:
        """A place in the line before a model that we serve; None for other providers."""
        for server in self._servers():
            if server.model.source == provider.source:
                return server.join()
        return None

    def problems(self) -> tuple[Problem, ...]:
        """Problems of the providers' configuration. Reads the disk."""
        found = [server.model.problem() for server in self._servers()]
        found.append(self._environment_problem)
        return (*self._book.problems, *(problem for problem in found if problem))

    async def close(self) -> None:
        """End the servers of the models that we serve."""
        for server in self._servers():
            await server.close()

    def _servers(self) -> tuple[GgufServer, ...]:
        return tuple(server for server in (self._file, self._demo) if server)

    async def _candidates(self) -> AsyncGenerator[Provider, None]:
        """The providers by precedence; each source is asked only when the caller reads on."""
        saved, active = await asyncio.to_thread(lambda: (self._book.list(), self._book.active))
        for provider in saved:
            if provider.name == active:
                yield provider
        if self._environment:
            yield self._environment
        if self._file and not await asyncio.to_thread(self._file.model.problem):
            yield self._file.known
        for server in await self._discovery.servers():
            model = first_chat_model(server.models)
            if model:
                yield Provider(f"{server.name} (local)", server.base_url, model, source="local")
        if self._demo and not await asyncio.to_thread(self._demo.model.problem):
            yield self._demo.known

    async def _with_model(self, provider: Provider) -> Provider:
        """The provider; a provider without a model gets the server's first chat model."""
        if provider.model:
            return provider
        until, model = self._first_models.get(provider.base_url, (float("-inf"), ""))
        if self._clock() >= until:
            found = first_chat_model(await list_models(provider))
            if found is None:
                message = f"{provider.host} has no model that chats: load one there."
                raise ProviderError(message, code="unknown_model", actions=("choose-model",))
            model = found
            self._first_models[provider.base_url] = (self._clock() + KEPT_SECONDS, model)
        return replace(provider, model=model)

    async def _nothing_found(self) -> ProviderError:
        message = (
            "No model is set up yet: start Ollama or LM Studio on this machine, or enter a "
            "provider's address and key in the settings."
        )
        empty = next(iter(await self._discovery.servers()), None)
        if empty is not None:
            message = _without_models(empty)
        return ProviderError(message, code="no_provider", actions=("open-settings", "retry"))


def _without_models(server: LocalServer) -> str:
    advice = "run `ollama pull qwen3`" if server.name == "Ollama" else "load one there"
    return (
        f"{server.name} runs at {host_of(server.base_url)}, but has no model that chats: {advice}."
    )


def environment_provider(settings: Settings) -> tuple[Provider | None, Problem | None]:
    """The provider of the environment or `.env`, or the problem with its settings.

    A key without an address is a key for OpenAI.
    """
    if not settings.openai_base_url and not settings.openai_api_key:
        return None, None
    try:
        base_url = normal_base_url(settings.openai_base_url or OPENAI_BASE_URL)
    except ValueError as reason:
        message = f"OPENAI_BASE_URL is not a usable address: {reason}."
        return None, Problem("invalid_setting", message, "OPENAI_BASE_URL")
    name = f"{host_of(base_url).partition('://')[2]} (environment)"
    key, model = settings.openai_api_key, settings.openai_model
    return Provider(name, base_url, model, key, source="environment"), None


def silently_cut(sent_estimate_tokens: int, usage: Usage, window: int | None) -> bool:
    """Whether the server read much less than was sent, as Ollama does beyond its `num_ctx` (R55).

    `sent_estimate_tokens` is our estimate of the whole request without images. `window` is the
    window that we planned for; the server's may be smaller.
    """
    read = usage.input_tokens
    if read is None or read >= sent_estimate_tokens * READ_SHARE:
        return False
    overfull = window is not None and sent_estimate_tokens > window
    return overfull or read >= SMALLEST_CUT
