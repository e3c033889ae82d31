"""What tool calls changed in the workflow: the net of it, one entry for each widget and node.

A model's account of its own edits is not trusted; the calls are. Different tools spell an edit
differently, so the fields are found by the names that editors of node graphs use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...messages.json_text import json_text
from ..digest import has_failed
from ..log import Group

NODE_FIELDS = ("node_id", "nodeId", "node", "id", "target", "target_id", "targetId")
TYPE_FIELDS = ("class_type", "node_type", "nodeType", "classType", "node_class", "type")
INPUT_FIELDS = ("widget", "widget_name", "widgetName", "input", "input_name", "inputName")
"""An edit with one of these is of a widget, whatever else its name says."""
WIDGET_FIELDS = (*INPUT_FIELDS, "field", "property", "parameter", "param", "name", "key")
VALUE_FIELDS = ("value", "new_value", "newValue", "to", "new")
OLD_FIELDS = ("old_value", "oldValue", "old", "from", "previous")
MADE_FIELDS = ("node_id", "nodeId", "id", "new_id")
MANY_FIELDS = ("values", "widgets", "inputs", "widget_values", "params", "parameters", "settings")
BATCH_FIELDS = ("operations", "ops", "edits", "changes", "actions", "updates", "steps")
KIND_FIELDS = ("op", "action", "operation", "kind", "command", "type")
MOST_ENTRIES = 400
"""Entries of each kind that a ledger keeps; the oldest goes first, and recall still has it."""
LONGEST_VALUE = 120

_ADD = re.compile(r"add|create|insert|new_?node", re.IGNORECASE)
_REMOVE = re.compile(r"remove|delete", re.IGNORECASE)
_READ = re.compile(r"^(get|list|search|read|find|show|describe|run|queue|recall|history)", re.I)
_MADE = re.compile(r"\b(?:added|created)\s+(?:node\s+)?#?(\d[\w:]*)", re.IGNORECASE)
_CHANGED = re.compile(r"#?(\w[\w:]*)\.(\w+): (.*?) -> ", re.DOTALL)
"""What answers say of a batch: `added #81 KSampler`, `#80.width: 1024 -> 1020`."""
_SET = re.compile(r"set|update|change|edit|modify|write|replace|configure", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ledger:
    """`values` maps (node, widget) to (value before or None, value now), as JSON texts; `added` and
    `removed` map nodes to their types. In the order of their latest change."""

    values: Mapping[tuple[str, str], tuple[str | None, str]] = field(default_factory=dict)
    added: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)

    def after(self, rounds: Iterable[Group]) -> Ledger:
        """The ledger after the calls of these rounds; those that failed changed nothing."""
        draft = _Draft(dict(self.values), dict(self.added), dict(self.removed))
        for group in rounds:
            for call, result in zip(group.messages[0].tool_calls, group.results, strict=True):
                if _READ.match(call.name):
                    continue
                arguments, answer = parsed(call.arguments), parsed(result.text)
                if isinstance(arguments, Mapping) and not has_failed(result, answer):
                    draft.take(arguments, call.name, _Answer.of(answer))
        return Ledger(*(_newest(entries) for entries in draft.parts))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a result says of the edits of its call: the nodes it made, in order, and the values that
    widgets had, `single` where it is of one edit."""

    made: tuple[str, ...] = ()
    old: Mapping[tuple[str, str], str] = field(default_factory=dict)
    single: Any = None

    @classmethod
    def of(cls, value: Any) -> _Answer:
        if not isinstance(value, Mapping):
            return cls()
        lines = [line for item in value.values() if isinstance(item, list) for line in item]
        lines = [line for line in lines if isinstance(line, str)]
        made = [str(value[name]) for name in MADE_FIELDS if isinstance(value.get(name), (str, int))]
        made = made[:1] or [found[1] for found in map(_MADE.search, lines) if found]
        changed = [found for found in map(_CHANGED.match, lines) if found]
        return cls(
            tuple(made),
            {(found[1], found[2]): found[3] for found in changed},
            next((value[name] for name in OLD_FIELDS if name in value), None),
        )


class _Draft:
    """A ledger that is being changed."""

    def __init__(
        self,
        values: dict[tuple[str, str], tuple[str | None, str]],
        added: dict[str, str],
        removed: dict[str, str],
    ) -> None:
        self._values, self._added, self._removed = values, added, removed
        self._answer = _Answer()
        self._made: Iterator[str] = iter(())

    @property
    def parts(self) -> tuple[dict[Any, Any], ...]:
        return self._values, self._added, self._removed

    def take(self, arguments: Mapping[str, Any], call: str, answer: _Answer) -> None:
        """The edits of one call."""
        self._answer, self._made = answer, iter(answer.made)
        for operation in _operations(arguments):
            self._apply(operation, _kind(operation, call))

    def _apply(self, operation: Mapping[str, Any], kind: str) -> None:
        node = _node(operation)
        if _ADD.search(kind) and not _first(operation, INPUT_FIELDS):
            new = next(self._made, node)
            if new:
                self._removed.pop(new, None)
                self._added[new] = str(_first(operation, TYPE_FIELDS) or "node")
                self._set_many(new, operation)
        elif node and _REMOVE.search(kind) and not _first(operation, INPUT_FIELDS):
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
            old = next((operation[name] for name in OLD_FIELDS if name in operation), None)
            self._set(node, widget, value, self._answer.single if old is None else old)

    def _set_many(self, node: str, operation: Mapping[str, Any]) -> None:
        for name in MANY_FIELDS:
            many = operation.get(name)
            if isinstance(many, Mapping):
                for widget, value in many.items():
                    self._set(node, str(widget), value)

    def _set(self, node: str, widget: str, value: Any, old: Any = None) -> None:
        """The value before the first change stays; None where nothing says it."""
        known = self._values.pop((node, widget), None)
        before = known[0] if known else self._answer.old.get((node, widget))
        if known is None and before is None and old is not None:
            before = json_text(old)
        self._values[(node, widget)] = (before and _short(before), _short(json_text(value)))


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


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name) not in (None, "")), None)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def _newest(entries: dict[Any, Any]) -> dict[Any, Any]:
    excess = len(entries) - MOST_ENTRIES
    return dict(list(entries.items())[excess:]) if excess > 0 else entries


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
