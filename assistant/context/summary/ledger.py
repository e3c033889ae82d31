"""The net changes that tool calls made to the workflow, one entry for each widget and node.

A model's account of its own edits is not trusted. The tools supply the changes of each call
(`ToolFacts.changes`); a call of an unknown tool, as in an imported chat, changed nothing. Nor did
the edits of an answer that a person took back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages.changes import (
    Change,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    PlanMade,
    PlanStep,
    ValueSet,
    WorkflowNamed,
)
from ...messages.fences import quoted
from ...messages.json_text import json_text
from ..digest import has_failed, result_value
from ..log import Group

MOST_ENTRIES = 400
"""Entries of each kind that a ledger keeps; the oldest goes first, and recall still has it."""
LONGEST_VALUE = 120
"""Characters of a value's JSON."""
LONGEST_NAME = 60
"""Characters of the name of a workflow."""
EDITS = (ValueSet, NodeAdded, NodeRemoved, NodeChanged)
"""Changes of a workflow."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """`values` maps (node, widget) to (value before or None, value now), as JSON texts; `added` and
    `removed` map nodes to their types; `others` maps (node, what of it changed) to how it is now.
    In the order of their latest change. A node has its address, and the name of its workflow where
    that is known. `workflow` is the name of the one that was read or opened last. `plan` has the
    steps of the newest plan. `taken_back` are the rows of the rounds with edits that a person took
    back."""

    values: Mapping[tuple[str, str], tuple[str | None, str]] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)
    plan: tuple[PlanStep, ...] = ()
    others: Mapping[tuple[str, str], str] = field(default_factory=dict)
    workflow: str = ""
    taken_back: tuple[int, ...] = ()

    def after(self, rounds: Iterable[Group], taken_back: Collection[str] = ()) -> Ledger:
        """The ledger after the calls of these rounds; calls that failed changed nothing.
        `taken_back` are the ids of the answers whose edits a person took back."""
        draft = _Draft(
            dict(self.values),
            dict(self.added),
            dict(self.removed),
            self.plan,
            dict(self.others),
            self.workflow,
            list(self.taken_back),
        )
        for group in rounds:
            is_gone = group.messages[0].source in taken_back
            for call, result in zip(group.messages[0].tool_calls, group.results, strict=True):
                value = result_value(result.text)
                if not has_failed(result, value):
                    for change in group.facts.changes(call, value):
                        if is_gone and isinstance(change, EDITS):
                            draft.leave_out(group.first)
                        else:
                            draft.take(change)
        return Ledger(
            _newest(draft.values),
            _newest(draft.added),
            _newest(draft.removed),
            draft.plan,
            _newest(draft.others),
            draft.workflow,
            tuple(draft.taken_back[-MOST_ENTRIES:]),
        )


@dataclass(slots=True)
class _Draft:
    """A ledger that is being changed."""

    values: dict[tuple[str, str], tuple[str | None, str]]
    added: dict[str, str]
    removed: dict[str, str]
    plan: tuple[PlanStep, ...]
    others: dict[tuple[str, str], str]
    workflow: str
    taken_back: list[int]

    def leave_out(self, row: int) -> None:
        """A round that begins at this row has edits that were taken back."""
        if self.taken_back[-1:] != [row]:
            self.taken_back.append(row)

    def take(self, change: Change) -> None:
        if isinstance(change, PlanMade):
            self.plan = change.steps
        elif isinstance(change, WorkflowNamed):
            self.workflow = change.name
        elif isinstance(change, ValueSet):
            self._set(self._place(change.node), change)
        elif isinstance(change, NodeAdded):
            node = self._place(change.node)
            self.removed.pop(node, None)
            self.added[node] = change.type
        elif isinstance(change, NodeChanged):
            key = (self._place(change.node), change.part)
            self.others.pop(key, None)
            self.others[key] = _short(change.text)
        else:
            self._remove(self._place(change.node), change)

    def _place(self, node: str) -> str:
        """The node with its workflow: several workflows have a node 3."""
        return f"{node} in {quoted(self.workflow[:LONGEST_NAME])}" if self.workflow else node

    def _set(self, node: str, change: ValueSet) -> None:
        """The value before the first change stays; None where it is not known."""
        earlier = self.values.pop((node, change.widget), None)
        old = _short(json_text(change.old)) if change.known else None
        before = earlier[0] if earlier else old
        self.values[(node, change.widget)] = (before, _short(json_text(change.new)))

    def _remove(self, node: str, change: NodeRemoved) -> None:
        if self.added.pop(node, None) is None:
            self.removed[node] = change.type
        for key in [key for key in self.values if key[0] == node]:
            del self.values[key]
        for other in [key for key in self.others if key[0] == node]:
            del self.others[other]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _newest(entries: dict[Any, Any]) -> dict[Any, Any]:
    excess = len(entries) - MOST_ENTRIES
    return dict(list(entries.items())[excess:]) if excess > 0 else entries
