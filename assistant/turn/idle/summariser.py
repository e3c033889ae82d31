"""A model's summary of the messages that a chat's requests leave out, made while it is idle
(R21-R27).

    summariser.begin(chat)                           asks the model after a pause
    summariser.stop("c1")                            cancels it
    await summariser.compact(preparation, focus)     `/compact`: at once

A cut has its extractive summary from the start; only this module adds a model's text. So a model
that is slow or fails costs nothing but that text. `context.summary.llm_summary` has the request and
decides which answers are accepted.

No model is asked automatically in these cases: the demo model; windows under 16k tokens, whose
models are slow and whose summaries have no room; less new text than `LEAST_READ`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary

from ...chats import ChatParams
from ...config import Settings
from ...context.chat_context import ChatContext
from ...context.compaction_policy import TokenSaving, most_after
from ...context.summary.llm_summary import SummaryRequest, accepted
from ...context.tokens import text_tokens
from ...context.window import Window, window_of
from ...errors import AssistantError, Conflict
from ...llm.completion import complete
from ...llm.provider import Provider
from ...llm.request import LLMRequest
from ..compaction import Compaction
from ..conversation import Conversation
from ..preparation import Preparation
from ..turn_services import Model, Providers, provider_for
from .job import IdleChat
from .scheduler import IdleScheduler

logger = logging.getLogger("comfyui_assistant")

IDLE_SECONDS = 5.0
"""Pause after a turn: a user who goes on at once does not share the model with a summary."""
AUTOMATIC = ("auto", "model")
"""Values of LLM_SUMMARY with which a model is asked automatically."""
MOST_FAILURES = 3
COOL_DOWN_SECONDS = 600.0
"""Pause after MOST_FAILURES failures in a row; then one try (R27)."""
MOST_READ = 12_000
"""Tokens of transcript in one request; the next request has the rest."""
LEAST_READ = 500
"""Tokens; a shorter transcript waits for the next cut."""


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a chat's model failed in a row, the hash of the last transcript that it failed at,
    and the time before which it is not asked again."""

    count: int = 0
    last: int | None = None
    until: float = 0.0


class Summariser:
    """For one event loop. One model is asked at a time, whatever the number of idle chats.

    `clock` gives seconds. Planning is done in threads that hold the conversation's lock. A model's
    text is taken over in the event loop, so that no text is taken over after `stop`.
    """

    def __init__(
        self,
        providers: Providers,
        model: Model,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._providers = providers
        self._model = model
        self._settings = settings
        self._clock = clock
        self._scheduler = IdleScheduler("A summary by a model", IDLE_SECONDS, sleep)
        self._failures: WeakKeyDictionary[Conversation, Failures] = WeakKeyDictionary()

    def begin(self, chat: IdleChat) -> None:
        self.stop(chat.chat_id)
        if self._settings.summary in AUTOMATIC:
            self._scheduler.begin(chat.chat_id, partial(self._when_idle, chat))

    def stop(self, chat_id: str) -> None:
        self._scheduler.stop(chat_id)

    async def close(self) -> None:
        await self._scheduler.close()

    async def compact(self, preparation: Preparation, focus: str = "") -> Compaction:
        """Cuts the older messages now and asks the chat's own model to summarise them (R25).

        `focus` is what the user wants the summary to keep. Raises Conflict (`nothing_to_compact`).
        The cut is committed before the model is asked, so it stands if the model fails.
        """
        conversation, provider = preparation.conversation, preparation.provider
        context = preparation.conversation.context
        asks = self._settings.summary != "off" and not provider.demo

        def work() -> tuple[SummaryRequest | None, TokenSaving | None]:
            with conversation.lock:
                preparation.ready()
                ahead = context.summary_request_before_cut(focus, manual=True) if asks else None
                return ahead, context.compact()

        request, saving = await asyncio.to_thread(work)
        if saving is None:
            raise Conflict(
                "There is nothing to compact: the messages that are not recent are too few, or too "
                "short, for a summary to save anything.",
                code="nothing_to_compact",
            )
        if asks and request is None:
            request = context.summary_request(_most_read(preparation.window), focus)
        text = await self._answer(conversation, provider, request) if request else None
        if request is None or text is None:
            return Compaction(saving, by_model=False, summarised=self._settings.summary != "off")
        most = most_after(saving.before)
        if not context.add_llm_summary(text, request.end, at_once=True, most_tokens=most):
            return Compaction(saving, by_model=False)
        return Compaction(replace(saving, after=context.tokens), by_model=True)

    async def _when_idle(self, idle: IdleChat) -> None:
        provider = await self._provider(idle.params)
        window = window_of(await self._providers.window(provider))
        if provider.demo or window.compact or self._waits(idle.conversation):
            return
        while await self._tell(idle, provider, window):
            await idle.keep()

    async def _tell(self, idle: IdleChat, provider: Provider, window: Window) -> bool:
        """Asks for one summary, if there is enough new text; returns whether the context
        changed."""
        conversation, task = idle.conversation, asyncio.current_task()

        def work() -> SummaryRequest | None:
            with conversation.lock:
                if not self._scheduler.is_current(idle.chat_id, task):
                    return None  # A turn has begun, which may have fed more messages.
                return self._due(conversation.feed(idle.path), window)

        request = await asyncio.to_thread(work)
        known = self._failures.get(conversation, Failures())
        if request is None or known.last == hash(request.source):
            return False
        text = await self._answer(conversation, provider, request)
        return text is not None and conversation.context.add_llm_summary(text, request.end)

    def _due(self, context: ChatContext, window: Window) -> SummaryRequest | None:
        """The next request for a summary, if there is enough new text."""
        request = context.summary_request(_most_read(window))
        if request is not None and text_tokens(request.source) >= LEAST_READ:
            return request
        # A summary ahead of a cut pays only where the model has the chat in its prompt cache.
        return None if self._settings.summary_model else context.summary_request_before_cut()

    async def _answer(
        self, conversation: Conversation, provider: Provider, request: SummaryRequest
    ) -> str | None:
        """The model's summary, or None where the model failed; counts failures in a row."""
        try:
            text = accepted(await self._text(provider, request) or "", request)
        except AssistantError as error:
            logger.info("A summary by a model failed: %s", ascii(error.message)[1:-1])
            text = None
        if text is not None:
            self._failures.pop(conversation, None)
            return text
        count = self._failures.get(conversation, Failures()).count + 1
        until = self._clock() + COOL_DOWN_SECONDS if count >= MOST_FAILURES else 0.0
        self._failures[conversation] = Failures(count, hash(request.source), until)
        return None

    async def _text(self, provider: Provider, request: SummaryRequest) -> str | None:
        """The model's whole answer; None for an answer that calls a tool or is too long."""
        sent = LLMRequest(
            messages=request.messages,
            tools=request.tools,
            temperature=self._settings.temperature,
            reasoning_effort=self._settings.reasoning_effort,
        )
        answer = await complete(self._model.stream(provider, sent), request.most_chars)
        return answer.text if answer.whole else None

    async def _provider(self, params: ChatParams) -> Provider:
        """The provider that is asked automatically (R25)."""
        provider = await provider_for(self._providers, params)
        model = self._settings.summary_model
        return replace(provider, model=model) if model else provider

    def _waits(self, conversation: Conversation) -> bool:
        """Whether the pause after too many failures lasts."""
        return self._clock() < self._failures.get(conversation, Failures()).until


def _most_read(window: Window) -> int:
    """Tokens of a transcript that leave room for the instructions and the answer."""
    return min(MOST_READ, window.prompt // 2)
