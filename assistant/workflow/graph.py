"""The graph of a workflow, as its file has it: scopes of nodes and links, and subgraphs.

A `Graph` is read by `parse.py` and made JSON again by `write.py`; `parts.py` has what it is made
of. This module knows no node definitions, so the values of widgets have no names here yet, but in
API prompts. `live.py` has the graph as the front end sees it, with names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from .parts import Group, Link, Node, Oddity, Slot

ROOT = ""
"""The key of the scope that is the workflow itself."""


@dataclass(frozen=True)
class Scope:
    """One level of a graph: the workflow itself (`key` is `ROOT`) or a subgraph's definition."""

    key: str
    name: str
    nodes: Mapping[str, Node]
    """By id, in the order of the file."""
    links: Mapping[str, Link]
    groups: tuple[Group, ...]
    inputs: tuple[Slot, ...]
    """A subgraph's own inputs; none for the workflow itself."""
    outputs: tuple[Slot, ...]
    definitions: tuple[str, ...]
    """The keys of the subgraphs that are defined here, in the order of the file."""
    oddities: tuple[Oddity, ...]
    raw: Mapping[str, Any] = field(repr=False)
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The nodes whose id in the file clashes with another's: the file's id, and the node's own."""

    @cached_property
    def by_target(self) -> Mapping[tuple[str, int], Link]:
        """The links by the input that they feed; the first where several feed one."""
        found: dict[tuple[str, int], Link] = {}
        for link in self.links.values():
            found.setdefault((link.target, link.target_slot), link)
        return found

    @cached_property
    def by_source(self) -> Mapping[tuple[str, int], tuple[Link, ...]]:
        """The links by the output that they come from, in the order of the file."""
        found: dict[tuple[str, int], list[Link]] = {}
        for link in self.links.values():
            found.setdefault((link.source, link.source_slot), []).append(link)
        return {end: tuple(links) for end, links in found.items()}

    def feeding(self, node: Node, slot: int) -> Link | None:
        """The link that feeds an input: the one that the input names, or one that names it."""
        named = node.inputs[slot].link if 0 <= slot < len(node.inputs) else None
        link = self.links.get(named) if named is not None else None
        if link is not None and link.target == node.id:
            return link
        return self.by_target.get((node.id, slot))

    def members(self, group: Group) -> list[Node]:
        """The nodes whose centre lies in the group's frame, as the front end decides it."""
        left, top, width, height = group.bounds
        found = []
        for node in self.nodes.values():
            x, y, wide, high = node.bounds
            centre_x, centre_y = x + wide / 2, y + high / 2
            if left <= centre_x < left + width and top <= centre_y < top + height:
                found.append(node)
        return found


@dataclass(frozen=True)
class Place:
    """A node in the flattened graph: `address` is what an API prompt calls it (`"57:8"`)."""

    address: str
    node: Node
    scope: Scope
    instances: tuple[Node, ...]
    """The subgraph instances around it, the outermost first."""


