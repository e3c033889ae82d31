"""A graph as ComfyUI's front end has it after loading the file, with the names of all values.

The file lists a node's values by place; which widget a value belongs to follows from the node's
definition and from what the front end does with both. `LiveGraph` does the same, so that reading a
value by its name here gives what the user sees and what a prompt would say. Nothing is written
back: the graph itself stays as it was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ..garbage import without_collecting
from .dynamic_inputs import set_widget
from .graph import ROOT, Graph, Scope
from .inputs import DYNAMIC_COMBO
from .instances import instance_node, migrate_promotions
from .live_nodes import LiveInput, LiveLink, LiveNode
from .loading import (
    FileLinks,
    Prototype,
    known_node,
    prompt_node,
    prototype,
    unknown_node,
)
from .node_definitions import NodeDefinitions
from .page_values import UNSET
from .parts import SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, Link, Node, PromptNode
from .primitives import apply_primitives, make_primitives
from .slot_links import keep_links
from .widgets import Widget


@dataclass
class LiveSlot:
    """An input or output of a subgraph."""

    name: str
    type: str


@dataclass(eq=False)
class LiveScope:
    """The live nodes of the workflow itself or of one subgraph."""

    scope: Scope
    nodes: dict[str, LiveNode] = field(default_factory=dict)
    inputs: list[LiveSlot] = field(default_factory=list)
    outputs: list[LiveSlot] = field(default_factory=list)
    output_links: dict[int, LiveLink] = field(default_factory=dict)
    """What comes out of the subgraph's outputs."""
    instances: list[LiveNode] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.scope.name

    def targets(self, source: str, slot: int) -> list[tuple[LiveNode, LiveInput]]:
        """The inputs that an output feeds, in the order of their links' ids."""
        return self._targets.get((source, slot), [])

    @cached_property
    def _targets(self) -> dict[tuple[str, int], list[tuple[LiveNode, LiveInput]]]:
        found: dict[tuple[str, int], list[tuple[LiveNode, LiveInput]]] = {}
        linked = [
            (one.link, node, one)
            for node in self.nodes.values()
            for one in node.inputs
            if one.link is not None
        ]
        linked.sort(key=lambda entry: _id_order(entry[0].id))
        for link, node, one in linked:
            found.setdefault((link.source, link.source_slot), []).append((node, one))
        return found

    def forget_targets(self) -> None:
        """Have the targets looked for anew, after links were taken away."""
        self.__dict__.pop("_targets", None)

    def feed_from_outside(self, node: LiveNode, one: LiveInput, slot: int) -> None:
        """Have an input fed by an input of the subgraph instead of what feeds it."""
        if one.link is not None:
            before = self._targets.get((one.link.source, one.link.source_slot), [])
            before[:] = [target for target in before if target[1] is not one]
        one.link = LiveLink("", SUBGRAPH_INPUT, slot, self.inputs[slot].type)
        self._targets.setdefault((SUBGRAPH_INPUT, slot), []).append((node, one))

    def fed_by(self, slot: int) -> Iterator[tuple[LiveNode, LiveInput]]:
        """What an input of the subgraph feeds, in the order that the subgraph lists the links."""
        listed = self.scope.inputs[slot].links if slot < len(self.scope.inputs) else ()
        order = {id_: place for place, id_ in enumerate(listed)}
        targets = [
            (order.get(one.link.id, len(order)), node, one)
            for node, one in self.targets(SUBGRAPH_INPUT, slot)
            if one.link is not None
        ]
        targets.sort(key=lambda entry: entry[0])
        yield from ((node, one) for _, node, one in targets)

    def add_input(self, name: str, type_: str) -> int:
        """A new last input; its name gets a number where it is taken."""
        taken = self._input_names
        unique = name
        while unique in taken:
            taken[name] += 1
            unique = f"{name}_{taken[name] - 1}"
        taken[unique] = 1
        self.inputs.append(LiveSlot(unique, type_))
        return len(self.inputs) - 1

    @cached_property
    def _input_names(self) -> dict[str, int]:
        """The names of the inputs, each with the number that a further one of it begins with."""
        return {slot.name: 1 for slot in self.inputs}


