"""The turns of one ComfyUI user: at most one runs in a chat, whoever looks on.

turn = await turns.start(request)        a new turn, or a suspended one that goes on
turns.running("c1")                      the one to join, or None
await turns.command("c1", command)       stop it, decide, hand in a result
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from ..chats import ChatStore, Parent, chat_id
from ..errors import Conflict, NotFound
from ..messages.parts import Message
from ..tools.tool import Scene
from ..user_context.skills import SkillLibrary
from ..workflow.view import Snapshot
from .decisions import Abort, Command, Decision, decided
from .opening import Opening, TurnRequest, open_in_chat, open_without_chat
from .preparation import Services
from .recorder import NoRecorder, Recorder
from .runner import TurnRunner
from .running import RunningTurn

MOST_WORKFLOWS = 200
"""Snapshots kept for suspended turns; the oldest goes first."""


def _message_id() -> str:
    return f"msg-{uuid.uuid4().hex}"


class Turns:
    """For one event loop. `new_id` makes message ids."""

    def __init__(
        self,
        services: Services,
        store: ChatStore,
        skills: SkillLibrary,
        new_id: Callable[[], str] = _message_id,
    ) -> None:
        self._services = services
        self._store = store
        self._skills = skills
        self._new_id = new_id
        self._running: dict[str, RunningTurn] = {}
        self._starting: set[str] = set()
        self._loose: set[RunningTurn] = set()
        self._workflows: dict[str, Snapshot] = {}

    async def start(self, request: TurnRequest) -> RunningTurn:
        """Starts the turn that the request asks for.

        Raises Conflict (`turn_running`) when the chat has one, InvalidRequest and NotFound when the
        request does not fit the chat, StoreError when it cannot be stored.
        """
        if request.chat_id is None:
            opening = await open_without_chat(request, self._skills, self._new_id())
            return self._launch(opening, None, NoRecorder(), request, frozenset())
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
        """Carries out a command. Raises NotFound for an unknown chat, and Conflict (with the chat's
        state) when it does not fit what the chat is doing."""
        chat = await self._store.get(chat_id(identity))
        turn = self.running(identity)
        if chat is None:
            raise NotFound(f"There is no chat {identity!r}.")
        if isinstance(command, Abort):
            if turn is not None:
                await turn.stop()
            elif chat.state in ("paused", "waiting_client"):
                await self._store.set_state(identity, "idle")
            return
        async with self._alone(identity):
            await self._decide(identity, command, client_id)

    async def close(self) -> None:
        """Stops every turn; what they wrote is kept."""
        turns = [*self._running.values(), *self._loose]
        await asyncio.gather(*(turn.stop() for turn in turns))

    async def _decide(self, identity: str, command: Command, client_id: str | None) -> None:
        path = await self._store.path(identity)
        if not path or path[-1].role != "assistant":
            raise Conflict("Nothing waits for a decision in this chat.", code="nothing_waits")
        assert not isinstance(command, Abort)
        message = decided(path[-1], command)
        if isinstance(command, Decision) and command.approved and command.remember:
            names = {p.tool_name for p in message.tool_parts if p.tool_call_id in command.ids}
            for name in sorted(names):
                await self._store.allow_tool(identity, name)
        parent: Parent = path[-2].id if len(path) > 1 else None
        opening = Opening(path[:-1], message, parent=parent)
        await self._begin(identity, opening, TurnRequest(chat_id=identity, client_id=client_id))

    async def _begin(self, identity: str, opening: Opening, request: TurnRequest) -> RunningTurn:
        await self._store.begin_answer(identity, opening.answer, opening.parent)
        allowed = await self._store.allowed_tools(identity)
        recorder = Recorder(self._store, identity, self._services.clock)
        return self._launch(opening, identity, recorder, request, allowed)

    def _launch(
        self,
        opening: Opening,
        identity: str | None,
        recorder: Recorder,
        request: TurnRequest,
        allowed: frozenset[str],
    ) -> RunningTurn:
        opening = replace(opening, answer=_addressed(opening.answer, request.client_id))
        turn = RunningTurn(opening.answer, identity)
        scene = Scene(self._skills, self._workflow(identity, request.workflow))
        runner = TurnRunner(self._services, opening, turn, recorder, scene, allowed)
        if identity is not None:
            self._running[identity] = turn
        else:
            self._loose.add(turn)
        turn.start(self._until_end(runner, turn))
        return turn

    async def _until_end(self, runner: TurnRunner, turn: RunningTurn) -> None:
        try:
            await runner.run()
        finally:
            self._loose.discard(turn)
            if turn.chat_id is not None and self._running.get(turn.chat_id) is turn:
                del self._running[turn.chat_id]

    def _workflow(self, identity: str | None, sent: Snapshot) -> Snapshot:
        """The workflow sent with the request, else the one that the chat's last turn had."""
        if identity is None or sent.graph is not None:
            if identity is not None:
                self._workflows.pop(identity, None)
                self._workflows[identity] = sent
                if len(self._workflows) > MOST_WORKFLOWS:
                    del self._workflows[next(iter(self._workflows))]
            return sent
        return self._workflows.get(identity, sent)

    @asynccontextmanager
    async def _alone(self, identity: str) -> AsyncIterator[None]:
        """Refuses a second start while one is under way or a turn runs."""
        if identity in self._starting or self.running(identity) is not None:
            raise Conflict(
                "This chat is being answered; wait for it or stop it.",
                code="turn_running",
                extra={"chat_id": identity},
            )
        self._starting.add(identity)
        try:
            yield
        finally:
            self._starting.discard(identity)


def _addressed(answer: Message, client_id: str | None) -> Message:
    """The answer with the panel that its calls go to."""
    if client_id is None:
        return answer
    return replace(answer, metadata={**answer.metadata, "client_id": client_id})
