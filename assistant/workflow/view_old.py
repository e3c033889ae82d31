"""A UI-format workflow as compact text: nodes, links and values, one line a node (R31, first form).

    workflow "z-image turbo": 3 nodes, 2 links
    #3 KSampler "Sampler" [muted] seed=42 control=randomize steps=20; model<-#4.MODEL
    ...

A link reads `input<-#node.OUTPUT`. Subgraphs follow the nodes, each under its name. A graph that is
no workflow gives a sentence that says so, never an exception: the graph comes from a client. Other
code that reads a graph does so by `readable_graph`, `mappings`, `subgraphs` and `widget_values`.

Names in a graph are anybody's. A name that could end its line or look like a value or a link of
the view stands there as a JSON string (`_name`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..messages.fences import escaped, quoted

MODES = {2: "muted", 4: "bypassed"}
"""LiteGraph's node modes that change what runs; 0 is the normal one."""
SEED_CONTROLS = frozenset(("fixed", "increment", "decrement", "randomize"))
"""Values of the unnamed widget that follows a seed."""
LONGEST_VALUE = 300
"""Characters of one widget value; most prompt texts are shorter."""
NO_WORKFLOW = "No workflow is open on the canvas, or it could not be read."
"""What a tool answers where there is no graph to read."""
LONGEST_LABEL = 200
"""Characters of a name: of a type, a slot, a widget."""
_PLAIN_NAME = re.compile(r"[^\W_](?:[\w :.()|+*/@&',!?~-]*[\w.)+*!?-])?|[\w*?.-]+")
"""Letters and digits of any script, and what names of nodes usually have. Quotation marks, `#`,
`=`, `;`, `<`, `>` and brackets are what the view is written with."""
NOTES = frozenset(("Note", "MarkdownNote"))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workflow on the canvas as the panel sent it with a turn."""

    id: str = ""
    name: str = ""
    revision: int = 0
    graph: Mapping[str, Any] | None = None
    selection: tuple[str, ...] = ()


def readable_graph(snapshot: Snapshot) -> Mapping[str, Any] | None:
    """The graph of the open workflow; None where none is open or it has no list of nodes."""
    graph = snapshot.graph
    return graph if graph and isinstance(graph.get("nodes"), list) else None


def view(snapshot: Snapshot) -> str:
    """The compact text of a snapshot."""
    graph = readable_graph(snapshot)
    if graph is None:
        return NO_WORKFLOW
    nodes = mappings(graph["nodes"])
    name = _value(snapshot.name or "unnamed")
    links = _links(graph.get("links"))
    lines = [f"workflow {name}: {len(nodes)} nodes, {len(links)} links"]
    if snapshot.selection:
        lines.append(
            "selected by the user: " + ", ".join(_node(item) for item in snapshot.selection)
        )
    definitions = subgraphs(graph)
    names = _distinct_names(definitions)
    lines.extend(_node_lines(nodes, links, names))
    for subgraph in definitions:
        inner = mappings(subgraph.get("nodes"))
        lines.append(f"subgraph {_quoted(names[subgraph['id']])}: {len(inner)} nodes")
        lines.extend("  " + line for line in _subgraph_lines(subgraph, inner, names))
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Link:
    source: str
    source_slot: int
    target: str
    target_slot: int


def _links(links: Any) -> dict[Any, _Link]:
    """Links by id, from either form: lists of six (0.4) or objects (1.0, subgraphs)."""
    found: dict[Any, _Link] = {}
    for link in links if isinstance(links, list) else ():
        if isinstance(link, Sequence) and not isinstance(link, str) and len(link) >= 5:
            identity, source, source_slot, target, target_slot = link[:5]
        elif isinstance(link, Mapping):
            identity, source, source_slot = (
                link.get("id"),
                link.get("origin_id"),
                link.get("origin_slot"),
            )
            target, target_slot = link.get("target_id"), link.get("target_slot")
        else:
            continue
        if isinstance(source_slot, int) and isinstance(target_slot, int):
            found[str(identity)] = _Link(str(source), source_slot, str(target), target_slot)
    return found


def subgraphs(graph: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The definitions of subgraphs that a graph holds; what has no id is left out."""
    definitions = graph.get("definitions")
    listed = definitions.get("subgraphs") if isinstance(definitions, Mapping) else None
    return [item for item in mappings(listed) if isinstance(item.get("id"), str)]


