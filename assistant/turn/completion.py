"""One prompt, one text: the model without chat, tools or context, for nodes in a workflow."""

from __future__ import annotations

import contextlib

from ..config import Settings
from ..llm.request import LLMRequest
from ..llm.stream_events import Finish, TextDelta
from ..messages.prompt import PromptMessage
from .preparation import Model, Providers


async def complete(
    providers: Providers,
    model: Model,
    settings: Settings,
    prompt: str,
    *,
    system: str = "",
    seed: int | None = None,
) -> str:
    """The model's text, its reasoning left out. Raises ProviderError.

    `seed` goes to the server, which may ignore it.
    """
    messages = [PromptMessage("system", system)] if system.strip() else []
    messages.append(PromptMessage("user", prompt))
    request = LLMRequest(
        messages=tuple(messages),
        temperature=settings.temperature,
        max_output_tokens=settings.max_output_tokens,
        reasoning_effort=settings.reasoning_effort,
        seed=seed,
    )
    texts: list[str] = []
    provider = await providers.current()
    async with contextlib.aclosing(model.stream(provider, request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                texts.append(event.text)
            elif isinstance(event, Finish):
                break
    return "".join(texts).strip()
