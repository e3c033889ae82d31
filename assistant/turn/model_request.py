"""The requests of one turn: each is planned, sent, written into the answer, and its use counted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import replace
from functools import partial
from itertools import chain

from ..context.calibration import Calibration
from ..context.plan import Plan
from ..context.report import Report
from ..context.tail import almost_full
from ..errors import ContextOverflow, ProviderError, RolesRefused, StoreError, ToolsRefused
from ..llm.caps import Written, bytes_of, size_of
from ..llm.pricing import cost_of
from ..llm.provider import Provider
from ..llm.resolver import silently_cut
from ..llm.stream_events import Picture, ReasoningDelta, TextDelta, ToolCallStart
from ..messages import chunks
from ..messages.conversion import kept_blocks
from ..messages.parts import DataPart, FilePart, Message, ReasoningPart, TextPart
from .answer_writer import AnswerWriter
from .call_ids import CallIds
from .compaction import Progress
from .measure import Measure
from .preparation import Preparation
from .recorder import Recorder
from .remembered import given, known_to
from .turn import Turn
from .turn_services import Services
from .usage import chat_cost, log_line, report_usage, tokens_of

logger = logging.getLogger("comfyui_assistant")

ANSWERING = (TextDelta, ReasoningDelta, ToolCallStart, Picture)
"""Events that hold text, reasoning, pictures or calls of the answer; other events describe it."""
OVERFLOW_SHARE = 0.6
"""A request that overflowed is planned again for this share of its tokens (R29)."""
_TOOLS_REFUSED = "{} does not take tools, so it answers without them and cannot see the workflow."
_COMPACTED = (
    "The model's window is smaller than expected, so the request was shortened and sent again."
)
_SILENTLY_CUT = (
    "{} left out the beginning of what it was sent: its own window is smaller than it says. Set "
    "its context length (num_ctx in Ollama) to the window in Settings, or the other way round."
)


class ModelRequests:
    """Sends the requests of one turn. A feature that the server refused once (tools, two messages
    of one role in a row) is left out for the rest of the turn. `first` is the plan of the first
    request, where it is made already."""

    def __init__(
        self,
        services: Services,
        preparation: Preparation,
        turn: Turn,
        recorder: Recorder,
        measure: Measure,
        first: Plan | None = None,
    ) -> None:
        self._services = services
        self._preparation = preparation
        self._first = first
        self._turn = turn
        self._stream = turn.stream
        self._emit = turn.stream.emit
        self._conversation = turn.conversation
        self._recorder = recorder
        self._measure = measure
        self._call_ids = CallIds(chain(turn.opening.history, (turn.stream.message,)))
        self._writer: AnswerWriter | None = None
        self._step_open = False
        self._overflowed = False
        self._uses: list[str] = []

    async def request(self, step: int) -> str:
        """Sends one request, and again without a feature that the server refuses.

        Returns the finish reason. Raises ProviderError; the caller closes open parts with `cut`.
        """
        made = await self._plan(step)
        self._emit(chunks.start_step())
        self._step_open = True
        tried: set[type[ProviderError]] = set()
        while True:
            try:
                return await self._ask(made)
            except (ToolsRefused, RolesRefused, ContextOverflow) as error:
                if type(error) in tried or (self._writer and self._writer.spoke):
                    raise
                tried.add(type(error))
                self._preparation = self._remedied(made, error)
            made = await self._plan(step)

    def cut(self) -> None:
        """Closes the parts of an answer that did not come to its end."""
        if self._writer is not None:
            self._writer.cut()
            self._writer = None

    def close_step(self) -> None:
        if self._step_open:
            self._step_open = False
            self._emit(chunks.finish_step())

    def _remedied(self, made: Plan, error: ProviderError) -> Preparation:
        """The preparation without the refused feature; raises `error` where there is none."""
        preparation = self._preparation
        if isinstance(error, RolesRefused) and not preparation.alternation:
            self._services.alternating.add(preparation.provider.model)
            return preparation.alternating()
        if isinstance(error, ContextOverflow):
            self._emit(chunks.notice("compacted", _COMPACTED))
            self._overflowed = True
            return preparation.within(int(made.report.total.tokens * OVERFLOW_SHARE))
        if isinstance(error, ToolsRefused) and preparation.tools:
            notice = _TOOLS_REFUSED.format(preparation.provider.model)
            self._emit(chunks.notice("tools_refused", notice))
            return preparation.without_tools()
        raise error

    async def _plan(self, step: int) -> Plan:
        preparation = self._preparation
        before = self._conversation.context.projections
        with Progress(self._turn.compacting) as progress:
            made = await self._summarised(step, progress)
        usable, share = preparation.window.prompt, preparation.settings.wrap_up_share
        compacted = self._conversation.context.projections is not before
        # Also after a suspension the last report describes this turn's previous request.
        last = self._conversation.report if step > 1 else None
        if last and almost_full(tokens_of(last), usable, share) and not compacted:
            made = await preparation.wrapped_up(self._stream.message, step, made)
        self._stream.planned(made.report)
        self._emit(chunks.data("context", made.report.to_json(), transient=True))
        self._tell_memories(made)
        return made

    async def _summarised(self, step: int, progress: Progress) -> Plan:
        """The plan, with the summary that the settings make it wait for."""
        overflow = self._overflowed
        preparation = await self._remembering()
        made, self._first, self._overflowed = self._first, None, False
        if overflow:
            progress.enter("committing", "overflow")
        if made is None:
            made = await preparation.plan(self._stream.message, step)
        if await self._services.summaries.before_request(preparation, progress, overflow):
            made = await preparation.plan(self._stream.message, step)
        return made

    async def _remembering(self) -> Preparation:
        """The preparation with the memories as they are now: what was deleted or superseded since
        is not sent."""
        known = await known_to(self._services)
        if known is not self._preparation.known:
            self._first = None
            work = partial(self._preparation.remembering, known)
            self._preparation = await asyncio.to_thread(work)
        return self._preparation

    def _tell_memories(self, made: Plan) -> None:
        """The answer's metadata name the memories that it was given."""
        choice, known = self._conversation.memories, self._preparation.known
        told = self._stream.message.metadata.get("memories")
        before = tuple(told) if isinstance(told, list) else ()
        every = tuple(dict.fromkeys((*before, *given(choice, known, made.messages))))
        if every != before:
            self._emit(chunks.message_metadata({"memories": list(every)}))
            new = [one for one in every if one in choice.relevant and one not in before]
            self._uses.extend(new)

    async def _count_uses(self) -> None:
        """Counts each memory that the message asked for once in a turn."""
        uses, self._uses = self._uses, []
        if uses and self._services.memories is not None:
            with contextlib.suppress(StoreError):
                await self._services.memories.used(uses)

    async def _ask(self, made: Plan) -> str:
        """Streams one answer into the message; returns its finish reason."""
        preparation = self._preparation
        prefix = f"s{made.report.request}"
        message = self._stream.message
        writer = AnswerWriter(
            self._emit, self._services.toolset, self._call_ids.free, prefix, message.source_urls
        )
        self._writer = writer
        request = replace(preparation.request(made), written=_written(message))
        stream = self._services.model.stream(preparation.provider, request)
        async with contextlib.aclosing(stream) as events:
            async for event in events:
                if isinstance(event, ANSWERING):
                    self._measure.first_token()
                writer.add(event)
                self._recorder.grew(lambda: self._stream.message)
        self._writer = None
        writer.finish_calls()
        self._account(made.report, writer)
        await self._count_uses()
        _check_answer(preparation.provider, writer)
        return writer.finish or "other"

    def _account(self, report: Report, writer: AnswerWriter) -> None:
        """Adds the request's usage to the report, the metadata and the log."""
        preparation = self._preparation
        cost = cost_of(preparation.provider, writer.usage, preparation.settings.prices)
        self._measure.add(writer.usage, cost)
        spent = self._conversation.context.projections.spent
        chat = chat_cost(cost, self._measure.cost, preparation.history, spent)
        answered = report.answered(report_usage(writer.usage), chat)
        self._conversation.report = answered
        if preparation.count is None:
            self._calibrate(preparation.provider.model, answered)
        self._emit(chunks.data("context", answered.to_json(), transient=True))
        if writer.model:
            self._emit(chunks.message_metadata({"model": writer.model}))
        window = preparation.window.tokens if preparation.window.known else None
        if writer.usage and silently_cut(report.total.tokens, writer.usage, window):
            self._emit(
                chunks.notice("silently_cut", _SILENTLY_CUT.format(preparation.provider.name))
            )
        logger.info("%s", log_line(preparation.provider.name, answered))

    def _calibrate(self, model: str, report: Report) -> None:
        counted = report.usage.input_tokens if report.usage else None
        known = self._services.calibrations.get(model, Calibration())
        self._services.calibrations[model] = known.with_count(report.total.tokens, counted)


