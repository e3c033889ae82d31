"""A revision names what a graph does: two graphs with the same revision make the same pictures.

What counts: the nodes with their ids, types, modes, titles and the values of their widgets in
order, and the links by their ends. What does not: places, sizes, colours, groups, the order of the
nodes in the file (a click on a node changes it) and the ids of links.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from .graph import Graph, Node, Scope

REVISION_BYTES: Final = 4
"""Two hex digits each."""


def revision_of(graph: Graph) -> str:
    """Eight hex digits, the same for equal graphs on every machine."""
    counted = [_counted(scope) for scope in _used(graph)]
    text = json.dumps(counted, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(text.encode(), digest_size=REVISION_BYTES).hexdigest()


def _used(graph: Graph) -> Iterator[Scope]:
    """The workflow and the subgraphs that it has instances of, also inside others: a file may
    define subgraphs that nothing uses."""
    found: dict[str, Scope] = {}
    waiting = [graph.root]
    while waiting:
        scope = waiting.pop()
        if scope.key in found:
            continue
        found[scope.key] = scope
        inner = map(graph.subgraph_of, scope.nodes.values())
        waiting.extend(one for one in inner if one is not None)
    yield from (found[key] for key in sorted(found))


def _counted(scope: Scope) -> list[Any]:
    nodes = sorted(scope.nodes.items())
    ends = sorted(
        (link.target, link.target_slot, link.source, link.source_slot)
        for link in scope.links.values()
    )
    return [scope.key, [[id_, *_of_node(node)] for id_, node in nodes], ends]


def _of_node(node: Node) -> list[Any]:
    values = node.values or node.named_values
    return [node.type, node.mode, node.title, list(values) if node.values else dict(values)]
