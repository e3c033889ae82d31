"""Launches turns and knows what they need: the chats' conversations, workflows that wait, tools.

    opening = await launcher.open(request, "c1")        the log has what is new
    turn = launcher.launch(opening, await launcher.ready("c1"), ...)
    done = await launcher.compact("c1", focus, params)
    launcher.forget("c1")                               nothing of it is left in memory

Which turn may run in a chat, what waits for it and who is told is the business of `sessions`.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..chats import ChatParams, ChatState, ChatStore
from ..chats.search.history_search import HistorySearch
from ..context.report import Report
from ..errors import Conflict, InvalidRequest, ProviderError
from ..messages.chunks import Chunk
from ..messages.parts import Message
from ..tools.tool import ToolContext
from ..user_context.skills import SkillLibrary
from ..workflow.view import Snapshot
from .conversation import Conversation
from .conversations import Conversations
from .history import ConversationHistory
from .idle.summariser import Compaction, Summariser
from .idle.titling import Titling
from .opening import Opening, TurnRequest, open_in_chat, open_without_chat
from .preparation import Services, prepare, provider_for
from .recorder import AnswerStore, Nowhere, Recorder
from .runner import TurnRunner
from .stream import TurnStream
from .tool_facts import facts_of

logger = logging.getLogger("comfyui_assistant")

MOST_WORKFLOWS = 20
"""Snapshots kept for turns that wait; the oldest goes first. A large one has megabytes."""
WAITING: tuple[ChatState, ...] = ("paused", "waiting_client")


def _message_id() -> str:
    return f"msg-{uuid.uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Ready:
    """What a turn of a chat needs, read before its answer begins: nothing may fail after that."""

    chat_id: str
    conversation: Conversation
    allowed: frozenset[str]
    params: ChatParams


@dataclass(frozen=True, slots=True)
class Witness:
    """Who is told of a turn: the store of its answer, each chunk, and its end, once it is kept and
    all chunks are out."""

    answers: AnswerStore
    chunk: Callable[[Chunk], None]
    ended: Callable[[TurnStream], Awaitable[None]]


class TurnService:
    """For one event loop, and the chats of one ComfyUI user. `new_id` makes message ids."""

    def __init__(
        self,
        services: Services,
        store: ChatStore,
        skills: SkillLibrary,
        summariser: Summariser,
        search: HistorySearch | None = None,
        titling: Titling | None = None,
        new_id: Callable[[], str] = _message_id,
    ) -> None:
        self._services = services
        self._store = store
        self._skills = skills
        self._summariser = summariser
        self._search = search
        self._titling = titling
        facts = facts_of(services.toolset)
        self._conversations = Conversations(store, services.settings, facts)
        self._new_id = new_id
        self._loose: set[TurnStream] = set()
        self._workflows: dict[str, Snapshot] = {}

    async def loose(self, request: TurnRequest) -> TurnStream:
        """Starts a turn without a chat: nothing of it is stored."""
        opening = await open_without_chat(request, self._skills, self._new_id())
        turn = TurnStream(opening.answer)
        conversation = self._conversations.loose()
        scene = self._scene(request.workflow, conversation, None)
        recorder = Recorder(Nowhere(), "")
        runner = TurnRunner(self._services, opening, turn, recorder, conversation, scene)
        self._loose.add(turn)
        turn.start(self._to_loose_end(runner, turn))
        return turn

    async def open(
        self, request: TurnRequest, chat_id: str, from_queue: str | None = None
    ) -> Opening:
        """What the turn begins with; what is new is in the log, and out of the queue if it waited
        there. Raises InvalidRequest, NotFound, Conflict and StoreError."""
        new_id = self._new_id()
        return await open_in_chat(request, chat_id, self._store, self._skills, new_id, from_queue)

    async def ready(self, chat_id: str, params: ChatParams) -> Ready:
        """What the chat's turn needs; what was done while the chat was idle stops. Raises
        NotFound and StoreError."""
        self._turn_begins(chat_id)
        allowed = await self._store.allowed_tools(chat_id)
        return Ready(chat_id, await self._conversations.of_chat(chat_id), allowed, params)

    def launch(
        self, opening: Opening, ready: Ready, workflow: Snapshot, witness: Witness
    ) -> TurnStream:
        """The turn, running. Raises nothing: the store has an answer in progress by now, which must
        come to its end."""
        turn = TurnStream(opening.answer, ready.chat_id, witness.chunk)
        recorder = Recorder(witness.answers, ready.chat_id, self._services.clock)
        sent = self.workflow(ready.chat_id, workflow)
        scene = self._scene(sent, ready.conversation, ready.chat_id)
        runner = TurnRunner(
            self._services,
            opening,
            turn,
            recorder,
            ready.conversation,
            scene,
            ready.allowed,
            ready.params,
        )
        spoken = tuple(message for message in opening.history if message.role != "system")
        turn.start(self._to_end(runner, turn, ready, sent, spoken, witness))
        return turn

    async def compact(self, chat_id: str, focus: str, params: ChatParams) -> Compaction:
        """`/compact` without a message in the chat. Raises Conflict where there is nothing to
        compact, and ProviderError."""
        self._turn_begins(chat_id)
        conversation = await self._conversations.of_chat(chat_id)
        path = await self._store.path(chat_id)
        if not any(message.role == "user" for message in path):
            raise Conflict(
                "There is nothing to compact: nothing was asked yet.", code="nothing_to_compact"
            )
        preparation = await prepare(self._services, path, conversation, params)
        try:
            done = await self._summariser.compact(preparation, focus)
            conversation.report = await preparation.outlook()
        finally:
            await self._conversations.keep(chat_id)
        return done

    async def check_provider(self, name: str) -> None:
        """Raises InvalidRequest when there is no provider of this name."""
        try:
            await provider_for(self._services.providers, ChatParams(provider=name))
        except ProviderError as error:
            if error.code == "no_provider":
                raise InvalidRequest(error.message, where="params.provider") from None

    def report(self, chat_id: str) -> Report | None:
        """What the chat's last request held; None where none was sent since ComfyUI started."""
        return self._conversations.report(chat_id)

    def workflow(self, chat_id: str, sent: Snapshot) -> Snapshot:
        """The workflow sent with a request, else the one that the chat kept."""
        kept = self._workflows.pop(chat_id, sent)
        return sent if sent.graph is not None else kept

    def keep_workflow(self, chat_id: str, workflow: Snapshot) -> None:
        """For a turn that begins, or goes on, later."""
        self._workflows[chat_id] = workflow
        if len(self._workflows) > MOST_WORKFLOWS:
            del self._workflows[next(iter(self._workflows))]

    def forget_workflow(self, chat_id: str) -> None:
        self._workflows.pop(chat_id, None)

    def forget(self, chat_id: str) -> None:
        """Drops what is remembered of a chat that is deleted."""
        self._turn_begins(chat_id)
        self._conversations.forget(chat_id)
        self.forget_workflow(chat_id)

    async def close(self) -> None:
        """Stops the turns without a chat, and what idle chats do."""
        await asyncio.gather(*(turn.stop("shutdown") for turn in tuple(self._loose)))
        await self._summariser.close()
        if self._titling is not None:
            await self._titling.close()

    def _turn_begins(self, chat_id: str) -> None:
        """The chat is not idle any more."""
        self._summariser.turn_begins(chat_id)
        if self._titling is not None:
            self._titling.turn_begins(chat_id)

    def _turn_ended(self, ready: Ready, path: tuple[Message, ...]) -> None:
        """The chat is idle: what takes its time may be done."""
        keep = self._conversations.keep
        self._summariser.turn_ended(ready.chat_id, ready.conversation, path, keep, ready.params)
        if self._titling is not None:
            self._titling.turn_ended(ready.chat_id, path, ready.params)

    def _scene(
        self, workflow: Snapshot, conversation: Conversation, chat_id: str | None
    ) -> ToolContext:
        return ToolContext(
            self._skills,
            workflow,
            ConversationHistory(conversation, self._search, chat_id),
            self._services.comfyui,
        )

    async def _to_loose_end(self, runner: TurnRunner, turn: TurnStream) -> None:
        try:
            await runner.run()
        except Exception:
            logger.exception("A turn could not be ended as it should")
        finally:
            self._loose.discard(turn)

    async def _to_end(
        self,
        runner: TurnRunner,
        turn: TurnStream,
        ready: Ready,
        workflow: Snapshot,
        history: tuple[Message, ...],
        witness: Witness,
    ) -> None:
        state: ChatState | None = None
        try:
            state = await runner.run()
        except Exception:
            logger.exception("A turn could not be ended as it should")
        if state in WAITING:
            self.keep_workflow(ready.chat_id, workflow)
        try:
            await witness.ended(turn)
            await self._conversations.keep(ready.chat_id)
            if state == "idle":
                self._turn_ended(ready, (*history, turn.message))
        except Exception:
            logger.exception("A turn could not be ended as it should")
