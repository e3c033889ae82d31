"""The turns of one ComfyUI user: at most one runs in a chat, whoever looks on.

turn = await turns.start(request)        a new turn, or a suspended one that goes on
turns.running("c1")                      the one to join, or None
await turns.command("c1", command)       stop it, decide, hand in a result, compact
await turns.report("c1")                 what its last request held
await turns.forget("c1")                 nothing of it is left in memory
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from ..chats import ChatState, ChatStore, Parent, chat_id
from ..chats.reconcile import pending
from ..chats.search import HistorySearch
from ..context.report import Report
from ..errors import Conflict, NotFound
from ..messages.parts import Message
from ..tools.tool import Scene
from ..user_context.skills import SkillLibrary
from ..workflow.view import Snapshot
from .chat_memory import LoggedMemory
from .conversation import Conversation
from .conversations import Conversations
from .decisions import Abort, Command, Compact, Decision, ToolResult, decided, stopped
from .opening import Opening, TurnRequest, goes_on, open_in_chat, open_without_chat
from .preparation import Services, prepare
from .recorder import Nowhere, Recorder
from .runner import TurnRunner
from .running import RunningTurn
from .summariser import Summariser

logger = logging.getLogger("comfyui_assistant")

MOST_WORKFLOWS = 20
"""Snapshots kept for suspended turns; the oldest goes first. A large one has megabytes."""
WAITING: tuple[ChatState, ...] = ("paused", "waiting_client")
ENDED: tuple[ChatState, ...] = ("idle", "error")
"""A chat without a turn in any other state waits, or its last state could not be written."""


def _message_id() -> str:
    return f"msg-{uuid.uuid4().hex}"


class Turns:
    """For one event loop. `new_id` makes message ids."""

    def __init__(
        self,
        services: Services,
        store: ChatStore,
        skills: SkillLibrary,
        summariser: Summariser,
        search: HistorySearch | None = None,
        new_id: Callable[[], str] = _message_id,
    ) -> None:
        self._services = services
        self._store = store
        self._skills = skills
        self._summariser = summariser
        self._search = search
        self._conversations = Conversations(store, services.settings)
        self._new_id = new_id
        self._running: dict[str, RunningTurn] = {}
        self._starting: dict[str, asyncio.Event] = {}
        self._loose: set[RunningTurn] = set()
        self._workflows: dict[str, Snapshot] = {}

    async def start(self, request: TurnRequest) -> RunningTurn:
        """Starts the turn that the request asks for.

        Raises Conflict (`turn_running`) when the chat has one, InvalidRequest and NotFound when the
        request does not fit the chat, StoreError when it cannot be stored.
        """
        if request.chat_id is None:
            opening = await open_without_chat(request, self._skills, self._new_id())
            loose = self._conversations.loose()
            return self._launch(opening, None, Recorder(Nowhere(), ""), loose, request, frozenset())
        identity = chat_id(request.chat_id)
        async with self._alone(identity):
            opening = await open_in_chat(
                request, identity, self._store, self._skills, self._new_id()
            )
            return await self._begin(identity, opening, request)

    def running(self, identity: str) -> RunningTurn | None:
        """The chat's turn, or None when none runs."""
        turn = self._running.get(chat_id(identity))
        return turn if turn is not None and not turn.ended else None

    async def command(self, identity: str, command: Command, client_id: str | None) -> None:
        """Carries out a command. Raises NotFound for an unknown chat, and Conflict when it does not
        fit what the chat is doing."""
        while (starting := self._starting.get(chat_id(identity))) is not None:
            # Neither a stop nor a second decision may be lost because a start is under way.
            await starting.wait()
        if isinstance(command, Abort) and (turn := self.running(identity)) is not None:
            await turn.stop()
            return
        async with self._alone(identity):
            chat = await self._store.get(identity)
            if chat is None:
                raise NotFound(f"There is no chat {identity!r}.")
            if isinstance(command, Compact):
                await self._compact(identity, chat.state, command.focus)
            elif not isinstance(command, Abort):
                await self._decide(identity, command, client_id)
            elif chat.state not in ENDED:
                await self._end_waiting(identity)

    async def report(self, identity: str) -> Report | None:
        """What the chat's last request held; None where none was sent since ComfyUI was started.
        Raises NotFound for an unknown chat."""
        if await self._store.get(chat_id(identity)) is None:
            raise NotFound(f"There is no chat {identity!r}.")
        return self._conversations.report(identity)

    async def forget(self, identity: str) -> None:
        """Stops the chat's turn, if one runs, and drops what is remembered of the chat; for one
        that is deleted. A turn that waits goes on waiting, should the chat come back."""
        while (starting := self._starting.get(chat_id(identity))) is not None:
            await starting.wait()
        if (turn := self.running(identity)) is not None:
            await turn.stop()
        self._summariser.turn_begins(identity)
        self._conversations.forget(identity)
        self._workflows.pop(identity, None)

    async def close(self) -> None:
        """Stops every turn; what they wrote is kept."""
        for starting in list(self._starting.values()):
            await starting.wait()
        turns = [*self._running.values(), *self._loose]
        await asyncio.gather(*(turn.stop("shutdown") for turn in turns))
        await self._summariser.close()

    async def _decide(
        self, identity: str, command: Decision | ToolResult, client_id: str | None
    ) -> None:
        """Stores the decision; the turn goes on when nothing waits any more."""
        path = await self._store.path(identity)
        if not path or path[-1].role != "assistant":
            raise Conflict("Nothing waits for a decision in this chat.", code="nothing_waits")
        message = decided(path[-1], command)
        if not goes_on(message):
            raise Conflict("The answer has gone on without that call.", code="nothing_waits")
        if isinstance(command, Decision) and command.approved and command.remember:
            names = {p.tool_name for p in message.tool_parts if p.tool_call_id in command.ids}
            for name in sorted(names):
                await self._store.allow_tool(identity, name)
        if left := pending(message):
            await self._store.append(identity, message, _parent(path))
            asks = any(part.state == "approval-requested" for part in left)
            await self._store.set_state(identity, "paused" if asks else "waiting_client")
            return
        opening = Opening(path[:-1], message, parent=_parent(path))
        await self._begin(identity, opening, TurnRequest(chat_id=identity, client_id=client_id))

    async def _compact(self, identity: str, state: ChatState, focus: str) -> None:
        """`/compact` without a message in the chat. Raises Conflict where there is nothing to
        compact, or a turn waits: what it will go on with must stay as it was sent."""
        if state not in ENDED:
            raise Conflict("The last answer waits; decide or stop it first.", code="turn_waits")
        self._summariser.turn_begins(identity)
        conversation = await self._conversations.of_chat(identity)
        path = await self._store.path(identity)
        preparation = await prepare(self._services, path, conversation)
        try:
            await self._summariser.compact(preparation, focus)
            conversation.report = await preparation.outlook()
        finally:
            await self._conversations.keep(identity)

    async def _end_waiting(self, identity: str) -> None:
        """A suspended turn that was stopped: what waits in it will not happen any more."""
        path = await self._store.path(identity)
        if path and pending(path[-1]):
            await self._store.append(identity, stopped(path[-1]), _parent(path))
        await self._store.set_state(identity, "idle")
        self._workflows.pop(identity, None)

    async def _begin(self, identity: str, opening: Opening, request: TurnRequest) -> RunningTurn:
        self._summariser.turn_begins(identity)
        allowed = await self._store.allowed_tools(identity)
        conversation = await self._conversations.of_chat(identity)
        opening = replace(opening, answer=_addressed(opening.answer, request.client_id))
        await self._store.begin_answer(identity, opening.answer, opening.parent)
        # Nothing may fail from here on: the store has an answer in progress that must be ended.
        recorder = Recorder(self._store, identity, self._services.clock)
        return self._launch(opening, identity, recorder, conversation, request, allowed)

    def _launch(
        self,
        opening: Opening,
        identity: str | None,
        recorder: Recorder,
        conversation: Conversation,
        request: TurnRequest,
        allowed: frozenset[str],
    ) -> RunningTurn:
        turn = RunningTurn(opening.answer, identity)
        memory = LoggedMemory(conversation, self._search, identity)
        scene = Scene(self._skills, self._workflow(identity, request.workflow), memory)
        runner = TurnRunner(self._services, opening, turn, recorder, conversation, scene, allowed)
        if identity is not None:
            self._running[identity] = turn
        else:
            self._loose.add(turn)
        spoken = tuple(message for message in opening.history if message.role != "system")
        turn.start(self._to_end(runner, turn, scene.workflow, conversation, spoken))
        return turn

    async def _to_end(
        self,
        runner: TurnRunner,
        turn: RunningTurn,
        workflow: Snapshot,
        conversation: Conversation,
        history: tuple[Message, ...],
    ) -> None:
        try:
            state = await runner.run()
            if turn.chat_id is not None:
                keep = self._conversations.keep
                await keep(turn.chat_id)
                if state in WAITING:
                    self._keep_workflow(turn.chat_id, workflow)
                elif state == "idle":
                    path = (*history, turn.message)
                    self._summariser.turn_ended(turn.chat_id, conversation, path, keep)
        except Exception:
            logger.exception("A turn could not be ended as it should")
        finally:
            self._loose.discard(turn)
            if turn.chat_id is not None:
                del self._running[turn.chat_id]

    def _workflow(self, identity: str | None, sent: Snapshot) -> Snapshot:
        """The workflow sent with the request, else the one that the suspended turn had."""
        kept = self._workflows.pop(identity, sent) if identity is not None else sent
        return sent if sent.graph is not None else kept

    def _keep_workflow(self, identity: str, workflow: Snapshot) -> None:
        self._workflows[identity] = workflow
        if len(self._workflows) > MOST_WORKFLOWS:
            del self._workflows[next(iter(self._workflows))]

    @asynccontextmanager
    async def _alone(self, identity: str) -> AsyncIterator[None]:
        """Refuses a second start while one is under way or a turn runs."""
        if identity in self._starting or self.running(identity) is not None:
            raise Conflict(
                "This chat is being answered; wait for it or stop it.",
                code="turn_running",
                extra={"chat_id": identity},
            )
        started = self._starting[identity] = asyncio.Event()
        try:
            yield
        finally:
            del self._starting[identity]
            started.set()


def _parent(path: tuple[Message, ...]) -> Parent:
    """What the last message of a path follows; None for the beginning of the chat."""
    return path[-2].id if len(path) > 1 else None


def _addressed(answer: Message, client_id: str | None) -> Message:
    """The answer with the panel that its calls go to."""
    if client_id is None:
        return answer
    return replace(answer, metadata={**answer.metadata, "client_id": client_id})
