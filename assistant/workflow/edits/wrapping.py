"""Puts nodes into a new subgraph, as the front end's "Convert to subgraph" does.

The subgraph has an input for each output outside that feeds a node in it, named after the first
input that it feeds, and an output for each of its nodes' outputs that feeds something outside. The
prompt stays as it was, but for addresses: node 8 becomes `57:8`. Ids are made of the content.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..inputs import mapping, sequence
from ..node_definitions import NodeDefinitions
from ..parts import (
    BYPASSED,
    GETTERS,
    MUTED,
    PRIMITIVE,
    RUN,
    SETTERS,
    SUBGRAPH_INPUT,
    SUBGRAPH_OUTPUT,
    Link,
    identity,
)
from .boxes import (
    Box,
    ScopeJson,
    around,
    groups_of,
    members,
    node_box,
    nodes_of,
    put,
    written,
)
from .placement import settled
from .promotions import load, raw_of, settle_promotions, write_values
from .refused import EditRefused
from .scope_links import (
    Content,
    Ids,
    Wires,
    definition_of,
    instances_of,
    number,
    read_wires,
    write_wires,
)
from .sizes import estimated_size
from .uuids import content_uuid

_PANEL = 120.0
"""Width of the panel of a subgraph's inputs, and of its outputs."""
_PANEL_GAP = 50.0
_PANEL_ROW, _PANEL_EDGE = 20.0, 40.0
_SLOT_FIELDS = ("label", "localized_name", "shape", "dir", "color_on", "color_off")
"""What a subgraph's slot takes over from the slot inside."""


def wrap(
    content: Content,
    scope: ScopeJson,
    nodes: Collection[str],
    title: str,
    definitions: NodeDefinitions,
) -> str:
    """Put nodes of a scope into a new subgraph; returns the id of its instance in the scope.

    `scope` is the workflow itself or one of its definitions, within `content`, which is changed.
    PrimitiveNodes that feed nothing but these nodes come along. Raises `EditRefused` where a node
    that links by a name, or a PrimitiveNode, would be parted from what it feeds.
    """
    if scope is not content:
        settle_promotions(content, str(scope.get("id")), definitions)
    known, wires, ids = nodes_of(scope), read_wires(scope), Ids(content)
    inside = _with_primitives(known, wires, nodes)
    _check_names(known, inside)
    moved = [known[id_] for id_ in known if id_ in inside]
    for node in moved if scope is content else []:
        _turn_off_inside(content, node)
    bounds = around(map(node_box, moved))
    assert bounds is not None  # `nodes` is not empty
    groups = [
        one for one in groups_of(scope) if (held := members(scope, one)) and inside.issuperset(held)
    ]
    order = [id_ for id_ in known if id_ in inside]
    entering = [one for one in wires.into(order) if one.source not in inside]
    leaving = [one for one in wires.out_of(order) if one.target not in inside]
    inner = [one for one in wires.links if one.source in inside and one.target in inside]
    key = _new_key(content, title, moved, [one.id for one in wires.links])
    inputs, into = _boundary(key, "input", entering, known)
    outputs, out_of = _boundary(key, "output", leaving, known)

    definition: dict[str, Any] = {
        "id": key,
        "version": 1,
        "state": {},
        "revision": 0,
        "config": {},
        "name": title,
        "inputNode": _panel(-10, bounds, len(inputs)),
        "outputNode": _panel(-20, bounds, len(outputs)),
        "inputs": inputs,
        "outputs": outputs,
        "widgets": [],
        "nodes": moved,
        "groups": groups,
        "links": [],
        "extra": {},
    }
    kept_ids = [ids.link() for _ in outputs]
    inner += [
        replace(one, source=SUBGRAPH_INPUT, source_slot=into[one.source, one.source_slot])
        for one in entering
    ]
    inner += [
        Link(id_, source, slot, SUBGRAPH_OUTPUT, place, outputs[place]["type"])
        for id_, ((source, slot), place) in zip(kept_ids, out_of.items(), strict=True)
    ]
    write_wires(Wires(definition, inner))

    instance = ids.node()
    made = _instance(instance, key, definition, len(known))
    scope["nodes"] = [one for one in sequence(scope.get("nodes")) if not _among(one, moved)]
    scope["nodes"].append(made)
    scope["groups"] = [one for one in sequence(scope.get("groups")) if not _among(one, groups)]
    outer = [one for one in wires.links if one.source not in inside and one.target not in inside]
    outer += [
        Link(ids.link(), source, slot, instance, place, inputs[place]["type"])
        for (source, slot), place in into.items()
    ]
    outer += [
        replace(one, source=instance, source_slot=out_of[one.source, one.source_slot])
        for one in leaving
    ]
    write_wires(Wires(scope, outer))
    _define(content, definition, ids)
    _finish(content, scope, instance, bounds, definitions)
    return instance


