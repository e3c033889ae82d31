"""`/model [name]`: which model answers in this chat, or another one for it (R41)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ...chats import Chat, ChatParams, ChatStore
from ...errors import AssistantError, ProviderError
from ..turn import NO_PARAMS
from ..turn_services import Providers, provider_for

LONGEST_NAME: Final = 200
USUAL: Final = "default"
"""`/model default` returns to the model of the settings."""
OFFERED: Final = 3
"""Names in the answer to a name that the server does not list."""
LEAST_LIKE: Final = 0.3
"""How like a name must be to be offered, from 0 to 1 (`difflib`)."""
ANY_TAG: Final = ":latest"
"""What Ollama adds to a name without a tag."""


class ModelCommand:
    """Answers `/model` for the chats of one user. `plain` escapes Markdown in a name."""

    def __init__(self, store: ChatStore, providers: Providers, plain: Callable[[str], str]) -> None:
        self._store = store
        self._providers = providers
        self._plain = plain

    async def answer(self, chat: Chat | None, name: str) -> str:
        """Without a name: which model answers. A provider's name chooses the provider and its
        model. Raises StoreError."""
        params = chat.params if chat is not None else NO_PARAMS
        if not name:
            return await self._answers(params, "This chat is answered by")
        if chat is None:
            return "That needs a chat that is kept."
        if len(name) > LONGEST_NAME:
            return "No model has so long a name."
        if name == USUAL:
            params = replace(params, provider=None, model=None)
        elif await self._is_provider(name):
            params = replace(params, provider=name, model=None)
        else:
            found, refusal = await self._listed(params, name)
            if refusal:
                return refusal
            params = replace(params, model=found)
        await self._store.set_params(chat.id, params)
        return await self._answers(params, "From the next message on this chat is answered by")

    async def _answers(self, params: ChatParams, words: str) -> str:
        try:
            provider = await provider_for(self._providers, params)
        except ProviderError as error:
            return error.message
        own = params.provider is not None or params.model is not None
        usual = " `/model default` goes back to the usual one." if own else ""
        return f"{words} `{provider.model}` of {self._plain(provider.name)}.{usual}"

    async def _is_provider(self, name: str) -> bool:
        """Whether a provider has this name, also where it does not answer now."""
        try:
            await self._providers.named(name)
        except AssistantError as error:
            return error.code != "no_provider"
        return True

    async def _listed(self, params: ChatParams, name: str) -> tuple[str, str]:
        """The model's name as the server lists it, or a refusal that offers the nearest names. A
        server that lists nothing, or does not answer now, refuses a wrong name itself."""
        try:
            provider = await provider_for(self._providers, params)
            models = await self._providers.models(provider)
        except ProviderError:
            return name, ""
        ids = [model.id for model in models]
        found = listed_as(name, ids) if ids else name
        if found is not None:
            return found, ""
        offered = closest(name, [model.id for model in models if model.chats])
        more = f" The nearest: {', '.join(map(_code, offered))}." if offered else ""
        text = f"{self._plain(provider.name)} has no model {_code(name)}.{more}"
        return "", f"{text} This chat keeps the model that it has."


def listed_as(name: str, ids: Sequence[str]) -> str | None:
    """The name under which a list of models has this model; None where the list lacks it. A name
    without a tag means the latest model of that name, and a listed name with a variant after a
    colon is another way to ask for that model."""
    if name in ids or f"{name}{ANY_TAG}" in ids or name.rpartition(":")[0] in ids:
        return name
    return next((one for one in ids if one.lower() == name.lower()), None)


def closest(name: str, ids: Sequence[str]) -> list[str]:
    """Up to three names of a list that are most like this one, the nearest first."""
    by_letters = {one.lower(): one for one in ids}
    found = difflib.get_close_matches(name.lower(), by_letters, OFFERED, LEAST_LIKE)
    return [by_letters[one] for one in found]


def _code(name: str) -> str:
    return f"`{name.replace('`', '')}`"
