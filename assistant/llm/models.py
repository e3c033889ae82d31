"""The models of a server and their context windows, as the server reports them.

The list is `GET /models` of the OpenAI API. The API has no field for windows: each local server
reports them at another place, and some hosted servers name them in the list.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import aiohttp

from ..messages.foreign_json import foreign_json
from . import failures
from .network import Network, fault_of
from .provider import Provider, host_of, usable_key

LIST_SECONDS = 10.0
LARGEST_LIST = 16 * 1024**2  # bytes
LARGEST_WINDOW = 1_000_000_000  # tokens
# Fields of a model list that hold a window: vLLM, OpenRouter, Groq, LM Studio.
WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NOT_FOR_CHAT = re.compile(
    r"embed|rerank|whisper|\btts\b|minilm|colbert|moderation|dall-e|transcribe|(^|[/_-])(bge|e5|gte)-",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """Whether a model sees pictures and calls tools; None: not known."""

    vision: bool | None = None
    tools: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An entry of a model list. `context_window` in tokens, None where the list has none; whether
    the model sees pictures (`vision`) and calls tools, None where that is not known."""

    id: str
    context_window: int | None = None
    vision: bool | None = None
    tools: bool | None = None

    @property
    def chats(self) -> bool:
        """False when the name is that of an embedding, speech or ranking model."""
        return not _NOT_FOR_CHAT.search(self.id)


def models_in(answer: Any) -> tuple[ModelInfo, ...] | None:
    """The models of a `/models` answer; None when the answer is not a model list."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list):
        return None
    entries = [e for e in data if isinstance(e, Mapping) and isinstance(e.get("id"), str)]
    return tuple(_model_in(entry) for entry in entries)


def _model_in(entry: Mapping[str, Any]) -> ModelInfo:
    able = abilities_in(entry)
    return ModelInfo(entry["id"], window_in(entry), able.vision, able.tools)


def abilities_in(entry: Mapping[str, Any]) -> Abilities:
    """What an entry of a list of models says about its model.

    OpenRouter has `architecture.input_modalities` and `supported_parameters`, Mistral an object
    `capabilities`. `abilities` has what servers say elsewhere.
    """
    architecture, named = entry.get("architecture"), entry.get("capabilities")
    inputs = architecture.get("input_modalities") if isinstance(architecture, Mapping) else None
    vision, tools = holds(inputs, "image"), holds(entry.get("supported_parameters"), "tools")
    if isinstance(named, Mapping):
        vision = flag(named.get("vision")) if vision is None else vision
        tools = flag(named.get("function_calling")) if tools is None else tools
    return Abilities(vision, tools)


def holds(names: Any, wanted: str) -> bool | None:
    """Whether the list has the name; None where there is no list."""
    return wanted in names if isinstance(names, list) else None


def flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def window_in(entry: Mapping[str, Any]) -> int | None:
    """The window, in tokens, of a model's entry; llama.cpp has it in `meta.n_ctx`."""
    meta = entry.get("meta")
    inner = meta.get("n_ctx") if isinstance(meta, Mapping) else None
    values = (*(entry.get(field) for field in WINDOW_FIELDS), inner)
    return next((tokens for value in values if (tokens := _tokens(value))), None)


def first_chat_model(models: Iterable[ModelInfo]) -> str | None:
    return next((model.id for model in models if model.chats), None)


async def list_models(
    provider: Provider, network: Network, *, seconds: float = LIST_SECONDS
) -> tuple[ModelInfo, ...]:
    """The models that `provider` offers. Raises `ProviderError`."""
    if not usable_key(provider.api_key):
        raise failures.unusable_key(provider)
    headers = {"Authorization": f"Bearer {provider.api_key}"} if provider.api_key else {}
    try:
        async with (
            await network.session(provider, seconds) as session,
            session.get(
                f"{provider.base_url}/models", headers=headers, allow_redirects=False
            ) as answer,
        ):
            body = await _text(answer)
            status, answer_headers = answer.status, answer.headers
    except asyncio.TimeoutError:
        raise failures.timed_out(provider, seconds, started=False) from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise failures.unreachable(provider, str(error), fault_of(error)) from None
    if 300 <= status < 400:
        raise failures.redirected(provider, answer_headers.get("Location", ""))
    if status != 200:
        lowered = {name.lower(): value for name, value in answer_headers.items()}
        refusal = failures.read_refusal(status, lowered, body, datetime.now(timezone.utc))
        raise failures.refused(provider, refusal)
    try:
        models = models_in(await asyncio.to_thread(foreign_json, body))
    except ValueError:
        models = None
    if models is None:
        raise failures.garbage(provider, body)
    return models


