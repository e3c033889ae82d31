"""Scripted models in the same process, without HTTP, which a turn or an idle job uses instead of a
`Client`. Tests of the client itself, and of the HTTP behind it, use `providers.py`.

    model = Model()
    ...                                           the code under test is given `model`
    await model.asked()                           a request has come in and waits
    model.answer(TextDelta("Hello"), Finish("stop"))
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plugin.assistant.llm.models import ModelInfo
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.request import LLMRequest
from plugin.assistant.llm.stream_events import (
    Event,
    Finish,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
)

NOWHERE = Provider("scripted", "http://127.0.0.1:9/v1", "model")
"""For tests in which nothing is sent."""


@dataclass
class OneProvider:
    """A configuration with one provider; another name gives the same address with a model of that
    name. `tokens` is the context window."""

    provider: Provider = NOWHERE
    tokens: int = 32_768

    async def current(self) -> Provider:
        return self.provider

    async def named(self, name: str) -> Provider:
        return replace(self.provider, name=name, model=f"model of {name}")

    async def window(self, provider: Provider) -> int | None:
        return self.tokens

    async def models(self, provider: Provider) -> Sequence[ModelInfo]:
        return ()


class Model:
    """Answers a request when the test calls `answer`, the request that waits longest first."""

    def __init__(self) -> None:
        self.requests: list[LLMRequest] = []
        self.providers: list[Provider] = []
        self._waiting: list[asyncio.Future[Sequence[Event | Exception]]] = []
        self._asked = asyncio.Event()

    async def stream(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]:
        self.requests.append(request)
        self.providers.append(provider)
        answer: asyncio.Future[Sequence[Event | Exception]] = (
            asyncio.get_running_loop().create_future()
        )
        self._waiting.append(answer)
        self._asked.set()
        try:
            events = await answer
        finally:
            if answer in self._waiting:
                self._waiting.remove(answer)
            if not self._waiting:
                self._asked.clear()
        for event in events:
            if isinstance(event, Exception):
                raise event
            yield event

    @property
    def waits(self) -> bool:
        """Whether a request waits for its answer."""
        return bool(self._waiting)

    async def asked(self) -> None:
        """Wait for a request."""
        await self._asked.wait()

    def answer(self, *events: Event | Exception) -> None:
        """Answer the request that waits longest; an exception is raised in its place."""
        self._waiting.pop(0).set_result(events)

    def say(self, text: str) -> None:
        """Answer with text; `|` divides it into pieces."""
        self.answer(*(TextDelta(piece) for piece in text.split("|")), Finish("stop"))

    def call(self, name: str, call_id: str, **arguments: Any) -> None:
        """Answer with a tool call."""
        self.answer(
            ToolCallStart(0, call_id, name),
            ToolCallDelta(0, json.dumps(arguments)),
            Finish("tool-calls"),
        )

    @property
    def texts(self) -> list[str]:
        """The user's message of each request that begins a turn."""
        found = []
        for request in self.requests:
            if request.messages[-1].role == "user":
                found.append(str(request.messages[-1].content))
        return found


@dataclass(frozen=True)
class WordByWord:
    """Gives the same answer to every request, and lets other tasks run before each word."""

    text: str

    async def stream(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]:
        for piece in self.text.split(" "):
            await asyncio.sleep(0)
            yield TextDelta(f"{piece} ")
        yield Finish("stop")
