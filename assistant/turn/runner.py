"""The loop of one turn: prepare, ask, write, run tools, again, until the answer is done.

Whatever happens, the stream that readers get is whole: parts are closed, the reason is said, and
what the model wrote until then is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import datetime, timezone
from typing import Any

from ..chats import ChatState
from ..context.plan import Plan
from ..context.report import Report
from ..errors import AssistantError, ProviderError, ToolsRefused
from ..llm.events import ReasoningDelta, TextDelta, ToolCallStart
from ..llm.provider import Provider
from ..llm.resolver import silently_cut
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.fold import fold
from ..messages.parts import StepStart, ToolPart
from ..tools.tool import Scene
from .account import log_line, report_usage
from .call_ids import CallIds
from .calls import CallRunner, Suspension
from .decisions import STOPPED
from .measure import Measure
from .opening import Opening
from .preparation import Preparation, Services, prepare
from .recorder import Recorder
from .running import RunningTurn
from .writer import AnswerWriter

ANSWERING = (TextDelta, ReasoningDelta, ToolCallStart)
"""Events of the answer itself; the others are about it."""

logger = logging.getLogger("comfyui_assistant")

ABORTED = {"user": "Stopped by the user.", "shutdown": "ComfyUI was closed."}
CUT = {"user": "aborted", "shutdown": "cut"}
"""`metadata.cut` by who stopped the turn; what ComfyUI's end cut is offered to be continued."""
FAILED = "The answer ended with an error before this call could run."
INTERNAL = "Something went wrong inside the assistant; ComfyUI's log says what."
_STEP_LIMIT = "Stopped after {} steps (LLM_MAX_STEPS). Say that I should continue, and I go on."
_NOT_SAVED = "This answer could not be saved: {}"
_TOOLS_REFUSED = "{} does not take tools, so it answers without them and cannot see the workflow."
_SILENTLY_CUT = (
    "{} left out the beginning of what it was sent: its own window is smaller than it says. Set "
    "its context length (num_ctx in Ollama) to the window in Settings, or the other way round."
)


