"""A model's summary of what a chat does not send any more, made while the chat is idle (R21-R27).

    summariser.turn_ended("c1", conversation, messages, keep)    soon, if nothing happens
    summariser.turn_begins("c1")                                 not now: hangs up at once
    await summariser.compact(preparation, focus)                 `/compact`: now

A cut has its extractive summary from the start; a model's text joins it here, and only here. So a
model that is slow, fails or talks nonsense costs its text and nothing else. What a model is asked,
and which answers are taken, is `context.summary.llm_summary`'s.

Nobody is asked automatically where it is not worth it: the demo model; windows under 16k tokens,
whose models are slow and whose summaries have no room; less new text than `LEAST_READ`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from ...chats import ChatParams
from ...config import Settings
from ...context.chat_context import ChatContext
from ...context.compaction_policy import TokenSaving, most_after
from ...context.summary.llm_summary import SummaryRequest, accepted
from ...context.tokens import text_tokens
from ...context.window import Window, window_of
from ...errors import AssistantError, Conflict
from ...llm.provider import Provider
from ...llm.request import LLMRequest
from ...llm.stream_events import Finish, TextDelta, ToolCallStart
from ...messages.parts import Message
from ..conversation import Conversation
from ..preparation import NO_PARAMS, Model, Preparation, Providers, provider_for
from .idle_job import IdleJob

logger = logging.getLogger("comfyui_assistant")

IDLE_SECONDS = 5.0
"""After a turn; a user who goes on at once is not to share the model with a summary."""
AUTOMATIC = ("auto", "model")
"""Values of LLM_SUMMARY that ask a model without being told to."""
MOST_FAILURES = 3
COOL_DOWN_SECONDS = 600.0
"""After that many failures in a row a chat waits so long, then tries once (R27)."""
MOST_READ = 12_000
"""Tokens of transcript in one request; what is left is told in the next one."""
LEAST_READ = 500
"""Tokens; a shorter transcript can wait for the next cut's."""

Keep = Callable[[str], Awaitable[None]]
"""Keeps the projections of the chat with this id."""


