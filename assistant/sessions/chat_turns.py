"""The turns of one chat: how they begin, go on and end, for its readers.

    turn = await turns.begin(request)              a new turn, from a request or the queue
    await turns.decide(command, "panel-1")         a suspended turn goes on
    await turns.answer(text, message_id, None)     so does one that asked the user something
    await turns.stop()                             nothing runs or waits any more

`ChatTurns` observes the turns that it starts: each change of state is checked against the table of
`states`, then it is sent to the readers. Whether a turn may begin is decided in `chat_session`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..chats import Begun, Chat, ChatParams, ChatState, Parent
from ..chats.reconcile import pending, state_after
from ..errors import AssistantError, Conflict, InvalidRequest
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.parts import Message
from ..tools.edit_tools import UNDO_TOOL
from ..turn.decisions import (
    Decision,
    ToolResult,
    answered,
    check_clear,
    decided,
    once,
    remembered,
    stopped,
)
from ..turn.edits.taking_back import Asked
from ..turn.opening import Opening, addressed, goes_on, open_suspended
from ..turn.stream import StopReason, TurnStream
from ..turn.turn import Turn, TurnObserver
from ..turn.turn_request import TurnRequest
from ..workflow.snapshot import Snapshot
from .edit_commands import RedoEdits, RestoreWorkflow, TakingBack
from .live_chat import LiveChat
from .path import ChatPath
from .serialization import Json
from .session_services import SessionServices
from .states import WAITING, WAITS_FOR_ANSWER, route

Ended = Callable[[ChatState, StopReason | None], None]
"""Called when a turn has ended: with the chat's state, and the reason if the turn was stopped."""