End = tuple[str, int]


def _with_primitives(
    known: dict[str, dict[str, Any]], wires: Wires, nodes: Collection[str]
) -> set[str]:
    """The nodes, and the PrimitiveNodes that feed only these."""
    inside = set(nodes)
    for id_, node in known.items():
        if node.get("type") != PRIMITIVE:
            continue
        targets = {one.target for one in wires.out_of([id_])}
        if targets and targets <= set(nodes):
            inside.add(id_)
        elif (targets & set(nodes) and id_ not in inside) or (targets - inside and id_ in inside):
            others = ", ".join(sorted(targets - set(nodes)))
            raise EditRefused(
                "not_possible",
                f"{id_} (PrimitiveNode) also feeds {others}, and a PrimitiveNode works only beside "
                "what it feeds. Wrap these, too.",
            )
    return inside


def _turn_off_inside(content: Content, node: dict[str, Any]) -> None:
    """Mute (or bypass) what is in a muted instance, too: inside of another subgraph, the front end
    runs the nodes of a muted instance unless they are muted themselves."""
    mode, key = node.get("mode"), str(node.get("type"))
    if mode not in (MUTED, BYPASSED) or not (inner := definition_of(content, key)):
        return
    pending = [inner]
    while pending:
        scope = pending.pop()
        if len(instances_of(content, str(scope.get("id")))) > 1:
            raise EditRefused(
                "not_possible",
                f"{identity(node.get('id'))} is off, but other instances of its subgraph are not, "
                "and inside of another subgraph its nodes would run.",
            )
        for one in nodes_of(scope).values():
            if one.get("mode", RUN) not in (MUTED, BYPASSED):
                one["mode"] = mode
            held = definition_of(content, str(one.get("type")))
            if held is not None:
                pending.append(held)


def _check_names(known: dict[str, dict[str, Any]], inside: set[str]) -> None:
    """Nodes that link by a name see only the nodes of their own scope."""
    names: dict[Any, set[bool]] = {}
    for id_, node in known.items():
        if node.get("type") in SETTERS | GETTERS:
            values = sequence(node.get("widgets_values"))
            if values and isinstance(values[0], str):
                names.setdefault(values[0], set()).add(id_ in inside)
    for name, sides in names.items():
        if len(sides) == 2:
            raise EditRefused(
                "not_possible",
                f"The SetNode and GetNodes called {name!r} work only in one subgraph. Wrap all of "
                "them or none.",
            )


