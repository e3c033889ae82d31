"""The graph of a workflow, as its file has it: nodes, slots, links, groups, subgraphs.

A `Graph` is read by `parse.py` and made JSON again by `write.py`. Each part keeps the JSON that it
was read from (`raw`), which is never changed: an edit makes new parts with `dataclasses.replace`,
and what an edit does not touch is written as it was. Slots are read when they are first asked for.

This module knows no node definitions, so the values of widgets have no names here yet, but in API
prompts. `live.py` has the graph as the front end sees it, with names.

Identities are texts: the number 3 and the text "3" are one node, as in ComfyUI's front end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from .inputs import mapping, sequence

ROOT = ""
"""The key of the scope that is the workflow itself."""
SUBGRAPH_INPUT = "-10"
"""The node that a link inside a subgraph comes from where it comes from outside."""
SUBGRAPH_OUTPUT = "-20"
"""The node that a link inside a subgraph goes to where it leaves the subgraph."""

RUN, MUTED, BYPASSED = 0, 2, 4
"""Modes of a node. A muted node gives nothing; a bypassed node passes its inputs on."""

NOTES = frozenset({"Note", "MarkdownNote"})
REROUTE = "Reroute"
PRIMITIVE = "PrimitiveNode"
SETTERS = frozenset({"SetNode", "easy setNode"})
GETTERS = frozenset({"GetNode", "easy getNode"})
"""Nodes of widespread packages that make a link by a name, their first value, without a line."""
REROUTES = frozenset({REROUTE, "Reroute (rgthree)"})
VIRTUAL_TYPES = NOTES | SETTERS | GETTERS | REROUTES | {PRIMITIVE}
"""Types that only the page knows and that are never part of a prompt."""

Part = Literal["node", "link", "group", "subgraph"]


@dataclass(frozen=True)
class Slot:
    """An input or output of a node, or of a subgraph. `links` are the ids that the file lists."""

    name: str
    type: str
    links: tuple[str, ...]
    widget: str | None = None
    """The widget that this input belongs to; a link takes the widget's place."""
    label: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def link(self) -> str | None:
        """The link of an input."""
        return self.links[0] if self.links else None


@dataclass(frozen=True)
class Link:
    """A link by its ends: output `source_slot` of `source` feeds input `target_slot` of `target`.

    Inside a subgraph the ends may be `SUBGRAPH_INPUT` and `SUBGRAPH_OUTPUT`.
    """

    id: str
    source: str
    source_slot: int
    target: str
    target_slot: int
    type: str
    raw: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Group:
    """A titled frame. Which nodes it holds follows from places alone: see `Scope.members`."""

    title: str
    bounds: tuple[float, float, float, float]
    """x, y, width and height, in pixels of the canvas."""
    raw: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Oddity:
    """Something in the file that is no such part; it is kept and written where it was."""

    part: Part
    position: int
    why: str
    raw: Any = field(repr=False)


@dataclass(frozen=True)
class Node:
    """A node of any type, known or not. `raw` is its JSON in the UI format."""

    id: str
    """What an API prompt calls the node; the file may have another: see `numbering.py`."""
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def type(self) -> str:
        kind = self.raw.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def title(self) -> str | None:
        """The title that somebody gave; `None` where the node has the title of its type."""
        title = self.raw.get("title")
        return title if isinstance(title, str) and title else None

    @property
    def mode(self) -> int:
        mode = self.raw.get("mode")
        return mode if isinstance(mode, int) else RUN

    @property
    def runs(self) -> bool:
        """Whether the node itself is neither muted nor bypassed."""
        return self.mode not in (MUTED, BYPASSED)

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        """The inputs that the file lists; not each input of the definition need be among them."""
        return tuple(map(input_slot, sequence(self.raw.get("inputs"))))

    @cached_property
    def outputs(self) -> tuple[Slot, ...]:
        return tuple(map(output_slot, sequence(self.raw.get("outputs"))))

    @property
    def properties(self) -> Mapping[str, Any]:
        return mapping(self.raw.get("properties"))

    @property
    def values(self) -> Sequence[Any]:
        """The values of the widgets by place, as the file has them; none where it has no list."""
        return sequence(self.raw.get("widgets_values"))

    @property
    def named_values(self) -> Mapping[str, Any]:
        """The values of the widgets by name, where the file has them so; else empty.

        Some packages write an object for a list; the front end writes both beside each other.
        """
        values = self.raw.get("widgets_values")
        return (
            values if isinstance(values, Mapping) else mapping(self.raw.get("widgets_values_named"))
        )

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """x, y, width and height, in pixels of the canvas; 0 for what the file does not say."""
        x, y = _pair(self.raw.get("pos"))
        width, height = _pair(self.raw.get("size"))
        return x, y, width, height


