"""One chat while it is in use: carries out its commands one after the other (R35, R36).

    session = ChatSession("c1", services, changed)
    await session.load(chat)
    await session.command(UserMessage(message), Sender("panel-1"))
    turn = await session.start(request)               `POST /api/chat` is the same session
    async with session.watched("panel-1"): ...        while a reader follows its events

A command that was accepted is carried out even if its client disconnects.

Locks are taken in this order, never backwards:

1. `ChatSession._commands`: one command at a time. Abort and compaction wait for a turn or a model
   outside of it, so that a stop reaches them.
2. `ChatPath.lock`: the log changes and the events of the change are sent, as one step.
3. `Conversation.lock` (a thread lock, in `turn`): the context is fed, planned or compacted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from ..chats import Chat, ChatState, Permissions
from ..chats.chat_json import entry_json
from ..chats.identity import new_chat_id
from ..errors import Conflict, InvalidRequest, NotFound, StoreError
from ..messages.parts import DataPart, Message
from ..turn.decisions import Decision, ToolResult
from ..turn.stream import StopReason, TurnStream
from ..turn.turn_request import TurnRequest
from . import commands
from .chat_turns import ChatTurns
from .edit_commands import RedoEdits, RestoreWorkflow, UndoEdits
from .event_log import DELETED, EventLog, first_seq, new_epoch
from .gates import GATES, refusal
from .live_chat import LiveChat
from .message_queue import MessageQueue
from .param_changes import ApprovalChange
from .path import ChatPath
from .serialization import Json
from .session_services import SessionServices
from .states import BUSY, ENDED_WELL, WAITS_FOR_ANSWER
from .submissions import Done, Sender, Submissions, Submitted, kind_of
from .unbroken import Unbroken


class ChatSession:
    """For one event loop. Every method may raise StoreError. `changed(entry, is_new)` is called
    when the chat's entry in the list changes."""

    def __init__(
        self, chat_id: str, services: SessionServices, changed: Callable[[Json, bool], None]
    ) -> None:
        self.id = chat_id
        self.events = EventLog(new_epoch(), {"chat_id": chat_id}, seq=first_seq())
        self.live = LiveChat(self.events, changed, lambda: services.store.saving.to_json())
        self._services = services
        self._path = ChatPath(chat_id, services, self.live)
        self._turns = ChatTurns(chat_id, services, self.live, self._path, self._ended)
        self._queue = MessageQueue(chat_id, services, self.live, self._turns)
        self._submissions = Submissions(
            chat_id, services, self.live, self._path, self._turns, self._queue
        )
        self._commands = asyncio.Lock()
        self._compaction: asyncio.Task[Any] | None = None
        self._work = Unbroken()

    async def load(self, chat: Chat | None) -> None:
        """Loads the stored chat; None for a chat that is about to be made. Its queue is held: no
        client has asked for it since the restart."""
        if chat is not None:
            queue = await self._services.queue.queue(self.id)
            last, end = await self._path.end()
            self.live.load(chat, queue, last, end)
            self._turns.params = chat.params
            # A chat can be read although it is not known what was taken back in it.
            with suppress(StoreError):
                self.live.set_undone(await self._services.turns.edits.undone(self.id))

    @property
    def running(self) -> TurnStream | None:
        """The stream of the running turn."""
        stream = self._turns.stream
        return stream if stream is not None and not stream.ended else None

    @property
    def quiet(self) -> bool:
        """Whether the session may be dropped from memory: no work, no turn, no readers, and nothing
        waits to be answered by itself."""
        if self.live.queue and not self.live.held:
            return False
        reads = self.live.watched or self.events.readers
        return not (self._work.tasks or self._turns.stream or reads)

    async def settled(self) -> None:
        """Waits for the command or request that is being carried out, which may make the chat."""
        async with self._commands:
            pass

    async def start(self, request: TurnRequest) -> TurnStream:
        """Starts the turn of a `POST /api/chat`. Raises Conflict (`turn_running`) while a turn
        runs, and the errors of `turn.opening`."""
        return await self._work.run(self._start(request))

    async def submit(self, request: TurnRequest, priority: bool = False) -> Submitted:
        """Begins the request's turn, or puts its message into the queue of a busy or waiting chat.
        A message that the log or the queue knows changes nothing, whatever its text.

        Raises Conflict with `state` and `reason` for a request that the state refuses, Refused for
        a full queue, and the errors of `turn.opening`."""
        return await self._work.run(self._submit(request, priority))

    async def command(self, command: commands.Command, sender: Sender) -> Done:
        """Carries out a command or queues it.

        Raises NotFound for an unknown chat, Conflict with `state` and `reason` for a command that
        the state refuses, and the errors of the command itself."""
        return await self._work.run(self._command(command, sender))

    @asynccontextmanager
    async def watched(self, client_id: str | None, canvas: bool = False) -> AsyncIterator[None]:
        """A reader follows the chat, which is therefore not unread. `canvas`: it carries out edits
        on a canvas."""
        self.live.reader_joined(client_id, canvas)
        try:
            if self.live.unread:
                # A reader must not be refused because the mark cannot be stored.
                with suppress(StoreError):
                    await self._services.store.set_unread(self.id, False)
                self.live.set_unread(False)
            yield
        finally:
            self.live.reader_left(client_id, canvas)

    async def snapshot(self) -> Json:
        """The data of a new reader's first event; the next event has `seq` + 1."""
        async with self._path.lock:
            page = await self._path.page()
            return self.events.data("snapshot", self.live.snapshot(page))

    async def refresh(self) -> None:
        """Sends changes that were made outside of the session: title, pinned."""
        async with self._path.lock:
            await self._path.refresh()

    async def add_event(self, event: Message) -> None:
        """Adds an event to the log, in any state, and sends it to the readers. The model reads it
        in the tail of the next turn. Raises NotFound for a deleted chat and StoreError."""
        async with self._path.lock:
            await self._path.add_event(event)

    async def add_parts(self, message_id: str, parts: Sequence[DataPart]) -> None:
        """Adds parts to the answer that ends the chat, if it still does; raises StoreError."""
        await self._path.add_parts(message_id, parts)

    async def close(self) -> None:
        """Stops the turn at ComfyUI's shutdown (its answer is stored as far as it came) and ends
        the readers' streams; they may reconnect."""
        if self._compaction is not None:
            self._compaction.cancel()
        async with self._commands:
            if self._turns.stream is not None:
                await self._turns.stop("shutdown")
            self.events.end("")

    async def delete(self, hide: Callable[[], Awaitable[None]]) -> None:
        """Stops the turn, deletes the chat by `hide`, and ends the readers' streams; no command
        runs meanwhile. If `hide` raises, the chat stays."""
        await self._work.run(self._delete(hide))

    async def _delete(self, hide: Callable[[], Awaitable[None]]) -> None:
        if self._compaction is not None:
            self._compaction.cancel()
        async with self._commands:
            await self._check_here()
            if self._turns.stream is not None:
                await self._turns.stop()
            await hide()
            self.events.end(DELETED)

    async def _start(self, request: TurnRequest) -> TurnStream:
        async with self._commands:
            await self._check_here()
            if self._state in BUSY or self.running is not None:
                raise self._refusal()
            if self._state == WAITS_FOR_ANSWER and kind_of(request) == "user_message":
                message = request.message
                if message is not None and message.id in self.live.answered_by:
                    raise self._refusal()  # It answered the question before this one.
                known = message is None or await self._submissions.knows(message.id)
                if message is not None and message.role == "user" and not known:
                    return await self._submissions.answer(message, request.client_id)
            return await self._turns.begin(request)

    async def _submit(self, request: TurnRequest, priority: bool) -> Submitted:
        async with self._commands:
            await self._check_here()
            verdict = GATES[kind_of(request), self._state]
            if verdict == "refuse":
                raise self._refusal()
            return await self._submissions.submit(request, priority, busy=verdict == "queue")

    async def _command(self, command: commands.Command, sender: Sender) -> Done:
        try:
            return await self._gated(command, sender)
        except Conflict as conflict:
            known = {"state": self._state, "reason": conflict.code, **conflict.extra}
            raise Conflict(conflict.message, code=conflict.code, extra=known) from None

    async def _gated(self, command: commands.Command, sender: Sender) -> Done:
        if isinstance(command, commands.Abort):
            await self._abort()
            return Done()
        if isinstance(command, commands.Compact):
            await self._compact(command)
            return Done()
        if isinstance(command, commands.SetParams) and command.params.provider is not None:
            # Before the lock is taken: a server that does not respond must not delay a stop.
            await self._services.turns.check_provider(command.params.provider)
        async with self._commands:
            await self._check_here()
            if isinstance(command, ToolResult):
                told = await self._turns.edited(command, sender.client_id)
                if told is not None:
                    return Done(told=told)
            verdict = GATES[commands.type_of(command), self._state]
            if verdict == "refuse":
                raise self._refusal()
            if isinstance(command, commands.UserMessage):
                busy = verdict == "queue"
                return Done(answered=await self._submissions.say(command, sender, busy=busy))
            return await self._carry_out(command, sender)

    async def _carry_out(self, command: commands.Command, sender: Sender) -> Done:
        match command:
            case commands.RetryFromIndex() | commands.Regenerate():
                await self._turns.begin(await self._submissions.again(command, sender))
            case Decision() | ToolResult():
                await self._turns.decide(command, sender.client_id)
            case commands.TakeOver():
                await self._turns.take_over(sender.client_id, sender.workflow.id)
            case commands.UpdateMessage():
                await self._path.update(command)
            case commands.RemoveMessage():
                await self._path.remove(command.message_id)
            case commands.TruncateMessages():
                await self._path.truncate(command)
            case commands.SwitchVersion():
                await self._path.switch(command.message_id)
            case commands.RestoreFromTrajectory():
                await self._path.restore(command.trajectory.path_rows)
            case commands.BranchFromChat():
                return Done(await self._branch(command))
            case UndoEdits() | RedoEdits() | RestoreWorkflow():
                back = self._turns.take_back(command, sender.workflow, sender.client_id)
                return Done(told=await back)
            case commands.SetParams():
                await self._set_params(command)
            case commands.SetDraft():
                await self._set_draft(command.text or None)
            case commands.ClearDraft():
                await self._set_draft(None)
            case commands.SetWorkflow():
                await self._set_workflow(sender)
            case commands.CancelQueued():
                await self._queue.cancel(command.id)
            case commands.ResumeQueue():
                self._queue.release()
                if self._compaction is None:
                    await self._queue.run_next()
            case _:
                raise AssertionError(f"nobody carries out {command!r}")
        return Done()

    async def _branch(self, command: commands.BranchFromChat) -> str:
        chat = await self._services.branches.branch(self.id, command.message_id, new_chat_id())
        self._services.on_branch(entry_json(chat))
        return chat.id

    async def _set_params(self, command: commands.SetParams) -> None:
        given = {name: getattr(command.params, name) for name in command.given}
        params = replace(self._turns.params, **given)
        if command.approval is not None:
            await self._set_approval(command.approval)
        async with self._path.lock:
            if given:
                await self._services.store.set_params(self.id, params)
                self._turns.params = params
            await self._path.refresh()

    async def _set_approval(self, change: ApprovalChange) -> None:
        """Counts from now on, also for the turn that runs. Raises InvalidRequest for a budget of a
        chat in another mode."""
        mode, budget = change.mode, change.budget
        if mode is None and budget is not None:
            chat = await self._services.store.get(self.id)
            mode = chat.permissions.mode if chat is not None else None
            if mode != "budget":
                raise InvalidRequest('expected approval "budget" beside it', where="params.budget")
        since = self._services.now() if budget is not None else None
        await self._services.store.set_permissions(self.id, Permissions(mode, budget, since))

    async def _set_draft(self, draft: str | None) -> None:
        await self._services.store.set_draft(self.id, draft)
        self.live.set_draft(draft)

    async def _set_workflow(self, sender: Sender) -> None:
        if not sender.workflow.is_open:
            raise InvalidRequest("expected the graph, or how large it is", where="workflow")
        await self._services.turns.set_workflow(self.id, sender.workflow, sender.client_id)

    async def _abort(self) -> None:
        if self._compaction is not None:
            self._compaction.cancel()
        async with self._commands:
            # Another process may have begun an answer since this one read the chat.
            await self._check_here(anew=True)
            await self._turns.stop()
            self._queue.hold()

    async def _compact(self, command: commands.Compact) -> None:
        """Waits outside of the lock: a compaction takes as long as an answer, and a stop must reach
        it."""
        async with self._commands:
            await self._check_here()
            if GATES["compact", self._state] == "refuse":
                raise self._refusal()
            work = self._services.turns.compact(self.id, command.focus, self._turns.params)
            self._compaction = asyncio.get_running_loop().create_task(work)
        try:
            done = await self._compaction
        except asyncio.CancelledError:
            raise Conflict("The summary was stopped.", code="aborted") from None
        finally:
            self._compaction = None
            self._go_on()
        report = self._services.turns.report(self.id)
        self.live.compacted(report.to_json() if report else None, done.in_words)

    def _ended(self, state: ChatState, stopped: StopReason | None) -> None:
        """Continues the queue after a turn that ended well, and holds it after any other."""
        if stopped is not None or state == "error":
            self._queue.hold()
        elif state in ENDED_WELL:
            self._go_on()

    def _go_on(self) -> None:
        # Whether something waits is seen under the lock: a message may just be being stored.
        self._work.start(self._run_next())

    async def _run_next(self) -> None:
        async with self._commands:
            # The chat may have been deleted or closed before this task had the lock.
            if self._compaction is None and self.events.ended is None:
                await self._queue.run_next()

    @property
    def _state(self) -> ChatState:
        """The state for the gates: a running compaction keeps the chat busy."""
        return "generating" if self._compaction is not None else self.live.state

    async def _check_here(self, *, anew: bool = False) -> None:
        """Raises NotFound for a deleted chat and Conflict (`runs_elsewhere`) for a chat that
        another ComfyUI process answers. A chat that was not busy when it was read is looked at
        `anew` only for commands that write nothing: writing looks itself."""
        if self.events.ended is not None:
            raise NotFound(f"There is no chat {self.id!r}.")
        if (anew or self.live.state in BUSY) and self._turns.stream is None:
            # Another process gives the answer, or died while it gave it. `append_all` raises
            # Conflict for a living process and ends the answer of a dead one.
            await self._services.store.append_all(self.id, ())
            async with self._path.lock:
                chat = await self._services.store.get(self.id)
                if chat is None:
                    raise NotFound(f"There is no chat {self.id!r}.")
                if chat.state != self.live.state:
                    await self._path.moved(chat)

    def _refusal(self) -> Conflict:
        code, reason, sentence = refusal(self._state)
        told = {"chat_id": self.id, "state": self._state, "reason": reason}
        return Conflict(sentence, code=code, extra=told)
