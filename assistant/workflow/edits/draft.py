"""A workflow that a batch is being applied to.

The JSON of the workflow (`content`) and the graph that the front end would make of it (`live`) are
changed together: names, defaults and dynamic inputs are those of the live graph, and what an
operation has changed is written into the JSON when it is done (`write`). What no operation touches
stays in the JSON as it was. An API prompt is read into live nodes of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..graph import ROOT, Graph
from ..live import LiveGraph, LiveScope, kept_prototype
from ..live_nodes import LiveNode
from ..loading import Prototype
from ..node_definitions import NodeDefinitions
from ..parse import parse_workflow
from ..parts import PromptNode
from ..sources import Position
from .base import base_entry
from .promotions import settle_promotions
from .prompt_nodes import prompt_node, written_inputs
from .raw_links import RawLinks
from .whole_file import NewIds, copied, drop_definition, give_own_ids
from .writing import (
    LAYOUTS,
    keep_values,
    reads_same,
    write_boundary,
    write_promoted,
    write_slots,
    write_values,
)

Key = tuple[str, str]
"""A node by the key of its scope and its id there."""


class Unsettled(Exception):
    """The batch changes what `proxyWidgets` of this subgraph's instances say: begin anew, with
    these made inputs first."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Spot:
    """A node of the draft with what is around it."""

    scope: LiveScope
    node: LiveNode
    around: tuple[LiveNode, ...]
    """The subgraph instances around it, the outermost first."""

    @property
    def prefix(self) -> str:
        return "".join(f"{one.id}:" for one in self.around)

    @property
    def address(self) -> str:
        return f"{self.prefix}{self.node.id}"

    @property
    def position(self) -> Position:
        return Position(self.scope, self.node, self.around, self.prefix)


@dataclass(frozen=True)
class Inside:
    """A scope by the instances that lead to it; none for the workflow itself."""

    scope: LiveScope
    around: tuple[LiveNode, ...] = ()

    def spot(self, node: LiveNode) -> Spot:
        return Spot(self.scope, node, self.around)