def _boundary(
    key: str, side: str, links: list[Link], known: dict[str, dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[End, int]]:
    """The subgraph's inputs or outputs for the links over its border, one for each output that they
    come from, and their places by these outputs."""
    slots: list[dict[str, Any]] = []
    places: dict[End, int] = {}
    for link in links:
        end = link.source, link.source_slot
        if end in places:
            continue
        places[end] = len(slots)
        if side == "input":
            raw = _slot(known[link.target], "inputs", link.target_slot)
        else:
            raw = _slot(known[link.source], "outputs", link.source_slot)
        name = _unique(str(raw.get("name") or link.type), [one["name"] for one in slots])
        kind = raw.get("type")
        made: dict[str, Any] = {
            "id": content_uuid(side, key, len(slots), name),
            "name": name,
            "type": kind if isinstance(kind, str) and kind else link.type,
            "linkIds": [],
        }
        made.update({field: raw[field] for field in _SLOT_FIELDS if raw.get(field) is not None})
        if "widget" in raw:
            made["_widget"] = True
        slots.append(made)
    return slots, places


def _slot(node: dict[str, Any], side: str, place: int) -> dict[str, Any]:
    listed = sequence(node.get(side))
    return dict(mapping(listed[place])) if place < len(listed) else {}


def _unique(name: str, taken: list[str]) -> str:
    """The name, with a number behind it where it is taken, as the front end does it."""
    unique, count = name, 1
    while unique in taken:
        unique, count = f"{name}_{count}", count + 1
    return unique


def _new_key(content: Content, title: str, moved: list[dict[str, Any]], links: list[str]) -> str:
    text = (title, moved, links, [one.get("id") for one in _definitions(content)])
    return content_uuid("subgraph", *text)


def _definitions(content: Content) -> list[Any]:
    return list(sequence(mapping(content.get("definitions")).get("subgraphs")))


def _panel(id_: int, bounds: Box, rows: int) -> dict[str, Any]:
    """The panel of the subgraph's own inputs (-10) or outputs (-20), beside its nodes."""
    height = _PANEL_EDGE + _PANEL_ROW * max(rows, 1)
    left = bounds.x - _PANEL_GAP - _PANEL if id_ == -10 else bounds.right + _PANEL_GAP
    top = bounds.y + (bounds.height - height) / 2
    return {"id": id_, "bounding": [written(one) for one in (left, top, _PANEL, height)]}


def _instance(id_: str, key: str, definition: dict[str, Any], order: int) -> dict[str, Any]:
    """The node that stands for the subgraph; its place and size come later."""
    inputs = []
    for one in definition["inputs"]:
        made = {field: one[field] for field in ("name", "type", *_SLOT_FIELDS) if field in one}
        if one.pop("_widget", False):
            made["widget"] = {"name": one["name"]}
        inputs.append({**made, "link": None})
    outputs = [
        {
            **{field: one[field] for field in ("name", "type", *_SLOT_FIELDS) if field in one},
            "links": [],
        }
        for one in definition["outputs"]
    ]
    return {
        "id": number(id_),
        "type": key,
        "pos": [0, 0],
        "size": [0, 0],
        "flags": {},
        "order": order,
        "mode": 0,
        "inputs": inputs,
        "outputs": outputs,
        "properties": {},
        "widgets_values": [],
    }


def _among(one: Any, parts: list[dict[str, Any]]) -> bool:
    return any(one is part for part in parts)


def _define(content: Content, definition: dict[str, Any], ids: Ids) -> None:
    definition["state"] = ids.state()
    listed = [*_definitions(content), definition]
    content["definitions"] = {**mapping(content.get("definitions")), "subgraphs": listed}


def _finish(
    content: Content, scope: ScopeJson, id_: str, bounds: Box, definitions: NodeDefinitions
) -> None:
    """Give the instance its values, size and place: the middle of what it stands for."""
    live = load(content, definitions)
    node = live.scope("" if scope is content else str(scope.get("id"))).nodes[id_]
    raw = raw_of(node.node)
    write_values(raw, node)
    width, height = estimated_size(node)
    raw["size"] = [width, height]
    box = node_box(raw)
    left, top = (
        bounds.x + (bounds.width - box.width) / 2,
        bounds.y + (bounds.height - box.height) / 2,
    )
    place = settled(scope, Box(left, top, box.width, box.height), [id_], [])
    put(raw, place.x, place.y)
