"""The edits of a generated session: tool calls under the names that models use, and their results.

An edit that succeeds changes the canvas and its ledger; an edit that fails changes neither.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import wordings
from .canvas import Canvas
from .facts import Planted

FAILURE_SHARE = 0.12
TEXT_FACT_SHARE = 0.5
"""Share of the text widgets whose new value is a fact, while facts are planted."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its result; `value` is a planted fact, and `where` says whether the call or the
    result has it."""

    name: str
    arguments: dict[str, Any]
    result: str
    value: Planted | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class Editor:
    """Makes edits of a canvas. `at` is the index of the message that will hold the calls; `plant`
    gives a value to plant, or None."""

    random: random.Random
    canvas: Canvas
    topic: str
    at: int
    plant: Callable[[], Planted | None]

    def single(self) -> Call:
        """One edit in one call."""
        kind = self.random.choices(("set", "add", "remove"), (8, 1.5, 1))[0]
        if kind == "add":
            return self._add()
        if kind == "remove" and (node := self._removable()) is not None:
            return self._remove(node)
        return self._set()

    def batch(self, count: int) -> Call:
        """Several edits in one `editWorkflow`; all or nothing."""
        if self.random.random() < FAILURE_SHARE:
            node, name = self.random.choice(self.canvas.editable())
            operations = [{"op": "setWidget", "node": node, "widget": f"{name}_x", "value": 1}]
            error = f"Node {node} ({self.canvas.kind(node)}) has no widget {name}_x."
            return Call("editWorkflow", {"operations": operations}, compact({"error": error}))
        operations, changes, planted = [], [], None
        for _ in range(count):
            if self.random.random() < 0.2:
                kind = self.random.choice(list(wordings.NODE_KINDS))
                node = self.canvas.add(self.at, kind, wordings.NODE_KINDS[kind])
                operations.append({"op": "addNode", "type": kind, "ref": f"n{len(operations)}"})
                changes.append(f"added #{node} {kind}")
                continue
            node, name, value, fact = self._new_value(may_plant=planted is None)
            planted = planted or fact
            old = self.canvas.set(self.at, node, name, value)
            operations.append({"op": "setWidget", "node": node, "widget": name, "value": value})
            changes.append(f"#{node}.{name}: {compact(old)} -> {compact(value)}")
        result = compact({"ok": True, "changes": changes, "problems": []})
        return Call("editWorkflow", {"operations": operations}, result, planted, "arguments")

    def _set(self) -> Call:
        node, name, value, fact = self._new_value(may_plant=True)
        vocabulary: Callable[[int, str, Any], tuple[str, dict[str, Any]]]
        vocabulary = self.random.choice(SET_VOCABULARIES)
        tool, arguments = vocabulary(node, name, value)
        if self.random.random() < FAILURE_SHARE:
            error = f"Node {node} was changed by the user meanwhile; {name} was not set."
            return Call(tool, arguments, compact({"error": error}), fact, "arguments")
        old = self.canvas.set(self.at, node, name, value)
        answer = {"ok": True, "node": node, "widget": name, "old": old, "new": value}
        result = self.random.choice((compact(answer), compact({"success": True}), "ok"))
        return Call(tool, arguments, result, fact, "arguments")

    def _add(self) -> Call:
        kind = self.random.choice(list(wordings.NODE_KINDS))
        values = wordings.NODE_KINDS[kind]
        node = self.canvas.add(self.at, kind, values)
        tool, name = self.random.choice((("addNode", "type"), ("create_node", "class_type")))
        result = compact({"ok": True, "id": node, "type": kind})
        return Call(tool, {name: kind, "widgets": values}, result)

    def _remove(self, node: int) -> Call:
        kind = self.canvas.remove(self.at, node)
        forms = (("removeNode", "nodeId"), ("deleteNode", "id"), ("remove_node", "node_id"))
        tool, name = self.random.choice(forms)
        return Call(tool, {name: node}, compact({"ok": True, "removed": node, "type": kind}))

    def _removable(self) -> int | None:
        """A node that may be removed: the workflow always keeps nodes that a session can edit."""
        editable = {node for node, _ in self.canvas.editable()}
        added = [node for node in self.canvas.ids if str(node) in self.canvas.ledger.added]
        if added:
            return self.random.choice(added)
        idle = [node for node in self.canvas.ids if node not in editable]
        return self.random.choice(idle) if len(idle) > 2 else None

    def _new_value(self, *, may_plant: bool) -> tuple[int, str, Any, Planted | None]:
        node, name = self.random.choice(self.canvas.editable())
        old = self.canvas.widgets(node)[name]
        fact = None
        if isinstance(old, str) and may_plant and self.random.random() < TEXT_FACT_SHARE:
            fact = self.plant()
        if fact is not None:
            value: Any = fact.named
        else:
            value = _changed(self.random, name, old, self.topic)
        return node, name, value, fact


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _changed(pick: random.Random, name: str, old: Any, topic: str) -> Any:
    if isinstance(old, bool):
        return not old
    if "seed" in name:
        return pick.randrange(10**9, 10**15)
    if isinstance(old, int):
        return max(1, old + pick.choice((-64, -4, -1, 1, 2, 5, 8, 64)))
    if isinstance(old, float):
        return round(max(0.05, old + pick.uniform(-2, 2)), 2)
    if name == "sampler_name":
        return pick.choice(wordings.SAMPLERS)
    if name == "scheduler":
        return pick.choice(wordings.SCHEDULERS)
    if name == "control":
        return pick.choice(("fixed", "randomize", "increment"))
    words = " ".join(pick.sample(wordings.MODEL_WORDS, 4))
    return f"{topic}, {words}"


SET_VOCABULARIES = (
    lambda node, name, value: ("setWidget", {"nodeId": node, "widget": name, "value": value}),
    lambda node, name, value: (
        "set_node_widget",
        {"node_id": str(node), "name": name, "value": value},
    ),
    lambda node, name, value: ("updateNode", {"id": node, "widgets": {name: value}}),
    lambda node, name, value: (
        "editWorkflow",
        {"operations": [{"op": "set", "node": node, "widget": name, "value": value}]},
    ),
)