class TurnRunner:
    """Runs one turn into `turn`, and its answer into `recorder`."""

    def __init__(
        self,
        services: Services,
        opening: Opening,
        turn: RunningTurn,
        recorder: Recorder,
        scene: Scene,
        allowed: frozenset[str] = frozenset(),
    ) -> None:
        self._services = services
        self._opening = opening
        self._turn = turn
        self._emit = turn.emit
        self._recorder = recorder
        self._calls = CallRunner(turn.emit, services.toolbox, scene, allowed)
        self._ids = CallIds((*opening.history, opening.answer))
        self._measure = Measure(services.clock, opening.answer.metadata)
        self._writer: AnswerWriter | None = None
        self._step_open = False
        self._state: ChatState = "idle"

    async def run(self) -> ChatState:
        """The whole turn, to its last chunk; also when it is cancelled or fails.

        The answer is kept before the last chunks are sent, so that a client that has seen the end
        finds it in the chat, and reads there if it could not be kept. Returns the chat's state.
        """
        last = [chunks.error(INTERNAL)]
        try:
            last = await self._until_end()
        finally:
            self._turn.close()
            try:
                await self._keep(last)
            finally:
                for chunk in last:
                    self._emit(chunk)
        return self._state

    async def _until_end(self) -> list[Chunk]:
        """The turn up to its last chunks, which are returned."""
        try:
            metadata = self._turn.message.metadata
            self._emit(chunks.start(self._turn.message.id, {"created": _now(), **metadata}))
            return await self._phases()
        except asyncio.CancelledError:
            return self._aborted()
        except AssistantError as error:
            return self._failed(error)
        except Exception:
            logger.exception("A turn failed")
            return self._failed(AssistantError(INTERNAL))

    async def _keep(self, last: list[Chunk]) -> None:
        problem = await self._recorder.finish(fold(self._turn.message, last), self._state)
        if problem is not None:
            self._emit(chunks.notice("not_saved", _NOT_SAVED.format(problem.message)))

    async def _phases(self) -> list[Chunk]:
        if self._opening.reply is not None:
            return self._reply(self._opening.reply)
        suspension = await self._go_on()
        if suspension:
            return self._suspend(suspension)
        preparation = await prepare(self._services, self._opening.history)
        provider = preparation.provider
        self._emit(chunks.message_metadata({"model": provider.model, "provider": provider.name}))
        return await self._loop(preparation)

    async def _go_on(self) -> Suspension:
        """Settles what a suspended turn was waiting for; nothing for a new turn."""
        parts = self._last_round()
        if all(part.settled for part in parts):
            return Suspension()
        await self._recorder.state("executing_tools")
        suspension = await self._calls.settle(parts)
        await self._recorder.state("generating")
        return suspension

    async def _loop(self, preparation: Preparation) -> list[Chunk]:
        most = self._services.settings.max_steps
        while True:
            step = 1 + sum(isinstance(part, StepStart) for part in self._turn.message.parts)
            if most and step > most:
                self._emit(chunks.notice("step_limit", _STEP_LIMIT.format(most)))
                return self._finish("other", cut="steps")
            preparation, finish = await self._request(preparation, step)
            parts = self._last_round()
            if not parts:
                self._close_step()
                return self._finish(finish, cut="length" if finish == "length" else None)
            await self._recorder.state("executing_tools")
            suspension = await self._calls.settle(parts)
            self._close_step()
            await self._recorder.save(self._turn.message)
            if suspension:
                return self._suspend(suspension)
            await self._recorder.state("generating")

    async def _request(self, preparation: Preparation, step: int) -> tuple[Preparation, str]:
        """One request, asked a second time without tools where the server refuses them.

        Returns the preparation that worked and the reason why the answer ended.
        """
        made = await self._plan(preparation, step)
        self._emit(chunks.start_step())
        self._step_open = True
        try:
            return preparation, await self._ask(preparation, made)
        except ToolsRefused:
            if not preparation.tools or (self._writer and self._writer.spoke):
                raise
        preparation = preparation.without_tools()
        notice = _TOOLS_REFUSED.format(preparation.provider.model)
        self._emit(chunks.notice("tools_refused", notice))
        return preparation, await self._ask(preparation, await self._plan(preparation, step))

    async def _plan(self, preparation: Preparation, step: int) -> Plan:
        made = await preparation.plan(self._opening.history, self._turn.message, step)
        self._turn.planned(made.report)
        self._emit(chunks.data("context", made.report.to_json(), transient=True))
        return made

    async def _ask(self, preparation: Preparation, made: Plan) -> str:
        """Streams one answer into the message; returns why it ended."""
        prefix = f"s{made.report.request}"
        writer = AnswerWriter(self._emit, self._services.toolbox, self._ids.free, prefix)
        self._writer = writer
        stream = self._services.model.stream(preparation.provider, preparation.request(made))
        async with contextlib.aclosing(stream) as events:
            async for event in events:
                if isinstance(event, ANSWERING):
                    self._measure.first_token()
                writer.add(event)
                self._recorder.grew(lambda: self._turn.message)
        self._writer = None
        writer.finished()
        self._account(preparation, made.report, writer)
        _check_answer(preparation.provider, writer)
        return writer.finish or "other"

    def _account(self, preparation: Preparation, report: Report, writer: AnswerWriter) -> None:
        """What the request cost, for the report, the metadata and the log."""
        self._measure.add(writer.usage)
        answered = report.answered(report_usage(writer.usage))
        self._emit(chunks.data("context", answered.to_json(), transient=True))
        if writer.model:
            self._emit(chunks.message_metadata({"model": writer.model}))
        window = preparation.window.tokens if preparation.window.known else None
        if writer.usage and silently_cut(report.total.tokens, writer.usage, window):
            self._emit(
                chunks.notice("silently_cut", _SILENTLY_CUT.format(preparation.provider.name))
            )
        logger.info("%s", log_line(preparation.provider.name, answered))

    def _reply(self, text: str) -> list[Chunk]:
        """An answer that needs no model."""
        self._emit(chunks.start_step())
        self._emit(chunks.text_start("reply"))
        self._emit(chunks.text_delta("reply", text))
        self._emit(chunks.text_end("reply"))
        self._emit(chunks.finish_step())
        return self._finish("stop")

    def _suspend(self, suspension: Suspension) -> list[Chunk]:
        """The turn ends here and goes on when what it waits for has come."""
        self._state = "paused" if suspension.approvals else "waiting_client"
        return self._finish("tool-calls")

    def _finish(self, reason: str, cut: str | None = None) -> list[Chunk]:
        steps = sum(isinstance(part, StepStart) for part in self._turn.message.parts)
        metadata = {**self._measure.to_json(), "steps": steps, "finish_reason": reason}
        if cut is not None:
            metadata["cut"] = cut
        return [chunks.finish(reason, metadata)]

    def _aborted(self) -> list[Chunk]:
        why = self._turn.stop_reason or "user"
        self._close(STOPPED)
        metadata = {"cut": CUT[why], **self._measure.to_json()}
        return [chunks.message_metadata(metadata), chunks.abort(ABORTED[why])]

    def _failed(self, error: AssistantError) -> list[Chunk]:
        """What was written stays; the reason and the next steps are said."""
        self._close(FAILED)
        actions = error.actions if isinstance(error, ProviderError) else ("retry",)
        said = {"code": error.code, "message": error.message, "actions": list(actions)}
        if isinstance(error, ProviderError) and error.detail:
            said["detail"] = error.detail
        metadata: dict[str, Any] = {"error": said, **self._measure.to_json()}
        if error.code == "cut":
            metadata["cut"] = "cut"
        self._state = "error"
        logger.warning("A turn ended with %s: %s", error.code, ascii(error.message)[1:-1])
        return [chunks.message_metadata(metadata), chunks.error(error.message)]

    def _close(self, why: str) -> None:
        """Closes whatever is open, so that the stream is whole and nothing waits for ever."""
        if self._writer is not None:
            self._writer.cut()
            self._writer = None
        for part in self._last_round():
            if part.state == "approval-requested":
                self._emit(chunks.tool_output_denied(part.tool_call_id))
            elif part.state in ("input-available", "approval-responded"):
                # As the server's own result: a client of the SDK would answer one of its own tools
                # by sending the list again.
                self._emit(chunks.tool_output_error(part.tool_call_id, why, on_server=True))
        self._close_step()

    def _close_step(self) -> None:
        if self._step_open:
            self._step_open = False
            self._emit(chunks.finish_step())

    def _last_round(self) -> tuple[ToolPart, ...]:
        """The tool parts after the last step border."""
        found: list[ToolPart] = []
        for part in self._turn.message.parts:
            if isinstance(part, StepStart):
                found = []
            elif isinstance(part, ToolPart):
                found.append(part)
        return tuple(found)


def _check_answer(provider: Provider, writer: AnswerWriter) -> None:
    """Raises ProviderError for an end that would leave the user with an unexplained half."""
    if writer.finish == "content-filter":
        raise ProviderError(
            f"{provider.host} stopped the answer by its content rules: word your message "
            "differently, or choose another model.",
            code="content_filter",
            actions=("retry", "choose-model"),
        )
    if writer.finish == "stop" and not writer.answered:
        raise ProviderError(
            f"{provider.model} thought, but gave no answer: try again, or choose another model.",
            code="empty",
            actions=("retry", "choose-model"),
        )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
