"""The loop of one turn: prepare, ask, write, run tools, again, until the answer is done.

Whatever happens, the stream that readers get is whole: parts are closed, the reason is said, and
what the model wrote until then is kept.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timezone
from typing import Any

from ..chats import ChatParams, ChatState
from ..context.report_words import in_words
from ..errors import AssistantError, ProviderError
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.fold import fold
from ..messages.parts import StepStart, ToolPart
from ..tools.ports import ChatHistory
from ..tools.tool import ToolContext
from .call_ids import CallIds
from .calls import CallRunner, Suspension
from .conversation import Conversation
from .decisions import STOPPED
from .measure import Measure
from .model_request import ModelRequests
from .opening import Opening
from .preparation import NO_PARAMS, Preparation, Services, prepare
from .recorder import Recorder
from .slash.commands import Slash, help_text
from .stream import TurnStream

logger = logging.getLogger("comfyui_assistant")

ABORTED = {"user": "Stopped by the user.", "shutdown": "ComfyUI was closed."}
CUT = {"user": "aborted", "shutdown": "cut"}
"""`metadata.cut` by who stopped the turn; what ComfyUI's end cut is offered to be continued."""
FAILED = "The answer ended with an error before this call could run."
INTERNAL = "Something went wrong inside the assistant; ComfyUI's log says what."
_STEP_LIMIT = "Stopped after {} steps (LLM_MAX_STEPS). Say that I should continue, and I go on."
_NOT_SAVED = "This answer could not be saved: {}"


class TurnRunner:
    """Runs one turn into `turn`, and its answer into `recorder`."""

    def __init__(
        self,
        services: Services,
        opening: Opening,
        turn: TurnStream,
        recorder: Recorder,
        conversation: Conversation,
        scene: ToolContext,
        allowed: frozenset[str] = frozenset(),
        params: ChatParams = NO_PARAMS,
    ) -> None:
        self._services = services
        self._params = params
        self._opening = opening
        self._turn = turn
        self._emit = turn.emit
        self._recorder = recorder
        self._conversation = conversation
        self._memory = scene.history
        self._calls = CallRunner(turn.emit, services.toolset, scene, allowed)
        self._ids = CallIds((*opening.history, opening.answer))
        self._measure = Measure(services.clock, opening.answer.metadata)
        self._asking: ModelRequests | None = None
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
        if self._opening.slash is not None:
            return self._reply(await self._command(self._opening.slash), self._opening.slash.name)
        suspension = await self._go_on()
        if suspension:
            return self._suspend(suspension)
        preparation = await self._prepare(self._memory)
        provider = preparation.provider
        self._emit(chunks.message_metadata({"model": provider.model, "provider": provider.name}))
        self._asking = ModelRequests(
            self._services,
            preparation,
            self._turn,
            self._recorder,
            self._conversation,
            self._measure,
            self._ids.free,
        )
        return await self._loop(self._asking)

    async def _prepare(self, memory: ChatHistory | None = None) -> Preparation:
        history = self._opening.history
        return await prepare(self._services, history, self._conversation, self._params, memory)

    async def _go_on(self) -> Suspension:
        """Settles what a suspended turn was waiting for; nothing for a new turn."""
        parts = self._last_round()
        if all(part.settled for part in parts):
            return Suspension()
        await self._recorder.state("executing_tools")
        suspension = await self._calls.settle(parts)
        await self._recorder.state("generating")
        return suspension

    async def _loop(self, asking: ModelRequests) -> list[Chunk]:
        most = self._services.settings.max_steps
        while True:
            step = 1 + sum(isinstance(part, StepStart) for part in self._turn.message.parts)
            if most and step > most:
                self._emit(chunks.notice("step_limit", _STEP_LIMIT.format(most)))
                return self._finish("other", cut="steps")
            finish = await asking.request(step)
            parts = self._last_round()
            if not parts:
                asking.close_step()
                return self._finish(finish, cut="length" if finish == "length" else None)
            await self._recorder.state("executing_tools")
            suspension = await self._calls.settle(parts)
            asking.close_step()
            await self._recorder.save(self._turn.message)
            if suspension:
                return self._suspend(suspension)
            await self._recorder.state("generating")

    async def _command(self, slash: Slash) -> str:
        """The answer to a command of the user (R41)."""
        if slash.name in ("context", "compact"):
            return await self._about_context(slash)
        replies = self._services.replies
        if replies is None:
            return help_text()
        reply = await replies.to(slash, self._turn.chat_id, self._opening.history)
        if reply.action is not None:
            self._emit(chunks.data("action", reply.action))
        return reply.text

    async def _about_context(self, slash: Slash) -> str:
        preparation = await self._prepare()
        said = None
        if slash.name == "compact":
            said = await self._services.compact(preparation, slash.argument)
            self._conversation.report = await preparation.outlook()
        report = self._conversation.report or await preparation.outlook()
        if report is not None:
            self._turn.planned(report)
            self._emit(chunks.data("context", report.to_json(), transient=True))
        return said or in_words(report)

    def _reply(self, text: str, command: str | None = None) -> list[Chunk]:
        """An answer that needs no model; that to a command is never sent to one either."""
        if command is not None:
            self._emit(chunks.message_metadata({"command": command}))
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
        if self._asking is not None:
            self._asking.cut()
        for part in self._last_round():
            if part.state == "approval-requested":
                self._emit(chunks.tool_output_denied(part.tool_call_id))
            elif part.state in ("input-available", "approval-responded"):
                # As the server's own result: a client of the SDK would answer one of its own tools
                # by sending the list again.
                self._emit(chunks.tool_output_error(part.tool_call_id, why, on_server=True))
        if self._asking is not None:
            self._asking.close_step()

    def _last_round(self) -> tuple[ToolPart, ...]:
        """The tool parts after the last step border."""
        found: list[ToolPart] = []
        for part in self._turn.message.parts:
            if isinstance(part, StepStart):
                found = []
            elif isinstance(part, ToolPart):
                found.append(part)
        return tuple(found)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
