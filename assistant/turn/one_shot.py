"""One prompt, one text: the model without chat, tools or context, for nodes in a workflow."""

from __future__ import annotations

from ..config import Settings
from ..llm import completion
from ..llm.request import LLMRequest
from ..messages.prompt import PromptMessage
from .turn_services import Model, Providers


async def one_shot(
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
    provider = await providers.current()
    return (await completion.complete(model.stream(provider, request))).text.strip()