@dataclass(frozen=True)
class PromptNode(Node):
    """A node of an API prompt: `{"class_type", "inputs", "_meta"}`."""

    @property
    def type(self) -> str:
        kind = self.raw.get("class_type")
        return kind if isinstance(kind, str) else ""

    @property
    def title(self) -> str | None:
        title = mapping(self.raw.get("_meta")).get("title")
        return title if isinstance(title, str) and title else None

    @property
    def mode(self) -> int:
        return RUN

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        """The inputs that are links. The link's id is `node.input`."""
        return tuple(
            Slot(str(name), "*", (f"{self.id}.{name}",))
            for name, value in mapping(self.raw.get("inputs")).items()
            if is_prompt_link(value)
        )

    @property
    def outputs(self) -> tuple[Slot, ...]:
        """None: a prompt does not list them. See the node's definition."""
        return ()

    @property
    def named_values(self) -> Mapping[str, Any]:
        """The values by name, lists out of their wrapping (`{"__value__": [...]}`)."""
        return {
            str(name): unwrapped(value)
            for name, value in mapping(self.raw.get("inputs")).items()
            if not is_prompt_link(value)
        }


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


def identity(value: Any) -> str | None:
    """An id as text, as the front end writes it; `None` for what cannot be an id."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes
        return None


def input_slot(raw: Any) -> Slot:
    """An input of a node from its JSON, whatever it is."""
    raw = mapping(raw)
    link = identity(raw.get("link"))
    widget = mapping(raw.get("widget")).get("name")
    return Slot(
        name=text(raw.get("name")),
        type=slot_type(raw.get("type")),
        links=(link,) if link is not None else (),
        widget=widget if isinstance(widget, str) else None,
        label=raw["label"] if isinstance(raw.get("label"), str) else None,
        raw=raw,
    )


def output_slot(raw: Any) -> Slot:
    """An output of a node, or an input or output of a subgraph (`linkIds`), from its JSON."""
    raw = mapping(raw)
    listed = raw["links"] if "links" in raw else raw.get("linkIds")
    return Slot(
        name=text(raw.get("name")),
        type=slot_type(raw.get("type")),
        links=tuple(link for link in map(identity, sequence(listed)) if link is not None),
        label=raw["label"] if isinstance(raw.get("label"), str) else None,
        raw=raw,
    )


def slot_type(value: Any) -> str:
    """The type of a slot as text. Old files have 0 or nothing for *any*, or a list of choices."""
    if isinstance(value, str):
        return value or "*"
    return "COMBO" if isinstance(value, list) else "*"


def is_prompt_link(value: Any) -> bool:
    """Whether an input's value in a prompt is a link: `[node, output]`, as ComfyUI decides it."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], (int, float))
    )


def unwrapped(value: Any) -> Any:
    """A prompt's value without the object that keeps a list from being read as a link."""
    if isinstance(value, Mapping) and "__value__" in value:
        inner = value["__value__"]
        if value.get("__type__") == "CURVE" or isinstance(inner, list):
            return inner
    return value


def text(value: Any) -> str:
    """A name as text; empty where it is none."""
    return value if isinstance(value, str) else ""


def _pair(value: Any) -> tuple[float, float]:
    """Two numbers from a list, or from an object with the keys "0" and "1"."""
    if isinstance(value, Mapping):
        value = [value.get("0"), value.get("1")]
    pair = [
        float(part)
        if isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) < 1e300
        else 0.0
        for part in sequence(value)[:2]
    ]
    return (pair[0], pair[1]) if len(pair) == 2 else (0.0, 0.0)
