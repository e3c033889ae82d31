"""The workflows of chats: which one a turn's tools read, and the graphs that are kept of them.

    workflow = await workflows.begin("c1", request.workflow, ...)     a turn begins
    await workflows.changed("c1", snapshot, "panel-1")                the command `set_workflow`

A turn reads the workflow that came with its message. Without one it reads the newest of its chat,
which after a restart is the last graph that was kept. While a turn runs or waits, only the panel
that started it, with the same workflow, changes what its tools read; what other panels send counts
from the next turn. What the server made without a canvas is the chat's workflow until a message
brings another: no panel has it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..chats import ChatGraphs, KeptGraph
from ..errors import AssistantError, NotAWorkflow, NotFound
from ..workflow.graph import Graph
from ..workflow.parse import parse_workflow
from ..workflow.snapshot import Snapshot
from .waiting_workflows import WaitingWorkflows

logger = logging.getLogger("comfyui_assistant")

MOST_NEWEST = 4
"""Chats whose newest workflow stays in memory; that of other chats is read again on use."""
MOST_KNOWN = 1_000
"""Chats, those without a workflow included: their turns need not ask the store."""
MOST_NAMES = 200
"""Graphs whose names are looked at for one that is free."""


class LooseWorkflow:
    """The workflow of a turn without a chat: nothing of it is kept."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.current = snapshot

    keeps = False

    async def kept(self, revision: str) -> Graph | None:
        return None

    async def edited(self, snapshot: Snapshot, *, made: bool) -> None:
        self.current = snapshot

    async def names(self) -> Sequence[str]:
        return (self.current.name,)


class TurnWorkflow:
    """The workflow that the tools of one turn of a chat read (`tools.ports.Workflows`).
    `message_id` is the user message that the turn answers, `client_id` the panel that started it.
    """

    def __init__(
        self,
        workflows: ChatWorkflows,
        chat_id: str,
        snapshot: Snapshot,
        message_id: str | None,
        client_id: str | None,
        answer_id: str | None = None,
    ) -> None:
        self._workflows = workflows
        self._chat_id = chat_id
        self._client_id = client_id
        self.message_id = message_id
        self.answer_id = answer_id
        self.current = snapshot

    keeps = True

    async def edited(self, snapshot: Snapshot, *, made: bool) -> None:
        """An edit of the turn made this the workflow; `made`: no canvas has it."""
        self.current = snapshot
        await self._workflows.edited(self._chat_id, snapshot, self.answer_id, made=made)

    async def names(self) -> Sequence[str]:
        """The names of the workflows that the chat knows."""
        return await self._workflows.names(self._chat_id)

    def is_of(self, snapshot: Snapshot, client_id: str | None) -> bool:
        """Whether this panel and this workflow may change what the turn's tools read."""
        return _same(self.current, self._client_id, snapshot, client_id)

    async def kept(self, revision: str) -> Graph | None:
        """A graph of the chat; None where it is not kept (any more)."""
        return await self._workflows.kept(self._chat_id, revision)


@dataclass(frozen=True, slots=True)
class Brought:
    """What a turn begins with: the workflow of its request, the id of the message that it answers,
    the panel that started it, the id of its entry in the chat's queue, if it has one, the id of its
    answer, and whether the turn has made the chat, which then has no workflow yet."""

    workflow: Snapshot
    message_id: str | None
    client_id: str | None
    from_queue: str | None = None
    answer_id: str | None = None
    new: bool = False


