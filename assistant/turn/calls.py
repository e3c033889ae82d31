"""Settles the tool calls of one round: runs them on the server, asks the user, or leaves them to
the panel.

The law of order: the calls of a round are settled in their order, and only reads run ahead of an
unsettled one. A call is asked about, or handed to a panel, when all before it are settled: a chat
waits for one thing at a time.

The law of approvals: a call that has to ask (`permission`) runs only by an approval that this
server recorded for it. What comes in from outside has no approvals (`messages.outside`), so an
approved call of the answer is one that this server recorded. Arguments that the tool would refuse
are refused before anybody is asked.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..chats import ChatState
from ..errors import ToolError
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.conversion import output_text
from ..messages.parts import ToolPart
from ..messages.waiting import WAITING, answer_to, decision_on, result_of
from ..tools.tool import Asking, Tool, ToolContext
from ..tools.toolset import Toolset
from .json_limits import fault_of
from .permission import Permits, question_about

logger = logging.getLogger("comfyui_assistant")

MOST_REPEATS = 3
"""Times in a row that the same call may give the same result; a model that is stuck would repeat
its call for ever."""
REPEATED = (
    "This call gave the same result three times in a row and was stopped. Use that result, or do "
    "something else."
)
FAILED = "The tool failed because of an error in the assistant itself."


@dataclass(frozen=True, slots=True)
class Suspension:
    """What a turn waits for: a decision about the call, its answer or its result; `state` is that
    of the chat meanwhile."""

    call_id: str
    state: ChatState


class Repetition:
    """Counts how often the same call gave the same result. Each turn has its own `Repetition`.

    At MOST_REPEATS the call is not run again until another call has been counted.
    """

    def __init__(self) -> None:
        self._last: tuple[str, str] | None = None
        self._count = 0

    def stuck(self, name: str, value: Any) -> bool:
        """True when the last MOST_REPEATS results were of this call and equal."""
        return (
            self._count >= MOST_REPEATS
            and self._last is not None
            and (self._last[0] == _key(name, value))
        )

    def note(self, name: str, value: Any, output: str) -> bool:
        """Counts a result; True when it is the MOST_REPEATS-th equal result of this call in a
        row."""
        entry = (_key(name, value), output)
        self._count = self._count + 1 if entry == self._last else 1
        self._last = entry
        return self._count >= MOST_REPEATS


def _key(name: str, value: Any) -> str:
    return f"{name} {json.dumps(value, sort_keys=True, default=str)}"


class CallRunner:
    """Settles the calls of a round in their order. `permits` are those of the turn. `question_id`
    gives the question about a call its id."""

    def __init__(
        self,
        emit: Callable[[Chunk], None],
        toolset: Toolset,
        context: ToolContext,
        permits: Permits,
        question_id: Callable[[ToolPart], str],
    ) -> None:
        self._emit = emit
        self._toolset = toolset
        self._context = context
        self._permits = permits
        self._question_id = question_id
        self._repetition = Repetition()

    async def settle(self, parts: Iterable[ToolPart]) -> Suspension | None:
        """Runs the calls that may run, up to the first that has to wait, and returns what the turn
        waits for, if it does. Behind that call only reads run.

        Settled parts are passed over, so that a suspended turn can go on.
        """
        waits: Suspension | None = None
        reads: list[_Runnable] = []
        for part in parts:
            tool = self._toolset.get(part.tool_name)
            if tool is not None and _runs_beside(tool, part, reads):
                reads.append(_Runnable(tool, part))
                continue
            await self._run(reads)
            reads = []
            if part.state == "output-error":
                self._note_refused(part)
            if part.settled or part.state == "input-streaming":
                continue
            if tool is not None and _only_reads(tool, part):
                reads = [_Runnable(tool, part)]
            elif waits is None:
                waits = await self._settle_next(tool, part)
        await self._run(reads)
        return waits

    async def _settle_next(self, tool: Tool | None, part: ToolPart) -> Suspension | None:
        """Settles the first open call of the round, or returns what it waits for."""
        call_id = part.tool_call_id
        if tool is None:
            error = f"There is no tool {part.tool_name!r}."
            self._emit(chunks.tool_output_error(call_id, error, on_server=True))
            return None
        if part.state == "approval-requested":
            return Suspension(call_id, "paused")
        if part.approval is not None and part.approval.approved is False:
            self._emit(chunks.tool_output_denied(call_id))
            return None
        try:
            arguments = tool.parse(part.input)
            asking = None
            if not is_approved(part):
                asking = await question_about(tool, arguments, self._context, self._permits)
        except ToolError as error:
            self._refuse(part, error.message)
            return None
        except Exception:
            logger.exception("The tool %s could not say what it would do", ascii(tool.name))
            self._refuse(part, FAILED)
            return None
        if asking is not None:
            return self._ask(part, asking)
        if tool.place == "server":
            await self._run([_Runnable(tool, part)])
            return None
        return self._hand_over(tool, part, arguments)

    def _ask(self, part: ToolPart, asking: Asking) -> Suspension:
        """Asks a person to decide about the call."""
        call_id, question = part.tool_call_id, self._question_id(part)
        about = decision_on(
            call_id, question, asking.text, remember=not asking.each_time, change=asking.change
        )
        self._emit(chunks.data(WAITING, about, part_id=question))
        self._emit(chunks.tool_approval_request(call_id, question))
        return Suspension(call_id, "paused")

    def _hand_over(self, tool: Tool, part: ToolPart, arguments: Any) -> Suspension:
        """Asks the user a question, or gives the call to the panel."""
        call_id = part.tool_call_id
        if tool.place == "user":
            about = answer_to(call_id, arguments)
            self._emit(chunks.data(WAITING, about, part_id=call_id))
            return Suspension(call_id, "waiting_user_input")
        self._emit(chunks.data(WAITING, result_of(call_id), part_id=call_id))
        return Suspension(call_id, "waiting_client")

    def _refuse(self, part: ToolPart, error: str) -> None:
        """Ends a call that cannot run, in the same way as a call that failed."""
        repeated = self._repetition.note(part.tool_name, part.input, error)
        said = REPEATED if repeated else error
        self._emit(chunks.tool_output_error(part.tool_call_id, said, on_server=True))

    def _note_refused(self, part: ToolPart) -> None:
        """Counts a call that could not even run: a model may repeat that call for ever, too."""
        if self._repetition.note(part.tool_name, part.input, part.error_text or ""):
            self._emit(chunks.tool_output_error(part.tool_call_id, REPEATED, on_server=True))

    async def _run(self, calls: Sequence[_Runnable]) -> None:
        """Runs the calls at the same time and emits their results in the calls' order; when it is
        cancelled, the results that there are. Calls that run at the same time differ, so only the
        first may repeat an earlier call."""
        if calls and self._repetition.stuck(calls[0].tool.name, calls[0].part.input):
            call_id = calls[0].part.tool_call_id
            self._emit(chunks.tool_output_error(call_id, REPEATED, on_server=True))
            calls = calls[1:]
        running = [(call, asyncio.ensure_future(self._outcome(call))) for call in calls]
        try:
            while running:
                result = await running[0][1]
                call, _ = running.pop(0)
                self._emit_result(call, *result)
        except asyncio.CancelledError:
            for call, outcome in running:
                if outcome.done() and not outcome.cancelled():
                    self._emit_result(call, *outcome.result())
            raise
        finally:
            for _, outcome in running:
                outcome.cancel()
            await asyncio.gather(*(outcome for _, outcome in running), return_exceptions=True)

    def _emit_result(self, call: _Runnable, output: Any, error: str | None) -> None:
        text = error if error is not None else output_text(output)
        if self._repetition.note(call.tool.name, call.part.input, text):
            error = REPEATED
        call_id = call.part.tool_call_id
        if error is not None:
            self._emit(chunks.tool_output_error(call_id, error, on_server=True))
        else:
            self._emit(chunks.tool_output_available(call_id, output, on_server=True))

    async def _outcome(self, call: _Runnable) -> tuple[Any, str | None]:
        """The output of a call, or the error that its model reads."""
        try:
            context = replace(self._context, call_id=call.part.tool_call_id)
            output = await self._toolset.call(call.tool, call.part.input, context)
            if fault := fault_of(output):
                raise ValueError(fault)
            return output, None
        except ToolError as error:
            return None, error.message
        except Exception:
            logger.exception("The tool %s failed", ascii(call.tool.name))
            return None, FAILED


@dataclass(frozen=True, slots=True)
class _Runnable:
    """A call that is about to run on the server."""

    tool: Tool
    part: ToolPart


def is_approved(part: ToolPart) -> bool:
    """Whether a person allowed this call, and it has not run."""
    answer = part.approval
    return part.state == "approval-responded" and answer is not None and answer.approved is True


def _only_reads(tool: Tool, part: ToolPart) -> bool:
    """Whether the call changes nothing and waits for nobody."""
    silent = tool.asks is None and not tool.asks_each_time
    fresh = part.state == "input-available"
    return tool.kind == "reads" and tool.place == "server" and silent and fresh


def _runs_beside(tool: Tool, part: ToolPart, reads: Sequence[_Runnable]) -> bool:
    """Whether a call may run at the same time as the reads before it. A call that equals one of
    these reads may not: the first is counted as a repetition before the second runs."""
    if not reads or not (tool.parallel and reads[0].tool.parallel) or not _only_reads(tool, part):
        return False
    return all((tool.name, part.input) != (read.tool.name, read.part.input) for read in reads)
