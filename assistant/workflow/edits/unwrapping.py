"""Puts what is in a subgraph's instance in its place, as the front end's "Unpack subgraph" does.

The values that the instance has for promoted widgets go into these widgets. What else has instances
of the subgraph keeps it; then the nodes get new ids, else they keep theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ..dynamic_inputs import set_widget
from ..graph import ROOT
from ..inputs import sequence
from ..live import LiveScope
from ..live_nodes import LiveInput, LiveNode
from ..loading import prototype
from ..node_definitions import NodeDefinitions
from ..parts import BYPASSED, RUN, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, Link, Node
from ..sources import bypass_slot
from .boxes import (
    Box,
    ScopeJson,
    around,
    group_box,
    groups_of,
    node_box,
    nodes_of,
    put,
    put_group,
)
from .groups import new_group_id
from .placement import place_new, settled
from .promotions import load, raw_of, settle_promotions, write_values
from .refused import EditRefused
from .scope_links import (
    Content,
    Ids,
    Wires,
    definitions_of,
    instances_of,
    number,
    read_wires,
    scopes_of,
    write_wires,
)
from .sizes import estimated_size
from .steps import same_value

VALUE_NODES = {
    "INT": "PrimitiveInt",
    "FLOAT": "PrimitiveFloat",
    "STRING": "PrimitiveStringMultiline",
    "BOOLEAN": "PrimitiveBoolean",
}
"""Nodes of ComfyUI that give a value, by its type."""


def unwrap(
    content: Content, scope: ScopeJson, node: str, definitions: NodeDefinitions
) -> dict[str, str]:
    """Replace an instance in a scope by its subgraph's nodes; returns their new ids by the old.

    `scope` is the workflow itself or one of its definitions, within `content`, which is changed.
    A muted or bypassed instance leaves its nodes muted or bypassed. A value that goes into an input
    without a widget, or that a bypassed node passes on, comes from a new node. The front end
    computes texts with `{a|b}` only now: it leaves promoted ones alone. Raises `EditRefused` where
    the node is no instance of a subgraph, and where no node gives a value of that type.
    """
    key = str(nodes_of(scope)[node].get("type"))
    live = load(content, definitions)
    if key not in live.subgraphs:
        raise EditRefused("not_possible", f"{node} is no subgraph, so there is nothing to unwrap.")
    nested = {one.type for one in live.subgraphs[key].nodes.values() if one.subgraph is not None}
    own = [] if scope is content else [str(scope.get("id"))]
    for one in (key, *nested, *own):
        settle_promotions(content, one, definitions)
    live = load(content, definitions)
    instance = live.scope(own[0] if own else ROOT).nodes[node]
    assert instance.subgraph is not None  # it is among the live subgraphs
    return _Unwrapping(content, scope, definitions, instance, instance.subgraph).carry_out()


class _Unwrapping:
    def __init__(
        self,
        content: Content,
        scope: ScopeJson,
        definitions: NodeDefinitions,
        instance: LiveNode,
        inner: LiveScope,
    ) -> None:
        self.content, self.scope, self.definitions = content, scope, definitions
        self.instance, self.inner = instance, inner
        self.key = inner.scope.key
        raw = raw_of(inner.scope)
        self.shared = len(instances_of(content, self.key)) > 1
        self.definition = deepcopy(raw) if self.shared else raw
        self.givers: dict[int, dict[str, Any]] = {}
        """New nodes that give the value of an input of the instance, by its place."""
        self.given: dict[int, str] = {}
        """Their ids."""

    def carry_out(self) -> dict[str, str]:
        nodes = nodes_of(self.definition)
        self._set_values(nodes)
        outer, inner = read_wires(self.scope), read_wires(self.definition)
        box = node_box(raw_of(self.instance.node))
        self._remove_instance()
        ids = Ids(self.content)
        taken = nodes_of(self.scope)
        renamed = {id_: ids.node() if self.shared or id_ in taken else id_ for id_ in nodes}
        for slot, raw in self.givers.items():
            self.given[slot] = ids.node()
            raw["id"] = number(self.given[slot])
        links = self._links(outer, inner, renamed, ids)
        self._place(nodes, box)
        for id_, raw in nodes.items():
            raw["id"] = number(renamed[id_])
            if raw.get("mode", RUN) == RUN and self.instance.mode != RUN:
                raw["mode"] = self.instance.mode
        self.scope["nodes"] = [*sequence(self.scope.get("nodes")), *nodes.values()]
        self.scope["nodes"].extend(self.givers.values())
        write_wires(Wires(self.scope, links))
        place_new(self.scope, dict.fromkeys(self.given.values()))
        return renamed

    def _set_values(self, nodes: Mapping[str, dict[str, Any]]) -> None:
        """Write the instance's own values into the widgets that they stand for."""
        for slot, one in enumerate(self.instance.inputs):
            if one.link is not None or one.promoted is None:
                continue
            for target, fed in list(self.inner.fed_by(slot)):
                widget = target.widget_of(fed)
                if widget is None or self._passes_on(target, fed):
                    self._keep_value(slot, one)
                elif not same_value(widget.value, one.promoted.value):
                    set_widget(target, widget, deepcopy(one.promoted.value))
                    write_values(nodes[target.id], target)

    def _keep_value(self, slot: int, one: LiveInput) -> None:
        """A value that no widget can have needs a node that gives it."""
        if slot in self.givers or one.promoted is None:
            return
        definition = self.definitions.get(VALUE_NODES.get(one.type, ""))
        if definition is None:
            raise EditRefused(
                "not_possible",
                f"{self.instance.id}.{one.name} has a value that goes into an input inside that "
                "has no widget for it, or through a bypassed node.",
            )
        live = prototype(definition).copy(Node("", {"id": 0, "type": definition.type}))
        live.own_widgets[0].assign(deepcopy(one.promoted.value))
        width, height = estimated_size(live)
        raw: dict[str, Any] = {
            "id": 0,
            "type": definition.type,
            "pos": [0, 0],
            "size": [width, height],
            "flags": {},
            "order": 0,
            "mode": 0,
            "inputs": [
                {"name": other.name, "type": other.type, "widget": {"name": other.name}}
                for other in live.inputs
            ],
            "outputs": [{"name": other.name, "type": other.type} for other in live.outputs],
            "title": one.name,
            "properties": {"Node name for S&R": definition.type},
        }
        write_values(raw, live)
        self.givers[slot] = raw

    def _remove_instance(self) -> None:
        raw = self.instance.node.raw
        kept = [one for one in sequence(self.scope.get("nodes")) if one is not raw]
        self.scope["nodes"] = kept
        if self.shared:
            return
        for scope in list(scopes_of(self.content)):
            listed = definitions_of(scope)
            if any(one.get("id") == self.key for one in listed):
                # What was defined inside of it is still needed.
                own = [one for one in listed if one.get("id") != self.key]
                within = definitions_of(self.definition)
                scope["definitions"] = {**scope["definitions"], "subgraphs": [*own, *within]}

    def _links(
        self, outer: Wires, inner: Wires, renamed: Mapping[str, str], ids: Ids
    ) -> list[Link]:
        """The links of the scope without the instance, those of its inside among them."""
        node = self.instance.id
        found = [one for one in outer.links if node not in (one.source, one.target)]
        for one in inner.links:
            if one.target == SUBGRAPH_OUTPUT:
                continue
            source = self._source(one, renamed)
            if one.source == SUBGRAPH_INPUT and one.source_slot in self.given:
                source = (self.given[one.source_slot], 0) if self._needs_node(one) else None
            if source is not None:
                target = renamed[one.target], one.target_slot
                found.append(Link(ids.link(), *source, *target, one.type))
        for one in outer.out_of([node]):
            last = inner.feeding(SUBGRAPH_OUTPUT, one.source_slot)
            source = self._source(last, renamed) if last is not None else None
            if source is not None and one.target != node:
                found.append(replace(one, source=source[0], source_slot=source[1]))
        return found

    def _needs_node(self, link: Link) -> bool:
        node = self.inner.nodes.get(link.target)
        raw = nodes_of(self.definition)[link.target]
        listed = sequence(raw.get("inputs"))
        name = listed[link.target_slot].get("name") if link.target_slot < len(listed) else None
        one = node.input(name) if node is not None and isinstance(name, str) else None
        if node is None or one is None:
            return False
        return node.widget_of(one) is None or self._passes_on(node, one)

    def _passes_on(self, node: LiveNode, one: LiveInput) -> bool:
        """Whether a node inside is bypassed and hands on what feeds this input: a value that stands
        in a widget goes no further."""
        if node.mode != BYPASSED:
            return False
        place = node.inputs.index(one)
        asked = [
            (slot, fed.type)
            for slot in range(len(node.outputs))
            for _, fed in self.inner.targets(node.id, slot)
        ]
        leaving = [link for link in self.inner.output_links.values() if link.source == node.id]
        asked += [(link.source_slot, link.type) for link in leaving]
        return any(bypass_slot(node, slot, kind) == place for slot, kind in asked)

    def _source(self, link: Link, renamed: Mapping[str, str]) -> tuple[str, int] | None:
        """Where an inner link comes from when the instance is gone."""
        if link.source != SUBGRAPH_INPUT:
            return renamed[link.source], link.source_slot
        if link.source_slot >= len(self.instance.inputs):
            return None
        outside = self.instance.inputs[link.source_slot].link
        return (outside.source, outside.source_slot) if outside is not None else None

    def _place(self, nodes: Mapping[str, dict[str, Any]], box: Box) -> None:
        """Put the nodes, in the order that they have inside, where the instance was."""
        groups = groups_of(self.definition)
        boxes = [*map(node_box, nodes.values()), *map(group_box, groups)]
        whole = around(boxes)
        if whole is None:
            return
        left = box.x + (box.width - whole.width) / 2
        top = box.y + (box.height - whole.height) / 2
        place = settled(self.scope, Box(left, top, whole.width, whole.height), [], [])
        dx, dy = place.x - whole.x, place.y - whole.y
        for raw in nodes.values():
            moved = node_box(raw).moved(dx, dy)
            put(raw, moved.x, moved.y)
        for group in groups:
            made = {**group, "id": new_group_id(self.content)}
            put_group(made, group_box(group).moved(dx, dy))
            self.scope["groups"] = [*sequence(self.scope.get("groups")), made]
