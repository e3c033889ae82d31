"""What counts of a workflow, as plain values that can be compared: two graphs with equal facts are
the same graph.

Nodes with ids, types, titles, modes, slots and values in order, links by their ends, groups, the
outsides of subgraphs. Places and sizes of nodes, colours and the ids of links do not count. No node
definitions are needed, so an update of ComfyUI changes no facts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from .graph import Graph, Scope
from .parts import SUBGRAPH_OUTPUT, Link, Node, Slot

Facts = Mapping[str, Any]
REVISION_DIGITS = 8


def facts(graph: Graph) -> Facts:
    """All facts of a graph: `{"format", "scopes": [...]}`."""
    return {"format": graph.format, "scopes": [_scope_facts(scope) for scope in graph.scopes()]}


def revision(graph: Graph) -> str:
    """Eight hex digits over what counts when two states of a workflow are told apart.

    Order of nodes does not count, and neither do groups, which are frames around places. Links are
    told by their ends: a link that a file lists twice counts once.
    """
    scopes = []
    for scope in sorted(graph.scopes(), key=lambda scope: scope.key):
        nodes = [_node_core(scope, scope.nodes[id_]) for id_ in sorted(scope.nodes)]
        outside = [[slot.name, slot.type] for slot in (*scope.inputs, *scope.outputs)]
        unfed = sorted({tuple(ends) for ends in _unfed(scope)})
        scopes.append([scope.key, nodes, outside, unfed])
    text = json.dumps([graph.format, scopes], separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:REVISION_DIGITS]


def first_difference(expected: Any, found: Any, place: str = "") -> str | None:
    """Where two facts differ first, as `place: expected, not found`; None where they are equal."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key in {**expected, **found}:
            differs = first_difference(expected.get(key), found.get(key), f"{place}/{key}")
            if differs:
                return differs
        return None
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, pair in enumerate(zip(expected, found, strict=True)):
            differs = first_difference(*pair, f"{place}/{index}")
            if differs:
                return differs
        return None
    written = (_written(expected), _written(found))
    return None if written[0] == written[1] else f"{place}: {written[0]}, not {written[1]}"


def promoted(node: Node) -> Any:
    """The widgets of inner nodes that an instance of a subgraph shows; None where it names none."""
    return node.properties.get("proxyWidgets")


def source_of(link: Link) -> tuple[str, int]:
    return link.source, link.source_slot


def stray_links(scope: Scope) -> list[Link]:
    """The links that feed no input that there is: dangling, or shadowed by another link."""
    return [link for link in scope.links.values() if not _arrives(scope, link)]


def _arrives(scope: Scope, link: Link) -> bool:
    if link.target == SUBGRAPH_OUTPUT and scope.key:
        return link.target_slot < len(scope.outputs)
    node = scope.nodes.get(link.target)
    listed = node is not None and link.target_slot < len(node.inputs)
    return node is not None and listed and scope.feeding(node, link.target_slot) is link


def _scope_facts(scope: Scope) -> Facts:
    return {
        "key": scope.key,
        "name": scope.name,
        "inputs": [_slot_facts(slot) for slot in scope.inputs],
        "outputs": [
            [*_slot_facts(slot), [list(source_of(link)) for link in links]]
            for slot, links in zip(scope.outputs, output_links(scope), strict=True)
        ],
        "nodes": [_node_facts(scope, scope.nodes[id_]) for id_ in sorted(scope.nodes)],
        "stray": sorted(_ends(link) for link in stray_links(scope)),
        "groups": [[group.title, list(group.bounds)] for group in scope.groups],
        "oddities": [[odd.part, odd.raw] for odd in scope.oddities],
    }


def output_links(scope: Scope) -> list[list[Link]]:
    """For each output of a subgraph the links that feed it."""
    found: list[list[Link]] = [[] for _ in scope.outputs]
    for link in scope.links.values():
        if link.target == SUBGRAPH_OUTPUT and link.target_slot < len(found):
            found[link.target_slot].append(link)
    return found


def _node_facts(scope: Scope, node: Node) -> Facts:
    fed = [scope.feeding(node, index) for index in range(len(node.inputs))]
    return {
        "id": node.id,
        "type": node.type,
        "title": node.title,
        "mode": int(node.mode),
        "values": list(node.values) if node.values else None,
        "named": dict(node.named_values),
        "promoted": promoted(node),
        "inputs": [
            [*_slot_facts(slot), slot.widget, list(source_of(link)) if link else None]
            for slot, link in zip(node.inputs, fed, strict=True)
        ],
        "outputs": [_slot_facts(slot) for slot in node.outputs],
    }


def _slot_facts(slot: Slot) -> list[Any]:
    return [slot.name, slot.type, slot.label]


def _node_core(scope: Scope, node: Node) -> list[Any]:
    """What counts of a node for a revision."""
    links = []
    for index, slot in enumerate(node.inputs):
        link = scope.feeding(node, index)
        if link is not None:
            links.append([slot.name, *source_of(link)])
    values = list(node.values) or dict(node.named_values)
    return [node.id, node.type, node.title, int(node.mode), values, promoted(node), sorted(links)]


def _unfed(scope: Scope) -> Iterator[list[str]]:
    """The links that no node's input names: those into a subgraph's outputs, and stray ones."""
    for link in scope.links.values():
        if link.target == SUBGRAPH_OUTPUT or not _arrives(scope, link):
            yield [str(end) for end in _ends(link)]


def _ends(link: Link) -> list[Any]:
    return [link.source, link.source_slot, link.target, link.target_slot]


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
