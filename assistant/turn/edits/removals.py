"""How many of the user's nodes an answer takes away: more than a few are not removed unasked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ...chats import ChatEdits
from ...chats.edits import StoredEdit
from ...errors import NotAWorkflow
from ...messages.parts import ToolPart
from ...tools.edit_tools import EDIT_TOOL, OPEN_TOOL
from ...workflow.parse import parse_workflow
from .planning import Content, Planned


@dataclass
class Removals:
    """Those of one answer. `calls` gives its calls so far, `store` the edits that it made before it
    was suspended."""

    answer_id: str
    calls: Callable[[], Sequence[ToolPart]]
    chat_id: str | None
    store: ChatEdits | None
    _gone: Counter[str] | None = None
    """How many nodes went, by workflow."""

    async def with_edit(self, planned: Planned) -> int:
        """How many there are with this edit; 0 where it takes away none."""
        users = await self.of(planned)
        return (await self._until_now()).total() + users if users else 0

    async def of(self, planned: Planned) -> int:
        """How many of the nodes that an edit takes away the answer did not add itself. Asked before
        the edit is carried out, which `add` counts after it."""
        await self._until_now()
        return len(set(planned.removed) - self._own())

    async def add(self, workflow_id: str, nodes: int) -> None:
        (await self._until_now())[workflow_id] += nodes

    def forget(self, workflow_id: str) -> None:
        """The answer took back what it did to the workflow."""
        if self._gone is not None:
            del self._gone[workflow_id]

    async def _until_now(self) -> Counter[str]:
        if self._gone is None:
            found: Counter[str] = Counter()
            if self.store is not None and self.chat_id is not None:
                made = await self.store.of_message(self.chat_id, self.answer_id)
                for one in {edit.edit.workflow_id for edit in made}:
                    edits = [edit for edit in made if edit.edit.workflow_id == one]
                    found[one] = await asyncio.to_thread(_lost, edits, self._own())
            self._gone = found
        return self._gone

    def _own(self) -> set[str]:
        """The nodes that the answer has added to the workflow that is open now, by address."""
        own: set[str] = set()
        for part in self.calls():
            output = part.output if part.state == "output-available" else None
            if not isinstance(output, Mapping):
                continue
            if part.tool_name == OPEN_TOOL:
                own.clear()
            elif part.tool_name == EDIT_TOOL and isinstance(output.get("ids"), Mapping):
                own.update(map(str, output["ids"].values()))
        return own


def _lost(edits: Sequence[StoredEdit], own: Collection[str]) -> int:
    """How many nodes the edits of an answer took away. By their types, since a node that gets into
    a subgraph has another address; the nodes `own`, which the answer added, take nobody's place."""
    return sum(
        (_types(one.before, own) - _types(one.after, own)).total()
        for one in edits
        if one.edit.takes_back is None
    )


def _types(content: Content, without: Collection[str]) -> Counter[str]:
    """How many nodes there are of each type."""
    try:
        places = parse_workflow(content).places()
        return Counter(one.node.type for one in places if one.address not in without)
    except NotAWorkflow:
        return Counter()
