"""The loop of one turn: prepare, ask, write, run tools, again, until the answer is done.

The stream is complete whatever happens: open parts are closed, the reason of the end is in it, and
the text that the model wrote until then is stored.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timezone
from typing import Any

from ..chats import ChatState
from ..context.report_words import in_words
from ..errors import AssistantError, Conflict, ProviderError
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.fold import fold
from ..messages.parts import FilePart, StepStart, ToolPart
from .calls import CallRunner, Suspension
from .compaction import Progress
from .decisions import STOPPED
from .history import ConversationHistory
from .measure import Measure
from .model_request import ModelRequests
from .preparation import First, Preparation, prepare, prepare_first
from .recorder import Recorder
from .slash.slash_commands import Slash, help_text
from .turn import Turn
from .turn_notes import NoteSources
from .turn_services import Services

logger = logging.getLogger("comfyui_assistant")

ABORTED = {"user": "Stopped by the user.", "shutdown": "ComfyUI was closed."}
CUT = {"user": "aborted", "shutdown": "cut"}
"""`metadata.cut` by the reason of the stop; the panel offers to continue a `cut` answer."""
FAILED = "The answer ended with an error before this call could run."
INTERNAL = "Something went wrong inside the assistant; ComfyUI's log says what."
_STEP_LIMIT = "Stopped after {} steps (LLM_MAX_STEPS). Say that I should continue, and I go on."
_TOO_LARGE = (
    "The open workflow is too large to be read ({:.0f} MB; up to 20 MB can be), so this answer is "
    "given without it."
)
_NOT_SAVED = "This answer could not be saved: {}"


class TurnRunner:
    """Runs one turn: its chunks go into `turn.stream`, its answer into `recorder`."""

    def __init__(self, services: Services, turn: Turn, recorder: Recorder) -> None:
        self._services = services
        self._turn = turn
        self._opening = turn.opening
        self._stream = turn.stream
        self._emit = turn.stream.emit
        self._recorder = recorder
        self._calls = CallRunner(
            self._emit, services.toolset, turn.tools, turn.permits, turn.question_id
        )
        self._measure = Measure(services.clock, turn.opening.answer.metadata)
        turn.stream.on_part = self._measure.note
        self._requests: ModelRequests | None = None
        self._state: ChatState = "idle"

    async def run(self) -> ChatState:
        """Runs the turn to its last chunk, also when it is cancelled or fails.

        The answer is stored before the last chunks are sent: a client that has read the end finds
        the answer in the chat, or a notice that it could not be stored. Returns the state that the
        chat enters.
        """
        last = [chunks.error(INTERNAL)]
        try:
            last = await self._until_end()
        finally:
            self._stream.close()
            try:
                await self._services.places.after_beginnings()
                await self._keep(last)
            finally:
                for chunk in last:
                    self._emit(chunk)
        return self._state

    async def _until_end(self) -> list[Chunk]:
        """Runs the turn up to its last chunks and returns these."""
        try:
            metadata = self._stream.message.metadata
            self._emit(chunks.start(self._stream.message.id, {"created": _now(), **metadata}))
            if self._turn.failure is not None:
                raise self._turn.failure
            async with self._services.places.taken():
                return await self._phases()
        except asyncio.CancelledError:
            if self._turn.first is not None:
                self._turn.first.cancel()  # It goes on where the turn still waits for its place.
            return self._aborted()
        except AssistantError as error:
            return self._failed(error)
        except Exception:
            logger.exception("A turn failed")
            return self._failed(AssistantError(INTERNAL))

    async def _keep(self, last: list[Chunk]) -> None:
        whole, unread = fold(self._stream.message, last), not self._turn.observer.watching
        problem = await self._recorder.finish(whole, self._state, unread)
        if problem is not None:
            self._emit(chunks.notice("not_saved", _NOT_SAVED.format(problem.message)))

    async def _phases(self) -> list[Chunk]:
        if self._opening.reply is not None:
            return self._reply(self._opening.reply)
        if (slash := self._opening.slash) is not None:
            return self._reply(await self._answer_slash(slash), slash.name)
        suspension = await self._go_on()
        if suspension is not None:
            return self._suspend(suspension)
        if (size := self._turn.tools.workflow.too_large) and not self._opening.answer.parts:
            self._emit(chunks.notice("workflow_too_large", _TOO_LARGE.format(size / 1e6)))
        preparation, first = await self._prepare_first()
        provider = preparation.provider
        self._emit(chunks.message_metadata({"model": provider.model, "provider": provider.name}))
        self._requests = ModelRequests(
            self._services, preparation, self._turn, self._recorder, self._measure, first
        )
        return await self._loop(self._requests)

    async def _prepare_first(self) -> First:
        turn, opening = self._turn, self._opening
        if turn.first is not None:
            return await turn.first
        parts = (self._services, opening.history, turn.conversation, turn.params)
        history = turn.tools.history
        if not isinstance(history, ConversationHistory):
            return await prepare(*parts), None
        notes = NoteSources(history, opening.answer.id, opening.events)
        return await prepare_first(
            *parts, notes, self._stream.message, turn.tools.workflow, turn.chat_id
        )

    async def _prepare(self) -> Preparation:
        turn = self._turn
        return await prepare(self._services, turn.opening.history, turn.conversation, turn.params)

    async def _enter(self, state: ChatState) -> None:
        """The observer gets the state even where it cannot be stored."""
        self._turn.observer.entered(state)
        await self._recorder.state(state)

    async def _go_on(self) -> Suspension | None:
        """Settles the calls that a suspended turn waited for; does nothing in a new turn."""
        parts = self._last_round()
        if all(part.settled for part in parts):
            return None
        await self._enter("executing_tools")
        suspension = await self._calls.settle(parts)
        await self._enter("generating")
        return suspension

    async def _loop(self, requests: ModelRequests) -> list[Chunk]:
        most = self._services.settings.max_steps
        while True:
            step = 1 + sum(isinstance(part, StepStart) for part in self._stream.message.parts)
            if most and step > most:
                self._emit(chunks.notice("step_limit", _STEP_LIMIT.format(most)))
                return self._finish("other", cut="steps")
            finish = await requests.request(step)
            parts = self._last_round()
            if not parts:
                requests.close_step()
                return self._finish(finish, cut="length" if finish == "length" else None)
            await self._enter("executing_tools")
            suspension = await self._calls.settle(parts)
            requests.close_step()
            await self._recorder.save(self._stream.message)
            if suspension is not None:
                return self._suspend(suspension)
            await self._enter("generating")

    async def _answer_slash(self, slash: Slash) -> str:
        """The answer to a slash command (R41)."""
        if slash.name in ("context", "compact"):
            return await self._about_context(slash)
        if self._services.answer_slash is None:
            return help_text()
        history = self._opening.history
        reply = await self._services.answer_slash(slash, self._turn.chat_id, history)
        if reply.action is not None:
            self._emit(chunks.data("action", reply.action))
        return reply.text

    async def _about_context(self, slash: Slash) -> str:
        preparation = await self._prepare()
        conversation = self._turn.conversation
        done = None
        if slash.name == "compact":
            with Progress(self._turn.compacting) as progress:
                try:
                    made = await self._services.summaries.compact(
                        preparation, slash.argument, progress
                    )
                    done = made.in_words
                except Conflict as refusal:
                    done = refusal.message
                conversation.report = await preparation.outlook()
        report = conversation.report or await preparation.outlook()
        if report is not None:
            self._stream.planned(report)
            self._emit(chunks.data("context", report.to_json(), transient=True))
        return done or in_words(report)

    def _reply(self, text: str, command: str | None = None) -> list[Chunk]:
        """An answer without a model. The answer to a `command` is never sent to a model."""
        if command is not None:
            self._emit(chunks.message_metadata({"command": command}))
        self._emit(chunks.start_step())
        self._emit(chunks.text_start("reply"))
        self._emit(chunks.text_delta("reply", text))
        self._emit(chunks.text_end("reply"))
        self._emit(chunks.finish_step())
        return self._finish("stop")

    def _suspend(self, suspension: Suspension) -> list[Chunk]:
        """Ends this part of the turn; it goes on after the decision, answer or result that it waits
        for."""
        self._state = suspension.state
        return self._finish("tool-calls")

    def _finish(self, reason: str, cut: str | None = None) -> list[Chunk]:
        steps = sum(isinstance(part, StepStart) for part in self._stream.message.parts)
        metadata = {**self._measure.to_json(), "steps": steps, "finish_reason": reason}
        if cut is not None:
            metadata["cut"] = cut
        return [chunks.finish(reason, metadata)]

    def _aborted(self) -> list[Chunk]:
        why = self._stream.stop_reason or "user"
        self._close(STOPPED)
        metadata = {"cut": CUT[why], **self._measure.to_json()}
        return [chunks.message_metadata(metadata), chunks.abort(ABORTED[why])]

    def _failed(self, error: AssistantError) -> list[Chunk]:
        """Keeps the text so far and adds the reason and the next steps for the user."""
        self._close(FAILED)
        actions = self._next_steps(error) if isinstance(error, ProviderError) else ("retry",)
        said = {"code": error.code, "message": error.message, "actions": list(actions)}
        if isinstance(error, ProviderError) and error.detail:
            said["detail"] = error.detail
        metadata: dict[str, Any] = {"error": said, **self._measure.to_json()}
        if error.code == "cut":
            metadata["cut"] = "cut"
        self._state = "error"
        logger.warning("A turn ended with %s: %s", error.code, ascii(error.message)[1:-1])
        return [chunks.message_metadata(metadata), chunks.error(error.message)]

    def _next_steps(self, error: ProviderError) -> tuple[str, ...]:
        """The error's actions. Attachments that are not the question's belong to older messages,
        which only another chat is without."""
        question = self._opening.history[-1] if self._opening.history else None
        if question is not None and any(isinstance(part, FilePart) for part in question.parts):
            return error.actions
        return tuple(
            "new-chat" if action == "remove-attachment" else action for action in error.actions
        )

    def _close(self, why: str) -> None:
        """Closes open parts and ends calls that wait, so that the stream is complete."""
        if self._requests is not None:
            self._requests.cut()
        for part in self._last_round():
            if part.state == "approval-requested":
                self._emit(chunks.tool_output_denied(part.tool_call_id))
            elif part.state in ("input-available", "approval-responded"):
                # Marked as the server's result: a client of the AI SDK sends the list again when
                # one of its own tools has a result.
                self._emit(chunks.tool_output_error(part.tool_call_id, why, on_server=True))
        if self._requests is not None:
            self._requests.close_step()

    def _last_round(self) -> tuple[ToolPart, ...]:
        """The tool parts of the newest round."""
        found: list[ToolPart] = []
        for part in self._stream.message.parts:
            if isinstance(part, StepStart):
                found = []
            elif isinstance(part, ToolPart):
                found.append(part)
        return tuple(found)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
