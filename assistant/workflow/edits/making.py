"""Nodes that operations add and take away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..inputs import connects, sequence
from ..instances import instance_node
from ..live import LiveScope
from ..live_nodes import LiveInput, LiveNode, LiveOutput
from ..loading import FileLinks, unknown_node
from ..parts import PRIMITIVE, REROUTE, SUBGRAPH_INPUT, Node
from ..sources import bypass_slot
from ..validation_problems import shown
from .draft import Draft, Inside, Spot, Unsettled
from .joining import join
from .lookup import Lookup, Output
from .operations import Add, End, Insert, Remove
from .prompt_nodes import new_prompt_node
from .values import set_values
from .wiring import consumers, link, link_out, outlets, source_type, unlink, unlink_out
from .writing import new_node

_NO_LINKS = FileLinks((), ())


def add(draft: Draft, operation: Add, lookup: Lookup) -> Spot:
    """A new node with its defaults, then its values and links."""
    type_ = lookup.type(operation.type)
    inside = _inside(draft, operation, lookup)
    spot = _new(draft, inside, type_, operation.id, operation.title, lookup)
    near = lookup.node(operation.near) if operation.near is not None else None
    if near is not None and near.scope is spot.scope:
        draft.unplaced[inside.scope.scope.key][spot.node.id] = near.node.id
    _furnish(draft, spot, operation.values, operation.inputs, lookup)
    return spot


def _inside(draft: Draft, operation: Add, lookup: Lookup) -> Inside:
    """Where a new node goes: where it was told, else where all its links come from."""
    if operation.inside not in (None, ""):
        return lookup.inside(operation.inside or "")
    found = [lookup.output(end).inside for end in operation.inputs.values()]
    if found and all(one.scope is found[0].scope for one in found):
        return found[0]
    return Inside(draft.live.root)


def _furnish(
    draft: Draft,
    spot: Spot,
    values: Mapping[str, Any],
    inputs: Mapping[str, End],
    lookup: Lookup,
) -> None:
    """Values first, since dynamic combos decide which inputs there are."""
    if values and spot.node.type == PRIMITIVE and not spot.node.own_widgets:
        message = "A PrimitiveNode has a value when it is connected: connect it, then set it."
        raise lookup.refused("unknown_widget", message)
    if values:
        set_values(draft, spot, values, lookup.number)
    for name, end in sorted(inputs.items(), key=lambda pair: _row_order(pair[0])):
        one = lookup.input(spot, name)
        join(draft, lookup.output(end, one.type), spot, one, lookup)


def _row_order(name: str) -> tuple[str, int]:
    """Rows of one group in their order, since a group grows from its first row on."""
    digits = len(name) - len(name.rstrip("0123456789"))
    grows = "." in name and digits < 10
    return (name[:-digits], int(name[-digits:])) if grows and digits else ("", 0)


def _new(
    draft: Draft, inside: Inside, type_: str, name: str, title: str | None, lookup: Lookup
) -> Spot:
    """A node of a type with its defaults, which the batch calls `name`."""
    scope = inside.scope
    key = scope.scope.key
    if name and (name in draft.names or draft.spot(name) is not None):
        raise lookup.refused("name_taken", f"The id {shown(name)} is taken; give the node another.")
    if type_ == key or holds(draft, type_, key):
        raise lookup.refused("cycle", f"The subgraph {shown(type_)} cannot lie in itself.")
    id_ = str(draft.new_ids.node())
    node = live_node(draft, id_, type_, title)
    draft.added.add((key, id_))
    draft.settle(node, scope)
    if node.subgraph is not None:
        node.subgraph.instances.append(node)
    if not draft.is_prompt:
        raw = draft.raw_scope(scope)
        raw["nodes"] = [*raw.get("nodes", []), node.node.raw]
        draft.unplaced.setdefault(key, {})[id_] = None
    else:
        draft.content[id_] = node.node.raw
    draft.names[name or _own_name(draft, type_)] = (key, id_)
    draft.note_links(scope, node)
    draft.note_values(scope, node)
    return inside.spot(node)


def _own_name(draft: Draft, type_: str) -> str:
    """The name of a node that the batch gave none."""
    numbers = range(1, len(draft.names) + 2)
    names = [type_, *(f"{type_}_{number}" for number in numbers)]
    return next(one for one in names if one not in draft.names)


def holds(draft: Draft, outer: str, inner: str) -> bool:
    """Whether a subgraph has an instance of another in it, however deep."""
    scope = draft.live.subgraphs.get(outer)
    if scope is None:
        return False
    held = {node.type for node in scope.nodes.values() if node.subgraph is not None}
    return inner in held or any(holds(draft, one, inner) for one in held)


def live_node(draft: Draft, id_: str, type_: str, title: str | None) -> LiveNode:
    definition = draft.definitions.get(type_)
    inner = draft.live.subgraphs.get(type_)
    if draft.is_prompt:
        assert definition is not None
        made = new_prompt_node(id_, type_, title or definition.title)
        node = draft.prototype(type_).copy(made)
        node.outputs = list(node.outputs)
        return node
    raw = new_node(id_, type_, definition if inner is None else None)
    if title:
        raw["title"] = title
    if inner is not None:
        return _new_instance(raw, id_, inner)
    if definition is not None:
        node = draft.prototype(type_).copy(Node(id_, raw))
        node.outputs = list(node.outputs)
        return node
    return _page_node(raw, id_)


def _new_instance(raw: dict[str, Any], id_: str, inner: LiveScope) -> LiveNode:
    """Another instance of a subgraph, with the values that its widgets have inside."""
    raw["inputs"] = [{"name": one.name, "type": one.type, "link": None} for one in inner.inputs]
    raw["outputs"] = [{"name": one.name, "type": one.type, "links": []} for one in inner.outputs]
    shown_by = next((one.node.properties.get("proxyWidgets") for one in inner.instances), None)
    if shown_by:
        raw["properties"]["proxyWidgets"] = [list(one) for one in shown_by]
    node = instance_node(Node(id_, raw), inner, FileLinks((), (None,) * len(raw["inputs"])))
    inner.instances.remove(node)
    return node


def _page_node(raw: dict[str, Any], id_: str) -> LiveNode:
    """A note, a reroute or a PrimitiveNode, which no definition describes."""
    type_ = raw["type"]
    if type_ == REROUTE:
        raw["inputs"] = [{"name": "", "type": "*", "link": None}]
        raw["outputs"] = [{"name": "", "type": "*", "links": None}]
        raw["properties"] = {"showOutputText": False, "horizontal": False}
        return unknown_node(Node(id_, raw), FileLinks((), (None,)))
    if type_ == PRIMITIVE:
        raw["outputs"] = [{"name": "connect to widget input", "type": "*", "links": None}]
        raw["properties"] = {"Run widget replace on values": False}
        return LiveNode(id_, Node(id_, raw), None, outputs=[LiveOutput(_PRIMITIVE_OUTPUT, "*")])
    raw["widgets_values"] = [""]
    return unknown_node(Node(id_, raw), _NO_LINKS)


_PRIMITIVE_OUTPUT = "connect to widget input"


def insert(draft: Draft, operation: Insert, lookup: Lookup) -> Spot:
    """A new node in the link that feeds an input."""
    found = lookup.target(operation.into)
    scope = found[0].scope if isinstance(found, tuple) else found.inside.scope
    around = found[0].around if isinstance(found, tuple) else found.inside.around
    before = found[1].link if isinstance(found, tuple) else scope.output_links.get(found.slot)
    taken = found[1].type if isinstance(found, tuple) else found.type
    name = shown(str(operation.into))
    if before is None or not (before.source in scope.nodes or before.source == SUBGRAPH_INPUT):
        raise lookup.refused(
            "not_possible", f"Nothing feeds {name}: use add, then connect its output to {name}."
        )
    inside = Inside(scope, around)
    output = Output(inside, before.source, before.source_slot)
    kind = source_type(scope, output.ends)
    type_ = lookup.type(operation.type)
    spot = _new(draft, inside, type_, operation.id, operation.title, lookup)
    _furnish(draft, spot, operation.values, {}, lookup)
    entry = _first_input(spot.node, kind if kind != "*" else taken)
    exit_ = _first_output(spot.node, taken if taken != "*" else kind)
    if entry is None or exit_ is None:
        what = "input" if entry is None else "output"
        wanted = kind if kind != "*" else taken
        raise lookup.refused("wrong_type", f"{shown(type_)} has no {what} for {wanted}.")
    join(draft, output, spot, entry, lookup)
    _furnish(draft, spot, {}, operation.inputs, lookup)
    made = Output(inside, spot.node.id, _first_output(spot.node, taken) or exit_)
    if isinstance(found, tuple):
        join(draft, made, found[0], found[1], lookup)
    else:
        link_out(draft, scope, made.ends, found.slot)
    return spot


def _first_input(node: LiveNode, type_: str) -> LiveInput | None:
    """The first input of the type; one without a widget before those with, exactly before `*`."""
    sockets = [one for one in node.inputs if one.widget is None]
    for listed in (sockets, node.inputs):
        for one in listed:
            if one.type == type_:
                return one
    fitting = (one for listed in (sockets, node.inputs) for one in listed)
    return next((one for one in fitting if connects(type_, one.type)), None)


def _first_output(node: LiveNode, type_: str) -> int | None:
    exact = next((i for i, one in enumerate(node.outputs) if one.type == type_), None)
    if exact is not None:
        return exact
    return next((i for i, one in enumerate(node.outputs) if connects(one.type, type_)), None)


def remove(draft: Draft, operation: Remove, lookup: Lookup) -> None:
    """Take a node away, with its links; with `bridge` what feeds it feeds what it fed."""
    spot = lookup.node(operation.node)
    draft.touch(spot.scope, spot.node)
    if operation.bridge:
        _bridge(draft, spot)
    take_out(draft, spot)


def _bridge(draft: Draft, spot: Spot) -> None:
    node, scope = spot.node, spot.scope
    for slot, output in enumerate(node.outputs):
        entry = _passing(node, slot, output)
        source = (entry.link.source, entry.link.source_slot) if entry and entry.link else None
        if source is None:
            continue
        for other, one in consumers(scope, node.id, slot):
            link(draft, scope, source, other, one)
        for place in outlets(scope, node.id, slot):
            link_out(draft, scope, source, place)


def _passing(node: LiveNode, slot: int, output: LiveOutput) -> LiveInput | None:
    """The linked input that a bridge leads to an output: that of its name, else by its type."""
    linked = [one for one in node.inputs if one.link is not None]
    named = [one for one in linked if one.name.casefold() == output.name.casefold()]
    fitting = [one for one in named if connects(one.type, output.type)]
    if not fitting:
        place = bypass_slot(node, slot, output.type)
        fitting = [node.inputs[place]] if place is not None else []
    if not fitting or fitting[0].link is None:
        fitting = [one for one in linked if one.type == output.type]
        fitting = fitting or [
            one for one in linked if one.widget is None and connects(one.type, output.type)
        ]
    return fitting[0] if fitting else None


def take_out(draft: Draft, spot: Spot) -> None:
    """Take a node out of its scope, with all links at it."""
    node, scope = spot.node, spot.scope
    draft.note_removed(scope, node)
    _unlink_all(draft, scope, node)
    if not draft.is_prompt:
        for id_ in [*draft.links(scope).into(node.id), *draft.links(scope).out_of(node.id)]:
            draft.links(scope).remove(id_)
        raw = draft.raw_scope(scope)
        raw["nodes"] = [one for one in raw["nodes"] if one is not node.node.raw]
    else:
        del draft.content[node.id]
    del scope.nodes[node.id]
    scope.forget_targets()
    draft.changed(scope)
    draft.forget(node)
    key = (scope.scope.key, node.id)
    draft.added.discard(key)
    draft.unplaced.get(key[0], {}).pop(node.id, None)
    draft.names = {name: one for name, one in draft.names.items() if one != key}
    forget_promotions(scope, node)
    if node.subgraph is not None:
        node.subgraph.instances.remove(node)
        draft.drop_unused()


def _unlink_all(draft: Draft, scope: LiveScope, node: LiveNode) -> None:
    for one in list(node.inputs):
        if one.link is not None:
            unlink(draft, scope, node, one)
    for slot in range(len(node.outputs)):
        for other, one in consumers(scope, node.id, slot):
            unlink(draft, scope, other, one)
        for place in outlets(scope, node.id, slot):
            unlink_out(draft, scope, place)


def forget_promotions(scope: LiveScope, node: LiveNode) -> None:
    """The instances of the scope's subgraph show no widget of a node that is gone."""
    for instance in scope.instances:
        for entry in sequence(instance.node.properties.get("proxyWidgets")):
            if isinstance(entry, list) and entry and str(entry[0]) == node.id:
                raise Unsettled(scope.scope.key)