class Draft:
    """See the module. Raises `NotAWorkflow` where the content is none."""

    def __init__(
        self,
        content: Mapping[str, Any],
        definitions: NodeDefinitions,
        unsettled: Iterable[str] = (),
    ) -> None:
        """`unsettled` are the subgraphs whose `proxyWidgets` are made inputs, as the front end
        does when it loads a file."""
        self.definitions = definitions
        self.content: dict[str, Any] = copied(content)
        graph = parse_workflow(self.content)
        changed = graph.format == "workflow" and give_own_ids(graph)
        for key in unsettled:
            settle_promotions(self.content, key, definitions)
            changed = True
        self.names: dict[str, tuple[str, str]] = {}
        """The nodes that the batch named: the key of the scope and the node's id in it."""
        self.base: dict[tuple[str, str], dict[str, Any]] = {}
        """What the touched nodes were like before the batch, by scope and id."""
        self.touched: dict[tuple[str, str], None] = {}
        self.added: set[tuple[str, str]] = set()
        self.removed: list[str] = []
        """The addresses of the nodes that went, without those that the batch had added."""
        self.changed_scopes: dict[str, None] = {}
        """The scopes in which something was changed, by key."""
        self.unplaced: dict[str, dict[str, str | None]] = {}
        """The new nodes without a place, by the key of the scope; each with what it is near to."""
        self.resized: dict[tuple[str, str], LiveNode] = {}
        """The replaced nodes, which have another size now."""
        self._new_links: dict[LiveNode, LiveScope] = {}
        self._new_values: dict[LiveNode, LiveScope] = {}
        self._new_boundaries: dict[str, LiveScope] = {}
        self._named_values: dict[LiveNode, set[str]] = {}
        self._load(parse_workflow(self.content) if changed else graph)
        self.new_ids = NewIds(self.live.graph)

    # Reading

    @property
    def is_prompt(self) -> bool:
        return self.live.graph.format == "prompt"

    def scope(self, key: str) -> LiveScope:
        return self.live.scope(key)

    def spot(self, address: str) -> Spot | None:
        """The node with this address, or with the name that the batch gave it."""
        named = self._named(address)
        if named is not None:
            return named
        whole = self.live.root.nodes.get(address)
        if whole is not None:
            return Spot(self.live.root, whole, ())
        first, _, rest = address.partition(":")
        here = self._named(first) or self._in(Inside(self.live.root), first)
        while here is not None and rest:
            inner = here.node.subgraph
            if inner is None:
                return None
            first, _, rest = rest.partition(":")
            around = (*here.around, here.node)
            node = inner.nodes.get(first)
            if node is None:
                named = self._named(first)
                node = named.node if named is not None and named.scope is inner else None
            here = Spot(inner, node, around) if node is not None else None
        return here

    def _in(self, inside: Inside, id_: str) -> Spot | None:
        node = inside.scope.nodes.get(id_)
        return inside.spot(node) if node is not None else None

    def _named(self, name: str) -> Spot | None:
        key, id_ = self.names.get(name, ("", ""))
        if not id_:
            return None
        scope = self.live.root if key == ROOT else self.live.subgraphs.get(key)
        node = scope.nodes.get(id_) if scope is not None else None
        if scope is None or node is None:
            return None
        return Spot(scope, node, self.path_to(key))

    def path_to(self, key: str) -> tuple[LiveNode, ...]:
        """The instances that lead to a scope by the first of its instances."""
        path: list[LiveNode] = []
        while key != ROOT:
            instances = self.live.subgraphs[key].instances
            if not instances:
                break
            path.insert(0, instances[0])
            key = self.home(instances[0]).scope.key
        return tuple(path)

    def home(self, node: LiveNode) -> LiveScope:
        """The scope that a node is in."""
        return self._homes[node]

    def spots(self) -> Iterator[Spot]:
        """Every node, those of a subgraph once."""
        for scope in self.live.scopes():
            around = self.path_to(scope.scope.key)
            for node in scope.nodes.values():
                yield Spot(scope, node, around)

    def addresses(self, key: str, id_: str) -> str:
        around = self.path_to(key)
        return "".join(f"{one.id}:" for one in around) + id_

    def instances(self, key: str) -> int:
        """How many nodes of the flattened graph are instances of a subgraph."""
        inner = self.live.subgraphs.get(key)
        if key == ROOT or inner is None:
            return 1
        return sum(self.instances(self.home(one).scope.key) for one in inner.instances)

    def prototype(self, type_: str) -> Prototype:
        """A new node of a known type. Raises `KeyError`."""
        return kept_prototype(self.definitions, type_)

    # Changing

    def touch(self, scope: LiveScope, node: LiveNode) -> None:
        """The batch reads or writes this node."""
        key = (scope.scope.key, node.id)
        if key not in self.touched:
            self.touched[key] = None
            if key not in self.added:
                address = self.addresses(*key)
                prefix = address[: -len(node.id)]
                self.base[key] = {"address": address, **base_entry(scope, node, prefix)}

    def links(self, scope: LiveScope) -> RawLinks:
        return self._links[scope.scope.key]

    def raw_scope(self, scope: LiveScope) -> dict[str, Any]:
        """The JSON of a scope, which may be changed."""
        raw = scope.scope.raw
        assert isinstance(raw, dict)
        return raw

    def raw_node(self, node: LiveNode) -> dict[str, Any]:
        raw = node.node.raw
        assert isinstance(raw, dict)
        return raw

    def settle(self, node: LiveNode, scope: LiveScope) -> None:
        """A node has come into a scope."""
        scope.nodes[node.id] = node
        self._homes[node] = scope

    def changed(self, scope: LiveScope) -> None:
        self.changed_scopes[scope.scope.key] = None

    def note_links(self, scope: LiveScope, node: LiveNode) -> None:
        """The inputs of a node, or the links at it, are others now."""
        self.touch(scope, node)
        self.changed(scope)
        self._new_links[node] = scope

    def note_values(self, scope: LiveScope, node: LiveNode) -> None:
        """The values of a node's widgets are others now."""
        self.touch(scope, node)
        self.changed(scope)
        self._new_values[node] = scope

    def note_named(self, node: LiveNode, names: set[str]) -> None:
        """These widgets were set; an API prompt lists them from now on."""
        self._named_values.setdefault(node, set()).update(names)

    def note_boundary(self, scope: LiveScope) -> None:
        """The links at a subgraph's own inputs and outputs are others now."""
        self.changed(scope)
        self._new_boundaries[scope.scope.key] = scope

    def note_removed(self, scope: LiveScope, node: LiveNode) -> None:
        """A node is about to go, and with the last instance of a subgraph all that is in it."""
        key = (scope.scope.key, node.id)
        if key not in self.added:
            self.removed.append(self.addresses(*key))
        if node.subgraph is not None and len(node.subgraph.instances) == 1:
            for one in node.subgraph.nodes.values():
                self.note_removed(node.subgraph, one)

    def forget(self, node: LiveNode) -> None:
        """A node has left the draft; there is nothing to write of it."""
        for noted in (self._new_links, self._new_values, self._homes):
            noted.pop(node, None)

    def renew(self, scope: LiveScope, node: LiveNode) -> None:
        """A node has become another: all of it is written."""
        self.resized[scope.scope.key, node.id] = node
        self.note_links(scope, node)
        self.note_values(scope, node)
        self.note_named(node, {one.name for one in node.own_widgets})

    def drop_unused(self) -> None:
        """Take the definitions of subgraphs away that have no instance any more."""
        used = {ROOT}
        pending = [self.live.root]
        while pending:
            for node in pending.pop().nodes.values():
                if node.subgraph is not None and node.type not in used:
                    used.add(node.type)
                    pending.append(node.subgraph)
        for key in [one for one in self.live.subgraphs if one not in used and self._had(one)]:
            gone = self.live.subgraphs.pop(key)
            for node in gone.nodes.values():
                if node.subgraph is not None:
                    node.subgraph.instances.remove(node)
            self.changed_scopes.pop(key, None)
            self._new_boundaries.pop(key, None)
            for noted in (self._new_links, self._new_values):
                for node in [one for one, scope in noted.items() if scope is gone]:
                    del noted[node]
            drop_definition(self.content, key)

    def _had(self, key: str) -> bool:
        """Whether a subgraph had instances when the content was read."""
        graph = self.live.graph
        return any(node.type == key for scope in graph.scopes() for node in scope.nodes.values())

    def moved(self, keys: Mapping[Key, Key]) -> None:
        """Nodes are in another scope now, or have another id."""
        self.names = {name: keys.get(key, key) for name, key in self.names.items()}
        self.touched = {keys.get(key, key): None for key in self.touched}
        self.added = {keys.get(key, key) for key in self.added}

    def write(self) -> None:
        """Write what has changed into the JSON."""
        for node, scope in self._new_links.items():
            if self.is_prompt:
                self._write_prompt_node(node, scope)
            else:
                write_slots(node, self.links(scope))
        for node, scope in self._new_values.items():
            if self.is_prompt:
                self._write_prompt_node(node, scope)
            elif node.subgraph is not None and node.node.properties.get("proxyWidgets"):
                if not write_promoted(node):
                    raise Unsettled(node.type)
            else:
                write_values(node)
        for node, scope in {**self._new_links, **self._new_values}.items():
            if not self.is_prompt and node.definition is not None:
                self._write_readable(node, scope)
        for scope in self._new_boundaries.values():
            write_boundary(self.links(scope), self.raw_scope(scope))
        if not self.is_prompt:
            for scope in self.live.scopes():
                self.links(scope).write(self.raw_scope(scope))
            self.new_ids.write(self.content, map(self.raw_scope, self.live.subgraphs.values()))
        self._new_links, self._new_values, self._new_boundaries = {}, {}, {}

    def _write_readable(self, node: LiveNode, scope: LiveScope) -> None:
        """Write the inputs of a node with dynamic ones so that they are read as they are.

        When the front end loads a file, a node first has the inputs of its first options, and links
        go by their places. So not each list of inputs is read as it was meant.
        """
        new = self.prototype(node.type)
        if node in self._new_values:
            keep_values(node, new)
        if not new.nested and not node.autogrow:
            return
        for layout in LAYOUTS[1:]:
            if reads_same(node, new, self.links(scope)):
                return
            write_slots(node, self.links(scope), layout)

    def _write_prompt_node(self, node: LiveNode, scope: LiveScope) -> None:
        raw = self.raw_node(node)
        is_new = (scope.scope.key, node.id) in self.added
        named = frozenset(self._named_values.get(node, ()))
        raw["inputs"] = written_inputs(node, is_new, named)
        node.node = PromptNode(node.id, raw)

    def reload(self) -> None:
        """Read the content anew, after something else has changed it."""
        self._load(parse_workflow(self.content))
        self.new_ids.observe(self.live.graph)

    # Loading

    def _load(self, graph: Graph) -> None:
        self.live = LiveGraph(graph, self.definitions)
        version = graph.root.raw.get("version")
        listed = not (isinstance(version, (int, float)) and version >= 1)
        self._links = {
            scope.key: RawLinks(scope, listed and scope.key == ROOT) for scope in graph.scopes()
        }
        if graph.format == "prompt":
            root = self.live.root
            for id_, node in list(root.nodes.items()):
                if node.definition is not None:
                    root.nodes[id_] = prompt_node(node, self.prototype(node.type))
            root.forget_targets()
        self._homes = {node: scope for scope in self.live.scopes() for node in scope.nodes.values()}
