"""What a model finds worth remembering in a chat, asked for while the chat is idle (R43, R46).

    await remembering.note("c1", path)     which messages may hold something, before a cut
    remembering.begin(chat)          reads them after a pause, when there are enough or it is idle
    remembering.stop("c1")           cancels it
    remembering.begin_now(chat)      at once, because the user asked for it

A model is asked only in the mode `auto`, after ASSISTANT_MEMORY_AFTER flagged messages or when the
chat was idle for LATER_SECONDS; never the demo model, never in a window under 16k. Its request has
no tools, and its answer is checked by `memory.extraction`: whatever it says, only words of a person
are kept. A message from which the user deleted a memory, or corrected it, is not read again. After
MOST_FAILURES failures no model is asked for a while. What it costs counts in the chat's cost. The
chat's summary, which it has anyway, is kept for other chats (R47).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from ...config import Settings
from ...context.summary.state import Summary
from ...context.window import window_of
from ...errors import AssistantError, StoreError
from ...llm.completion import complete
from ...llm.pricing import cost_of
from ...llm.provider import Provider
from ...llm.request import LLMRequest
from ...llm.stream_events import Event, Usage
from ...memory.draft import Kept
from ...memory.extraction import LONGEST_ANSWER, Said, exchanges_of, prompt_for, statements_of
from ...memory.memory import LONGEST_TEXT, Mode
from ...memory.pending import MOST_PENDING, Pending, PendingStore
from ...memory.signals import is_flagged
from ...memory.store import SUMMARY_SOURCE, MemoryStore
from ...memory.wording import is_refused
from ...messages.fences import mark_for
from ...messages.origin import origin_of
from ...messages.parts import Message
from ...messages.prompt import PromptMessage
from ..conversation import Conversation
from ..turn_services import Model, Providers, provider_for
from .job import IdleChat
from .scheduler import IdleScheduler

logger = logging.getLogger("comfyui_assistant")

SOON_SECONDS: Final = 5.0
"""Pause after a turn: a user who goes on at once does not share the model with an extraction."""
LATER_SECONDS: Final = 90.0
"""After this a chat is idle, and what is pending is read, however little it is."""
MOST_FAILURES: Final = 3
COOL_DOWN_SECONDS: Final = 600.0
"""Pause after MOST_FAILURES failures in a row; then one try."""
MOST_TOKENS: Final = 4_000
"""Output limit of the request; it includes the reasoning before the answer."""
EARLIER: Final = 20
"""Messages of the person before one, in which a value may have been set already."""
Tell = Callable[[IdleChat, Sequence[Kept]], Awaitable[None]]


async def _untold(chat: IdleChat, kept: Sequence[Kept]) -> None:
    """Tells nobody."""


class Remembering:
    """For one event loop and one ComfyUI user. One model is asked at a time. `kept` tells the
    chat's readers what was remembered. `clock` gives seconds."""

    def __init__(
        self,
        providers: Providers,
        model: Model,
        settings: Settings,
        memories: MemoryStore,
        pending: PendingStore,
        kept: Tell = _untold,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._providers = providers
        self._model = model
        self._settings = settings
        self._memories = memories
        self._pending = pending
        self._kept = kept
        self._clock = clock
        self._soon = IdleScheduler("What to remember", SOON_SECONDS, sleep)
        self._later = IdleScheduler("What to remember of an idle chat", LATER_SECONDS, sleep)
        self._asked = IdleScheduler("What to remember, as asked", 0.0, sleep)
        self._alone = asyncio.Lock()
        self._failures: dict[str, tuple[int, float]] = {}
        # The last message of each chat that was looked at while nothing was flagged.
        self._passed: dict[str, str] = {}

    async def note(self, chat_id: str, path: Sequence[Message]) -> None:
        """Writes down which messages of the chat are still to be read. A failure is logged only:
        the messages stay in the log."""
        try:
            if await self._mode() == "auto":
                await self._noted(chat_id, path)
        except StoreError as error:
            logger.info("What to remember was not noted: %s", ascii(error.message)[1:-1])

    def begin(self, chat: IdleChat) -> None:
        self.stop(chat.chat_id)
        if self._settings.memory != "off":
            least = self._settings.memory_after
            self._soon.begin(chat.chat_id, partial(self._when_idle, chat, least))
            self._later.begin(chat.chat_id, partial(self._when_idle, chat, 1))

    def stop(self, chat_id: str) -> None:
        self._soon.stop(chat_id)
        self._later.stop(chat_id)

    def forget(self, chat_id: str) -> None:
        """The chat is deleted: nothing is learned from it any more, also where the user asked for
        it."""
        self.stop(chat_id)
        self._asked.stop(chat_id)
        self._passed.pop(chat_id, None)

    async def close(self) -> None:
        await self._soon.close()
        await self._later.close()
        await self._asked.close()

    def begin_now(self, chat: IdleChat) -> None:
        """Reads the newest messages of the chat at once, flagged or not, since the user asked for
        it."""
        self._asked.begin(chat.chat_id, partial(self._read_now, chat))

    async def _when_idle(self, chat: IdleChat, least: int) -> None:
        mode = await self._mode()
        if mode == "off":
            return
        await self._keep_summary(chat)
        if mode != "auto":
            return
        async with self._alone:
            # What another call has read is not pending any more.
            pending = await self._noted(chat.chat_id, chat.path)
            if len(pending.messages) >= least and not self._waits(chat.chat_id):
                await self._read(chat, pending.messages)

    async def _read_now(self, chat: IdleChat) -> None:
        persons = [message.id for message in chat.path if _is_persons(message)]
        async with self._alone:
            await self._read(chat, persons[-MOST_PENDING:])

    async def _mode(self) -> Mode:
        return (await self._memories.read()).mode_within(self._settings.memory)

    async def _noted(self, chat_id: str, path: Sequence[Message]) -> Pending:
        known = await self._pending.of(chat_id)
        flagged = flagged_after(path, known.done or self._passed.get(chat_id))
        last = next((message.id for message in reversed(path) if message.role == "user"), "")
        if last == known.done:
            return known
        if not (flagged or known.done):
            self._passed[chat_id] = last
            return known
        return await self._pending.note(chat_id, flagged, last)

    async def _read(self, chat: IdleChat, wanted: Sequence[str]) -> None:
        """Asks a model about these messages and keeps what may be kept."""
        withdrawn = await self._memories.withdrawn(chat.chat_id)
        said = said_in(chat.path, [one for one in wanted if one not in withdrawn])
        if not said:
            await self._pending.settle(chat.chat_id, wanted)
            return
        provider = await provider_for(self._providers, chat.params)
        tokens = await self._providers.window(provider)
        window = window_of(
            tokens, self._settings.response_reserve, self._settings.max_output_tokens
        )
        if provider.demo or window.compact:
            return
        try:
            answer = await self._answer(chat, provider, said)
        except AssistantError:
            self._failed(chat.chat_id)
            raise
        statements = None if answer is None else statements_of(answer, chat.chat_id, said)
        if statements is None:
            self._failed(chat.chat_id)
            return
        self._failures.pop(chat.chat_id, None)
        kept: tuple[Kept, ...] = ()
        if await self._mode() != "off" and statements:
            # The user may have taken something back while the model answered.
            gone = await self._memories.withdrawn(chat.chat_id)
            kept = await self._memories.keep_all(
                [one for one in statements if one.source and one.source.message_id not in gone],
                [message.id for message in chat.path],
            )
        await self._pending.settle(chat.chat_id, wanted)
        if kept:
            await self._kept(chat, kept)

    async def _answer(self, chat: IdleChat, provider: Provider, said: Sequence[Said]) -> str | None:
        """The model's whole answer; None for one that was cut. Raises ProviderError."""
        request = LLMRequest(
            messages=(PromptMessage("user", prompt_for(said, mark_for(exchanges_of(said)))),),
            temperature=self._settings.temperature,
            max_output_tokens=MOST_TOKENS,
            reasoning_effort=self._settings.reasoning_effort,
        )
        used: list[Usage] = []
        stream = _counted(self._model.stream(provider, request), used)
        try:
            answer = await complete(stream, LONGEST_ANSWER)
        finally:
            cost = cost_of(provider, used[-1] if used else None, self._settings.prices)
            if cost:
                await asyncio.to_thread(_spend, chat.conversation, cost)
                await chat.keep()
        return answer.text if answer.whole else None

    def _failed(self, chat_id: str) -> None:
        count = self._failures.get(chat_id, (0, 0.0))[0] + 1
        pause = COOL_DOWN_SECONDS if count >= MOST_FAILURES else 0.0
        self._failures[chat_id] = count, self._clock() + pause

    def _waits(self, chat_id: str) -> bool:
        count, until = self._failures.get(chat_id, (0, 0.0))
        return count >= MOST_FAILURES and self._clock() < until

    async def _keep_summary(self, chat: IdleChat) -> None:
        """Keeps the summary that the chat has, for other chats; it may quote anything in the chat,
        so an imported chat has none."""
        summary = await asyncio.to_thread(_summary_of, chat.conversation)
        text = short_summary(summary) if summary is not None else ""
        if text and not is_refused(text):
            known = await self._memories.read()
            withdrawn = await self._memories.withdrawn(chat.chat_id)
            is_known = SUMMARY_SOURCE in withdrawn or known.has_summary(chat.chat_id, text)
            if not (is_known or _is_imported(chat.path)):
                await self._memories.summarise(chat.chat_id, text)


def _spend(conversation: Conversation, cost: float) -> None:
    with conversation.lock:
        conversation.context.spend(cost)


def _summary_of(conversation: Conversation) -> Summary | None:
    with conversation.lock:
        return conversation.context.projections.summary


def flagged_after(path: Sequence[Message], done: str | None) -> tuple[str, ...]:
    """The ids of the messages of a person after the message `done`, or of all where it is not on
    the path, that may hold something to remember."""
    # From the end: mostly few messages are new, of thousands.
    places = range(len(path) - 1, -1, -1)
    first = next((place + 1 for place in places if path[place].id == done), 0)
    before = filter(_is_persons, (path[place] for place in range(first - 1, -1, -1)))
    earlier = [message.text for message in islice(before, EARLIER)][::-1]
    persons = [message for message in path[first:] if _is_persons(message)]
    texts = [*earlier, *(message.text for message in persons)]
    return tuple(
        message.id
        for place, message in enumerate(persons, start=len(earlier))
        if is_flagged(message.text, tuple(texts[max(0, place - EARLIER) : place]))
    )[-MOST_PENDING:]


def said_in(path: Sequence[Message], wanted: Sequence[str]) -> tuple[Said, ...]:
    """The wanted messages, each after the answer that it replies to."""
    return tuple(_said(path, frozenset(wanted)))


def _said(path: Sequence[Message], wanted: frozenset[str]) -> Iterator[Said]:
    for place, message in enumerate(path):
        if message.id in wanted and _is_persons(message):
            before = path[place - 1] if place else None
            if before is not None and before.role == "assistant" and before.text.strip():
                yield Said(before.id, before.text, person=False)
            yield Said(message.id, message.text, person=True)


def _is_persons(message: Message) -> bool:
    """Whether a person wrote the message in this chat, and it is no slash command."""
    return (
        message.role == "user"
        and origin_of(message) == "person"
        and bool(message.text.strip())
        and not message.text.lstrip().startswith("/")
    )


def _is_imported(path: Sequence[Message]) -> bool:
    return any(one.role == "user" and origin_of(one) == "imported" for one in path)


def short_summary(summary: Summary) -> str:
    """The summary of a chat within the length of a memory: the model's words, or what the user
    wanted and what was decided."""
    if summary.llm_text:
        text = summary.llm_text
    else:
        decided = "; ".join(words for _, words in summary.decisions)
        text = f"{summary.goal} Decided: {decided}" if decided else summary.goal
    return " ".join(text.split())[:LONGEST_TEXT]


async def _counted(
    stream: AsyncGenerator[Event, None], used: list[Usage]
) -> AsyncGenerator[Event, None]:
    """The events of `stream`; token counts go into `used`."""
    async with contextlib.aclosing(stream) as events:
        async for event in events:
            if isinstance(event, Usage):
                used.append(event)
            yield event
