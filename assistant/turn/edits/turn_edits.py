"""The edits of one turn: its tools make them here (`tools.ports.Edits`).

Each edit is worked out on the graph that the turn reads. Where the client that started the turn has
a canvas, the panel carries it out there, and its canvas is what counts; else the graph that was
worked out is the workflow from then on, and the stream says so.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from ...chats import ChatEdits, Edit
from ...errors import AssistantError, NotAWorkflow, ToolError
from ...messages import chunks
from ...messages.chunks import Chunk
from ...messages.parts import ToolPart
from ...tools.edit_tools import EDIT_TOOL, EDIT_TOOLS, OPEN_TOOL, UNDO_TOOL
from ...tools.ports import Definitions, Outlook
from ...workflow.edits.forms import FORMS
from ...workflow.edits.refused import EditRefused
from ...workflow.graph import Graph
from ...workflow.node_definitions import NodeDefinitions
from ...workflow.snapshot import Snapshot
from ...workflow.write import write_workflow
from .canvas import Canvas, Handed, Json, Verdict
from .planning import (
    ChangedSince,
    Plan,
    Planned,
    batch,
    judged,
    steps,
    taking_back,
)
from .removals import Removals

logger = logging.getLogger("comfyui_assistant")

TITLES: Final = {tool.name: tool.title for tool in EDIT_TOOLS}
NO_DEFINITIONS: Final = "ComfyUI's node definitions cannot be read, so nothing can be edited."
NOT_NOTED: Final = "The edits are taken back, but the chat still counts them as made: {}"
OPEN_ONE: Final = f"{OPEN_TOOL} opens a template or a saved workflow."


class EditedWorkflow(Protocol):
    """The workflow that a turn reads (`chat_workflows`). `edited` makes another state of it, or
    another workflow, the current one; `made` says that no canvas has it. `names` are those of the
    workflows that the chat knows."""

    @property
    def current(self) -> Snapshot: ...
    async def edited(self, snapshot: Snapshot, *, made: bool) -> None: ...
    async def names(self) -> Sequence[str]: ...


@dataclass
class TurnEdits:
    """For one turn. `store` is None without a chat: then nothing can be taken back. `path` gives
    the ids of the messages of the chat's path, the answer `answer_id` last. `emit` adds a chunk to
    the answer."""

    answer_id: str
    workflow: EditedWorkflow
    definitions: Definitions | None
    canvas: Canvas
    emit: Callable[[Chunk], None]
    path: Callable[[], Sequence[str]]
    chat_id: str | None = None
    store: ChatEdits | None = None
    calls: Callable[[], Sequence[ToolPart]] = tuple
    """The calls of the answer so far."""
    _forms: set[str] = field(default_factory=set)
    _known: tuple[Snapshot, tuple[str, object], tuple[NodeDefinitions, Planned]] | None = None
    """The edit that was worked out last, with the workflow that it was worked out for."""

    def __post_init__(self) -> None:
        self._removals = Removals(self.answer_id, self.calls, self.chat_id, self.store)

    async def outlook(self, operations: object) -> Outlook:
        """What a batch would do. Raises ToolError for one that would be refused."""
        _, planned = await self._foreseen_once(("batch", operations), batch(operations))
        return await self._outlook(planned)

    async def outlook_back(self, turn: int) -> Outlook:
        """What taking back would do. Raises ToolError where it cannot be done."""
        message_id, plan, _ = await self._taking_back(turn)
        _, planned = await self._foreseen_once(("back", message_id), plan)
        return await self._outlook(planned)

    async def _outlook(self, planned: Planned) -> Outlook:
        gone = await self._removals.with_edit(planned)
        return Outlook(len(planned.ids), len(planned.removed), gone, planned.answer)

    async def edit(self, call_id: str, arguments: Mapping[str, Any]) -> Json:
        """Carries out a batch. Raises ToolError."""
        operations = arguments["operations"]
        plan = batch(operations)
        definitions, planned = await self._foreseen_once(("batch", operations), plan)
        users, workflow_id = await self._removals.of(planned), self.workflow.current.id
        answer = await self._carry_out(call_id, EDIT_TOOL, arguments, plan, planned, definitions)
        await self._removals.add(workflow_id, users)
        return answer

    async def take_back(self, call_id: str, turn: int) -> Json:
        """Takes back what the `turn`-th last answer that edited did to the open workflow. Raises
        ToolError."""
        message_id, plan, others = await self._taking_back(turn)
        definitions, planned = await self._foreseen_once(("back", message_id), plan)
        own, workflow_id = message_id == self.answer_id, self.workflow.current.id
        answer = await self._carry_out(
            call_id,
            UNDO_TOOL,
            {"turn": turn},
            plan,
            planned,
            definitions,
            takes_back=None if own else message_id,
        )
        if own:
            self._removals.forget(workflow_id)
        elif self.store is not None and self.chat_id is not None:
            try:
                await self.store.mark(self.chat_id, message_id, True, workflow_id)
            except AssistantError as error:  # The workflow is changed all the same.
                logger.warning("Edits were not marked: %s", ascii(error.message)[1:-1])
                answer = {**answer, "not_noted": NOT_NOTED.format(error.message)}
        return {**answer, "not_taken_back_in": others} if others else answer

    async def _taking_back(self, turn: int) -> tuple[str, Plan, list[str]]:
        """The `turn`-th last answer that edited, the plan that takes its edits of the open workflow
        back, and the names of the other workflows that it edited."""
        if self.store is None or self.chat_id is None:
            raise ToolError("Edits can be taken back in a stored chat only, and this is none.")
        message_id, names = await self._edited_turn(turn)
        open_now = self.workflow.current.id
        if open_now not in names:
            raise ToolError("These edits are of another workflow than the one that is open.")
        found = await self.store.of_message(self.chat_id, message_id)
        plan = taking_back([one for one in found if one.edit.workflow_id == open_now])
        return message_id, plan, [name for one, name in names.items() if one != open_now]

    async def open(
        self,
        call_id: str,
        arguments: Mapping[str, Any],
        graph: Graph,
        name: str,
        is_taken: Callable[[str], bool],
    ) -> Json:
        """Opens a workflow beside the one that is open; never over it. Raises ToolError."""
        content = await asyncio.to_thread(lambda: copy.deepcopy(write_workflow(graph)))
        names = await self.workflow.names()
        name = await asyncio.to_thread(_free, name, names, is_taken)
        if self.canvas.is_there:
            more = {"name": name, "graph": content}
            handed = Handed(
                call_id, self.answer_id, OPEN_TOOL, TITLES[OPEN_TOOL], arguments, None, more
            )
            found = await self.canvas.hand_over(handed, self._judge_opened)
            return dict(found)
        snapshot = Snapshot(f"w-{uuid.uuid4().hex}", name, content)
        await self._keep(snapshot, made=True)
        return await self._opened(snapshot)

    async def _judge_opened(self, output: Mapping[str, Any]) -> Verdict:
        identity, name, graph = (output.get(field) for field in ("id", "name", "graph"))
        if not (isinstance(identity, str) and identity and isinstance(name, str)):
            raise ToolError("The canvas did not say what it opened.")
        if not isinstance(graph, Mapping):
            raise ToolError("The canvas did not send the workflow that it opened.")
        snapshot = Snapshot(identity, name, graph)
        opened = await self._opened(snapshot)

        async def keep() -> None:
            await self._keep(snapshot, made=False)

        return Verdict(output=opened, keep=keep)

    async def _opened(self, snapshot: Snapshot) -> Json:
        try:
            found = await asyncio.to_thread(lambda: snapshot.revision)
        except NotAWorkflow as error:
            raise ToolError(error.message) from error
        return {"id": snapshot.id, "name": snapshot.name, "revision": found}

    async def _edited_turn(self, turn: int) -> tuple[str, dict[str, str]]:
        """The `turn`-th last answer of the path that edited, and the names of the workflows that it
        edited by their ids. What was taken back, and what only took back, does not count."""
        assert self.store is not None and self.chat_id is not None, "a chat has a store"
        on_path = set(self.path())
        by_answer: dict[str, dict[str, str]] = {}
        for edit in await self.store.of_chat(self.chat_id):
            if edit.message_id in on_path and not edit.undone and edit.takes_back is None:
                names = by_answer.pop(edit.message_id, {})
                by_answer[edit.message_id] = {**names, edit.workflow_id: edit.name}
        found = list(reversed(by_answer.items()))
        if not found:
            raise ToolError("No answer of this chat has edits that could be taken back.")
        if turn > len(found):
            raise ToolError(f"Only {len(found)} answers of this chat have edits to take back.")
        return found[turn - 1]

    async def _foreseen_once(
        self, edit: tuple[str, object], plan: Plan
    ) -> tuple[NodeDefinitions, Planned]:
        """As `_foreseen`; an edit that was looked at before it is carried out is worked out once as
        long as the workflow stays."""
        snapshot, known = self.workflow.current, self._known
        if known is None or known[0] is not snapshot or known[1] != edit:
            found = await self._foreseen(plan)
            self._known = known = (snapshot, edit, found)
        return known[2]

    async def _foreseen(self, plan: Plan) -> tuple[NodeDefinitions, Planned]:
        """What the plan makes of the workflow that the turn reads. Raises ToolError."""
        definitions = await self._known_definitions()
        snapshot = self.workflow.current

        def work() -> Planned:
            if snapshot.graph is None:
                _ = snapshot.parsed  # Raises the sentence that says why.
            return plan(snapshot.graph or {}, definitions)

        try:
            return definitions, await asyncio.to_thread(work)
        except EditRefused as error:
            raise ToolError(self._refusal(error)) from error
        except ChangedSince as error:
            raise ToolError(_since(error)) from error
        except NotAWorkflow as error:
            raise ToolError(f"{error.message} {OPEN_ONE}") from error

    async def _known_definitions(self) -> NodeDefinitions:
        try:
            found = await self.definitions() if self.definitions is not None else None
        except Exception as error:
            logger.warning("The node definitions could not be read: %s", ascii(str(error))[1:-1])
            found = None
        if not found:
            raise ToolError(NO_DEFINITIONS)
        return found

    def _refusal(self, error: EditRefused) -> str:
        """The error for the model. The right form of an operation stands in it once in a turn."""
        said = error.message
        for name, form in FORMS.items():
            if said.endswith(form):
                if name in self._forms:
                    whose = f'of "{name}"' if name else "of operations"
                    said = f"{said.removesuffix(form)}The form {whose} stands above."
                self._forms.add(name)
                break
        return f"Operation {error.operation} (from 0): {said} Nothing was changed."

    async def _carry_out(
        self,
        call_id: str,
        tool: str,
        arguments: Mapping[str, Any],
        plan: Plan,
        planned: Planned,
        definitions: NodeDefinitions,
        takes_back: str | None = None,
    ) -> Json:
        snapshot = self.workflow.current
        before = snapshot.graph or {}
        if self.canvas.is_there:
            hand = _OnCanvas(self, snapshot, plan, planned, definitions, takes_back)
            found = await asyncio.to_thread(steps, before, planned.content, definitions)
            more = {"base": planned.base, "new_ids": planned.ids, "steps": found}
            handed = Handed(
                call_id, self.answer_id, tool, TITLES[tool], arguments, snapshot.id, more
            )
            answer = await self.canvas.hand_over(handed, hand.judge)
            return dict(answer)
        after = replace(snapshot, graph=planned.content)
        answer = await _with_revision(planned, after)
        await self._keep(after, made=True)
        await self.keep_edit(snapshot, before, planned.content, takes_back)
        return answer

    async def _keep(self, snapshot: Snapshot, *, made: bool) -> None:
        await self.workflow.edited(snapshot, made=made)
        if made:
            said = {"id": snapshot.id, "revision": snapshot.revision, "graph": snapshot.graph}
            self.emit(chunks.data("workflow", said, transient=True))

    async def keep_edit(
        self,
        snapshot: Snapshot,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        takes_back: str | None,
    ) -> None:
        """The edit was made: it counts even where it cannot be stored."""
        if self.store is None or self.chat_id is None:
            return
        edit = Edit(self.answer_id, snapshot.id, snapshot.name, takes_back)
        try:
            await self.store.keep(self.chat_id, edit, before, after)
        except AssistantError as error:
            logger.warning("An edit was not kept: %s", ascii(error.message)[1:-1])


@dataclass(frozen=True)
class _OnCanvas:
    """An edit that a panel carries out."""

    edits: TurnEdits
    snapshot: Snapshot
    plan: Plan
    planned: Planned
    definitions: NodeDefinitions
    takes_back: str | None

    async def judge(self, output: Mapping[str, Any]) -> Verdict:
        before, after, ids = (output.get(name) for name in ("before", "after", "ids"))
        if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
            raise ToolError("The canvas did not send the workflow before and after the edit.")
        named = {**self.planned.ids, **(ids if isinstance(ids, Mapping) else {})}
        named = {name: one for name, one in named.items() if isinstance(one, str)}
        found = await asyncio.to_thread(
            judged, self.plan, self.planned, before, after, named, self.definitions
        )
        if found.differs or found.planned is None:
            said = " ".join(found.differs)
            return Verdict(
                found.differs,
                error=f"The canvas did something else, and it was taken back: {said}",
            )
        snapshot = replace(self.snapshot, graph=after)
        answer = await _with_revision(found.planned, snapshot)
        if "ids" in answer:
            answer = {**answer, "ids": named}

        async def keep() -> None:
            await self.edits.workflow.edited(snapshot, made=False)
            await self.edits.keep_edit(snapshot, before, after, self.takes_back)

        return Verdict(output=answer, keep=keep)


async def _with_revision(planned: Planned, snapshot: Snapshot) -> Json:
    """The answer, with the revision of the workflow as it is kept."""
    found = await asyncio.to_thread(lambda: snapshot.revision)
    return {**planned.answer, "revision": found}


def _since(error: ChangedSince) -> str:
    if not error.nodes:
        return "These edits are taken back already."
    named = ", ".join(error.nodes)
    return f"Nothing was taken back: these nodes were changed since: {named}."


def _free(name: str, taken: Sequence[str], is_taken: Callable[[str], bool]) -> str:
    """The name, or the first of "name (2)", "name (3)" that is free."""
    known = {one.casefold() for one in taken}
    number, free = 1, name
    while free.casefold() in known or is_taken(free):
        number += 1
        free = f"{name} ({number})"
    return free