class ChatWorkflows:
    """For one event loop, and the chats of one ComfyUI user. `graphs` is where they are kept,
    `now` gives UTC times."""

    def __init__(self, graphs: ChatGraphs, now: Callable[[], datetime]) -> None:
        self._graphs = graphs
        self._now = now
        self._waiting = WaitingWorkflows()
        self._waiting_for: dict[str, str | None] = {}
        self._running: dict[str, TurnWorkflow] = {}
        self._newest: dict[str, Snapshot] = {}
        self._made: set[str] = set()
        self._keeping: dict[str, asyncio.Task[None]] = {}

    async def begin(self, chat_id: str, brought: Brought) -> TurnWorkflow:
        """The workflow of a turn that begins, or goes on after it was suspended. What came with its
        message is kept meanwhile."""
        if brought.new and chat_id not in self._newest:
            self._note(chat_id, Snapshot())
        own, snapshot = self._own(chat_id, brought), await self.foreseen(chat_id, brought)
        if brought.from_queue is not None:
            self._waiting.take(chat_id, brought.from_queue)
        self._waiting.take(chat_id)
        self._waiting_for.pop(chat_id, None)
        message_id, client_id = brought.message_id, brought.client_id
        turn = TurnWorkflow(self, chat_id, snapshot, message_id, client_id, brought.answer_id)
        self._running[chat_id] = turn
        if own is not None:
            self._note(chat_id, own)
            self._made.discard(chat_id)
            self._keeping[chat_id] = asyncio.get_running_loop().create_task(
                self._keep(chat_id, own, brought.message_id)
            )
        return turn

    async def foreseen(self, chat_id: str, brought: Brought) -> Snapshot:
        """The workflow that `begin` gives the turn. Nothing changes by asking."""
        own = self._own(chat_id, brought) or self._waiting.get(chat_id)
        if own.is_open:
            return own
        return Snapshot() if brought.new else await self._newest_of(chat_id)

    def _own(self, chat_id: str, brought: Brought) -> Snapshot | None:
        """The workflow that came with the turn's message, now or into the queue."""
        queued = Snapshot()
        if brought.from_queue is not None:
            queued = self._waiting.get(chat_id, brought.from_queue)
        return next((one for one in (brought.workflow, queued) if one.is_open), None)

    async def end(self, chat_id: str, turn: TurnWorkflow, *, waits: bool) -> None:
        """The turn ended or, if it `waits`, was suspended. Returns when its graph is kept."""
        if self._running.get(chat_id) is turn:
            del self._running[chat_id]
            if waits:
                self._waiting.keep(chat_id, None, turn.current)
                self._waiting_for[chat_id] = turn._client_id
        await self._kept_by_now(chat_id)

    async def changed(self, chat_id: str, snapshot: Snapshot, client_id: str | None) -> None:
        """The workflow that is open in a panel changed. Raises StoreError."""
        await self._newest_of(chat_id)
        if chat_id in self._made:
            return
        running, message_id = self._running.get(chat_id), None
        if running is not None and running.is_of(snapshot, client_id):
            running.current, message_id = snapshot, running.message_id
        waiting = self._waiting.get(chat_id)
        if chat_id in self._waiting_for and _same(
            waiting, self._waiting_for[chat_id], snapshot, client_id
        ):
            self._waiting.keep(chat_id, None, snapshot)
        self._note(chat_id, snapshot)
        await self._kept_by_now(chat_id)
        await self._keep_now(chat_id, snapshot, message_id)

    async def edited(
        self, chat_id: str, snapshot: Snapshot, answer_id: str | None, *, made: bool
    ) -> None:
        """An edit made this the chat's workflow. It is that even where it cannot be stored."""
        self._note(chat_id, snapshot)
        (self._made.add if made else self._made.discard)(chat_id)
        await self._kept_by_now(chat_id)
        await self._keep(chat_id, snapshot, None, edited=answer_id, made=made)

    async def replaced(
        self, chat_id: str, snapshot: Snapshot, message_id: str | None, *, canvas: bool
    ) -> None:
        """Somebody took edits back, or went back to an earlier state: this is the chat's workflow
        now, and what it is at the message `message_id`. Raises StoreError; then it is not."""
        await self._newest_of(chat_id)
        made = chat_id in self._made or not canvas
        await self._kept_by_now(chat_id)
        await self._keep_now(chat_id, snapshot, None, edited=message_id, made=made)
        self._note(chat_id, snapshot)
        (self._made.add if made else self._made.discard)(chat_id)

    async def names(self, chat_id: str) -> tuple[str, ...]:
        """The names of the workflows that the chat knows. Where the store fails, that of the newest
        one."""
        newest = await self._newest_of(chat_id)
        try:
            kept = await self._graphs.list(chat_id, MOST_NAMES)
        except AssistantError:
            kept = ()
        return tuple({newest.name, *(one.name for one in kept)})

    async def kept(self, chat_id: str, revision: str) -> Graph | None:
        """A graph of the chat; None where it is not kept (any more). Raises StoreError."""
        await self._kept_by_now(chat_id)
        try:
            graph = await self._graphs.read(chat_id, revision)
            return await asyncio.to_thread(parse_workflow, graph)
        except (NotFound, NotAWorkflow):
            return None

    def keep_queued(self, chat_id: str, message_id: str, workflow: Snapshot) -> None:
        """Keeps the workflow of a queued message for its turn."""
        self._waiting.keep(chat_id, message_id, workflow)

    def forget_waiting(self, chat_id: str, message_id: str | None = None) -> None:
        """Drops the workflow of a queued message, or of the suspended turn."""
        self._waiting.take(chat_id, message_id)
        if message_id is None:
            self._waiting_for.pop(chat_id, None)

    def forget(self, chat_id: str) -> None:
        """Drops all that is in memory of a deleted chat."""
        self._waiting.forget(chat_id)
        self._waiting_for.pop(chat_id, None)
        self._running.pop(chat_id, None)
        self._newest.pop(chat_id, None)
        self._made.discard(chat_id)

    async def _newest_of(self, chat_id: str) -> Snapshot:
        """The newest workflow of a chat, from memory or else from the store; an empty one where
        there is none. An answer has begun: it must not end here because the store fails."""
        known = self._newest.get(chat_id)
        if known is not None:
            return known
        snapshot = Snapshot()
        try:
            found = await self._graphs.newest(chat_id)
        except AssistantError as error:
            logger.warning("A workflow could not be read: %s", ascii(error.message)[1:-1])
            return snapshot
        if found is not None:
            kept, graph = found
            snapshot = Snapshot(id=kept.workflow_id, name=kept.name, graph=graph)
            (self._made.add if kept.made else self._made.discard)(chat_id)
        self._note(chat_id, snapshot)
        return snapshot

    def _note(self, chat_id: str, snapshot: Snapshot) -> None:
        self._newest.pop(chat_id, None)
        self._newest[chat_id] = snapshot
        held = [one for one, known in self._newest.items() if known.graph is not None]
        if len(held) > MOST_NEWEST:
            del self._newest[held[0]]
        if len(self._newest) > MOST_KNOWN:
            del self._newest[next(iter(self._newest))]

    async def _kept_by_now(self, chat_id: str) -> None:
        keeping = self._keeping.get(chat_id)
        if keeping is not None:
            await asyncio.wait((keeping,))
            if self._keeping.get(chat_id) is keeping:
                del self._keeping[chat_id]

    async def _keep(
        self,
        chat_id: str,
        snapshot: Snapshot,
        message_id: str | None,
        edited: str | None = None,
        made: bool = False,
    ) -> None:
        """A turn goes on without the graph in the store."""
        try:
            await self._keep_now(chat_id, snapshot, message_id, edited, made)
        except AssistantError as error:
            logger.warning("A workflow was not kept: %s", ascii(error.message)[1:-1])

    async def _keep_now(
        self,
        chat_id: str,
        snapshot: Snapshot,
        message_id: str | None,
        edited: str | None = None,
        made: bool = False,
    ) -> None:
        """Keeps the graph; one that cannot be read as a workflow is passed over."""
        if snapshot.graph is None:
            return
        try:
            revision = await asyncio.to_thread(lambda: snapshot.revision)
        except NotAWorkflow:
            return
        nodes = len(snapshot.parsed.root.nodes)
        now = self._now()
        kept = KeptGraph(snapshot.id, revision, snapshot.name, message_id, now, nodes, edited, made)
        await self._graphs.keep(chat_id, kept, snapshot.graph)


def _same(workflow: Snapshot, owner: str | None, changed: Snapshot, client_id: str | None) -> bool:
    """Whether the change is of this workflow, by the panel that owns the turn. A client without an
    id cannot be told from others."""
    return owner is not None and owner == client_id and workflow.id == changed.id