async def reported_window(base_url: str, model: str, *, seconds: float) -> int | None:
    """The window, in tokens, with which a local server has loaded `model`; None if it is not
    reported.

    Requested in this order: the model list (llama.cpp, vLLM), Ollama's, LM Studio's and
    llama.cpp's own routes.
    """
    root = host_of(base_url)
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
        listed = models_in(await get_json(session, f"{base_url}/models")) or ()
        window = next((m.context_window for m in listed if m.id == model), None)
        if window is not None:
            return window
        running = await get_json(session, f"{root}/api/ps")
        if isinstance(running, Mapping):
            return await _ollama_window(session, root, model, running)
        loaded = await get_json(session, f"{root}/api/v0/models")
        if isinstance(loaded, Mapping):
            return _lm_studio_window(loaded, model)
        properties = await get_json(session, f"{root}/props")
        if isinstance(properties, Mapping):
            inner = properties.get("default_generation_settings")
            return _tokens(inner.get("n_ctx")) if isinstance(inner, Mapping) else None
    return None


# The window that Ollama gives a model on a machine with less than 24 GB of video memory, when
# neither the model nor its own configuration says otherwise (its documentation, "Context length").
OLLAMA_DEFAULT_WINDOW = 4_096


async def _ollama_window(
    session: aiohttp.ClientSession, root: str, model: str, running: Mapping[str, Any]
) -> int | None:
    """The window of the loaded model, else the window in the model file, else Ollama's default."""
    entries = [entry for entry in running.get("models") or () if isinstance(entry, Mapping)]
    for entry in entries:
        window = _tokens(entry.get("context_length"))
        if model in (entry.get("name"), entry.get("model")) and window:
            return window
    shown = await get_json(session, f"{root}/api/show", {"model": model})
    if not isinstance(shown, Mapping):
        return None
    set_by_model = re.search(r"(?m)^num_ctx[ \t]+(\d{1,9})\b", str(shown.get("parameters") or ""))
    return int(set_by_model[1]) if set_by_model else OLLAMA_DEFAULT_WINDOW


def _lm_studio_window(answer: Mapping[str, Any], model: str) -> int | None:
    for entry in answer.get("data") or ():
        if isinstance(entry, Mapping) and entry.get("id") == model:
            loaded = _tokens(entry.get("loaded_context_length"))
            return loaded or _tokens(entry.get("max_context_length"))
    return None


def _tokens(value: object) -> int | None:
    """A number of tokens; None for what is none, or for more than any model has."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value <= LARGEST_WINDOW else None


async def get_json(
    session: aiohttp.ClientSession, url: str, body: Mapping[str, Any] | None = None
) -> Any:
    """The JSON answer of `url`, a POST if there is a `body`; None for any failure."""
    method = "GET" if body is None else "POST"
    try:
        async with session.request(method, url, json=body, allow_redirects=False) as answer:
            if answer.status != 200:
                return None
            return await asyncio.to_thread(foreign_json, await _text(answer))
    except (aiohttp.ClientError, asyncio.TimeoutError, ValueError, OSError):
        return None


async def _text(answer: aiohttp.ClientResponse) -> str:
    """The body. Raises ValueError beyond 16 MB."""
    body = bytearray()
    async for piece in answer.content.iter_chunked(65_536):
        body += piece
        if len(body) > LARGEST_LIST:
            raise ValueError("The list of models is larger than 16 MB.")
    return body.decode("utf-8", "replace")
