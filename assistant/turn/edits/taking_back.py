"""What people take back, make again and go back to, outside of a turn.

The workflow that counts is the one that came with the command, if it is the one that was edited,
else the newest graph that the chat has of it. Its new state is the newest at once; the answer has
what a panel carries out on its canvas.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ...chats import ChatEdits, ChatGraphs, KeptGraph, StoredEdit
from ...errors import Conflict
from ...tools.ports import Definitions
from ...workflow.node_definitions import NO_DEFINITIONS, NodeDefinitions
from ...workflow.snapshot import Snapshot
from .canvas import Json
from .planning import ChangedSince, Plan, Planned, replacing, steps, taking_back


@dataclass(frozen=True)
class Asked:
    """`message_id` is an answer; None: the end of the path. `workflow` is the one that is open in
    the client, `canvas` says whether the client carries out steps. `redo`: make again what was
    taken back."""

    message_id: str | None
    workflow: Snapshot
    canvas: bool
    redo: bool = False


class NewestWorkflows(Protocol):
    """Makes a graph the newest of its chat (`chat_workflows.ChatWorkflows.replaced`). `message_id`
    is the message at which it is that."""

    async def replaced(
        self, chat_id: str, snapshot: Snapshot, message_id: str | None, *, canvas: bool
    ) -> None: ...


class TakingBack:
    """For one event loop. Methods raise StoreError, NotFound, NotAWorkflow and Conflict."""

    def __init__(
        self, edits: ChatEdits, graphs: ChatGraphs, definitions: Definitions | None
    ) -> None:
        self._edits = edits
        self._graphs = graphs
        self._definitions = definitions
        self.newest: NewestWorkflows | None = None

    async def take_back(self, chat_id: str, asked: Asked) -> Json:
        """For a client with a canvas only the workflow that is open there: the canvas could not
        follow in others, whose names are `left`. Raises Conflict (`changed_since`, with `nodes`;
        `nothing_to_undo`, `nothing_to_redo`; `other_workflow` where the canvas shows none of the
        workflows that were edited)."""
        assert asked.message_id is not None, "the command names an answer"
        found = await self._edits.of_message(chat_id, asked.message_id)
        by_workflow: dict[str, list[StoredEdit]] = {}
        for one in found:
            by_workflow.setdefault(one.edit.workflow_id, []).append(one)
        only = asked.workflow.id if asked.canvas and asked.workflow.id and found else None
        left: list[str] = []
        if only is not None:
            if only not in by_workflow:
                raise Conflict(
                    "Another workflow is open: open the one that was changed, and try again.",
                    code="other_workflow",
                )
            others = [one.edit for one in found if one.edit.workflow_id != only]
            left = list(dict.fromkeys(one.name for one in others if one.undone == asked.redo))
            by_workflow = {only: by_workflow[only]}
        definitions = await self._known()
        todo: list[tuple[Snapshot, Planned]] = []
        nodes: list[str] = []
        for identity, edits in reversed(by_workflow.items()):
            snapshot = await self._now(chat_id, identity, edits, asked)
            plan = taking_back(edits, redo=asked.redo)
            try:
                todo.append((snapshot, await _planned(plan, snapshot, definitions)))
            except ChangedSince as error:
                nodes.extend(error.nodes)
        if nodes:
            named = ", ".join(nodes)
            raise Conflict(
                f"Nothing was done: these nodes were changed since: {named}.",
                code="changed_since",
                extra={"nodes": nodes},
            )
        told = [await self._done(chat_id, *one, asked, definitions) for one in todo]
        await self._mark(chat_id, asked, found, only)
        if not todo:
            what = "redo" if asked.redo else "undo"
            said = "There is nothing to make again." if asked.redo else "There is nothing to undo."
            if left:
                said += f" The answer changed other workflows, too: {', '.join(left)}."
            raise Conflict(said, code=f"nothing_to_{what}")
        also = {"also": told[1:]} if told[1:] else {}
        return {**told[0], **also, **({"left": left} if left else {})}

    async def restore(self, chat_id: str, asked: Asked) -> Json:
        """Raises Conflict (`nothing_to_restore`), and NotFound for a message that is not on the
        path."""
        kept = await self._graphs.at(chat_id, asked.message_id)
        if kept is None:
            raise Conflict(
                "It is not known what the workflow was there.", code="nothing_to_restore"
            )
        target = await self._graphs.read(chat_id, kept.revision, kept.workflow_id)
        snapshot = await self._newest(chat_id, kept, asked)
        definitions = await self._known()
        planned = await _planned(replacing(target), snapshot, definitions)
        return await self._done(
            chat_id, snapshot, planned, replace(asked, message_id=None), definitions
        )

    async def _mark(
        self, chat_id: str, asked: Asked, found: Sequence[StoredEdit], only: str | None
    ) -> None:
        """Notes which answers' edits are taken back now, of the workflow `only` or of all. What an
        answer took back itself is there again when its own edits are taken back, and its taking
        back is undone when that is made again."""
        assert asked.message_id is not None, "the command names an answer"
        if found:
            await self._edits.mark(chat_id, asked.message_id, not asked.redo, only)
            if asked.redo:
                await self._edits.mark_taking_back(chat_id, asked.message_id, only)
        for other, workflow_id in {(one.edit.takes_back, one.edit.workflow_id) for one in found}:
            if other is not None and only in (None, workflow_id):
                await self._edits.mark(chat_id, other, asked.redo, workflow_id)

    async def _done(
        self,
        chat_id: str,
        snapshot: Snapshot,
        planned: Planned,
        asked: Asked,
        definitions: NodeDefinitions,
    ) -> Json:
        """Makes the new state the newest, and returns what the client gets."""
        new = replace(snapshot, graph=planned.content)
        before = snapshot.graph or {}
        found = await asyncio.to_thread(steps, before, planned.content, definitions)
        revision = await asyncio.to_thread(lambda: new.revision)
        assert self.newest is not None, "set by `service`"
        await self.newest.replaced(chat_id, new, asked.message_id, canvas=asked.canvas)
        return {
            "workflow_id": new.id,
            "revision": revision,
            "base": dict(planned.base),
            "steps": found,
        }

    async def _now(
        self, chat_id: str, identity: str, edits: Sequence[StoredEdit], asked: Asked
    ) -> Snapshot:
        """The workflow as it is now; as the edits left it where nothing else is known."""
        if asked.workflow.id == identity and asked.workflow.graph is not None:
            return asked.workflow
        found = await self._graphs.newest_of(chat_id, identity)
        if found is None:
            last = edits[0].before if asked.redo else edits[-1].after
            return Snapshot(identity, edits[-1].edit.name, last)
        kept, graph = found
        return Snapshot(identity, kept.name, graph)

    async def _newest(self, chat_id: str, kept: KeptGraph, asked: Asked) -> Snapshot:
        if asked.workflow.id == kept.workflow_id and asked.workflow.graph is not None:
            return asked.workflow
        found = await self._graphs.newest_of(chat_id, kept.workflow_id)
        graph: Mapping[str, Any] = {"nodes": [], "links": []}
        if found is not None:
            graph = found[1]
        return Snapshot(kept.workflow_id, kept.name, graph)

    async def _known(self) -> NodeDefinitions:
        try:
            return await self._definitions() if self._definitions is not None else NO_DEFINITIONS
        except Exception:
            return NO_DEFINITIONS


async def _planned(plan: Plan, snapshot: Snapshot, definitions: NodeDefinitions) -> Planned:
    return await asyncio.to_thread(plan, snapshot.graph or {}, definitions)
