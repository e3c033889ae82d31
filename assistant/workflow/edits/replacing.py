"""Nodes that get another type: what fits by name stays, then what fits by type."""

from __future__ import annotations

from typing import Any

from ..dynamic_inputs import grow_behind
from ..inputs import connects
from ..live_nodes import LiveInput, LiveNode, LiveOutput
from ..validation_problems import shown
from .draft import Draft, Spot
from .lookup import Lookup
from .making import forget_promotions, holds, live_node
from .operations import Replace
from .prompt_nodes import grown_input
from .refused import EditRefused
from .values import fitted, set_values
from .wiring import consumers, link, link_out, outlets, source_type, unlink, unlink_out


def replace(draft: Draft, operation: Replace, lookup: Lookup) -> Spot:
    """Another type for a node: what fits by name stays, then what fits by type."""
    spot = lookup.node(operation.node)
    old, scope = spot.node, spot.scope
    draft.touch(scope, old)
    type_ = lookup.type(operation.type)
    if draft.live.subgraphs.get(type_) is not None and holds(draft, type_, scope.scope.key):
        raise lookup.refused("cycle", f"The subgraph {shown(type_)} cannot lie in itself.")
    fed = [(one, one.link) for one in old.inputs if one.link is not None]
    feeds = [
        (output, consumers(scope, old.id, slot), outlets(scope, old.id, slot))
        for slot, output in enumerate(old.outputs)
    ]
    for one, _ in fed:
        unlink(draft, scope, old, one)
    new = _swap(draft, spot, type_)
    made = spot.__class__(scope, new, spot.around)
    _keep_values(draft, made, old, lookup)
    if operation.values:
        set_values(draft, made, operation.values, lookup.number)
    _keep_links(draft, made, fed)
    for output, targets, places in feeds:
        for other, one in targets:
            place = _fitting_output(new, output, one.type)
            if place is not None:
                link(draft, scope, (new.id, place), other, one)
            elif one.link is not None:
                unlink(draft, scope, other, one)
        for slot in places:
            place = _fitting_output(new, output, scope.outputs[slot].type)
            if place is not None:
                link_out(draft, scope, (new.id, place), slot)
            else:
                unlink_out(draft, scope, slot)
    return made


def _swap(draft: Draft, spot: Spot, type_: str) -> LiveNode:
    """Put a new node of a type where another is: same id, place, mode, and title if it had one."""
    old, scope = spot.node, spot.scope
    raw = old.node.raw
    new = live_node(draft, old.id, type_, old.node.title)
    made = draft.raw_node(new)
    if draft.is_prompt:
        draft.content[old.id] = made
        known = draft.definitions.get(old.type)
        if known is None or old.node.title in (None, known.title, old.type):
            made["_meta"] = {"title": draft.definitions[type_].title}
    else:
        for key in ("pos", "flags", "order", "mode", "color", "bgcolor", "shape"):
            if key in raw:
                made[key] = raw[key]
        known = draft.definitions.get(old.type)
        if known is not None and old.node.title in (known.title, old.type):
            made.pop("title", None)
        draft.raw_scope(scope)["nodes"] = [
            made if one is raw else one for one in draft.raw_scope(scope)["nodes"]
        ]
    draft.forget(old)
    draft.resized[scope.scope.key, new.id] = new
    scope.nodes = {id_: new if node is old else node for id_, node in scope.nodes.items()}
    draft.settle(new, scope)
    scope.forget_targets()
    forget_promotions(scope, old)
    if new.subgraph is not None:
        new.subgraph.instances.append(new)
    if old.subgraph is not None:
        old.subgraph.instances.remove(old)
        draft.drop_unused()
    draft.renew(scope, new)
    return new


def _keep_values(draft: Draft, spot: Spot, old: LiveNode, lookup: Lookup) -> None:
    """The values of widgets of the same names that the new node takes."""
    before = {one.name: one for one in old.widgets if one.type not in ("button", "preview")}
    for name in sorted(before, key=lambda one: one.count(".")):
        widget = spot.node.widget(name)
        if widget is None or before[name].value is None:
            continue
        try:
            value = fitted(spot.node, widget, before[name].value, lookup)
        except EditRefused:
            continue
        set_values(draft, spot, {name: value}, lookup.number)


def _keep_links(draft: Draft, spot: Spot, fed: list[tuple[LiveInput, Any]]) -> None:
    """What fed the old node's inputs feeds those of the same name, then those of the same type."""
    left = []
    for old, before in fed:
        one = grown_input(spot.node, old.name)
        given = source_type(spot.scope, (before.source, before.source_slot))
        if one is not None and one.link is None and connects(given, one.type):
            link(draft, spot.scope, (before.source, before.source_slot), spot.node, one)
        else:
            left.append((old, before))
    for old, before in left:
        free = [one for one in spot.node.inputs if one.link is None and one.widget is None]
        one = next((one for one in free if one.type == old.type), None)
        given = source_type(spot.scope, (before.source, before.source_slot))
        one = one or next((one for one in free if connects(given, one.type)), None)
        if one is not None and old.widget is None:
            link(draft, spot.scope, (before.source, before.source_slot), spot.node, one)
            grow_behind(spot.node, one)


def _fitting_output(new: LiveNode, old: LiveOutput, taken: str) -> int | None:
    """The output that feeds what the old one fed: that of its name, else of its type, else any."""
    fitting = [(place, one) for place, one in enumerate(new.outputs) if connects(one.type, taken)]
    named = [place for place, one in fitting if one.name == old.name]
    same = [place for place, one in fitting if one.type == old.type]
    return next(iter([*named, *same, *(place for place, _ in fitting)]), None)