class ChatTurns(TurnObserver):
    """The turns of one chat. Methods raise the errors of the store and of `turn.opening`."""

    def __init__(
        self,
        chat_id: str,
        services: SessionServices,
        live: LiveChat,
        path: ChatPath,
        on_end: Ended,
    ) -> None:
        self._id = chat_id
        self._store = services.store
        self._service = services.turns
        self._live = live
        self._path = path
        self._on_end = on_end
        self._turn: Turn | None = None
        self.params = ChatParams()

    @property
    def stream(self) -> TurnStream | None:
        """The stream of the turn that runs or is being ended."""
        return self._turn.stream if self._turn is not None else None

    async def begin(self, request: TurnRequest, from_queue: str | None = None) -> TurnStream:
        """A turn for a request. `from_queue` is the id of the request's entry in the chat's queue.

        Raises InvalidRequest and NotFound when the request does not fit the chat, StoreError when
        it cannot be stored."""
        async with self._path.lock:
            is_new = not self._live.exists
            self._turn = await self._service.start(
                request, self._id, self.params, self, from_queue, is_new
            )
            return self._turn.stream

    async def decide(self, command: Decision | ToolResult, client_id: str | None) -> None:
        """Stores the decision or the result. The turn goes on, unless it waits for another call
        still. Raises Conflict (`nothing_waits`, `which_question`), and InvalidRequest for an answer
        that the question does not allow."""
        async with self._path.lock:
            path = await self._store.path(self._id)
            if not path or path[-1].role != "assistant":
                raise Conflict("Nothing waits for a decision in this chat.", code="nothing_waits")
            if isinstance(command, Decision) and not command.approval_ids:
                check_clear(path[-1], command, await self._store.questions(self._id))
            settled = await self._store.settled_calls(self._id, path[-1].id)
            each_time = self._service.asks_each_time
            message = once(decided(path[-1], command, each_time), settled)
            if not goes_on(message):
                raise Conflict("The answer has gone on without that call.", code="nothing_waits")
            if isinstance(command, Decision) and command.approved and command.remember:
                for name in sorted(remembered(message, command.ids, each_time)):
                    await self._store.allow_tool(self._id, name)
            waits = pending(path[-1])
            if waits is not None and pending(message) == waits:
                await self._waits_on(message, _parent(path), state_after(message))
                return
            is_a_persons = isinstance(command, Decision) or self._live.state == WAITS_FOR_ANSWER
            if is_a_persons and self._live.present(self._live.client_id):
                # Any panel may decide; the calls still go to the panel that began the turn.
                client_id = None
            await self._go_on(path, addressed(message, client_id))

    async def answer(self, text: str, message_id: str, client_id: str | None) -> TurnStream:
        """Answers the question that waits with the text of a message, which begins no turn of its
        own. Raises Conflict (`nothing_waits`)."""
        async with self._path.lock:
            path = await self._store.path(self._id)
            if not path or path[-1].role != "assistant":
                raise Conflict("No question waits in this chat.", code="nothing_waits")
            message = answered(path[-1], text, message_id)
            settled = await self._store.settled_calls(self._id, message.id)
            if self._live.present(self._live.client_id):
                client_id = None
            return await self._go_on(path, addressed(once(message, settled), client_id))

    async def _go_on(self, path: tuple[Message, ...], message: Message) -> TurnStream:
        """Lets the suspended turn go on with a newer version of its answer. The caller holds the
        path's lock."""
        opening, start = open_suspended(path, message)
        self._turn = await self._service.resume(opening, start, self._id, self.params, self)
        return self._turn.stream

    async def edited(self, result: ToolResult, client_id: str | None) -> Json | None:
        """Takes a panel's result of an edit, in any state; returns what the panel has to know of
        it. None where the call is no edit."""
        answer = self._turn.stream.message if self._turn is not None else None
        return await self._service.edits.result(self._id, result, client_id, answer)

    async def take_back(
        self, command: TakingBack, workflow: Snapshot, client_id: str | None
    ) -> Json:
        """Takes back edits, makes them again or goes back to an earlier state, of the workflow that
        is open in the client; returns what its canvas has to do. Raises Conflict."""
        edits = self._service.edits
        canvas = client_id is not None and self.away(client_id) == 0.0
        redo = isinstance(command, RedoEdits)
        asked = Asked(command.message_id, workflow, canvas, redo)
        if isinstance(command, RestoreWorkflow):
            return await edits.restore(self._id, asked)
        try:
            return await edits.take_back(self._id, asked)
        finally:
            self._live.set_undone(await edits.undone(self._id))

    async def take_over(self, client_id: str | None, workflow_id: str = "") -> None:
        """Gives the waiting calls to that panel, in which this workflow is open. Raises Conflict
        while the panel that they were addressed to is subscribed, and for an edit that the panel
        cannot carry out (`no_canvas`, `other_workflow`)."""
        if client_id is None:
            raise InvalidRequest("expected the id of the panel", where="client_id")
        if self._turn is not None and self._live.client_id == client_id:
            return
        if client_id != self._live.client_id and self._live.present(self._live.client_id):
            raise Conflict("The panel that runs these calls is still open.", code="client_present")
        if self._service.edits.take_over(self._id, client_id, workflow_id):
            if self._turn is not None:
                self._turn.stream.emit(chunks.message_metadata({"client_id": client_id}))
            return
        async with self._path.lock:
            path = await self._store.path(self._id)
            if not path or pending(path[-1]) is None:
                raise Conflict("No call waits in this chat.", code="nothing_waits")
            message = addressed(path[-1], client_id)
            await self._waits_on(message, _parent(path), self._live.state)

    async def stop(self, reason: StopReason = "user") -> None:
        """Stops the running turn (its answer is stored as far as it came), or ends the wait of a
        suspended turn."""
        if self._turn is not None:
            await self._turn.stream.stop(reason)
        elif self._live.state in WAITING:
            async with self._path.lock:
                path = await self._store.path(self._id)
                if path and pending(path[-1]) is not None:
                    await self._waits_on(stopped(path[-1]), _parent(path), "idle")
                else:
                    await self._enter("idle")
            self._service.forget_workflow(self._id)

    # TurnObserver: called by `turn` while `begin` and `decide` hold the path's lock, then by the
    # running turn.

    async def began(self, opening: Opening, begun: Begun) -> None:
        if opening.from_queue is not None:
            self._live.left_queue(opening.from_queue)
        if opening.added or opening.dropped:
            await self._path.opened(opening, begun)
        if self._live.state in WAITING and not opening.answer.parts:
            self._live.enter("idle")
        self.entered("generating")
        self._live.started(opening.answer, opening.version)

    @property
    def watching(self) -> bool:
        return self._live.watched

    def chunk(self, chunk: Chunk) -> None:
        self._live.chunk(chunk)

    def away(self, client_id: str) -> float | None:
        return self._live.canvases.away(client_id)

    def handed(self, call: Mapping[str, Any] | None, client_id: str | None) -> None:
        """The chat waits for the panel while its turn goes on."""
        self._live.hand_over(None if call is None else dict(call), client_id)
        self.entered("executing_tools" if call is None else "waiting_client")
        self._live.tell_runtime()

    def entered(self, state: ChatState) -> None:
        for step in route(self._live.state, state):
            self._live.enter(step)

    async def ended(self, turn: Turn, state: ChatState, chat: Chat | None) -> None:
        async with self._path.lock:
            self._turn = None
            self._live.finished(turn.stream.message, state)
            await self._path.show_new_event()
            if any(part.tool_name == UNDO_TOOL for part in turn.stream.message.tool_parts):
                with suppress(AssistantError):
                    self._live.set_undone(await self._service.edits.undone(self._id))
            # The chat may have been changed since its answer was stored.
            chat = await self._path.stored() or chat
            if chat is not None:
                unread = not self._live.watched
                if chat.unread != unread:
                    # The reader came, or left, while the answer was stored.
                    chat = replace(chat, unread=unread)
                    await self._mark(unread)
                self._live.set_chat(chat)
                # The turn may have been a slash command that chose another model.
                self.params = chat.params
        self._on_end(state, turn.stream.stop_reason)

    async def _enter(self, state: ChatState) -> None:
        """Readers get the state even where it cannot be stored."""
        self.entered(state)
        await self._store.set_state(self._id, state)

    async def _mark(self, unread: bool) -> None:
        # The end of the turn must reach the readers although the mark cannot be stored.
        with suppress(AssistantError):
            await self._store.set_unread(self._id, unread)

    async def _waits_on(self, message: Message, parent: Parent, state: ChatState) -> None:
        """Stores a newer version of the suspended answer. The caller holds the path's lock."""
        await self._store.append(self._id, message, parent)
        self._live.updated(message)
        self._live.ends_with(message)
        await self._enter(state)
        await self._path.refresh()


def _parent(path: tuple[Message, ...]) -> Parent:
    """The message that the last message of a path follows; None for the beginning of the chat."""
    return path[-2].id if len(path) > 1 else None
