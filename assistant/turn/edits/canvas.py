"""A call that a panel carries out on its canvas, and the result that it sends.

The call waits in the running turn: its answer is in memory only, and a turn that is stopped or cut
does not wait any more. Whoever sends a result learns whether it counts: the canvas of a call that
does not wait any more has to go back to what it was.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...errors import Conflict, ToolError
from ..decisions import ToolResult

logger = logging.getLogger("comfyui_assistant")

Json = dict[str, Any]
ANSWER_SECONDS = 60.0
"""How long a panel has, and how long it may be gone."""
LOOK_SECONDS = 1.0
"""How often a waiting call looks whether its panel is still there."""
NO_ANSWER = "The canvas did not answer."
TOO_LATE = "The call does not wait for this result any more."
OTHER_PANEL = "The call belongs to another panel."
NOT_JUDGED = "What the canvas did could not be checked, so it was taken back."
REFUSED = {
    "other_workflow": "Another workflow is open on the canvas now.",
    "changed": "The user has changed these nodes meanwhile. Read the workflow again.",
    "unknown_type": "The page does not know this type of node; it may have to be loaded again.",
    "too_large": "The workflow is too large to be edited on the canvas.",
}


class Panels(Protocol):
    """The panels of a chat. `away` is how many seconds ago a panel with a canvas left, 0.0 while it
    is subscribed, None where none was. `handed` shows which call waits for a panel; None: no call
    waits any more."""

    def away(self, client_id: str) -> float | None: ...
    def handed(self, call: Json | None, client_id: str | None) -> None: ...


@dataclass(frozen=True)
class Handed:
    """A call as a panel gets it. `more` are the fields that depend on the tool. `answer_id` is the
    answer with the call: another version of the answer may have a call of the same id."""

    call_id: str
    answer_id: str
    tool: str
    title: str
    input: Any
    workflow_id: str | None
    more: Mapping[str, Any]

    def to_json(self) -> Json:
        return {
            "tool_call_id": self.call_id,
            "message_id": self.answer_id,
            "for": "panel",
            "tool": self.tool,
            "title": self.title,
            "workflow_id": self.workflow_id,
            "input": self.input,
            **self.more,
        }


@dataclass(frozen=True)
class Verdict:
    """What becomes of the canvas, and the output of the call: `error` in its place where there is
    none. `keep` keeps the workflow that the canvas has."""

    differs: tuple[str, ...] = ()
    output: Any = None
    error: str | None = None
    keep: Callable[[], Awaitable[None]] | None = None

    def to_json(self) -> Json:
        if self.error is None:
            return {"verdict": "kept", "differs": []}
        return undo(*self.differs)


def undo(*differs: str) -> Json:
    return {"verdict": "undo", "differs": list(differs)}


Judge = Callable[[Mapping[str, Any]], Awaitable[Verdict]]
"""Judges the output that a panel sent."""


@dataclass
class _Waiting:
    handed: Handed
    judge: Judge
    ends: float
    outcome: asyncio.Future[Verdict]
    judging: asyncio.Task[Verdict] | None = field(default=None)


class Canvas:
    """The canvas of the client that started a turn; `client_id` is None for one without an id."""

    def __init__(self, panels: Panels, client_id: str | None) -> None:
        self._panels = panels
        self._client_id = client_id
        self._waiting: _Waiting | None = None

    @property
    def is_there(self) -> bool:
        """Whether the client has a canvas. A page that is being loaded again has one, too."""
        away = self._panels.away(self._client_id) if self._client_id is not None else None
        return away is not None and away < ANSWER_SECONDS

    @property
    def is_waiting(self) -> bool:
        return self._waiting is not None

    def waits_for(self, call_id: str) -> bool:
        return self._waiting is not None and self._waiting.handed.call_id == call_id

    async def hand_over(self, handed: Handed, judge: Judge) -> Any:
        """The output of the call. Raises ToolError where the panel refuses the call, does something
        else, or does not answer."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + ANSWER_SECONDS
        self._waiting = waiting = _Waiting(handed, judge, ends, loop.create_future())
        self._panels.handed(handed.to_json(), self._client_id)
        try:
            while not waiting.outcome.done():
                left = self._seconds_left(waiting) if waiting.judging is None else LOOK_SECONDS
                if left <= 0:
                    raise ToolError(NO_ANSWER)
                await asyncio.wait((waiting.outcome,), timeout=min(left, LOOK_SECONDS))
            verdict = waiting.outcome.result()
        finally:
            self._waiting = None
            self._panels.handed(None, self._client_id)
        if verdict.error is not None:
            raise ToolError(verdict.error)
        return verdict.output

    def _seconds_left(self, waiting: _Waiting) -> float:
        left = waiting.ends - asyncio.get_running_loop().time()
        away = self._panels.away(self._client_id) if self._client_id is not None else None
        return left if away is None else min(left, ANSWER_SECONDS - away)

    async def deliver(self, result: ToolResult, client_id: str | None) -> Json:
        """Takes a result of the waiting call; returns what the panel has to know of it. The first
        result counts, and the same one again gets the same verdict."""
        waiting = self._waiting
        if waiting is None or waiting.handed.call_id != result.tool_call_id:
            return undo(TOO_LATE)
        if client_id != self._client_id:
            return undo(OTHER_PANEL)
        if waiting.judging is None:
            refusal = _refusal(result)
            if refusal is not None:
                waiting.outcome.set_result(Verdict(error=refusal))
                self._waiting = None
                return {}
            work = self._settle(waiting, result.output)
            waiting.judging = asyncio.get_running_loop().create_task(work)
        return (await asyncio.shield(waiting.judging)).to_json()

    async def _settle(self, waiting: _Waiting, output: Any) -> Verdict:
        try:
            verdict = await waiting.judge(output if isinstance(output, Mapping) else {})
            if self._waiting is not waiting:  # The turn was stopped meanwhile.
                return Verdict((TOO_LATE,), error=TOO_LATE)
            if verdict.keep is not None:
                await verdict.keep()
        except ToolError as error:
            verdict = Verdict((error.message,), error=error.message)
        except Exception:
            # The call must end, or its turn would wait for ever.
            logger.exception("A panel's result could not be judged")
            verdict = Verdict((NOT_JUDGED,), error=NOT_JUDGED)
        if not waiting.outcome.done():
            waiting.outcome.set_result(verdict)
        return verdict

    def take_over(self, client_id: str, workflow_id: str) -> None:
        """Gives the waiting call to another panel. Raises Conflict."""
        waiting = self._waiting
        if waiting is None:
            raise Conflict("No call waits in this chat.", code="nothing_waits")
        if self._panels.away(client_id) != 0.0:
            raise Conflict("This panel has no canvas in this chat.", code="no_canvas")
        if waiting.handed.workflow_id not in (None, workflow_id):
            raise Conflict("The edit is of another workflow.", code="other_workflow")
        self._client_id = client_id
        waiting.ends = asyncio.get_running_loop().time() + ANSWER_SECONDS
        self._panels.handed(waiting.handed.to_json(), client_id)


def _refusal(result: ToolResult) -> str | None:
    """What the model is told of a call that the panel did not carry out; None for a result."""
    if result.error is not None:
        return f"The page failed: {result.error}"
    refused = result.output.get("refused") if isinstance(result.output, Mapping) else None
    if not isinstance(refused, str):
        return None
    text = result.output.get("text")
    said = REFUSED.get(refused, "The panel refused the edit.")
    return f"{said} {text}" if isinstance(text, str) and text else said
