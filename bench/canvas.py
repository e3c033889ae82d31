"""The workflow that a generated session edits: a real template, with a ledger of the edits.

`score.py` compares summaries with the `Ledger`. `session.py` writes the messages about the
workflow.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from plugin.assistant.workflow.loading import FileLinks, unknown_node
from plugin.assistant.workflow.parts import Node

TEMPLATES_PACKAGE = "comfyui_workflow_templates_json"
FEWEST_NODES, MOST_NODES = 9, 24
"""Bounds of the number of nodes in a session's template: enough nodes to edit, few enough to
discuss."""
CORE_WIDGETS = {
    "KSampler": ("seed", "control", "steps", "cfg", "sampler_name", "scheduler", "denoise"),
    "CLIPTextEncode": ("text",),
    "EmptyLatentImage": ("width", "height", "batch_size"),
    "EmptySD3LatentImage": ("width", "height", "batch_size"),
    "SaveImage": ("filename_prefix",),
    "CheckpointLoaderSimple": ("ckpt_name",),
    "UNETLoader": ("unet_name", "weight_dtype"),
    "VAELoader": ("vae_name",),
    "CLIPLoader": ("clip_name", "type", "device"),
    "ModelSamplingSD3": ("shift",),
    "LoadImage": ("image", "upload"),
}
"""Widget names of core nodes, since the workflows of older templates have no widget names."""
LONGEST_TEXT = 1_200
"""Characters of a template's widget text; some texts are whole prompts for video models."""


def templates() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and UI-format workflow of each template that suits a session, in order of name.

    Raises `ModuleNotFoundError` without the templates' package.
    """
    folder = resources.files(TEMPLATES_PACKAGE) / "templates"
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if not entry.name.endswith(".json") or entry.name.startswith("index"):
            continue
        workflow = json.loads(entry.read_text(encoding="utf-8"))
        nodes = workflow.get("nodes") if isinstance(workflow, dict) else None
        if nodes and FEWEST_NODES <= len(nodes) <= MOST_NODES and _has_sampler(nodes):
            yield entry.name.removesuffix(".json"), workflow


def _has_sampler(nodes: list[dict[str, Any]]) -> bool:
    return any(node.get("type") == "KSampler" for node in nodes)


@dataclass
class Ledger:
    """The net effect of all edits: the last value of each widget, nodes added and removed.

    A widget is `"<node id>.<name>"`. A node that was added and removed again is in neither list;
    the widgets of a removed node are dropped with it.
    """

    widgets: dict[str, Any] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        net = {"widgets": self.widgets, "added": self.added, "removed": self.removed}
        return {"net": net, "steps": self.steps}


class Canvas:
    """The open workflow: nodes by id, each with its widget values by name."""

    def __init__(self, name: str, workflow: dict[str, Any]) -> None:
        self.name = name
        self.ledger = Ledger()
        self._workflow = copy.deepcopy(workflow)
        self._nodes: dict[int, dict[str, Any]] = {}
        for node in self._workflow["nodes"]:
            if isinstance(node.get("id"), int):
                self._nodes[node["id"]] = node
                node["widgets_values"] = _named(node)
        self._next = max(self._nodes) + 1

    @property
    def ids(self) -> list[int]:
        return sorted(self._nodes)

    def kind(self, node: int) -> str:
        return str(self._nodes[node]["type"])

    def widgets(self, node: int) -> dict[str, Any]:
        return dict(self._nodes[node]["widgets_values"])

    def editable(self) -> list[tuple[int, str]]:
        """Node id and widget name of every value that a session may change."""
        return [
            (node, name)
            for node in self.ids
            for name, value in self.widgets(node).items()
            if isinstance(value, (int, float, str)) and not name.startswith("value_")
        ]

    def set(self, at: int, node: int, name: str, value: Any) -> Any:
        """Sets a widget and returns its old value. `at` is the index of the message that has the
        edit's call."""
        values = self._nodes[node]["widgets_values"]
        old, values[name] = values.get(name), value
        self.ledger.widgets[f"{node}.{name}"] = value
        self._note(at, "set", node, widget=name, old=old, new=value)
        return old

    def add(self, at: int, kind: str, values: dict[str, Any]) -> int:
        """Adds a node and returns its id."""
        node = self._next
        self._next += 1
        self._nodes[node] = {"id": node, "type": kind, "widgets_values": dict(values), "mode": 0}
        self.ledger.added[str(node)] = kind
        self._note(at, "add", node)
        return node

    def remove(self, at: int, node: int) -> str:
        """Removes a node and returns its type."""
        kind = self.kind(node)
        self._note(at, "remove", node)
        del self._nodes[node]
        key = str(node)
        if self.ledger.added.pop(key, None) is None:
            self.ledger.removed[key] = kind
        for widget in [w for w in self.ledger.widgets if w.split(".")[0] == key]:
            del self.ledger.widgets[widget]
        return kind

    def _note(self, at: int, operation: str, node: int, **more: Any) -> None:
        self.ledger.steps.append(
            {"index": at, "op": operation, "node": node, "type": self.kind(node), **more}
        )

    def full(self) -> dict[str, Any]:
        """The whole UI-format workflow, as a plain assistant sends it."""
        return {**self._workflow, "nodes": [self._nodes[node] for node in self.ids]}

    def api(self) -> dict[str, Any]:
        """Nodes by id with their values, as in an API prompt."""
        return {
            str(node): {"class_type": self.kind(node), "inputs": self.widgets(node)}
            for node in self.ids
        }

    def outline(self) -> dict[str, Any]:
        """Ids and types alone."""
        return {
            "workflow": self.name,
            "nodes": [{"id": node, "type": self.kind(node)} for node in self.ids],
        }


def _named(node: dict[str, Any]) -> dict[str, Any]:
    values = node.get("widgets_values")
    core = CORE_WIDGETS.get(str(node["type"]))
    if core and isinstance(values, list):
        named = dict(zip(core, values, strict=False))
    else:
        read = Node(str(node["id"]), node)
        links = FileLinks((), [None] * len(read.inputs))
        named = {one.name: one.value for one in unknown_node(read, links).own_widgets}
    return {
        name: value[:LONGEST_TEXT] if isinstance(value, str) else value
        for name, value in named.items()
    }
