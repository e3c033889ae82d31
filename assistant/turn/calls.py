"""Settles the tool calls of one round: runs them on the server, asks the user, or leaves them to
the panel.

The law: a tool that asks first runs only by an approval that this server recorded for the call, or
because the user allowed the tool in this chat. What comes in from outside has no approvals
(`messages.outside`), so an approved call of the answer is one that this server recorded. Arguments
that the tool would refuse are refused before anybody is asked.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ToolError
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.conversion import output_text
from ..messages.parts import ToolPart
from ..tools.tool import Tool, ToolContext
from ..tools.toolset import Toolset
from .json_limits import fault_of

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
    """What a turn waits for: the user's decisions, and results from the panel."""

    approvals: int = 0
    panel: int = 0

    def __bool__(self) -> bool:
        return bool(self.approvals or self.panel)


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
    """Settles the calls of a round in their order. `allowed` names the tools that need not ask in
    this chat. `question` gives the question about a call its id."""

    def __init__(
        self,
        emit: Callable[[Chunk], None],
        toolset: Toolset,
        context: ToolContext,
        allowed: frozenset[str],
        question: Callable[[ToolPart], str],
    ) -> None:
        self._emit = emit
        self._toolset = toolset
        self._context = context
        self._allowed = allowed
        self._question = question
        self._repetition = Repetition()

    async def settle(self, parts: Iterable[ToolPart]) -> Suspension:
        """Runs the calls that may run, asks for approvals, and returns what the turn waits for.

        Settled parts are passed over, so that a suspended turn can go on. While a call before it is
        not settled, a read runs, and a call that changes something waits.
        """
        approvals = panel = 0
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
            if tool is None:
                error = f"There is no tool {part.tool_name!r}."
                self._emit(chunks.tool_output_error(part.tool_call_id, error, on_server=True))
            elif part.state == "approval-requested":
                approvals += 1
            elif part.approval is not None and part.approval.approved is False:
                self._emit(chunks.tool_output_denied(part.tool_call_id))
            elif self._must_ask(tool, part):
                if wrong := _wrong_arguments(tool, part):
                    self._refuse(part, wrong)
                    continue
                question = self._question(part)
                self._emit(chunks.tool_approval_request(part.tool_call_id, question))
                approvals += 1
            elif tool.place == "panel":
                panel += 1
            elif tool.parallel:
                reads = [_Runnable(tool, part)]
            elif tool.kind == "reads" or not (approvals or panel):
                await self._run([_Runnable(tool, part)])
        await self._run(reads)
        return Suspension(approvals, panel)

    def _must_ask(self, tool: Tool, part: ToolPart) -> bool:
        approved = (
            part.state == "approval-responded"
            and part.approval is not None
            and part.approval.approved is True
        )
        allowed = tool.name in self._allowed and not tool.asks_each_time
        return tool.asks_first and not approved and not allowed

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
            output = await self._toolset.call(call.tool, call.part.input, self._context)
            if fault := fault_of(output):
                raise ValueError(fault)
            return output, None
        except ToolError as error:
            return None, error.message
        except Exception:
            logger.exception("The tool %s failed", ascii(call.tool.name))
            return None, FAILED


def _wrong_arguments(tool: Tool, part: ToolPart) -> str | None:
    """What is wrong with the call's arguments; None where the tool takes them."""
    try:
        tool.parse(part.input)
    except ToolError as error:
        return error.message
    return None


@dataclass(frozen=True, slots=True)
class _Runnable:
    """A call that is about to run on the server."""

    tool: Tool
    part: ToolPart


def _runs_beside(tool: Tool, part: ToolPart, reads: Sequence[_Runnable]) -> bool:
    """Whether a call may run at the same time as the reads before it. A call that equals one of
    these reads may not: the first is counted as a repetition before the second runs."""
    if not reads or not tool.parallel or part.state != "input-available":
        return False
    return all((tool.name, part.input) != (read.tool.name, read.part.input) for read in reads)
