"""The net changes that tool calls made to the workflow, one entry for each widget and node.

A model's account of its own edits is not trusted. The tools supply the changes of each call
(`ToolFacts.changes`); a call of an unknown tool, as in an imported chat, changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages.changes import Change, NodeAdded, NodeRemoved, ValueSet
from ...messages.json_text import json_text
from ..digest import has_failed, result_value
from ..log import Group

MOST_ENTRIES = 400
"""Entries of each kind that a ledger keeps; the oldest goes first, and recall still has it."""
LONGEST_VALUE = 120
"""Characters of a value's JSON."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """`values` maps (node, widget) to (value before or None, value now), as JSON texts; `added` and
    `removed` map nodes to their types. In the order of their latest change."""

    values: Mapping[tuple[str, str], tuple[str | None, str]] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)

    def after(self, rounds: Iterable[Group]) -> Ledger:
        """The ledger after the calls of these rounds; calls that failed changed nothing."""
        draft = _Draft(dict(self.values), dict(self.added), dict(self.removed))
        for group in rounds:
            for call, result in zip(group.messages[0].tool_calls, group.results, strict=True):
                value = result_value(result.text)
                if not has_failed(result, value):
                    for change in group.facts.changes(call, value):
                        draft.take(change)
        return Ledger(_newest(draft.values), _newest(draft.added), _newest(draft.removed))


@dataclass(slots=True)
class _Draft:
    """A ledger that is being changed."""

    values: dict[tuple[str, str], tuple[str | None, str]]
    added: dict[str, str]
    removed: dict[str, str]

    def take(self, change: Change) -> None:
        if isinstance(change, ValueSet):
            self._set(change)
        elif isinstance(change, NodeAdded):
            self.removed.pop(change.node, None)
            self.added[change.node] = change.type
        else:
            self._remove(change)

    def _set(self, change: ValueSet) -> None:
        """The value before the first change stays; None where it is not known."""
        earlier = self.values.pop((change.node, change.widget), None)
        old = _short(json_text(change.old)) if change.known else None
        before = earlier[0] if earlier else old
        self.values[(change.node, change.widget)] = (before, _short(json_text(change.new)))

    def _remove(self, change: NodeRemoved) -> None:
        if self.added.pop(change.node, None) is None:
            self.removed[change.node] = change.type
        for key in [key for key in self.values if key[0] == change.node]:
            del self.values[key]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _newest(entries: dict[Any, Any]) -> dict[Any, Any]:
    excess = len(entries) - MOST_ENTRIES
    return dict(list(entries.items())[excess:]) if excess > 0 else entries