@dataclass(frozen=True)
class Graph:
    """A whole workflow. `format` says whether it was read from the UI format or from a prompt."""

    format: Literal["workflow", "prompt"]
    root: Scope
    subgraphs: Mapping[str, Scope]
    """By key (the `type` of its instances); those defined inside other subgraphs, too."""
    on_canvas: bool = False
    """Whether the JSON says what is on an open canvas, not what a file says. A front end may lose
    links of a file that it opens; those of a canvas are there."""

    def scope(self, key: str) -> Scope:
        """The scope with this key. Raises `KeyError`."""
        return self.root if key == ROOT else self.subgraphs[key]

    def scopes(self) -> Iterator[Scope]:
        """The workflow, then each subgraph once, however many instances it has."""
        yield self.root
        yield from self.subgraphs.values()

    def subgraph_of(self, node: Node) -> Scope | None:
        """The definition of a subgraph instance; `None` for any other node."""
        return self.subgraphs.get(node.type) if self.subgraphs else None

    def place(self, address: str) -> Place | None:
        """The node with this address, such as `"8"` or `"57:12:3"`; `None` where there is none."""
        whole = self.root.nodes.get(address)
        if whole is not None:
            return Place(address, whole, self.root, ())
        scope, instances = self.root, []
        *path, last = address.split(":")
        for id_ in path:
            instance = scope.nodes.get(id_)
            inner = self.inside(instance) if instance is not None else None
            if instance is None or inner is None:
                return None
            instances.append(instance)
            scope = inner
        node = scope.nodes.get(last)
        return Place(address, node, scope, tuple(instances)) if node is not None else None

    @cached_property
    def cyclic(self) -> frozenset[str]:
        """The keys of the subgraphs that hold an instance of themselves, over others or directly.

        Such a graph cannot run. Its instances are nodes like others here: without an inside.
        """
        # What holds no other subgraph is taken away, again and again: a cycle is left, and what
        # holds a cycle. The same from the other side leaves the cycles, and what lies between.
        _, left = _peel(self._held)
        holders: dict[str, set[str]] = {key: set() for key in left}
        for key in left:
            for held in self._held[key] & left:
                holders[held].add(key)
        return frozenset(_peel(holders)[1])

    @cached_property
    def _held(self) -> dict[str, set[str]]:
        """For each subgraph the keys of those that it has instances of."""
        return {
            key: {node.type for node in scope.nodes.values() if node.type in self.subgraphs}
            for key, scope in self.subgraphs.items()
        }

    @cached_property
    def leaves_first(self) -> list[str]:
        """The subgraphs that are in no cycle, each after those that it holds instances of."""
        whole = {key: held for key, held in self._held.items() if key not in self.cyclic}
        return _peel({key: held & whole.keys() for key, held in whole.items()})[0]

    @cached_property
    def flat_size(self) -> int:
        """How many nodes there are with every subgraph instance spelled out, instances included."""
        sizes: dict[str, int] = {}

        def size(scope: Scope) -> int:
            return len(scope.nodes) + sum(sizes.get(one.type, 0) for one in scope.nodes.values())

        for key in self.leaves_first:
            sizes[key] = size(self.subgraphs[key])
        return size(self.root)

    @cached_property
    def depth(self) -> int:
        """How many subgraph instances lie inside each other at most."""
        depths: dict[str, int] = {}
        for key in self.leaves_first:
            depths[key] = 1 + max((depths.get(held, 0) for held in self._held[key]), default=0)
        used = (node.type for node in self.root.nodes.values())
        return max((depths.get(key, 0) for key in used), default=0)

    def inside(self, node: Node) -> Scope | None:
        """What an instance of a subgraph is replaced by in a prompt; `None` for other nodes."""
        inner = self.subgraph_of(node)
        return inner if inner is not None and inner.key not in self.cyclic else None

    def places(self) -> Iterator[Place]:
        """Every node of the flattened graph, an instance before what is in it."""
        pending = [self._inside(self.root, "", ())]
        while pending:
            for place in pending[-1]:
                yield place
                inner = self.inside(place.node)
                if inner is not None:
                    instances = (*place.instances, place.node)
                    pending.append(self._inside(inner, f"{place.address}:", instances))
                    break
            else:
                pending.pop()

    def _inside(self, scope: Scope, prefix: str, instances: tuple[Node, ...]) -> Iterator[Place]:
        return (
            Place(f"{prefix}{node.id}", node, scope, instances) for node in scope.nodes.values()
        )


def _peel(held: Mapping[str, set[str]]) -> tuple[list[str], set[str]]:
    """Take away what holds nothing as long as there is any; in which order, and what is left."""
    holders: dict[str, list[str]] = {}
    for key, keys in held.items():
        for one in keys:
            holders.setdefault(one, []).append(key)
    counts = {key: len(keys) for key, keys in held.items()}
    order = [key for key, count in counts.items() if count == 0]
    for key in order:
        del counts[key]
        for holder in holders.get(key, ()):
            counts[holder] -= 1
            if counts[holder] == 0:
                order.append(holder)
    return order, set(counts)