def _written(answer: Message) -> Written:
    """What an answer has before its next request."""
    kinds = (TextPart, ReasoningPart)
    pictures = [len(part.url) for part in answer.parts if isinstance(part, FilePart)]
    return Written(
        parts=sum(isinstance(part, kinds) for part in answer.parts),
        text=sum(bytes_of(part.text) for part in answer.parts if isinstance(part, TextPart)),
        reasoning=sum(
            max(bytes_of(part.text), sum(map(size_of, kept_blocks(part))))
            for part in answer.parts
            if isinstance(part, ReasoningPart)
        ),
        sources=len(answer.source_urls),
        pictures=len(pictures),
        picture_chars=sum(pictures),
        blocks=sum(
            isinstance(part, DataPart) and part.name == chunks.SERVER_BLOCK for part in answer.parts
        ),
    )


def _check_answer(provider: Provider, writer: AnswerWriter) -> None:
    """Raises ProviderError for an answer that ended without a text and without a reason that the
    user can see."""
    if writer.finish == "content-filter":
        raise ProviderError(
            f"{provider.title} stopped the answer by its content rules: word your message "
            "differently, or choose another model.",
            code="content_filter",
            actions=("edit", "choose-model"),
        )
    if writer.finish == "stop" and not writer.answered:
        raise ProviderError(
            f"{provider.model} thought, but gave no answer: try again, or choose another model.",
            code="empty",
            actions=("retry", "choose-model"),
        )
