"""Starts turns and finds what they need: the chat's conversation, its workflow, its permissions.

    turn = await service.start(request, "c1", params, observer)      a new turn
    turn = await service.resume(opening, "c1", params, observer)     a suspended turn goes on
    turn = await service.start_stateless(request)                    a turn that is not stored
    done = await service.compact("c1", focus, params)

`sessions` decides which turn may start in a chat, which messages wait for it and which readers
follow it.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..chats import ChatEdits, ChatGraphs, ChatParams, ChatState, ChatStore, TurnStart
from ..chats.chat import WAITING_STATES
from ..chats.search.history_search import HistorySearch
from ..context.report import Report
from ..errors import Conflict, InvalidRequest, ProviderError
from ..messages.origin import without_events
from ..messages.outside import approval_id
from ..messages.parts import Message
from ..tools.ports import Edits, Workflows
from ..tools.tool import ToolContext
from ..user_context.skills import SkillLibrary
from ..workflow.snapshot import Snapshot
from .ahead import Ahead, brought_by
from .chat_memories import turn_memories
from .chat_workflows import ChatWorkflows, LooseWorkflow, TurnWorkflow
from .compaction import Compacting, Compaction, ContextWatcher, Progress
from .conversation import Conversation
from .conversations import BeforeCut, Conversations, nothing_first
from .edits.chat_edits import ChatEditing
from .edits.turn_edits import TurnEdits
from .history import ConversationHistory
from .idle.job import IdleChat, IdleJob
from .open_questions import OpenQuestions
from .opening import Opening, begun_as, open_in_chat, open_stateless
from .permission import ChatPermits, NoPermits
from .preparation import First, maker, prepare, without_system
from .recorder import NoStore, Recorder
from .runner import TurnRunner
from .stream import TurnStream
from .toolset_facts import facts_of
from .turn import Turn, TurnObserver
from .turn_request import TurnRequest
from .turn_services import Services, provider_for

logger = logging.getLogger("comfyui_assistant")


def _message_id() -> str:
    return f"msg-{uuid.uuid4().hex}"


class TurnService:
    """For one event loop, and the chats of one ComfyUI user. `idle_jobs` work on chats between
    their turns, and `before_cut` is called before one of them is cut; `new_id` makes message
    ids."""

    def __init__(
        self,
        services: Services,
        store: ChatStore,
        skills: SkillLibrary,
        idle_jobs: Sequence[IdleJob] = (),
        search: HistorySearch | None = None,
        before_cut: BeforeCut = nothing_first,
        new_id: Callable[[], str] = _message_id,
    ) -> None:
        self._services = services
        self._store = store
        self._skills = skills
        self._idle_jobs = tuple(idle_jobs)
        self._search = search
        settings, facts, edits = services.settings, facts_of(services.toolset), ChatEdits(store)
        self._conversations = Conversations(store, settings, facts, before_cut, edits)
        self._new_id = new_id
        self._stateless: set[Turn] = set()
        self._newest: dict[str, Turn] = {}
        self._compacting: dict[str, Compacting] = {}
        self.watcher = ContextWatcher()
        graphs = ChatGraphs(store)
        self._workflows = ChatWorkflows(graphs, store.now)
        self.edits = ChatEditing(edits, graphs, services.definitions)
        """The edits of the chats' turns, and what people take back."""
        self.edits.people.newest = self._workflows
        self._ahead = Ahead(services, self._workflows, search)
        self._questions = OpenQuestions()

    async def start(
        self,
        request: TurnRequest,
        chat_id: str,
        params: ChatParams,
        observer: TurnObserver,
        from_queue: str | None = None,
        is_new: bool = False,
    ) -> Turn:
        """Starts the turn that a request asks for. `from_queue` is the id of the request's entry in
        the chat's queue, which the entry leaves when its message is in the log. A chat that
        `is_new` was looked for a moment ago and is not stored.

        Raises InvalidRequest, NotFound and Conflict for a request that does not fit the chat,
        Refused (`busy`) while too many turns wait, and StoreError when it cannot be stored."""
        if from_queue is None:
            self._services.places.check()
        begun = await self._services.places.begin()
        try:
            new_id = self._new_id()
            opening, start = await open_in_chat(
                request, chat_id, self._store, self._skills, new_id, from_queue, is_new
            )
            # A decision is one about a call that was worked out on the turn's own workflow.
            workflow = Snapshot() if opening.answer.parts else request.workflow
            turn = await self._begin(opening, start, chat_id, params, observer, workflow)
        except BaseException:
            begun()
            raise
        turn.stream.when_planned(begun)
        return turn

    async def resume(
        self,
        opening: Opening,
        start: TurnStart,
        chat_id: str,
        params: ChatParams,
        observer: TurnObserver,
    ) -> Turn:
        """Lets a suspended turn go on, with the workflow that it began with. Raises StoreError."""
        return await self._begin(opening, start, chat_id, params, observer, Snapshot())

    async def start_stateless(self, request: TurnRequest) -> Turn:
        """Starts a turn without a chat: nothing of it is stored. Raises InvalidRequest, Refused
        (`busy`), and Conflict (`nothing_waits`) for a decision that does not count."""
        self._services.places.check()
        opening = await open_stateless(request, self._skills, self._new_id(), self._questions)
        conversation = self._conversations.stateless()
        stream, observer = TurnStream(opening.answer), TurnObserver()
        workflow = LooseWorkflow(request.workflow)
        edits = self.edits.of_turn(
            None,
            opening.answer.id,
            workflow,
            (observer, None),
            stream.emit,
            calls=lambda: stream.message.tool_parts,
        )
        tools = self._tool_context(workflow, conversation, None, stream, edits)
        turn = Turn(
            opening, stream, conversation, tools, observer, self._questions.ask, NoPermits()
        )
        self._stateless.add(turn)
        turn.stream.start(self._run_stateless(turn))
        return turn

    async def compact(self, chat_id: str, focus: str, params: ChatParams) -> Compaction:
        """`/compact` without a message in the chat. Raises Conflict (`nothing_to_compact`) and
        ProviderError."""
        self._stop_idle_jobs(chat_id)
        conversation = await self._conversations.of_chat(chat_id)
        path = without_events(await self._store.path(chat_id))
        if not any(message.role == "user" for message in path):
            raise Conflict(
                "There is nothing to compact: nothing was asked yet.", code="nothing_to_compact"
            )
        preparation = await prepare(self._services, path, conversation, params)
        with Progress(partial(self._show, chat_id)) as progress:
            try:
                done = await self._services.summaries.compact(preparation, focus, progress)
                progress.enter("committing", "user")
                conversation.report = await preparation.outlook()
            finally:
                await self._conversations.keep(chat_id, conversation)
        return done

    def compaction(self, chat_id: str) -> Compacting | None:
        """The compaction that goes on in the chat."""
        return self._compacting.get(chat_id)

    def _show(self, chat_id: str, compacting: Compacting | None) -> None:
        if compacting is None:
            self._compacting.pop(chat_id, None)
        else:
            self._compacting[chat_id] = compacting
        self.watcher.compacting(chat_id, compacting)

    async def check_provider(self, name: str) -> None:
        """Raises InvalidRequest when there is no provider of this name."""
        try:
            await provider_for(self._services.providers, ChatParams(provider=name))
        except ProviderError as error:
            if error.code == "no_provider":
                raise InvalidRequest(error.message, where="params.provider") from None

    @property
    def asks_each_time(self) -> frozenset[str]:
        """The names of the tools that no approval for the whole chat covers."""
        return self._services.toolset.asks_each_time

    def report(self, chat_id: str) -> Report | None:
        """The report of the chat's last request; None if it had none since ComfyUI started."""
        return self._conversations.report(chat_id)

    def keep_workflow(self, chat_id: str, message_id: str, workflow: Snapshot) -> None:
        """Keeps the workflow of a queued message for its turn."""
        self._workflows.keep_queued(chat_id, message_id, workflow)

    async def set_workflow(self, chat_id: str, workflow: Snapshot, client_id: str | None) -> None:
        """The workflow that is open in a panel changed. Raises StoreError."""
        await self._workflows.changed(chat_id, workflow, client_id)

    def forget_workflow(self, chat_id: str, message_id: str | None = None) -> None:
        """Drops the workflow of a queued message, or of the suspended turn."""
        self._workflows.forget_waiting(chat_id, message_id)

    def forget(self, chat_id: str) -> None:
        """Drops all that is in memory of a deleted chat."""
        self._stop_idle_jobs(chat_id)
        self._conversations.forget(chat_id)
        self._workflows.forget(chat_id)

    async def close(self) -> None:
        """Stops the turns without a chat, and all idle jobs."""
        stateless = tuple(self._stateless)
        await asyncio.gather(*(turn.stream.stop("shutdown") for turn in stateless))
        for job in self._idle_jobs:
            await job.close()

    async def _begin(
        self,
        opening: Opening,
        start: TurnStart,
        chat_id: str,
        params: ChatParams,
        observer: TurnObserver,
        workflow: Snapshot,
    ) -> Turn:
        """Begins the turn in the store, then runs it. From `begin_turn` on an answer is in
        progress, which must come to its end: a later step that fails is the turn's `failure`."""
        self._stop_idle_jobs(chat_id)
        brought = brought_by(opening, workflow, new=start.new)
        known = asyncio.ensure_future(self._conversations.of_chat(chat_id, is_new=start.new))
        first = self._ahead.begin(opening, chat_id, params, known, brought)
        try:
            begun = await self._store.begin_turn(chat_id, start)
        except BaseException:
            self._begin_nothing(chat_id, first)
            raise
        opening = begun_as(opening, begun)
        failure: Exception | None = None
        try:
            await observer.began(opening, begun)
            conversation = await known
            workflows = await self._workflows.begin(chat_id, brought)
        except Exception as error:
            failure = error
            self._begin_nothing(chat_id, first)
            conversation = self._conversations.stateless()
            workflows = TurnWorkflow(self._workflows, chat_id, Snapshot(), None, None)
        stream = TurnStream(opening.answer, chat_id, observer.chunk)
        edits = self.edits.of_turn(
            chat_id,
            opening.answer.id,
            workflows,
            (observer, brought.client_id),
            stream.emit,
            lambda: tuple(message.id for message in (*opening.history, opening.answer)),
            lambda: stream.message.tool_parts,
        )
        tools = self._tool_context(workflows, conversation, chat_id, stream, edits)
        turn = Turn(
            opening,
            stream,
            conversation,
            tools,
            observer,
            partial(approval_id, opening.answer.id),
            ChatPermits(self._store, chat_id),
            chat_id,
            params,
            partial(self._show, chat_id),
            first,
            failure,
        )
        self._newest[chat_id] = turn
        stream.start(self._run(turn, chat_id, workflows, edits))
        return turn

    def _begin_nothing(self, chat_id: str, first: asyncio.Task[First] | None) -> None:
        """Takes back what the first request of a turn that cannot run has begun."""
        if first is not None:
            first.cancel()
            self._conversations.forget(chat_id)

    async def _run(
        self, turn: Turn, chat_id: str, workflow: TurnWorkflow, edits: TurnEdits
    ) -> None:
        recorder = Recorder(self._store, chat_id, self._services.clock)
        state: ChatState = "error"
        try:
            state = await TurnRunner(self._services, turn, recorder).run()
        except Exception:
            logger.exception("A turn could not be ended as it should")
        self.edits.ended(chat_id, edits)
        await self._workflows.end(chat_id, workflow, waits=state in WAITING_STATES)
        try:
            await turn.observer.ended(turn, state, recorder.chat)
            if turn.failure is None:
                await self._conversations.keep(chat_id, turn.conversation)
            # A queued message may have begun the next turn meanwhile.
            if state == "idle" and self._newest.get(chat_id) is turn:
                self._begin_idle_jobs(turn, chat_id)
        except Exception:
            logger.exception("A turn could not be ended as it should")
        finally:
            if self._newest.get(chat_id) is turn:
                del self._newest[chat_id]

    async def _run_stateless(self, turn: Turn) -> None:
        try:
            await TurnRunner(self._services, turn, Recorder(NoStore(), "")).run()
        except Exception:
            logger.exception("A turn could not be ended as it should")
        finally:
            self._stateless.discard(turn)

    def _begin_idle_jobs(self, turn: Turn, chat_id: str) -> None:
        history = without_system(turn.opening.history)
        chat = self._idle_chat(chat_id, turn.conversation, history, turn.params)
        stopped = turn.stream.stop_reason is not None
        chat = replace(chat, answer=turn.stream.message, stopped=stopped)
        for job in self._idle_jobs:
            job.begin(chat)

    async def idle_chat(self, chat_id: str, params: ChatParams) -> IdleChat:
        """A stored chat as idle jobs get it. Raises NotFound."""
        path = without_events(await self._store.path(chat_id))
        conversation = await self._conversations.of_chat(chat_id)
        return self._idle_chat(chat_id, conversation, path, params)

    def _idle_chat(
        self,
        chat_id: str,
        conversation: Conversation,
        history: tuple[Message, ...],
        params: ChatParams,
    ) -> IdleChat:
        return IdleChat(
            chat_id,
            conversation,
            history,
            partial(self._conversations.keep, chat_id, conversation),
            params,
            lambda path: maker(self._services, path, conversation, params),
            partial(self._show, chat_id),
            partial(self._compacted, chat_id),
        )

    def _compacted(self, chat_id: str, report: Report) -> None:
        self.watcher.compacted(chat_id, report)

    def _stop_idle_jobs(self, chat_id: str) -> None:
        # Nor does a turn begin any that has ended and is still stored.
        self._newest.pop(chat_id, None)
        for job in self._idle_jobs:
            job.stop(chat_id)

    def _tool_context(
        self,
        workflows: Workflows,
        conversation: Conversation,
        chat_id: str | None,
        stream: TurnStream,
        edits: Edits,
    ) -> ToolContext:
        history = ConversationHistory(conversation, self._search, chat_id)
        services = self._services
        return ToolContext(
            self._skills,
            workflows,
            history,
            services.comfyui,
            services.definitions,
            services.library,
            lambda: stream.message.tool_parts,
            turn_memories(services, conversation, chat_id, stream.emit),
            edits,
        )