def _id_order(id_: str) -> tuple[int, int, str]:
    whole = id_.isascii() and id_.isdigit() and len(id_) < 20
    return (0, int(id_), "") if whole else (1, 0, id_)


class LiveGraph:
    """The live nodes of a whole graph, by scope and by address."""

    @without_collecting()
    def __init__(self, graph: Graph, definitions: NodeDefinitions) -> None:
        self.graph = graph
        self.definitions = definitions
        self.subgraphs: dict[str, LiveScope] = {}
        self._prototypes: dict[str, Prototype] = {}
        for key in graph.leaves_first:
            self.subgraphs[key] = self._load(graph.subgraphs[key])
        self.root = self._load(graph.root)
        if graph.format == "workflow":
            self._finish()

    def scopes(self) -> Iterator[LiveScope]:
        """The workflow's own scope, then each subgraph that is in no cycle once."""
        yield self.root
        yield from self.subgraphs.values()

    def scope(self, key: str) -> LiveScope:
        """The scope with this key. Raises `KeyError`."""
        return self.root if key == ROOT else self.subgraphs[key]

    def node(self, address: str) -> LiveNode | None:
        """The node with this address; instances of a subgraph share what is in it."""
        place = self.graph.place(address)
        return self.scope(place.scope.key).nodes.get(place.node.id) if place is not None else None

    def nodes(self) -> Iterator[tuple[str, LiveNode]]:
        """Every node of the flattened graph with its address."""
        for place in self.graph.places():
            yield place.address, self.scope(place.scope.key).nodes[place.node.id]

    def named_widget(self, name: str, widget: str) -> Widget | None:
        """A widget by the name that its node has for this purpose, else by the node's title."""
        node = self._named_nodes.get(("name", name)) or self._named_nodes.get(("title", name))
        return node.widget(widget) if node is not None else None

    @cached_property
    def _named_nodes(self) -> dict[tuple[str, str], LiveNode]:
        found: dict[tuple[str, str], LiveNode] = {}
        for scope in self.scopes():
            for node in scope.nodes.values():
                name = node.node.properties.get("Node name for S&R")
                if isinstance(name, str):
                    found.setdefault(("name", name), node)
                found.setdefault(("title", node.title), node)
        return found

    def _load(self, scope: Scope) -> LiveScope:
        live = LiveScope(scope)
        live.inputs = [LiveSlot(slot.name, slot.type) for slot in scope.inputs]
        live.outputs = [LiveSlot(slot.name, slot.type) for slot in scope.outputs]
        if self.graph.format == "prompt":
            self._load_prompt(live)
            return live
        links, same = surviving_links(scope)
        made = {
            id_: LiveLink(id_, link.source, link.source_slot, link.type)
            for id_, link in links.items()
        }
        by_node: dict[str, list[Link]] = {}
        for link in links.values():
            by_node.setdefault(link.target, []).append(link)
        for node in scope.nodes.values():
            live.nodes[node.id] = self._load_node(node, by_node.get(node.id, []), made, same)
        for slot, link in _output_links(scope, links).items():
            live.output_links[slot] = made[link.id]
        for instance in list(live.nodes.values()):
            if instance.subgraph is not None:
                migrate_promotions(instance, instance.subgraph.scope.renamed)
        return live

    def _load_node(
        self, node: Node, links: list[Link], made: dict[str, LiveLink], same: dict[str, str]
    ) -> LiveNode:
        own = {link.id for link in links}
        named: list[LiveLink | None] = []
        for slot in node.inputs:
            id_ = same.get(slot.link, slot.link) if slot.link is not None else None
            named.append(made[id_] if id_ is not None and id_ in own else None)
        found = FileLinks([(link.target_slot, made[link.id]) for link in links], named)
        inner = self.subgraphs.get(node.type)
        if inner is not None:
            return instance_node(node, inner, found)
        if node.type in self.definitions:
            known = known_node(node, kept_prototype(self.definitions, node.type), found)
            if self.graph.on_canvas:
                keep_links(known, found.by_name(node))
            return known
        return unknown_node(node, found)

    def _load_prompt(self, live: LiveScope) -> None:
        links = {
            id_: LiveLink(id_, link.source, link.source_slot, link.type)
            for id_, link in live.scope.links.items()
        }
        for node in live.scope.nodes.values():
            if isinstance(node, PromptNode):
                definition = self.definitions.get(node.type)
                live.nodes[node.id] = prompt_node(node, definition, links)

    def _finish(self) -> None:
        """What the front end does when all nodes are there."""
        for scope in self.scopes():
            for node in scope.nodes.values():
                if node.definition is not None:
                    _drop_inputs_without_widget(node)
            scope.forget_targets()
        for scope in self.scopes():
            make_primitives(scope)
        for scope in self.scopes():
            for node in scope.nodes.values():
                _repair_values(node)
        for scope in self.scopes():
            apply_primitives(scope, self.named_widget)


