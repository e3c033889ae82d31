"""What tool calls changed in the workflow: the net of it, one entry for each widget and node.

A model's account of its own edits is not trusted; the calls are. Different tools spell an edit
differently, so the fields are found by the names that editors of node graphs use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages.json_text import json_text
from ..digest import has_failed
from ..log import Group

NODE_FIELDS = ("node_id", "nodeId", "node", "id", "target", "target_id", "targetId")
TYPE_FIELDS = ("class_type", "node_type", "nodeType", "classType", "node_class", "type")
WIDGET_FIELDS = (
    *("widget", "widget_name", "widgetName", "input", "input_name", "inputName"),
    *("field", "property", "parameter", "param", "name", "key"),
)
VALUE_FIELDS = ("value", "new_value", "newValue", "to", "new")
OLD_FIELDS = ("old_value", "oldValue", "old", "from", "previous")
MANY_FIELDS = ("values", "widgets", "inputs", "widget_values", "params", "parameters", "settings")
BATCH_FIELDS = ("operations", "ops", "edits", "changes", "actions", "updates", "steps")
KIND_FIELDS = ("op", "action", "operation", "kind", "command", "type")
MOST_ENTRIES = 400
"""Entries of each kind that a ledger keeps; the oldest goes first, and recall still has it."""
LONGEST_VALUE = 120

_ADD = re.compile(r"add|create|insert|new_?node", re.IGNORECASE)
_REMOVE = re.compile(r"remove|delete", re.IGNORECASE)
_READ = re.compile(r"^(get|list|search|read|find|show|describe|run|queue|recall|history)", re.I)
_SET = re.compile(r"set|update|change|edit|modify|write|replace|configure", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ledger:
    """`values` maps (node, widget) to (value before or None, value now), as JSON texts; `added` and
    `removed` map nodes to their types. In the order of their latest change."""

    values: Mapping[tuple[str, str], tuple[str | None, str]] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)

    def with_round(self, group: Group) -> Ledger:
        """The ledger after the calls of a round; those that failed changed nothing."""
        draft = _Draft(dict(self.values), dict(self.added), dict(self.removed))
        for call in group.messages[0].tool_calls:
            result = next((r for r in group.results if r.tool_call_id == call.id), None)
            answer = parsed(result.text) if result else None
            if result is not None and has_failed(result, answer):
                continue
            arguments = parsed(call.arguments)
            if isinstance(arguments, Mapping) and not _READ.match(call.name):
                for operation in _operations(arguments):
                    draft.apply(operation, _kind(operation, call.name), answer)
        return Ledger(*(_newest(entries) for entries in draft.parts))


class _Draft:
    """A ledger that is being changed."""

    def __init__(
        self,
        values: dict[tuple[str, str], tuple[str | None, str]],
        added: dict[str, str],
        removed: dict[str, str],
    ) -> None:
        self._values, self._added, self._removed = values, added, removed

    @property
    def parts(self) -> tuple[dict[Any, Any], ...]:
        return self._values, self._added, self._removed

    def apply(self, operation: Mapping[str, Any], kind: str, answer: Any) -> None:
        node = _node(operation)
        if _ADD.search(kind) and not _first(operation, WIDGET_FIELDS[:6]):
            new = _made(answer) or node
            if new:
                self._removed.pop(new, None)
                self._added[new] = str(_first(operation, TYPE_FIELDS) or "node")
                self._set_many(new, operation)
        elif node and _REMOVE.search(kind) and not _first(operation, WIDGET_FIELDS[:6]):
            if self._added.pop(node, None) is None:
                self._removed[node] = str(_first(operation, TYPE_FIELDS) or "")
            for key in [key for key in self._values if key[0] == node]:
                del self._values[key]
        elif node and (_SET.search(kind) or any(name in operation for name in VALUE_FIELDS)):
            self._set_one(node, operation)
            self._set_many(node, operation)

    def _set_one(self, node: str, operation: Mapping[str, Any]) -> None:
        widget = _first(operation, WIDGET_FIELDS)
        value = next((operation[name] for name in VALUE_FIELDS if name in operation), _NOTHING)
        if isinstance(widget, str) and value is not _NOTHING:
            old = next((operation[name] for name in OLD_FIELDS if name in operation), _NOTHING)
            self._set(node, widget, value, old)

    def _set_many(self, node: str, operation: Mapping[str, Any]) -> None:
        for name in MANY_FIELDS:
            many = operation.get(name)
            if isinstance(many, Mapping):
                for widget, value in many.items():
                    self._set(node, str(widget), value, _NOTHING)

    def _set(self, node: str, widget: str, value: Any, old: Any) -> None:
        known = self._values.pop((node, widget), None)
        before = known[0] if known else None if old is _NOTHING else _text(old)
        self._values[(node, widget)] = (before, _text(value))


_NOTHING = object()


def _operations(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The edits in a call: those of a batch, or the call itself."""
    for name in BATCH_FIELDS:
        batch = arguments.get(name)
        if isinstance(batch, list):
            shared = {key: arguments[key] for key in NODE_FIELDS if key in arguments}
            yield from ({**shared, **item} for item in batch if isinstance(item, Mapping))
            return
    yield arguments


def _kind(operation: Mapping[str, Any], call: str) -> str:
    for name in KIND_FIELDS:
        kind = operation.get(name)
        if isinstance(kind, str) and any(p.search(kind) for p in (_ADD, _REMOVE, _SET)):
            return kind
    return call


def _node(operation: Mapping[str, Any]) -> str | None:
    found = _first(operation, NODE_FIELDS)
    if isinstance(found, Mapping):
        found = found.get("id")
    return str(found).lstrip("#") if isinstance(found, (str, int)) and str(found) else None


def _made(answer: Any) -> str | None:
    """The id of a node that an answer says was made."""
    if isinstance(answer, Mapping):
        for name in ("node_id", "nodeId", "id", "new_id"):
            if isinstance(answer.get(name), (str, int)):
                return str(answer[name])
    return None


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name) not in (None, "")), None)


def _text(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _newest(entries: dict[Any, Any]) -> dict[Any, Any]:
    excess = len(entries) - MOST_ENTRIES
    return dict(list(entries.items())[excess:]) if excess > 0 else entries


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
