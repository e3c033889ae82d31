"""Chooses the provider that answers: the one that the user chose, or none.

A turn goes to the provider that the user chose, or nowhere. Choosing is done in the panel, by name,
or by the settings of the environment (an address or key, or else LLM_GGUF). A choice that is gone,
cannot be used or cannot be read is an error that asks for another choice. Only where the user chose
nothing at all, a server that runs on this machine answers, or else the demo model.

Resolving is cheap and may be done often; only `prepare` starts a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from ..config import Settings
from ..errors import NotFound, Problem, ProviderError
from .abilities import with_abilities
from .book import Contents, ProviderBook
from .discovery import Discovery, LocalServer
from .gguf import GgufServer, ModelPlace, demo_model, gguf_model
from .models import ModelInfo, first_chat_model, list_models, reported_window
from .network import Network
from .provider import (
    OPENAI_BASE_URL,
    Provider,
    check_link_local,
    host_of,
    is_loopback,
    normal_base_url,
)
from .stream_events import Usage

WINDOW_SECONDS = 0.6
# A local server may load another model or window, so its answer is cached for this long only.
KEPT_SECONDS = 10.0
# A server that counts less than this share of our estimate has cut the prompt: an estimate may be
# off by a third, and a cut halves the prompt at least.
READ_SHARE = 0.55
LOCAL = " (local)"
"""The end of the name of a server that was found on this machine."""
ENVIRONMENT = " (environment)"
CHOOSE = ("choose-model", "open-settings")
# Half of the smallest window that servers cut to, in tokens. A server that counts fewer tokens has
# counted only the tokens that were not in its cache.
SMALLEST_CUT = 1_024


class Resolver:
    """Chooses providers and models. `problems` are those of the settings; one of them may hide the
    provider that the user set. Tests pass `discovery` and `clock` (monotonic seconds)."""

    def __init__(
        self,
        book: ProviderBook,
        settings: Settings,
        problems: Sequence[Problem] = (),
        *,
        network: Network | None = None,
        discovery: Discovery | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book = book
        self._settings = settings
        self._discovery = discovery or Discovery(enabled=settings.discover)
        self._clock = clock
        self._network = network or Network(settings)
        self._environment, self._environment_problem = environment_provider(settings)
        hidden = (*problems, self._environment_problem)
        self._hidden = next((fault for fault in hidden if fault and fault.hides_provider), None)
        file = gguf_model(settings.gguf, settings.context_window) if settings.gguf else None
        self._file = GgufServer(file) if file else None
        self._demo = GgufServer(demo_model()) if settings.demo_model else None
        self._windows: dict[tuple[str, str], tuple[float, int | None]] = {}
        self._asking: dict[tuple[str, str], asyncio.Task[int | None]] = {}
        self._first_models: dict[str, tuple[float, str]] = {}

    async def current(self) -> Provider:
        """The provider that answers now, its model included. Raises `ProviderError`."""
        choice = (await self._saved()).choice
        if choice.lost:
            message = f"{choice.lost}: choose one in the settings."
            raise ProviderError(message, code="no_provider", actions=CHOOSE)
        if choice.name is not None:
            return await self.named(choice.name)
        if (fault := await self._fault()) is not None:
            raise _unusable(fault)
        async with contextlib.aclosing(self._unsaved()) as providers:
            async for provider in providers:
                return await self._with_model(provider)
        raise await self._nothing_found()

    async def named(self, name: str) -> Provider:
        """The provider of this name and any source, its model included. Raises `ProviderError`."""
        saved = (await self._saved()).providers
        provider = next((provider for provider in saved if provider.name == name), None)
        if provider is None:
            async with contextlib.aclosing(self._unsaved()) as providers:
                async for other in providers:
                    if other.name == name:
                        provider = other
                        break
        if provider is None:
            raise await self._gone(name)
        return await self._with_model(provider)

    async def providers(self) -> tuple[Provider, ...]:
        """All providers that could answer now; the providers of the panel come first."""
        saved = (await self._saved()).providers
        return (*saved, *[provider async for provider in self._unsaved()])

    async def in_use(self, known: Sequence[Provider]) -> str | None:
        """The name of the one of `known`, the answer of `providers`, that answers now."""
        choice = (await self._saved()).choice
        if choice.name is not None:
            return choice.name if any(p.name == choice.name for p in known) else None
        if choice.lost or await self._fault() is not None:
            return None
        return next((p.name for p in known if p.source != "settings"), None)

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
        if self._clock() < until:
            return window
        if key not in self._asking:
            # One question, however many turns wait for its answer.
            asking = asyncio.get_running_loop().create_task(self._ask_window(*key))
            self._asking[key] = asking
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(self._asking[key])

    async def _ask_window(self, base_url: str, model: str) -> int | None:
        window = await reported_window(base_url, model, seconds=WINDOW_SECONDS)
        self._windows[base_url, model] = (self._clock() + KEPT_SECONDS, window)
        return window

    async def _saved(self) -> Contents:
        """The providers of the panel; in a thread while they are not known yet."""
        known = self._book.known
        return await asyncio.to_thread(self._book.contents) if known is None else known

    async def models(self, provider: Provider) -> tuple[ModelInfo, ...]:
        """The models that the provider offers, with their abilities. Raises `ProviderError`."""
        if provider.source in ("gguf", "demo"):
            served = ModelInfo(provider.model, provider.context_window, None, provider.tools)
            return (served,)
        listed = await list_models(provider, self._network)
        return await with_abilities(listed, provider, self._network)

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
        for asking in tuple(self._asking.values()):
            asking.cancel()
        for server in self._servers():
            await server.close()

    def _servers(self) -> tuple[GgufServer, ...]:
        return tuple(server for server in (self._file, self._demo) if server)

    async def _fault(self) -> Problem | None:
        """The problem because of which the provider of the settings cannot answer, or None."""
        if self._hidden or self._environment or not self._file:
            return self._hidden
        return await asyncio.to_thread(self._file.model.problem)

    async def _unsaved(self) -> AsyncGenerator[Provider, None]:
        """The providers that are not of the panel, by precedence; each source is asked only when
        the caller reads on."""
        if self._environment:
            yield self._environment
        if self._file and not await asyncio.to_thread(self._file.model.problem):
            yield self._file.known
        for server in await self._discovery.servers():
            model = first_chat_model(server.models)
            if model:
                yield Provider(_local_name(server), server.base_url, model, source="local")
        if self._demo and not await asyncio.to_thread(self._demo.model.problem):
            yield self._demo.known

    async def _with_model(self, provider: Provider) -> Provider:
        """The provider; a provider without a model gets the server's first chat model."""
        if provider.model:
            return provider
        until, model = self._first_models.get(provider.base_url, (float("-inf"), ""))
        if self._clock() >= until:
            found = first_chat_model(await list_models(provider, self._network))
            if found is None:
                message = f"{provider.host} has no model that chats: load one there."
                raise ProviderError(message, code="unknown_model", actions=("choose-model",))
            model = found
            self._first_models[provider.base_url] = (self._clock() + KEPT_SECONDS, model)
        return replace(provider, model=model)

    async def _nothing_found(self) -> ProviderError:
        message = (
            "Start Ollama or LM Studio on this machine, or enter a provider's address and key in the "
            "settings."
        )
        empty = next(iter(await self._discovery.servers()), None)
        if empty is not None:
            message = _without_models(empty)
            return ProviderError(message, code="unknown_model", actions=("retry", "open-settings"))
        return ProviderError(message, code="no_provider", actions=("open-settings", "retry"))

    async def _gone(self, name: str) -> ProviderError:
        """The error for a chosen provider that is not among the providers now."""
        server = next((s for s in await self._discovery.servers() if _local_name(s) == name), None)
        file = next((s.model for s in self._servers() if s.model.name == name), None)
        problem = await asyncio.to_thread(file.problem) if file else None
        if self._hidden is not None and name.endswith(ENVIRONMENT):
            return _unusable(self._hidden)
        if server is not None:
            message = f"{_without_models(server).rstrip('.')}, or choose another provider."
        elif problem is not None:
            message = f"{problem.message.rstrip('.')}, or choose another provider."
        elif name.endswith(LOCAL):
            message = f"{name}, your choice, does not run: start it, or choose another provider."
            return ProviderError(message, code="no_provider", actions=("retry", *CHOOSE))
        else:
            message = f"There is no provider named {name!r} any more: choose another one."
        return ProviderError(message, code="no_provider", actions=CHOOSE)


def _local_name(server: LocalServer) -> str:
    return server.name + LOCAL


def _unusable(fault: Problem) -> ProviderError:
    message = (
        f"The provider that you set cannot be used because of {fault.variable or 'the file .env'}: "
        "correct it and restart ComfyUI, or choose another provider."
    )
    return ProviderError(message, code="no_provider", actions=CHOOSE)


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
        check_link_local(base_url, allowed=settings.allow_link_local)
    except ValueError as reason:
        message = f"OPENAI_BASE_URL is not a usable address: {reason}."
        return None, Problem("invalid_setting", message, "OPENAI_BASE_URL", hides_provider=True)
    name = host_of(base_url).partition("://")[2] + ENVIRONMENT
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
