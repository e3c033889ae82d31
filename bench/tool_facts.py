"""The facts that the context gets about tools of benchmark sessions and of public logs.

The product's own tools supply their facts. The sessions' editing tools are invented, and the tools
of public logs are unknown; each spells an edit differently, so the changes are found by the field
names that editors of node graphs use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plugin.assistant.context.tool_facts import ToolFacts
from plugin.assistant.messages.changes import Change, NodeAdded, NodeRemoved, ValueSet
from plugin.assistant.messages.prompt import ToolCall
from plugin.assistant.tools.toolset import standard_toolset

NODE_FIELDS = ("node_id", "nodeId", "node", "id", "target", "target_id", "targetId")
TYPE_FIELDS = ("class_type", "node_type", "nodeType", "classType", "node_class", "type")
INPUT_FIELDS = ("widget", "widget_name", "widgetName", "input", "input_name", "inputName")
"""Fields of an edit that sets a widget; they decide, whatever the name of the edit."""
WIDGET_FIELDS = (*INPUT_FIELDS, "field", "property", "parameter", "param", "name", "key")
VALUE_FIELDS = ("value", "new_value", "newValue", "to", "new")
OLD_FIELDS = ("old_value", "oldValue", "old", "from", "previous")
MADE_FIELDS = ("node_id", "nodeId", "id", "new_id")
MANY_FIELDS = ("values", "widgets", "inputs", "widget_values", "params", "parameters", "settings")
BATCH_FIELDS = ("operations", "ops", "edits", "changes", "actions", "updates", "steps")
KIND_FIELDS = ("op", "action", "operation", "kind", "command", "type")

_ADD = re.compile(r"add|create|insert|new_?node", re.IGNORECASE)
_REMOVE = re.compile(r"remove|delete", re.IGNORECASE)
_READ = re.compile(r"^(get|list|search|read|find|show|describe|run|queue|recall|history)", re.I)
_MADE = re.compile(r"\b(?:added|created)\s+(?:node\s+)?#?(\d[\w:]*)", re.IGNORECASE)
_CHANGED = re.compile(r"#?(\w[\w:]*)\.(\w+): (.*?) -> ", re.DOTALL)
"""Lines of a batch's result: `added #81 KSampler`, `#80.width: 1024 -> 1020`."""
_SET = re.compile(r"set|update|change|edit|modify|write|replace|configure", re.IGNORECASE)
_NOTHING = object()


def changes_of(call: ToolCall, value: Any) -> Iterator[Change]:
    """The changes of a successful call, found by its field names; none for a tool that reads."""
    arguments = _parsed(call.arguments)
    if _READ.match(call.name) or not isinstance(arguments, Mapping):
        return
    reader = _Reader(_Answer.of(value))
    for operation in _operations(arguments):
        yield from reader.changes(operation, _kind(operation, call.name))


def bench_facts() -> ToolFacts:
    """The facts of the product's own tools, with `changes_of` for all others."""
    own = standard_toolset()
    return ToolFacts(own.recall_name, own.search_name, own.kept_names, own.digest, changes_of)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The facts in a call's result: `made` are the ids of new nodes, in order; `old` are earlier
    values by node and widget; `single` is the earlier value where the call is one edit."""

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


class _Reader:
    """Reads the edits of one call; new nodes get their ids from the result, in order."""

    def __init__(self, answer: _Answer) -> None:
        self._answer = answer
        self._made = iter(answer.made)

    def changes(self, operation: Mapping[str, Any], kind: str) -> Iterator[Change]:
        node = _node(operation)
        if _ADD.search(kind) and not _first(operation, INPUT_FIELDS):
            new = next(self._made, node)
            if new:
                yield NodeAdded(new, str(_first(operation, TYPE_FIELDS) or "node"))
                yield from self._many(new, operation)
        elif node and _REMOVE.search(kind) and not _first(operation, INPUT_FIELDS):
            yield NodeRemoved(node, str(_first(operation, TYPE_FIELDS) or ""))
        elif node and (_SET.search(kind) or any(name in operation for name in VALUE_FIELDS)):
            yield from self._one(node, operation)
            yield from self._many(node, operation)

    def _one(self, node: str, operation: Mapping[str, Any]) -> Iterator[Change]:
        widget = _first(operation, WIDGET_FIELDS)
        value = next((operation[name] for name in VALUE_FIELDS if name in operation), _NOTHING)
        if isinstance(widget, str) and value is not _NOTHING:
            old = next((operation[name] for name in OLD_FIELDS if name in operation), None)
            yield self._set(node, widget, value, self._answer.single if old is None else old)

    def _many(self, node: str, operation: Mapping[str, Any]) -> Iterator[Change]:
        for name in MANY_FIELDS:
            many = operation.get(name)
            if isinstance(many, Mapping):
                for widget, value in many.items():
                    yield self._set(node, str(widget), value)

    def _set(self, node: str, widget: str, value: Any, old: Any = None) -> ValueSet:
        said = self._answer.old.get((node, widget))
        if said is not None:
            old = _parsed(said)
        return ValueSet(node, widget, value, old, known=old is not None)


def _operations(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The edits in a call: the edits of a batch, or the call itself."""
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


def _parsed(text: str) -> Any:
    """The JSON value of a text; another text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
