"""How the turns of one chat begin, go on and end, in the store and for its readers.

    turn = await answering.begin(request)              a new turn, from a request or the queue
    await answering.decide(command, "panel-1")         a suspended one goes on
    await answering.stop()                             nothing runs or waits any more

It is the store that a turn records into, so that every change of state is checked against the
table, stored and told in one place (`set_state`, `finish_answer`). When something may begin is the
session's to say.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from ..chats import ChatParams, ChatState, Parent, Versions
from ..chats.reconcile import pending, state_after
from ..errors import AssistantError, Conflict, InvalidRequest
from ..messages.parts import Message
from ..turn.decisions import Decision, ToolResult, decided, stopped
from ..turn.opening import Opening, TurnRequest, goes_on
from ..turn.service import Witness
from ..turn.stream import StopReason, TurnStream
from ..workflow.view import Snapshot
from .live_chat import LiveChat
from .path import ChatPath, Parts
from .states import WAITING, route

Ended = Callable[[ChatState, StopReason | None], None]
"""What the session is told when a turn has ended: the chat's state, and who stopped the turn."""


class ChatTurns:
    """The turns of one chat. Its methods raise what the store and the opening raise."""

    def __init__(
        self, chat_id: str, parts: Parts, view: LiveChat, path: ChatPath, ended: Ended
    ) -> None:
        self._id = chat_id
        self._store = parts.store
        self._queue = parts.queue
        self._branches = parts.branches
        self._launcher = parts.launcher
        self._view = view
        self._path = path
        self._tell_ended = ended
        self._state: ChatState = "idle"
        self.turn: TurnStream | None = None
        self.params = ChatParams()

    async def begin(
        self,
        request: TurnRequest,
        queued: str | None = None,
        taken: Callable[[], None] = lambda: None,
    ) -> TurnStream:
        """A turn for a request. `queued` is the entry of the queue that it was; `taken` is called
        as soon as it has left the queue for the log.

        Raises InvalidRequest and NotFound when the request does not fit the chat, StoreError when
        it cannot be stored."""
        async with self._path.lock:
            opening = await self._launcher.open(request, self._id, queued)
            if queued is not None and not opening.added:
                await self._queue.dequeue(self._id, queued)
            taken()
            if opening.added:
                await self._path.opened(opening)
            return await self._launch(opening, request.client_id, request.workflow)

    async def decide(self, command: Decision | ToolResult, client_id: str | None) -> None:
        """Stores the decision; the turn goes on when nothing waits any more. Raises Conflict
        (`nothing_waits`)."""
        async with self._path.lock:
            path = await self._store.path(self._id)
            if not path or path[-1].role != "assistant":
                raise Conflict("Nothing waits for a decision in this chat.", code="nothing_waits")
            message = decided(path[-1], command)
            if not goes_on(message):
                raise Conflict("The answer has gone on without that call.", code="nothing_waits")
            if isinstance(command, Decision) and command.approved and command.remember:
                names = {p.tool_name for p in message.tool_parts if p.tool_call_id in command.ids}
                for name in sorted(names):
                    await self._store.allow_tool(self._id, name)
            if pending(message):
                await self._waits_on(message, _parent(path), state_after(message))
                return
            opening = Opening(path[:-1], message, parent=_parent(path))
            if isinstance(command, Decision) and self._view.present(self._view.client_id):
                # Any panel may decide; the calls go on to the one that asked.
                client_id = None
            await self._launch(opening, client_id, Snapshot())

    async def take_over(self, client_id: str | None) -> None:
        """That panel gets the calls that wait. Raises Conflict while the addressed one is there."""
        if client_id is None:
            raise InvalidRequest("expected the id of the panel", where="client_id")
        if client_id != self._view.client_id and self._view.present(self._view.client_id):
            raise Conflict("The panel that runs these calls is still open.", code="client_present")
        async with self._path.lock:
            path = await self._store.path(self._id)
            if not path or not pending(path[-1]):
                raise Conflict("No call waits in this chat.", code="nothing_waits")
            message = _addressed(path[-1], client_id)
            await self._waits_on(message, _parent(path), self._view.state)

    async def stop(self, reason: StopReason = "user") -> None:
        """Stops the turn that runs (what it wrote is kept), or ends the wait of one."""
        if self.turn is not None:
            await self.turn.stop(reason)
        elif self._view.state in WAITING:
            async with self._path.lock:
                path = await self._store.path(self._id)
                if path and pending(path[-1]):
                    await self._waits_on(stopped(path[-1]), _parent(path), "idle")
                else:
                    await self.set_state(self._id, "idle")
            self._launcher.forget_workflow(self._id)
        elif self._view.state == "waiting_user_input":
            await self.set_state(self._id, "idle")

    # What a running turn records (`recorder.AnswerStore`).

    async def checkpoint(self, chat_id: str, message: Message) -> None:
        await self._store.checkpoint(chat_id, message)

    async def set_state(self, chat_id: str, state: ChatState) -> None:
        """The chat enters a state, for its readers even where that cannot be stored."""
        for step in route(self._view.state, state):
            self._view.enter(step)
        await self._store.set_state(chat_id, state)

    async def finish_answer(self, chat_id: str, message: Message, state: ChatState) -> int:
        """The answer becomes a row; its last chunks follow, then `_ended` tells the rest."""
        self._state = state
        row = await self._store.finish_answer(chat_id, message, state)
        self._store.check_saved(chat_id)  # The turn says at its end what is not.
        return row

    async def _launch(
        self, opening: Opening, client_id: str | None, workflow: Snapshot
    ) -> TurnStream:
        """The turn, running; for who holds the path's lock."""
        ready = await self._launcher.ready(self._id, self.params)
        opening = replace(opening, answer=_addressed(opening.answer, client_id))
        version = await self._version(opening)
        await self._store.begin_answer(self._id, opening.answer, opening.parent)
        # Nothing may fail from here on: the store has an answer in progress that must be ended.
        if not opening.added and opening.left:
            await self._path.opened(opening)
        if self._view.state in WAITING and not opening.answer.parts:
            self._view.enter("idle")
        for step in route(self._view.state, "generating"):
            self._view.enter(step)
        self._state = "error"
        self._view.started(opening.answer, version)
        witness = Witness(self, self._view.chunk, self._ended)
        self.turn = self._launcher.launch(opening, ready, workflow, witness)
        return self.turn

    async def _ended(self, turn: TurnStream) -> None:
        """The turn has ended, is kept, and all its chunks are out."""
        async with self._path.lock:
            state = self._state
            if not self._view.watched:
                await self._mark_unread()
            self.turn = None
            self._view.finished(turn.message, state)
            # The turn may have been a command that chose another model.
            if (chat := await self._path.refresh()) is not None:
                self.params = chat.params
        self._tell_ended(state, turn.stop_reason)

    async def _mark_unread(self) -> None:
        """The answer has ended while nobody looked, unless somebody has come meanwhile."""
        # The mark is not worth more than the answer.
        with suppress(AssistantError):
            await self._store.set_unread(self._id, True)
            if self._view.watched:
                await self._store.set_unread(self._id, False)

    async def _waits_on(self, message: Message, parent: Parent, state: ChatState) -> None:
        """The suspended answer in a newer version; for who holds the path's lock."""
        await self._store.append(self._id, message, parent)
        self._view.updated(message)
        self._view.ends_with(message)
        await self.set_state(self._id, state)
        await self._path.refresh()

    async def _version(self, opening: Opening) -> Versions | None:
        """The answer among those that its question had before."""
        if not opening.history or (opening.added and not opening.left):
            return None  # A question that was not asked before.
        ids = await self._branches.answers_to(self._id, opening.history[-1].id)
        every = ids if opening.answer.id in ids else (*ids, opening.answer.id)
        return Versions(every.index(opening.answer.id), every) if len(every) > 1 else None


def _parent(path: tuple[Message, ...]) -> Parent:
    """What the last message of a path follows; None for the beginning of the chat."""
    return path[-2].id if len(path) > 1 else None


def _addressed(answer: Message, client_id: str | None) -> Message:
    """The answer with the panel that its calls go to."""
    if client_id is None:
        return answer
    return replace(answer, metadata={**answer.metadata, "client_id": client_id})
