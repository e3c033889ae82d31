"""Chats of the product, from the database to the request that leaves, without HTTP and without a
model.

    async with living(folder, Wanted("none", 12_000)) as chats:
        await chats.import_chat("c1", messages)
        sent = await chats.turn("c1", "Which seed did I like?", [Round("That was 7.")])

Each turn is a turn of `sessions.Sessions` in a `UserSpace`: the store, its search index, the
preparation, the tail and the plan are those of the product, with the defaults of `Settings`. Only
the model is a script, which keeps each request. A chat that lies in a folder can be asked many
times: `copied` gives each question a copy of its own, so that no question is part of the next.
"""

from __future__ import annotations

import contextlib
import shutil
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plugin.assistant.chats.search.history_search import PATIENCE_SECONDS
from plugin.assistant.config import Settings
from plugin.assistant.environment import load_settings
from plugin.assistant.errors import ProviderError
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
from plugin.assistant.messages.parts import Message, Part, TextPart
from plugin.assistant.messages.prompt import to_openai
from plugin.assistant.space import UserSpace
from plugin.assistant.tools.toolset import Toolset, standard_toolset
from plugin.assistant.turn.turn_places import Places
from plugin.assistant.turn.turn_request import TurnRequest
from plugin.preview.catalog import Catalog
from plugin.preview.comfyui import PreviewComfyUI

ROOT = Path(__file__).resolve().parent.parent
MODEL = Provider("bench", "https://bench.invalid/v1", "bench-model")
"""A hosted model without a known price and without a known tokenizer."""
MANY_TURNS = 1_000_000
SPACE = "space"


@dataclass(frozen=True, slots=True)
class Wanted:
    """How chats are lived: `cache` is LLM_PROMPT_CACHE, `window` the model's window in tokens. All
    other settings are the defaults, but for the variables of `changed`."""

    cache: str
    window: int
    changed: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return replace(load_settings(self.changed).settings, prompt_cache=self.cache)


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of the model: text, and calls as (name, arguments as JSON text)."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that would have left: its messages and schemas as OpenAI has them, and its
    report."""

    messages: list[dict[str, Any]]
    tools: list[Mapping[str, Any]]
    report: Mapping[str, Any]

    @property
    def spoken(self) -> list[dict[str, Any]]:
        """The messages without the system message."""
        return [message for message in self.messages if message["role"] != "system"]


class ScriptedModel:
    """Answers the requests of a turn from its script and keeps them. Requests in the background,
    for a title or a summary, are refused: the extractive summary is what is measured."""

    def __init__(self) -> None:
        self.requests: list[LLMRequest] = []
        self._script: Iterator[Round] = iter(())
        self._asked = ""
        self._calls = 0

    def begin(self, asked: str, script: Sequence[Round]) -> None:
        """The next requests are those of a turn that answers `asked`."""
        self._asked, self._script, self.requests = asked, iter(script), []

    async def stream(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]:
        spoken = (message.text for message in request.messages if message.role == "user")
        if not any(self._asked in text for text in spoken) or not self._asked:
            raise ProviderError("A benchmark answers no request in the background.", code="bench")
        self.requests.append(request)
        answer = next(self._script, Round("Done."))
        if answer.text:
            yield TextDelta(answer.text)
        for index, (name, arguments) in enumerate(answer.calls):
            self._calls += 1
            yield ToolCallStart(index, f"call_bench_{self._calls}", name)
            yield ToolCallDelta(index, arguments)
        yield Finish("tool-calls" if answer.calls else "stop")


class OneModel:
    """The configuration: one provider, one window."""

    def __init__(self, window: int) -> None:
        self._window = window

    async def current(self) -> Provider:
        return MODEL

    async def named(self, name: str) -> Provider:
        return MODEL

    async def window(self, provider: Provider) -> int | None:
        return self._window

    async def models(self, provider: Provider) -> Sequence[ModelInfo]:
        return ()


class LivedChats:
    """The chats of one space; made by `living`."""

    def __init__(self, space: UserSpace, model: ScriptedModel) -> None:
        self.space = space
        self._model = model

    async def import_chat(self, chat_id: str, messages: Sequence[Message]) -> None:
        """Stores a chat with these messages, and waits for its search index."""
        await self.space.chats.import_messages(chat_id, messages)
        await self.indexed(chat_id)

    async def indexed(self, chat_id: str) -> None:
        """Waits for the chat's search index, for which a search waits a bounded time only."""
        waited = PATIENCE_SECONDS
        while waited >= PATIENCE_SECONDS:
            begun = time.monotonic()
            await self.space.search.search(chat_id, "index")
            waited = time.monotonic() - begun

    async def turn(
        self, chat_id: str, text: str, script: Sequence[Round], parts: Sequence[Part] = ()
    ) -> list[Sent]:
        """One turn that `text` begins; returns its requests. Raises AssertionError when the turn
        ended without a request."""
        message = Message(f"asked-{uuid.uuid4().hex}", "user", (TextPart(text), *parts))
        self._model.begin(_first_words(text), script)
        request = TurnRequest(message=message, chat_id=chat_id)
        stream = await self.space.sessions.start(request)
        await stream.finished()
        session = await self.space.sessions.of(chat_id)
        await session.settled()
        reports = [
            chunk["data"]
            async for chunks in stream.follow()
            for chunk in chunks or ()
            if chunk["type"] == "data-context"
        ]
        planned = [report for report in reports if report.get("phase") != "answer"]
        requests = self._model.requests
        assert requests, f"a turn without a request: {stream.message.metadata}"
        assert len(planned) == len(requests), "expected one report for each request"
        return [
            Sent([to_openai(m) for m in one.messages], list(one.tools), report)
            for one, report in zip(requests, planned, strict=True)
        ]


def _first_words(text: str) -> str:
    """A command such as `/skill name words` is stored as the skill's text and the words."""
    return text.rpartition("\n")[2] if text.startswith("/") else text


@contextlib.asynccontextmanager
async def living(
    folder: Path, wanted: Wanted, toolset: Toolset | None = None
) -> AsyncIterator[LivedChats]:
    """The space in `folder`, which may hold chats already."""
    model = ScriptedModel()
    space = UserSpace(
        folder / SPACE,
        ROOT / "system_context",
        ROOT / "user_context",
        wanted.settings,
        toolset or standard_toolset(),
        OneModel(wanted.window),
        model,
        PreviewComfyUI(Catalog("", {})),
        Places(MANY_TURNS),
    )
    await space.open()
    try:
        yield LivedChats(space, model)
    finally:
        await space.close()


@contextlib.contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """A copy of a folder that nothing has open; removed after use."""
    with TemporaryDirectory() as other:
        shutil.copytree(folder / SPACE, Path(other) / SPACE)
        yield Path(other)


def text_messages(texts: Sequence[str]) -> tuple[Message, ...]:
    """The texts as messages of user and assistant in turns, the user first."""
    return tuple(
        Message(f"m{at}", "assistant" if at % 2 else "user", (TextPart(text),))
        for at, text in enumerate(texts)
    )
