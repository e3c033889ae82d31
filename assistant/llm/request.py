"""A request to a model, and the JSON body that carries it.

The same request and provider give the same bytes, and the fields that change least come first, so
that a provider's prompt cache finds the same prefix. Servers disagree on the names of some
settings; `adapted` changes a body that a server refused for such a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..messages.prompt import PromptMessage, to_openai
from .caps import NOTHING_WRITTEN, Written
from .provider import Provider

# Hosts where every model takes the output limit under its newer name, and some only so.
HOSTS_WITH_COMPLETION_TOKENS = frozenset({"api.openai.com"})
OUTPUT_LIMITS = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
# Settings that are left out when a server refuses them.
OPTIONAL = ("temperature", "reasoning_effort", "seed", "stream_options")
_REFUSAL = re.compile(
    r"(?i)unsupported|not supported|does(?:n't| not) support|not permitted|not allowed|unknown|"
    r"unrecognized|unexpected|only the default|use '?max_"
)


@dataclass(frozen=True)
class LLMRequest:
    """A request, the same for all servers. `tools` are OpenAI tool objects.

    `written` is what the answer has already, for an answer that goes on after a round of tools; it
    counts in the caps and is not sent.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    temperature: float | None = None
    max_output_tokens: int | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    written: Written = NOTHING_WRITTEN


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
    """The body with one setting renamed or left out, and that setting's name; None if none fits.

    `refusal` is the text of the server's 400 or 422. A setting counts as refused when the text
    names it and holds a word such as "unsupported".
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