def _distinct_names(definitions: list[Mapping[str, Any]]) -> dict[str, str]:
    """The name of each subgraph by its id; the second of one name gets a number."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for subgraph in definitions:
        name = str(subgraph.get("name") or "subgraph")
        counts[name] += 1
        names[subgraph["id"]] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return names


def _subgraph_lines(
    subgraph: Mapping[str, Any], nodes: list[Mapping[str, Any]], names: Mapping[str, str]
) -> Iterator[str]:
    outputs = {"-10": _slot_names(subgraph.get("inputs"))}
    links = _links(subgraph.get("links"))
    yield from _node_lines(nodes, links, names, outputs)
    for link in links.values():
        if link.target == "-20":
            slots = _slot_names(subgraph.get("outputs"))
            source = _source(link, {str(node.get("id")): node for node in nodes}, outputs)
            yield f"output {_slot(slots, link.target_slot)}<-{source}"


def _node_lines(
    nodes: list[Mapping[str, Any]],
    links: Mapping[Any, _Link],
    names: Mapping[str, str],
    outputs: Mapping[str, list[str]] | None = None,
) -> Iterator[str]:
    by_id = {str(node.get("id")): node for node in nodes}
    for node in sorted(nodes, key=_order):
        kind = str(node.get("type") or "unknown")
        parts = [_node(node.get("id")), _name(names.get(kind, kind))]
        if kind in names:
            parts.append("(subgraph)")
        title = node.get("title")
        if isinstance(title, str) and title and title not in (kind, names.get(kind)):
            parts.append(_value(title))
        mode = node.get("mode")
        if isinstance(mode, int) and mode in MODES:
            parts.append(f"[{MODES[mode]}]")
        parts.extend(f"{_name(name)}={_value(value)}" for name, value in widget_values(node))
        wires = [
            f"{_name(slot.get('name', '?'))}<-"
            f"{_source(links[str(slot['link'])], by_id, outputs or {})}"
            for slot in mappings(node.get("inputs"))
            if slot.get("link") is not None and str(slot["link"]) in links
        ]
        line = " ".join(parts)
        yield f"{line}; {', '.join(wires)}" if wires else line


def widget_values(node: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The node's widget values by name, in the order of the node.

    Names come from the input slots of the widgets. The unnamed value after a seed is `control`;
    any other unnamed value is `value_<n>`.
    """
    values = node.get("widgets_values")
    if isinstance(values, Mapping):
        return [(str(name), value) for name, value in values.items()]
    if not isinstance(values, list):
        return []
    if str(node.get("type")) in NOTES:
        return [("text", value) for value in values[:1]]
    names = [
        str(slot["widget"].get("name", slot.get("name")))
        for slot in mappings(node.get("inputs"))
        if isinstance(slot.get("widget"), Mapping)
    ]
    named: list[tuple[str, Any]] = []
    position = 0
    for index, value in enumerate(values):
        previous = named[-1][0] if named else ""
        spare = len(values) - index > len(names) - position
        control = isinstance(value, str) and value in SEED_CONTROLS
        if spare and "seed" in previous and control:
            named.append(("control", value))
        elif position < len(names):
            named.append((names[position], value))
            position += 1
        elif value not in (None, ""):
            named.append((f"value_{index}", value))
    return named


def _source(
    link: _Link, by_id: Mapping[str, Mapping[str, Any]], outputs: Mapping[str, list[str]]
) -> str:
    if link.source in outputs:
        return f"input.{_slot(outputs[link.source], link.source_slot)}"
    node = by_id.get(link.source)
    slots = _slot_names(node.get("outputs")) if node else []
    return f"{_node(link.source)}.{_slot(slots, link.source_slot)}"


def _slot_names(slots: Any) -> list[str]:
    return [str(slot.get("name") or slot.get("type") or "?") for slot in mappings(slots)]


def _slot(names: Sequence[str], index: int) -> str:
    return _name(names[index] if 0 <= index < len(names) else str(index))


def _node(identity: Any) -> str:
    return f"#{_name(str(identity))}"


def _name(value: Any) -> str:
    """A name as it is where it looks like one, else as a JSON string on one line."""
    name = str(value)[:LONGEST_LABEL]
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


def _quoted(name: str) -> str:
    return quoted(name[:LONGEST_LABEL])


def _value(value: Any) -> str:
    text = escaped(json.dumps(value, ensure_ascii=False, default=str))
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[:LONGEST_VALUE]}... ({len(text)} characters)"


def _order(node: Mapping[str, Any]) -> tuple[int, str]:
    order = node.get("order")
    return (order if isinstance(order, int) else 0, str(node.get("id")))


def mappings(items: Any) -> list[Mapping[str, Any]]:
    """The items of a list that are objects, such as its nodes; none where there is no list."""
    if not isinstance(items, list):
        return []
    return [item for item in items if isinstance(item, Mapping)]
