"""Tests a provider with a real one-line chat and a real tool call.

A server that accepts connections may still refuse every chat, so a mere connection proves nothing.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from ..errors import ProviderError
from ..messages.prompt import PromptMessage
from .client import Client
from .provider import Provider
from .request import LLMRequest
from .stream_events import Finish, ReasoningDelta, TextDelta, ToolCallStart

# Enough for a model that thinks before it answers.
ANSWER_TOKENS = 1_024
TOOL = {
    "type": "function",
    "function": {
        "name": "reportReady",
        "description": "Reports that tools work.",
        "parameters": {
            "type": "object",
            "properties": {"ready": {"type": "boolean", "description": "true"}},
            "required": ["ready"],
        },
    },
}
CHAT = LLMRequest(
    (PromptMessage("user", "Answer with the one word: ready"),), max_output_tokens=ANSWER_TOKENS
)
TOOLS = LLMRequest(
    (PromptMessage("user", "Call the tool reportReady with ready = true."),),
    tools=(TOOL,),
    max_output_tokens=ANSWER_TOKENS,
)


async def check(
    client: Client, provider: Provider, *, clock: Callable[[], float] = time.monotonic
) -> dict[str, Any]:
    """Returns `{"chat": {"ok", "message", "ms"}, "tools": {...}}`. A failure of the server is part
    of this value, not raised."""
    chat = await _try(client, provider, CHAT, clock)
    if not chat["ok"]:
        return {"chat": chat, "tools": {"ok": False, "message": "Not tried.", "ms": 0}}
    if not provider.tools:
        message = f"{provider.model} takes no tools."
        return {"chat": chat, "tools": {"ok": False, "message": message, "ms": 0}}
    return {"chat": chat, "tools": await _try(client, provider, TOOLS, clock)}


async def _try(
    client: Client, provider: Provider, request: LLMRequest, clock: Callable[[], float]
) -> dict[str, Any]:
    began = clock()
    spoke = called = False
    try:
        async with contextlib.aclosing(client.stream(provider, request)) as events:
            async for event in events:
                spoke = spoke or isinstance(event, (TextDelta, ReasoningDelta))
                called = called or isinstance(event, ToolCallStart)
                if isinstance(event, Finish) and event.reason == "content-filter":
                    spoke = False
    except ProviderError as error:
        ok, message = False, error.message
    else:
        ok, message = _judged(provider, spoke, called, bool(request.tools))
    return {"ok": ok, "message": message, "ms": round((clock() - began) * 1000)}


def _judged(provider: Provider, spoke: bool, called: bool, tools: bool) -> tuple[bool, str]:
    model = provider.model or "The model"
    if tools and called:
        return True, f"{model} called a tool."
    if tools:
        return False, f"{model} answered, but did not call the tool that it was asked to."
    if spoke:
        return True, f"{model} answered."
    return False, f"{model} said nothing."
