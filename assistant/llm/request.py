"""A request to a model, and the JSON body that carries it.

The body is canonical: the same request and provider give the same bytes, with what changes least in
front, so that a provider's prompt cache sees the same beginning. Servers disagree on the names of
some settings; `adapted` mends a body that a server refused for that alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..messages.prompt import PromptMessage, to_openai
from .provider import Provider

# Hosts that want the limit under its newer name; every model there takes it.
HOSTS_WITH_COMPLETION_TOKENS = frozenset({"api.openai.com"})
OUTPUT_LIMITS = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
# What may be left out without changing what was asked.
OPTIONAL = ("temperature", "reasoning_effort", "seed", "stream_options")
_REFUSAL = re.compile(
    r"(?i)unsupported|not supported|does(?:n't| not) support|not permitted|not allowed|unknown|"
    r"unrecognized|unexpected|only the default|use '?max_"
)


@dataclass(frozen=True)
class LLMRequest:
    """What is asked of a model, whichever it is. `tools` are OpenAI tool objects in their order."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    temperature: float | None = None
    max_output_tokens: int | None = None
    reasoning_effort: str | None = None
    seed: int | None = None


def body_of(provider: Provider, request: LLMRequest) -> dict[str, Any]:
    """The body of `POST /chat/completions`."""
    body: dict[str, Any] = {"model": provider.model}
    if request.tools:
        body["tools"] = list(request.tools)
    body["messages"] = [to_openai(message) for message in request.messages]
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        newer = urlsplit(provider.base_url).hostname in HOSTS_WITH_COMPLETION_TOKENS
        body["max_completion_tokens" if newer else "max_tokens"] = request.max_output_tokens
    if request.reasoning_effort is not None:
        body["reasoning_effort"] = request.reasoning_effort
    if request.seed is not None:
        body["seed"] = request.seed
    return body


def adapted(body: Mapping[str, Any], refusal: str) -> tuple[dict[str, Any], str] | None:
    """The body to send instead, and the setting that it changes; None when nothing of that helps.

    `refusal` is the server's wording of a 400 or 422. A setting counts as refused when the wording
    names it together with a word of refusal.
    """
    if not _REFUSAL.search(refusal):
        return None
    for name, other in OUTPUT_LIMITS.items():
        if name in body and _names(refusal, name) and _names(refusal, other):
            changed = {other if key == name else key: value for key, value in body.items()}
            return changed, name
    for name in OPTIONAL:
        if name in body and _names(refusal, name):
            return {key: value for key, value in body.items() if key != name}, name
    return None


def _names(text: str, setting: str) -> bool:
    return re.search(rf"\b{setting}\b", text) is not None
