"""The edits of chats: those of the turns that run, results that panels send, and what people take
back, make again or go back to.

    edits = chats.of_turn(...)                             a turn begins
    told = await chats.result("c1", result, "panel-1")     the command `tool_result`
    told = await chats.take_back("c1", asked)              `undo_edits`, `redo_edits`
    told = await chats.restore("c1", asked)                `restore_workflow`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...chats import ChatEdits, ChatGraphs
from ...chats.edits import undone_answers
from ...messages.chunks import Chunk
from ...messages.parts import Message, ToolPart
from ...tools.ports import Definitions
from ..decisions import ToolResult
from .canvas import TOO_LATE, Canvas, Json, Panels, undo
from .taking_back import Asked, TakingBack
from .turn_edits import TITLES, EditedWorkflow, TurnEdits


class ChatEditing:
    """For one event loop, and the chats of one ComfyUI user."""

    def __init__(
        self, edits: ChatEdits, graphs: ChatGraphs, definitions: Definitions | None
    ) -> None:
        self._definitions = definitions
        self._edits = edits
        self._running: dict[str, TurnEdits] = {}
        self.people = TakingBack(self._edits, graphs, definitions)

    def of_turn(
        self,
        chat_id: str | None,
        answer_id: str,
        workflow: EditedWorkflow,
        canvas: tuple[Panels, str | None],
        emit: Callable[[Chunk], None],
        path: Callable[[], Sequence[str]] = tuple,
        calls: Callable[[], Sequence[ToolPart]] = tuple,
    ) -> TurnEdits:
        """The edits of a turn that begins or goes on; without a chat none of them is kept."""
        edits = TurnEdits(
            answer_id,
            workflow,
            self._definitions,
            Canvas(*canvas),
            emit,
            path,
            chat_id,
            self._edits if chat_id is not None else None,
            calls,
        )
        if chat_id is not None:
            self._running[chat_id] = edits
        return edits

    def ended(self, chat_id: str, edits: TurnEdits) -> None:
        """The turn has ended, or waits: no panel has a call of it any more."""
        if self._running.get(chat_id) is edits:
            del self._running[chat_id]

    async def result(
        self, chat_id: str, result: ToolResult, client_id: str | None, answer: Message | None
    ) -> Json | None:
        """Takes a panel's result of an edit; returns what the panel has to know. None where the
        call is no edit. `answer` is the one that is being given, as far as it came; the chat may
        have gone on since the call. A result that an answer has kept is kept, and one that comes
        too late is not."""
        running = self._running.get(chat_id)
        if running is not None and running.canvas.waits_for(result.tool_call_id):
            return await running.canvas.deliver(result, client_id)
        part = _call_of(answer, result.tool_call_id)
        if part is None:
            answer = await self._edits.answer_with(chat_id, result.tool_call_id)
            part = _call_of(answer, result.tool_call_id)
        if part is None or part.tool_name not in TITLES:
            return None
        owner = answer.metadata.get("client_id") if answer is not None else None
        if part.state == "output-available" and client_id is not None and client_id == owner:
            return {"verdict": "kept", "differs": []}
        return undo(TOO_LATE)

    def take_over(self, chat_id: str, client_id: str, workflow_id: str) -> bool:
        """Gives the edit that waits to another panel; False where no edit waits. Raises
        Conflict."""
        running = self._running.get(chat_id)
        if running is None or not running.canvas.is_waiting:
            return False
        running.canvas.take_over(client_id, workflow_id)
        return True

    async def undone(self, chat_id: str) -> tuple[str, ...]:
        """The answers whose edits are taken back."""
        return undone_answers(await self._edits.of_chat(chat_id))

    async def take_back(self, chat_id: str, asked: Asked) -> Json:
        return await self.people.take_back(chat_id, asked)

    async def restore(self, chat_id: str, asked: Asked) -> Json:
        return await self.people.restore(chat_id, asked)


def _call_of(answer: Message | None, call_id: str) -> ToolPart | None:
    parts = answer.tool_parts if answer is not None else ()
    return next((one for one in parts if one.tool_call_id == call_id), None)
