"""The links of one scope's JSON as values, and ids that a whole workflow has not used yet.

The JSON says a link three times: in the list of links, at the input, and at the output or at the
subgraph's own slot. Here it is read once and written to all three places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from ..inputs import mapping, sequence
from ..parse import parse_link
from ..parts import SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, Link, identity
from .boxes import ScopeJson, nodes_of

Content = MutableMapping[str, Any]


@dataclass
class Wires:
    """The links of a scope, each feeding an input that it has to itself."""

    scope: ScopeJson
    links: list[Link]

    def feeding(self, node: str, slot: int) -> Link | None:
        return next(
            (one for one in self.links if (one.target, one.target_slot) == (node, slot)), None
        )

    def into(self, nodes: Iterable[str]) -> list[Link]:
        """The links to these nodes, in the order of nodes and inputs."""
        order = {id_: place for place, id_ in enumerate(nodes)}
        found = [one for one in self.links if one.target in order]
        return sorted(found, key=lambda one: (order[one.target], one.target_slot))

    def out_of(self, nodes: Iterable[str]) -> list[Link]:
        """The links from these nodes, in the order of nodes and outputs."""
        order = {id_: place for place, id_ in enumerate(nodes)}
        found = [one for one in self.links if one.source in order]
        return sorted(found, key=lambda one: (order[one.source], one.source_slot))


def read_wires(scope: ScopeJson) -> Wires:
    """The links of a scope that feed something. Of two links to one input the one counts that the
    input names; an input that names a link has it, whatever place the link says."""
    nodes = nodes_of(scope)
    named: dict[str, tuple[str, int]] = {}
    for id_, node in nodes.items():
        for slot, one in enumerate(sequence(node.get("inputs"))):
            names = identity(mapping(one).get("link"))
            if names is not None:
                named.setdefault(names, (id_, slot))
    found: dict[tuple[str, int], Link] = {}
    for raw in sequence(scope.get("links")):
        link = parse_link(raw)
        if link is None or not _known(link.source, nodes, SUBGRAPH_INPUT):
            continue
        if not _known(link.target, nodes, SUBGRAPH_OUTPUT):
            continue
        place = named.get(link.id)
        if place is not None and place[0] == link.target:
            link = replace(link, target_slot=place[1])
        end = link.target, link.target_slot
        if end not in found or (named.get(link.id) == end and named.get(found[end].id) != end):
            found[end] = link
    return Wires(scope, list(found.values()))


def _known(id_: str, nodes: Mapping[str, Any], boundary: str) -> bool:
    return id_ in nodes or id_ == boundary


def write_wires(wires: Wires) -> None:
    """Write the links to all places of the scope's JSON that name links."""
    scope = wires.scope
    listed = "inputNode" not in scope and not _is_new_schema(scope)
    scope["links"] = [_written(link, listed) for link in wires.links]
    by_input = {(one.target, one.target_slot): one for one in wires.links}
    by_output: dict[tuple[str, int], list[int | str]] = {}
    for one in wires.links:
        by_output.setdefault((one.source, one.source_slot), []).append(number(one.id))
    for id_, node in nodes_of(scope).items():
        for slot, raw in enumerate(_slots(node, "inputs")):
            link = by_input.get((id_, slot))
            raw["link"] = number(link.id) if link is not None else None
        for slot, raw in enumerate(_slots(node, "outputs")):
            raw["links"] = by_output.get((id_, slot), [])
    for slot, raw in enumerate(_slots(scope, "inputs")):
        raw["linkIds"] = by_output.get((SUBGRAPH_INPUT, slot), [])
    for slot, raw in enumerate(_slots(scope, "outputs")):
        link = by_input.get((SUBGRAPH_OUTPUT, slot))
        raw["linkIds"] = [number(link.id)] if link is not None else []


def _slots(owner: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in sequence(owner.get(name)) if isinstance(one, dict)]


def _is_new_schema(scope: Mapping[str, Any]) -> bool:
    version = scope.get("version")
    return isinstance(version, (int, float)) and version >= 1


def _written(link: Link, listed: bool) -> Any:
    ends = [
        number(link.id),
        number(link.source),
        link.source_slot,
        number(link.target),
        link.target_slot,
        link.type,
    ]
    names = ("id", "origin_id", "origin_slot", "target_id", "target_slot", "type")
    return ends if listed else dict(zip(names, ends, strict=True))


def number(id_: str) -> int | str:
    """An id as the front end writes it: a number where its text is that of a whole number."""
    plain = id_.removeprefix("-")
    whole = plain.isascii() and plain.isdigit() and len(plain) < 16
    return int(id_) if whole and str(int(id_)) == id_ else id_


def scopes_of(content: Content) -> Iterator[ScopeJson]:
    """The workflow itself and all subgraphs that it defines."""
    yield content
    for one in definitions_of(content):
        yield from scopes_of(one)


def definitions_of(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = sequence(mapping(content.get("definitions")).get("subgraphs"))
    return [one for one in listed if isinstance(one, dict)]


def definition_of(content: Content, key: str) -> dict[str, Any] | None:
    """A subgraph's definition, wherever it stands; None where there is none of this id."""
    listed = (one for scope in scopes_of(content) for one in definitions_of(scope))
    return next((one for one in listed if one.get("id") == key), None)


def instances_of(content: Content, key: str) -> list[dict[str, Any]]:
    """The nodes of the whole workflow that are instances of a subgraph."""
    return [
        node
        for scope in scopes_of(content)
        for node in nodes_of(scope).values()
        if node.get("type") == key
    ]


class Ids:
    """New ids for nodes and links of a workflow; the counters in its JSON go along."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._nodes = {id_ for scope in scopes_of(content) for id_ in nodes_of(scope)}
        self._links = {
            link.id
            for scope in scopes_of(content)
            for link in map(parse_link, sequence(scope.get("links")))
            if link is not None
        }

    def node(self) -> str:
        return self._next(self._nodes, "last_node_id", "lastNodeId")

    def link(self) -> str:
        return self._next(self._links, "last_link_id", "lastLinkId")

    def state(self) -> dict[str, int]:
        """The counters that a new subgraph has."""
        largest = [
            max((int(id_) for id_ in taken if id_.isascii() and id_.isdigit()), default=0)
            for taken in (self._nodes, self._links)
        ]
        counters = zip(("lastNodeId", "lastLinkId"), largest, strict=True)
        return {"lastGroupId": 0, **dict(counters), "lastRerouteId": 0}

    def _next(self, taken: set[str], old: str, new: str) -> str:
        state = self._content.get("state")
        counters = [self._content.get(old), mapping(state).get(new)]
        counters += [int(id_) for id_ in taken if id_.isascii() and id_.isdigit() and len(id_) < 16]
        last = max((one for one in counters if isinstance(one, int)), default=0) + 1
        taken.add(str(last))
        if isinstance(state, dict):
            state[new] = last
        if old in self._content or not isinstance(state, dict):
            self._content[old] = last
        return str(last)