def kept_prototype(definitions: NodeDefinitions, type_: str) -> Prototype:
    """A new node of a known type, made once for these definitions. Raises `KeyError`."""
    found = definitions.made.get(type_)
    if not isinstance(found, Prototype):
        found = definitions.made[type_] = prototype(definitions[type_])
    return found


def _drop_inputs_without_widget(node: LiveNode) -> None:
    """Take away inputs of widgets that the node does not have.

    The front end takes them away while it goes through them, which spares the input behind each.
    """
    names = {widget.name for widget in node.own_widgets}
    index = 0
    while index < len(node.inputs):
        one = node.inputs[index]
        if one.widget is not None and one.widget not in names:
            del node.inputs[index]
        index += 1


def _repair_values(node: LiveNode) -> None:
    """Values of old files, and choices without a value, which become the first choice."""
    sampler = "sampler_name" if node.type in ("KSampler", "KSamplerAdvanced") else ""
    for widget in list(node.widgets):
        value = widget.value
        if widget.name == sampler and isinstance(value, str) and value.startswith("sample_"):
            widget.value = value[7:]
        combo = widget.type in ("COMBO", "control", DYNAMIC_COMBO)
        if combo and widget.choices and (value is None or value is UNSET):
            set_widget(node, widget, widget.choices[0])


def surviving_links(scope: Scope) -> tuple[dict[str, Link], dict[str, str]]:
    """The links without those that feed an input which has one already.

    Also which link stands for each one that was left out. Of two links to one input the first
    stays, but where only the second is known to an input.
    """
    referenced = {
        slot.link for node in scope.nodes.values() for slot in node.inputs if slot.link is not None
    }
    by_target: dict[tuple[str, int], Link] = {}
    same: dict[str, str] = {}
    dropped: dict[str, list[str]] = {}
    for link in scope.links.values():
        target = (link.target, link.target_slot)
        first = by_target.get(target)
        if first is None:
            by_target[target] = link
            continue
        equal = (first.source, first.source_slot) == (link.source, link.source_slot)
        keep_new = not equal and link.id in referenced and first.id not in referenced
        kept, gone = (link, first) if keep_new else (first, link)
        by_target[target] = kept
        dropped[kept.id] = [*dropped.pop(kept.id, []), *dropped.pop(gone.id, []), gone.id]
    for kept_id, gone_ids in dropped.items():
        same.update(dict.fromkeys(gone_ids, kept_id))
    survivors = {link.id for link in by_target.values()}
    return {id_: link for id_, link in scope.links.items() if id_ in survivors}, same


def _output_links(scope: Scope, links: dict[str, Link]) -> dict[int, Link]:
    found: dict[int, Link] = {}
    for slot, output in enumerate(scope.outputs):
        link = next((links[id_] for id_ in output.links if id_ in links), None)
        if link is not None:
            found[slot] = link
    for link in links.values():
        if link.target == SUBGRAPH_OUTPUT:
            found.setdefault(link.target_slot, link)
    return found
