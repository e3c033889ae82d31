"""Running the tool calls of one answer: on the server, after asking, or left to the panel."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
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
"""So often in a row may one call give one result; a model that is stuck repeats itself forever."""
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
    """Notices the same call with the same result, again and again. One for each turn.

    A call that was stopped is not run again until another call or another result came between.
    """

    def __init__(self) -> None:
        self._last: tuple[str, str] | None = None
        self._count = 0

    def stuck(self, name: str, value: Any) -> bool:
        """True when this very call has just given its result for the last allowed time."""
        return (
            self._count >= MOST_REPEATS
            and self._last is not None
            and (self._last[0] == _key(name, value))
        )

    def note(self, name: str, value: Any, output: str) -> bool:
        """Counts a result; True when it is the same for the last allowed time."""
        entry = (_key(name, value), output)
        self._count = self._count + 1 if entry == self._last else 1
        self._last = entry
        return self._count >= MOST_REPEATS


def _key(name: str, value: Any) -> str:
    return f"{name} {json.dumps(value, sort_keys=True, default=str)}"


class CallRunner:
    """Settles calls in their order. `allowed` names the tools that need not ask in this chat."""

    def __init__(
        self,
        emit: Callable[[Chunk], None],
        toolset: Toolset,
        scene: ToolContext,
        allowed: frozenset[str],
    ) -> None:
        self._emit = emit
        self._toolset = toolset
        self._scene = scene
        self._allowed = allowed
        self._repetition = Repetition()

    async def settle(self, parts: Iterable[ToolPart]) -> Suspension:
        """Runs what may run, asks where it must, and says what the turn has to wait for.

        Parts that are settled already are passed over, so that a suspended turn can go on.
        """
        approvals = panel = 0
        for part in parts:
            if part.state == "output-error":
                self._note_refused(part)
            if part.settled or part.state == "input-streaming":
                continue
            tool = self._toolset.get(part.tool_name)
            if tool is None:
                error = f"There is no tool {part.tool_name!r}."
                self._emit(chunks.tool_output_error(part.tool_call_id, error, on_server=True))
            elif part.state == "approval-requested":
                approvals += 1
            elif part.approval is not None and part.approval.approved is False:
                self._emit(chunks.tool_output_denied(part.tool_call_id))
            elif self._must_ask(tool, part):
                approval_id = f"approve-{part.tool_call_id}"
                self._emit(chunks.tool_approval_request(part.tool_call_id, approval_id))
                approvals += 1
            elif tool.place == "panel":
                panel += 1
            else:
                await self._run(tool, part)
        return Suspension(approvals, panel)

    def _must_ask(self, tool: Tool, part: ToolPart) -> bool:
        return tool.asks_first and part.approval is None and tool.name not in self._allowed

    def _note_refused(self, part: ToolPart) -> None:
        """A call that could not even run counts, too: a model may repeat that one for ever."""
        if self._repetition.note(part.tool_name, part.input, part.error_text or ""):
            self._emit(chunks.tool_output_error(part.tool_call_id, REPEATED, on_server=True))

    async def _run(self, tool: Tool, part: ToolPart) -> None:
        if self._repetition.stuck(tool.name, part.input):
            self._emit(chunks.tool_output_error(part.tool_call_id, REPEATED, on_server=True))
            return
        output, error = await self._outcome(tool, part)
        text = error if error is not None else output_text(output)
        if self._repetition.note(tool.name, part.input, text):
            error = REPEATED
        if error is not None:
            self._emit(chunks.tool_output_error(part.tool_call_id, error, on_server=True))
        else:
            self._emit(chunks.tool_output_available(part.tool_call_id, output, on_server=True))

    async def _outcome(self, tool: Tool, part: ToolPart) -> tuple[Any, str | None]:
        try:
            assert tool.run is not None, f"{tool.name} has no code for the server"
            output = await tool.run(tool.parse(part.input), self._scene)
            if fault := fault_of(output):
                raise ValueError(fault)
            return output, None
        except ToolError as error:
            return None, error.message
        except Exception:
            logger.exception("The tool %s failed", ascii(tool.name))
            return None, FAILED
