"""Reads a *full* view (`full_view.py`) as a workflow in the UI format, or as an API prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from .full_view import MODES
from .graph import Graph
from .parse import parse_workflow
from .parts import SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, Oddity, Part
from .words import LineReader

_MODE = re.compile(r" mode\((-?\d+)\)(?= |$)")
_MODE_NUMBERS = {name: number for number, name in MODES.items()}
End = tuple[str, str]
"""A node and the name or index of its output."""


@dataclass
class _Slot:
    raw: dict[str, Any]
    sources: list[End] = field(default_factory=list)


@dataclass
class _Node:
    raw: dict[str, Any]
    inputs: list[_Slot] = field(default_factory=list)
    outputs: list[_Slot] = field(default_factory=list)


@dataclass
class _Scope:
    key: str = ""
    name: str = ""
    inputs: list[_Slot] = field(default_factory=list)
    outputs: list[_Slot] = field(default_factory=list)
    nodes: dict[str, _Node] = field(default_factory=dict)
    strays: list[tuple[End, str, int]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    oddities: list[Oddity] = field(default_factory=list)


def read_full_view(text: str) -> Graph:
    """The graph of a full view. Raises `ValueError` with the number of a line that is none."""
    head, *lines = text.splitlines() or [""]
    prompt = head.startswith("prompt:")
    if not prompt and not head.startswith("workflow:"):
        raise ValueError("line 1 is not the first line of a full view")
    keys = dict(_key(line) for line in lines if line.startswith("subgraph "))
    scope = _Scope()
    scopes = [scope]
    for number, line in enumerate(lines, start=2):
        try:
            if line.startswith("subgraph "):
                scope = _subgraph(line)
                scopes.append(scope)
            else:
                _read_line(scope, LineReader(line.removeprefix("  ")), keys, prompt)
        except ValueError as error:
            raise ValueError(f"line {number} is no line of a full view: {error}") from error
    if prompt:
        return _with_oddities(parse_workflow(_prompt(scopes[0])), scopes)
    document = _ui(scopes[0])
    document["definitions"] = {"subgraphs": [_ui(inner) for inner in scopes[1:]]}
    return _with_oddities(parse_workflow(document), scopes)


def _with_oddities(graph: Graph, scopes: Sequence[_Scope]) -> Graph:
    """The graph with what its file held beside nodes, links and groups."""
    root = replace(graph.root, oddities=tuple(scopes[0].oddities))
    inner = {one.key: tuple(one.oddities) for one in scopes[1:]}
    subgraphs = {key: replace(scope, oddities=inner[key]) for key, scope in graph.subgraphs.items()}
    return replace(graph, root=root, subgraphs=subgraphs)


def _key(line: str) -> tuple[str, str]:
    """The name and the key of a subgraph, from its first line."""
    reader = LineReader(line)
    reader.expect("subgraph ")
    name = reader.word()
    reader.expect(" key=")
    return name, reader.word()


def _subgraph(line: str) -> _Scope:
    name, key = _key(line)
    reader = LineReader(line)
    reader.expect("subgraph ")
    reader.word()
    reader.expect(" key=")
    reader.word()
    real = reader.word() if reader.take(" name=") else name
    return _Scope(key, real)


def _read_line(scope: _Scope, reader: LineReader, keys: Mapping[str, str], prompt: bool) -> None:
    for mark, read in _LINES.items():
        if reader.take(mark):
            read(scope, reader)
            return
    node = _node(reader, keys, prompt)
    scope.nodes[node.raw["id"]] = node


def _inputs(scope: _Scope, reader: LineReader) -> None:
    scope.inputs.append(_slot(reader))
    while reader.take(" "):
        scope.inputs.append(_slot(reader))


def _output(scope: _Scope, reader: LineReader) -> None:
    scope.outputs.append(_slot(reader))


def _stray(scope: _Scope, reader: LineReader) -> None:
    source = _end(reader)
    reader.expect(" to ")
    target, slot = _end(reader)
    scope.strays.append((source, target, int(slot)))


def _group(scope: _Scope, reader: LineReader) -> None:
    title = reader.value()
    reader.expect(" ")
    scope.groups.append({"title": title, "bounding": reader.value()})


def _oddity(scope: _Scope, reader: LineReader) -> None:
    part = reader.word()
    reader.expect(" ")
    scope.oddities.append(Oddity(cast(Part, part), len(scope.oddities), "", reader.value()))


_LINES: Mapping[str, Callable[[_Scope, LineReader], None]] = {
    "in ": _inputs,
    "out ": _output,
    "link ": _stray,
    "group ": _group,
    "odd ": _oddity,
    "notes:": lambda scope, reader: None,
}


def _node(reader: LineReader, keys: Mapping[str, str], prompt: bool) -> _Node:
    raw: dict[str, Any] = {"id": reader.id()}
    node = _Node(raw)
    reader.expect(" ")
    raw["type"] = keys[reader.word()] if reader.take("subgraph ") else reader.word()
    if reader.line.startswith(' "', reader.position) and not _is_item(reader):
        reader.expect(" ")
        raw["title"] = reader.value()
    _read_mode(reader, raw)
    values: list[Any] = []
    named: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    while reader.take(" "):
        if reader.take("-> "):
            node.outputs.append(_slot(reader))
            while reader.take(" "):
                node.outputs.append(_slot(reader))
        elif reader.take("@promoted="):
            raw["properties"] = {"proxyWidgets": reader.value()}
        elif reader.take("@named="):
            named = reader.value()
        elif reader.take("@named"):
            named = shown
        else:
            _read_item(reader, node, values, named, shown)
    if not reader.at_end:
        raise ValueError(f"nothing of the kind is known: {reader.rest[:40]!r}")
    if values:
        raw["widgets_values"] = values
        raw["widgets_values_named"] = named
    else:
        raw["widgets_values"] = named
    return node


def _is_item(reader: LineReader) -> bool:
    """Whether a JSON string that comes next is the name of a value or slot, not a title."""
    ahead = LineReader(reader.line)
    ahead.position = reader.position + 1
    ahead.value()
    return ahead.rest.startswith((":", "=", "<-"))


def _read_mode(reader: LineReader, raw: dict[str, Any]) -> None:
    for name, number in _MODE_NUMBERS.items():
        if re.compile(rf" {name}(?= |$)").match(reader.line, reader.position):
            reader.expect(f" {name}")
            raw["mode"] = number
            return
    found = _MODE.match(reader.line, reader.position)
    if found:
        reader.position = found.end()
        raw["mode"] = int(found[1])


def _read_item(
    reader: LineReader,
    node: _Node,
    values: list[Any],
    named: dict[str, Any],
    shown: dict[str, Any],
) -> None:
    """A value (`name=…`, `name:=…`) or an input (`name:TYPE…`)."""
    start = reader.position
    name = reader.word()
    if reader.take(":="):
        named[name] = reader.value()
    elif reader.take("="):
        shown[name] = reader.value()
        values.append(shown[name])
    else:
        reader.position = start
        slot = _slot(reader)
        if reader.take("@"):
            slot.raw["widget"] = {"name": reader.word()}
        node.inputs.append(slot)


def _slot(reader: LineReader) -> _Slot:
    slot = _Slot({"name": reader.word()})
    while reader.take("<-"):
        slot.sources.append(_end(reader))
    reader.expect(":")
    slot.raw["type"] = reader.word()
    if reader.take("("):
        slot.raw["label"] = reader.value()
        reader.expect(")")
    return slot


def _end(reader: LineReader) -> End:
    """A source: `4.MODEL`, `4.0`, `in.text`."""
    if reader.take("in."):
        return SUBGRAPH_INPUT, reader.word()
    node = reader.id()
    reader.expect(".")
    return node, reader.word()


def _ui(scope: _Scope) -> dict[str, Any]:
    links: list[dict[str, Any]] = []

    def index_of(end: End) -> int:
        node, slot = end
        listed = scope.inputs if node == SUBGRAPH_INPUT else []
        if node in scope.nodes:
            listed = scope.nodes[node].outputs
        names = [one.raw["name"] for one in listed]
        return names.index(slot) if slot in names and not slot.isdigit() else int(slot)

    def add(source: End, target: str, slot: int, type_: str) -> int:
        number = len(links) + 1
        links.append(
            {
                "id": number,
                "origin_id": source[0],
                "origin_slot": index_of(source),
                "target_id": target,
                "target_slot": slot,
                "type": type_,
            }
        )
        return number

    nodes = []
    for id_, node in scope.nodes.items():
        for place, slot in enumerate(node.inputs):
            for source in slot.sources:
                slot.raw["link"] = add(source, id_, place, slot.raw["type"])
        inputs = [slot.raw for slot in node.inputs]
        nodes.append({**node.raw, "inputs": inputs, "outputs": [one.raw for one in node.outputs]})
    for place, slot in enumerate(scope.outputs):
        for source in slot.sources:
            add(source, SUBGRAPH_OUTPUT, place, slot.raw["type"])
    for source, target, place in scope.strays:
        add(source, target, place, "*")
    return {
        "id": scope.key,
        "name": scope.name,
        "nodes": nodes,
        "links": links,
        "groups": scope.groups,
        "inputs": [slot.raw for slot in scope.inputs],
        "outputs": [slot.raw for slot in scope.outputs],
    }


def _prompt(scope: _Scope) -> dict[str, Any]:
    prompt: dict[str, Any] = {}
    for id_, node in scope.nodes.items():
        inputs: dict[str, Any] = {
            name: {"__value__": value} if isinstance(value, list) else value
            for name, value in node.raw["widgets_values"].items()
        }
        for slot in node.inputs:
            for source, output in slot.sources:
                inputs[slot.raw["name"]] = [source, int(output)]
        made: dict[str, Any] = {"inputs": inputs, "class_type": node.raw["type"]}
        if "title" in node.raw:
            made["_meta"] = {"title": node.raw["title"]}
        prompt[id_] = made
    return prompt
