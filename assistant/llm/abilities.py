"""Which models of a server see pictures and call tools, as far as the server says so.

Some lists of models say it (OpenRouter, Mistral, llama.cpp). Ollama, LM Studio and llama.cpp have
routes of their own for it, which are asked only on this machine and in private networks: no other
server has them. What nobody says stays unknown.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from .models import Abilities, ModelInfo, flag, get_json, holds
from .network import Network
from .provider import Provider, host_of

SECONDS: Final = 2.0
"""For all questions together: the list is shown without their answers then."""
MOST_SHOWN: Final = 64
"""Models that Ollama is asked about, one by one."""
AT_ONCE: Final = 8


async def with_abilities(
    models: Sequence[ModelInfo], provider: Provider, network: Network
) -> tuple[ModelInfo, ...]:
    """The models with what their server says of them elsewhere than in its list; of the rest, with
    the provider's setting `vision`. Raises nothing: a server that does not answer says nothing."""
    found: Mapping[str, Abilities] = {}
    if is_near(provider.base_url) and any(model.vision is None for model in models):
        try:
            async with await network.session(provider, SECONDS) as session:
                found = await asyncio.wait_for(_asked(session, provider, models), SECONDS)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError):
            found = {}
    return tuple(_completed(model, found.get(model.id), provider) for model in models)


def _completed(model: ModelInfo, said: Abilities | None, provider: Provider) -> ModelInfo:
    vision, tools = model.vision, model.tools
    if said is not None:
        vision = said.vision if vision is None else vision
        tools = said.tools if tools is None else tools
    return replace(model, vision=provider.vision if vision is None else vision, tools=tools)


async def _asked(
    session: aiohttp.ClientSession, provider: Provider, models: Sequence[ModelInfo]
) -> dict[str, Abilities]:
    """By model id, from the first of the three servers' own routes that answers."""
    root = host_of(provider.base_url)
    running, listed, properties = await asyncio.gather(
        *(get_json(session, f"{root}{path}") for path in ("/api/ps", "/api/v0/models", "/props"))
    )
    if isinstance(running, Mapping) and isinstance(running.get("models"), list):
        return await _shown_by_ollama(session, root, models)
    if isinstance(listed, Mapping) and isinstance(listed.get("data"), list):
        entries = [entry for entry in listed["data"] if isinstance(entry, Mapping)]
        return {str(entry.get("id")): _of_lm_studio(entry) for entry in entries}
    if isinstance(properties, Mapping) and len(models) == 1:
        return {models[0].id: _of_llama_cpp(properties)}
    return {}


async def _shown_by_ollama(
    session: aiohttp.ClientSession, root: str, models: Sequence[ModelInfo]
) -> dict[str, Abilities]:
    """`/api/show` has `capabilities` since Ollama 0.6.4."""
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(model: str) -> tuple[str, Abilities]:
        async with places:
            answer = await get_json(session, f"{root}/api/show", {"model": model})
        named = answer.get("capabilities") if isinstance(answer, Mapping) else None
        return model, Abilities(holds(named, "vision"), holds(named, "tools"))

    return dict(await asyncio.gather(*(ask(model.id) for model in models[:MOST_SHOWN])))


def _of_lm_studio(entry: Mapping[str, Any]) -> Abilities:
    """`type` is "llm" or "vlm"; `capabilities` is left out where the model calls no tools."""
    kind = entry.get("type")
    named = entry.get("capabilities")
    tools = holds(named, "tool_use") if named is not None else None
    return Abilities(kind == "vlm" if kind in ("llm", "vlm") else None, tools)


def _of_llama_cpp(properties: Mapping[str, Any]) -> Abilities:
    modalities = properties.get("modalities")
    template = properties.get("chat_template_caps")
    return Abilities(
        flag(modalities.get("vision")) if isinstance(modalities, Mapping) else None,
        flag(template.get("supports_tools")) if isinstance(template, Mapping) else None,
    )


def is_near(base_url: str) -> bool:
    """Whether the address is of this machine or of a private network."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".local", ".lan")) or "." not in host
