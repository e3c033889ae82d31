"""A model's summary of the messages that a chat's requests leave out (R21-R27).

    summariser.begin(chat)                                   asks the model while the chat is idle
    summariser.stop("c1")                                    cancels it
    await summariser.compact(preparation, focus)             `/compact`: at once
    await summariser.before_request(preparation, progress)   LLM_SUMMARY=model: a request waits

A cut has its extractive summary from the start; only this module adds a model's text. So a model
that is slow or fails costs nothing but that text. `context.summary.llm_summary` has the request and
decides which answers are accepted.

With `LLM_SUMMARY=auto` no model is asked in these cases: windows under 16k tokens, whose models are
slow and whose summaries have no room; less new text than `LEAST_READ`. The demo model is never
asked.

With `LLM_SUMMARY=model` the model is asked as soon as a turn has ended, and a request whose cut has
no summary by the model yet waits for it, at most `LLM_SUMMARY_TIMEOUT`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary

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
from ...llm.time_limit import within
from ..compaction import Compaction, Progress, Reason, reason_of
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
        self._waited_for = settings.summary == "model"
        pause = 0.0 if self._waited_for else IDLE_SECONDS
        self._scheduler = IdleScheduler("A summary by a model", pause, sleep)
        self._failures: WeakKeyDictionary[Conversation, Failures] = WeakKeyDictionary()

    def begin(self, chat: IdleChat) -> None:
        self.stop(chat.chat_id)
        if self._settings.summary in AUTOMATIC:
            self._scheduler.begin(chat.chat_id, partial(self._when_idle, chat))

    def stop(self, chat_id: str) -> None:
        self._scheduler.stop(chat_id)

    async def close(self) -> None:
        await self._scheduler.close()

    async def compact(
        self, preparation: Preparation, focus: str = "", progress: Progress | None = None
    ) -> Compaction:
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
        if saving is None and asks:
            # What was cut after the last turn may still lack a model's text.
            request = context.summary_request(_most_read(preparation.window), focus)
        if saving is None and request is None:
            raise Conflict(
                "There is nothing to compact: the messages that are not recent are too few, or too "
                "short, for a summary to save anything.",
                code="nothing_to_compact",
            )
        if asks and request is None:
            request = context.summary_request(_most_read(preparation.window), focus)
        if request is None:
            assert saving is not None
            return Compaction(saving, by_model=False, summarised=self._settings.summary != "off")
        progress = progress or Progress()
        progress.enter("summarising", "user")
        text = await self._answer(conversation, provider, request)
        progress.enter("committing", "user")
        if text is None:
            return Compaction(saving, by_model=False)
        most = most_after(saving.before) if saving else None
        if not context.add_llm_summary(text, request.end, at_once=True, most_tokens=most):
            return Compaction(saving, by_model=False)
        return Compaction(saving and replace(saving, after=context.tokens), by_model=True)

    async def before_request(
        self, preparation: Preparation, progress: Progress, overflow: bool = False
    ) -> bool:
        """With LLM_SUMMARY=model: waits for the model's summary of what was cut, at most
        LLM_SUMMARY_TIMEOUT. Returns whether the next request has more of it than before; where not,
        the summary by rule serves. `overflow` says that the server refused a longer request."""
        conversation, context = preparation.conversation, preparation.conversation.context
        if not self._waited_for or preparation.provider.demo or not context.projections.cuts:
            return False
        provider = self._summarising(preparation.provider)
        clock = asyncio.get_running_loop().time
        end, told = clock() + self._settings.summary_timeout, False

        def work() -> SummaryRequest | None:
            with conversation.lock:
                return context.summary_request(_most_read(preparation.window))

        reason = "overflow" if overflow else _reason(context)
        # A long past needs several requests.
        while (left := end - clock()) > 0 and not self._waits(conversation):
            request = await asyncio.to_thread(work)
            if request is None or self._failed_at(conversation, request):
                break
            progress.enter("summarising", reason)
            text = await self._answer(conversation, provider, request, left)
            if text is None:
                break
            progress.enter("committing", reason)
            told = context.add_llm_summary(text, request.end, at_once=True)
        return told

    async def _when_idle(self, idle: IdleChat) -> None:
        provider = self._summarising(await provider_for(self._providers, idle.params))
        window = window_of(
            await self._providers.window(provider),
            self._settings.response_reserve,
            self._settings.max_output_tokens,
        )
        small = window.compact and not self._waited_for
        if provider.demo or small or self._waits(idle.conversation):
            return
        while await self._tell(idle, provider, window):
            pass

    async def _tell(self, idle: IdleChat, provider: Provider, window: Window) -> bool:
        """Asks for one summary, if there is enough new text, and stores it; returns whether the
        context changed."""
        conversation, task = idle.conversation, asyncio.current_task()

        def work() -> SummaryRequest | None:
            with conversation.lock:
                if not self._scheduler.is_current(idle.chat_id, task):
                    return None  # A turn has begun, which may have fed more messages.
                return self._due(conversation.feed(idle.history, idle.answer), window)

        request = await asyncio.to_thread(work)
        if request is None or self._failed_at(conversation, request):
            return False
        reason = _reason(conversation.context)
        with Progress(idle.compacting) as progress:
            progress.enter("summarising", reason)
            text = await self._answer(conversation, provider, request)
            if text is None or not conversation.context.add_llm_summary(text, request.end):
                return False
            progress.enter("committing", reason)
            await idle.keep()
        return True

    def _due(self, context: ChatContext, window: Window) -> SummaryRequest | None:
        """The next request for a summary, if there is enough new text."""
        request = context.summary_request(_most_read(window))
        enough = 0 if self._waited_for else LEAST_READ
        if request is not None and text_tokens(request.source) >= enough:
            return request
        # A summary ahead of a cut pays only where the model has the chat in its prompt cache.
        return None if self._settings.summary_model else context.summary_request_before_cut()

    async def _answer(
        self,
        conversation: Conversation,
        provider: Provider,
        request: SummaryRequest,
        seconds: float | None = None,
    ) -> str | None:
        """The model's summary, or None where the model failed or took longer than `seconds`; counts
        failures in a row."""
        text: str | None = None
        try:
            said = await within(seconds, self._text(provider, request))
            text = accepted(said or "", request)
        except asyncio.TimeoutError:
            logger.info("A summary by a model took longer than LLM_SUMMARY_TIMEOUT")
        except AssistantError as error:
            logger.info("A summary by a model failed: %s", ascii(error.message)[1:-1])
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

    def _summarising(self, provider: Provider) -> Provider:
        """The provider that is asked automatically, in a chat that `provider` answers (R25)."""
        model = self._settings.summary_model
        return replace(provider, model=model) if model else provider

    def _failed_at(self, conversation: Conversation, request: SummaryRequest) -> bool:
        """Whether the model failed at the same text before."""
        known = self._failures.get(conversation, Failures())
        return known.last == hash(request.source)

    def _waits(self, conversation: Conversation) -> bool:
        """Whether the pause after too many failures lasts."""
        return self._clock() < self._failures.get(conversation, Failures()).until


def _reason(context: ChatContext) -> Reason:
    """The reason of a summary of what was cut; before a cut it is the window that asks."""
    cuts = context.projections.cuts
    return reason_of(cuts[-1].limit) if cuts else "tokens"


def _most_read(window: Window) -> int:
    """Tokens of a transcript that leave room for the instructions and the answer."""
    return min(MOST_READ, window.prompt // 2)
