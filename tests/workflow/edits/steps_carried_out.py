"""Carries steps out on a model of a canvas: names and numbers only, nothing of the editor's code.

A canvas is `{address of the scope: Level}`, each subgraph once, by the address of one instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plugin.assistant.workflow.live import LiveGraph
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.page_values import UNSET, page_value
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.parts import SUBGRAPH_INPUT

Json = dict[str, Any]
LOOKS = ("title", "mode", "pos", "size", "flags", "properties", "color", "bgcolor", "shape")


@dataclass
class Shown:
    """A node as a person sees it."""

    type: str
    values: Json
    looks: Json


@dataclass
class Level:
    """The workflow itself or a subgraph. Links by the input: `{(node, input): (node, output)}`."""

    key: str = ""
    name: str = ""
    nodes: dict[str, Shown] = field(default_factory=dict)
    links: dict[tuple[str, str], tuple[str, Any]] = field(default_factory=dict)
    groups: list[Json] = field(default_factory=list)
    inputs: list[Json] = field(default_factory=list)
    outputs: list[Json] = field(default_factory=list)


Canvas = dict[str, Level]
"""By the key of the subgraph; "" is the workflow itself."""


def canvas(workflow: Json, definitions: NodeDefinitions) -> Canvas:
    """What a canvas shows of a workflow: the subgraphs that are used."""
    live = LiveGraph(parse_workflow(workflow), definitions)
    used = {place.node.type for place in live.graph.places()}
    found = {}
    for scope in live.scopes():
        key = scope.scope.key
        if key and key not in used:
            continue
        level = Level(key, scope.scope.name)
        level.inputs = _slots(scope.inputs, scope.scope.inputs)
        level.outputs = _slots(scope.outputs, scope.scope.outputs)
        level.groups = [dict(group.raw) for group in scope.scope.groups]
        for id_, node in scope.nodes.items():
            values = {
                one.name: page_value(one.value)
                for one in node.widgets
                if one.in_file and one.value is not UNSET
            }
            level.nodes[id_] = Shown(node.type, values, looks(node.node.raw))
            for one in node.inputs:
                if one.link is not None and (end := _end(scope, one.link)) is not None:
                    level.links[id_, one.name] = end
        for place, link in scope.output_links.items():
            if (end := _end(scope, link)) is not None:
                level.links["out", scope.outputs[place].name] = end
        found[key] = level
    return found


def _end(scope: Any, link: Any) -> tuple[str, Any] | None:
    if link.source == SUBGRAPH_INPUT:
        known = link.source_slot < len(scope.inputs)
        return ("in", scope.inputs[link.source_slot].name) if known else None
    return (link.source, link.source_slot) if link.source in scope.nodes else None


def _slots(live: Any, listed: Any) -> list[Json]:
    """The slots by name and type, with the labels that the file has for the first of them."""
    found = [{"name": slot.name, "type": slot.type} for slot in live]
    for slot, raw in zip(found, listed, strict=False):
        slot.update({"label": raw.label} if raw.label is not None else {})
    return found


def _slot(raw: Any) -> Json:
    return {key: value for key, value in raw.items() if key in ("name", "type", "label")}


def looks(raw: Any) -> Json:
    """What a node has besides values and links; places as lists of two numbers."""
    found = {name: raw.get(name) for name in LOOKS if raw.get(name) not in (None, {}, "")}
    found["mode"] = raw.get("mode", 0)
    # An older way to say what a subgraph's inputs say, and what `canvas` reads as them.
    properties = {k: v for k, v in found.pop("properties", {}).items() if k != "proxyWidgets"}
    found.update({"properties": properties} if properties else {})
    for name in ("pos", "size"):
        if isinstance(found.get(name), dict):
            found[name] = [found[name]["0"], found[name]["1"]]
        if name in found:
            found[name] = [float(one) for one in found[name]]
    return found


def carry_out(shown: Canvas, steps: list[Json], definitions: NodeDefinitions) -> Canvas:
    """The canvas after the steps, in their order. Raises where a step names what is not there."""
    for step in steps:
        _CARRIED_OUT[step["do"]](shown, step, definitions)
    _release(shown)
    return shown


def _release(shown: Canvas) -> None:
    """Subgraphs without an instance go."""
    used, pending = {""}, [""]
    while pending:
        for node in shown[pending.pop()].nodes.values():
            if node.type in shown and node.type not in used:
                used.add(node.type)
                pending.append(node.type)
    for key in set(shown) - used:
        del shown[key]


def _level(shown: Canvas, scope: str) -> Level:
    level = shown[""]
    for id_ in scope.split(":") if scope else []:
        level = shown[level.nodes[id_].type]
    return level


def _split(shown: Canvas, address: str) -> tuple[Level, str]:
    scope, _, id_ = address.rpartition(":")
    return _level(shown, scope), id_


def _unlink(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    level, id_ = _split(shown, step["to"])
    del level.links[id_, step["input"]]


def _remove(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    level, id_ = _split(shown, step["node"])
    del level.nodes[id_]
    for end in [end for end, source in level.links.items() if id_ in (end[0], source[0])]:
        del level.links[end]
    _release(shown)


def _define(shown: Canvas, step: Json, definitions: NodeDefinitions) -> None:
    subgraph = step["subgraph"]
    assert subgraph["id"] not in shown
    document = {
        "nodes": [{"id": "instance", "type": subgraph["id"]}],
        "links": [],
        "definitions": {"subgraphs": [subgraph]},
    }
    shown[subgraph["id"]] = canvas(document, definitions)[subgraph["id"]]


def _boundary(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    level = _level(shown, step["scope"])
    for name, end in (("inputs", "in"), ("outputs", "out")):
        slots = [_slot(one) for one in step[name]]
        setattr(level, name, slots)
        names = {one["name"] for one in slots}
        for target, source in list(level.links.items()):
            gone = (end == "in" and source[0] == end and source[1] not in names) or (
                end == "out" and target[0] == end and target[1] not in names
            )
            if gone:
                del level.links[target]
    level.name = step["name"]


def _add(shown: Canvas, step: Json, definitions: NodeDefinitions) -> None:
    level, id_ = _split(shown, step["node"])
    raw = step["raw"]
    assert id_ not in level.nodes
    assert str(raw["id"]) == id_
    assert not any(one["link"] for one in raw["inputs"])
    assert not any(one["links"] for one in raw["outputs"])
    level.nodes[id_] = Shown(raw["type"], {}, looks(raw))


def _link(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    level, id_ = _split(shown, step["to"])
    scope, _, source = step["from"].rpartition(":")
    assert _level(shown, scope) is level
    if source == "in":
        name = level.inputs[step["output"]]["name"]
        assert name == step["output_name"]
        level.links[id_, step["input"]] = (source, name)
    else:
        assert source in level.nodes
        level.links[id_, step["input"]] = (source, step["output"])
    assert id_ == "out" or id_ in level.nodes


def _values(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    level, id_ = _split(shown, step["node"])
    level.nodes[id_].values.update(step["values"])


def _node(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    level, id_ = _split(shown, step["node"])
    for name, value in step.items():
        if name in LOOKS:
            level.nodes[id_].looks[name] = value
    level.nodes[id_].looks = looks(level.nodes[id_].looks)


def _group(shown: Canvas, step: Json, _: NodeDefinitions) -> None:
    groups = _level(shown, step["scope"]).groups
    wanted = step.get("remove") or step["group"]
    same = [
        one for one in groups if one.get("id") is not None and one.get("id") == wanted.get("id")
    ]
    found = same or [
        one for one in groups if all(one.get(k) == wanted.get(k) for k in ("title", "bounding"))
    ]
    if "remove" in step:
        groups.remove(found[0])
    elif len(same) == 1:
        groups[groups.index(same[0])] = wanted
    else:
        groups.append(wanted)


_CARRIED_OUT = {
    "unlink": _unlink,
    "remove": _remove,
    "define": _define,
    "boundary": _boundary,
    "add": _add,
    "link": _link,
    "values": _values,
    "node": _node,
    "group": _group,
}