@dataclass(frozen=True, slots=True)
class Idle:
    """A chat between two turns; `path` are its messages, `params` what it has of its own."""

    chat_id: str
    conversation: Conversation
    path: tuple[Message, ...]
    keep: Keep
    params: ChatParams = NO_PARAMS


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a chat's model failed in a row, at what (a hash), and until when it is left
    alone."""

    count: int = 0
    last: int | None = None
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class Compaction:
    """What `/compact` did. `told` is False where the extractive summary serves alone, `summarised`
    where there is none at all."""

    saving: TokenSaving
    told: bool
    summarised: bool = True

    @property
    def in_words(self) -> str:
        """For the user."""
        before, after = self.saving.before, self.saving.after
        if not self.summarised:
            return (
                f"The older messages are not sent any more: the chat takes about {after:,} tokens "
                f"now, where it took {before:,}. All of them stay in the chat and can be searched."
            )
        how = "" if self.told else " It was made by rule, since no model's summary could be used."
        return (
            f"The older messages are summarised: the chat takes about {after:,} tokens now, where "
            f"it took {before:,}.{how} All of them stay in the chat and can be searched."
        )


class Summariser:
    """For one event loop. One model is asked at a time, whatever the number of idle chats.

    `clock` gives seconds. What takes its time is done in threads that hold the conversation's lock;
    what a model told is taken over here in the loop, so that nothing is after `turn_begins`.
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
        self._work = IdleJob("A summary by a model", IDLE_SECONDS, sleep)
        self._failures: WeakKeyDictionary[Conversation, Failures] = WeakKeyDictionary()

    def turn_ended(
        self,
        chat_id: str,
        conversation: Conversation,
        messages: Sequence[Message],
        keep: Keep,
        params: ChatParams = NO_PARAMS,
    ) -> None:
        """The chat is idle from now on; `messages` are its path, the answer included."""
        self.turn_begins(chat_id)
        if self._settings.summary in AUTOMATIC:
            idle = Idle(chat_id, conversation, tuple(messages), keep, params)
            self._work.begin(chat_id, lambda: self._when_idle(idle))

    def turn_begins(self, chat_id: str) -> None:
        """Stops what is under way for the chat; nothing of it is seen after this."""
        self._work.stop(chat_id)

    async def close(self) -> None:
        """Stops everything."""
        await self._work.close()

    async def compact(self, preparation: Preparation, focus: str = "") -> Compaction:
        """Cuts the older messages now and has the chat's own model tell of them (R25).

        `focus` is what the user wants to be kept. Raises Conflict (`nothing_to_compact`). The cut
        is committed before the model is asked, so that it stands whatever becomes of the rest.
        """
        conversation, provider = preparation.conversation, preparation.provider
        context = preparation.conversation.context
        asks = self._settings.summary != "off" and not provider.demo

        def work() -> tuple[SummaryRequest | None, TokenSaving | None]:
            with conversation.lock:
                preparation.ready()
                ahead = context.summary_request_before_cut(focus, manual=True) if asks else None
                return ahead, context.compact()

        telling, saving = await asyncio.to_thread(work)
        if saving is None:
            raise Conflict(
                "There is nothing to compact: the messages that are not recent are too few, or too "
                "short, for a summary to save anything.",
                code="nothing_to_compact",
            )
        if asks and telling is None:
            telling = context.summary_request(_most_read(preparation.window), focus)
        told = await self._answer(conversation, provider, telling) if telling else None
        if telling is None or told is None:
            return Compaction(saving, told=False, summarised=self._settings.summary != "off")
        most = most_after(saving.before)
        if not context.add_llm_summary(told, telling.end, at_once=True, most_tokens=most):
            return Compaction(saving, told=False)
        return Compaction(replace(saving, after=context.tokens), told=True)

    async def answer(self, preparation: Preparation, focus: str = "") -> str:
        """What `/compact` answers in the chat."""
        try:
            return (await self.compact(preparation, focus)).in_words
        except Conflict as refusal:
            return refusal.message

    async def _when_idle(self, idle: Idle) -> None:
        provider = await self._provider(idle.params)
        window = window_of(await self._providers.window(provider))
        if provider.demo or window.compact or self._waits(idle.conversation):
            return
        while await self._tell(idle, provider, window):
            await idle.keep(idle.chat_id)

    async def _tell(self, idle: Idle, provider: Provider, window: Window) -> bool:
        """One request, if there is something to tell; whether the context changed."""
        conversation, task = idle.conversation, asyncio.current_task()

        def work() -> SummaryRequest | None:
            with conversation.lock:
                if not self._work.goes_on(idle.chat_id, task):
                    return None  # A turn has begun, which may have fed more by now.
                return self._due(conversation.feed(idle.path), window)

        telling = await asyncio.to_thread(work)
        known = self._failures.get(conversation, Failures())
        if telling is None or known.last == hash(telling.source):
            return False
        told = await self._answer(conversation, provider, telling)
        return told is not None and conversation.context.add_llm_summary(told, telling.end)

    def _due(self, context: ChatContext, window: Window) -> SummaryRequest | None:
        """What is worth a request now."""
        telling = context.summary_request(_most_read(window))
        if telling is not None and text_tokens(telling.source) >= LEAST_READ:
            return telling
        # Another model has nothing of this chat in its cache.
        return None if self._settings.summary_model else context.summary_request_before_cut()

    async def _answer(
        self, conversation: Conversation, provider: Provider, telling: SummaryRequest
    ) -> str | None:
        """What the model tells, or None where it fails; counts which it was."""
        try:
            told = accepted(await self._text(provider, telling) or "", telling)
        except AssistantError as error:
            logger.info("A summary by a model failed: %s", ascii(error.message)[1:-1])
            told = None
        if told is not None:
            self._failures.pop(conversation, None)
            return told
        count = self._failures.get(conversation, Failures()).count + 1
        until = self._clock() + COOL_DOWN_SECONDS if count >= MOST_FAILURES else 0.0
        self._failures[conversation] = Failures(count, hash(telling.source), until)
        return None

    async def _text(self, provider: Provider, telling: SummaryRequest) -> str | None:
        """The model's whole answer; None for one that calls a tool, or goes on for too long."""
        request = LLMRequest(
            messages=telling.messages,
            tools=telling.tools,
            temperature=self._settings.temperature,
            reasoning_effort=self._settings.reasoning_effort,
        )
        text = ""
        async with contextlib.aclosing(self._model.stream(provider, request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text += event.text
                if isinstance(event, ToolCallStart) or len(text) > telling.most_chars:
                    return None
                if isinstance(event, Finish):
                    return text if event.reason != "length" else None
        return text

    async def _provider(self, params: ChatParams) -> Provider:
        """Who is asked automatically (R25)."""
        provider = await provider_for(self._providers, params)
        model = self._settings.summary_model
        return replace(provider, model=model) if model else provider

    def _waits(self, conversation: Conversation) -> bool:
        """Whether the chat's model failed so often that it is left alone for now."""
        return self._clock() < self._failures.get(conversation, Failures()).until


def _most_read(window: Window) -> int:
    """Tokens of a transcript, so that the answer and the instructions fit, too."""
    return min(MOST_READ, window.prompt // 2)
