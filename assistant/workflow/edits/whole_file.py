"""The ids of a file's nodes and links, and other care of its JSON as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..graph import Graph
from ..inputs import mapping, sequence
from ..parts import identity
from .raw_links import number

_ENDS: Any = ("origin_id", "target_id")


class NewIds:
    """Gives new nodes and links ids above all that a workflow and its subgraphs have, as the front
    end does, which counts nodes and links of all of them together."""

    def __init__(self, graph: Graph) -> None:
        self._node, self._link = 0, 0
        self._given = False
        self.observe(graph)

    def observe(self, graph: Graph) -> None:
        """Keep clear of the ids that the graph has."""
        nodes = (int(id_) for scope in graph.scopes() for id_ in scope.nodes if _whole(id_))
        links = (int(id_) for scope in graph.scopes() for id_ in scope.links if _whole(id_))
        noted = _noted(graph, "last_node_id", "lastNodeId")
        self._node = max(self._node, *nodes, *noted, 0)
        noted = _noted(graph, "last_link_id", "lastLinkId")
        self._link = max(self._link, *links, *noted, 0)

    def node(self) -> int:
        self._node, self._given = self._node + 1, True
        return self._node

    def link(self) -> int:
        self._link, self._given = self._link + 1, True
        return self._link

    def write(self, content: dict[str, Any], scopes: Iterable[dict[str, Any]]) -> None:
        """Write the largest ids where the file keeps them, if any were given."""
        if not self._given:
            return
        for raw in (content, *scopes):
            state = raw.get("state")
            if isinstance(state, dict):
                _raise(state, "lastNodeId", self._node)
                _raise(state, "lastLinkId", self._link)
            elif raw is content:
                _raise(raw, "last_node_id", self._node)
                _raise(raw, "last_link_id", self._link)


def _noted(graph: Graph, own: str, in_state: str) -> Iterator[int]:
    for scope in graph.scopes():
        state = mapping(scope.raw.get("state"))
        for value in (scope.raw.get(own), state.get(in_state)):
            if isinstance(value, int) and 0 <= value < 2**52:
                yield value


def _whole(id_: str) -> bool:
    return id_.isascii() and id_.isdigit() and len(id_) < 16


def _raise(raw: dict[str, Any], key: str, value: int) -> None:
    before = raw.get(key)
    if not isinstance(before, int) or before < value:
        raw[key] = value


def give_own_ids(graph: Graph) -> bool:
    """Write the ids that the front end gives to nodes whose id clashes with another's; whether
    there were any."""
    clashes = False
    for scope in graph.scopes():
        for id_, node in scope.nodes.items():
            raw = node.raw
            if identity(raw.get("id")) != id_ and isinstance(raw, dict):
                raw["id"] = number(id_)
                clashes = True
        for old, new in scope.renamed.items():
            for link in scope.links.values():
                source, target = (1, 3) if isinstance(link.raw, list) else _ENDS
                if link.source == new:
                    link.raw[source] = number(new)
                if link.target == new:
                    link.raw[target] = number(new)
            for other in graph.scopes():
                for instance in other.nodes.values():
                    if instance.type == scope.key:
                        _rename_promotions(instance.raw, old, new)
    return clashes


def _rename_promotions(raw: Mapping[str, Any], old: str, new: str) -> None:
    for entry in sequence(mapping(raw.get("properties")).get("proxyWidgets")):
        if isinstance(entry, list) and entry and str(entry[0]) == old:
            entry[0] = new


def drop_definition(raw: dict[str, Any], key: str) -> None:
    definitions = raw.get("definitions")
    listed = definitions.get("subgraphs") if isinstance(definitions, dict) else None
    if isinstance(definitions, dict) and isinstance(listed, list):
        definitions["subgraphs"] = [one for one in listed if mapping(one).get("id") != key]
        for one in definitions["subgraphs"]:
            if isinstance(one, dict):
                drop_definition(one, key)


def copied(value: Any) -> Any:
    """A copy of JSON down to its last part."""
    # `Mapping` is asked for last: to ask an abstract class takes ten times as long.
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(one) for one in value]
    if value is None or isinstance(value, (str, int, float)) or not isinstance(value, Mapping):
        return value
    return {key: copied(one) for key, one in value.items()}
