"""Operations on the layout, and into subgraphs and back: worked out on the JSON alone."""

from __future__ import annotations

from ..graph import ROOT
from ..live import LiveScope
from ..validation_problems import listed, shown
from . import groups
from .arrange import arrange as arrange_nodes
from .boxes import groups_of
from .draft import Draft, Inside, Spot
from .lookup import Lookup
from .operations import Arrange, Group, Move, Ungroup, Unwrap, Wrap
from .placement import place_new
from .sizes import estimated_size
from .unwrapping import unwrap as unwrap_node
from .wrapping import wrap as wrap_nodes


def place(draft: Draft) -> None:
    """Give the new nodes of a batch, which are written, their sizes and places."""
    if draft.is_prompt:
        return
    for (key, id_), node in draft.resized.items():
        scope = _scope(draft, key)
        if scope is not None and scope.nodes.get(id_) is node:
            _size(draft, scope, id_)
    for key, new in draft.unplaced.items():
        scope = _scope(draft, key)
        if scope is None or not new:
            continue
        for id_ in new:
            _size(draft, scope, id_)
        place_new(draft.raw_scope(scope), new)
    draft.unplaced, draft.resized = {}, {}


def _scope(draft: Draft, key: str) -> LiveScope | None:
    return draft.live.root if key == ROOT else draft.live.subgraphs.get(key)


def _size(draft: Draft, scope: LiveScope, id_: str) -> None:
    width, height = estimated_size(scope.nodes[id_])
    draft.raw_node(scope.nodes[id_])["size"] = [width, height]


def _no_prompt(draft: Draft, lookup: Lookup) -> None:
    if draft.is_prompt:
        raise lookup.refused("not_possible", "An API prompt has no layout and no subgraphs.")


def _one_scope(draft: Draft, names: tuple[str, ...], lookup: Lookup) -> tuple[Inside, list[Spot]]:
    """The scope of some nodes, which has to be one."""
    spots = [lookup.node(name) for name in names]
    if any(spot.scope is not spots[0].scope for spot in spots):
        which = listed([spot.address for spot in spots])
        raise lookup.refused("not_possible", f"The nodes lie in different graphs: {which}.")
    place(draft)
    return Inside(spots[0].scope, spots[0].around), spots


def move(draft: Draft, operation: Move, lookup: Lookup) -> None:
    _no_prompt(draft, lookup)
    spot = lookup.node(operation.node)
    near = lookup.node(operation.near) if operation.near is not None else None
    if near is not None and (near.scope is not spot.scope or near.node is spot.node):
        raise lookup.refused("not_possible", f"{shown(operation.near)} is no other node beside it.")
    place(draft)
    raw = draft.raw_scope(spot.scope)
    draft.changed(spot.scope)
    if near is not None:
        groups.move_near(raw, spot.node.id, near.node.id)
    elif operation.x is not None and operation.y is not None:
        groups.move(raw, spot.node.id, operation.x, operation.y)


def arrange(draft: Draft, operation: Arrange, lookup: Lookup) -> None:
    _no_prompt(draft, lookup)
    if not operation.nodes:
        place(draft)
        arrange_nodes(draft.raw_scope(draft.live.root))
        return
    inside, spots = _one_scope(draft, operation.nodes, lookup)
    draft.changed(inside.scope)
    arrange_nodes(draft.raw_scope(inside.scope), {spot.node.id for spot in spots})


def group(draft: Draft, operation: Group, lookup: Lookup) -> None:
    _no_prompt(draft, lookup)
    inside, spots = _one_scope(draft, operation.nodes, lookup)
    draft.changed(inside.scope)
    ids = {spot.node.id for spot in spots}
    groups.group(draft.content, draft.raw_scope(inside.scope), operation.title, ids)


def ungroup(draft: Draft, operation: Ungroup, lookup: Lookup) -> None:
    """The group is looked for in the workflow itself, then in the subgraphs."""
    _no_prompt(draft, lookup)
    for scope in draft.live.scopes():
        raw = draft.raw_scope(scope)
        names = [one for one in groups_of(raw) if operation.group in _names(one)]
        if names:
            draft.changed(scope)
            groups.ungroup(raw, operation.group)
            return
    groups.ungroup(draft.raw_scope(draft.live.root), operation.group)


def _names(group: dict[str, object]) -> tuple[str, str]:
    return str(group.get("title")), str(group.get("id"))


def wrap(draft: Draft, operation: Wrap, lookup: Lookup) -> None:
    _no_prompt(draft, lookup)
    inside, spots = _one_scope(draft, operation.nodes, lookup)
    name = operation.id
    if name and (name in draft.names or draft.spot(name) is not None):
        raise lookup.refused("name_taken", f"The id {shown(name)} is taken; give another.")
    _touch(draft, spots)
    key = inside.scope.scope.key
    raw = draft.raw_scope(inside.scope)
    ids = [spot.node.id for spot in spots]
    made = wrap_nodes(draft.content, raw, ids, operation.title, draft.definitions)
    draft.reload()
    inner = draft.scope(key).nodes[made].type
    draft.moved({(key, id_): (inner, id_) for id_ in draft.scope(inner).nodes})
    draft.added.add((key, made))
    draft.touched[key, made] = None
    draft.names[name or operation.title] = (key, made)
    draft.changed(draft.scope(key))


def unwrap(draft: Draft, operation: Unwrap, lookup: Lookup) -> None:
    _no_prompt(draft, lookup)
    spot = lookup.node(operation.node)
    if spot.node.subgraph is None:
        message = f"{shown(operation.node)} is no instance of a subgraph."
        raise lookup.refused("not_possible", message)
    _touch(draft, [spot])
    place(draft)
    key, inner = spot.scope.scope.key, spot.node.type
    raw = draft.raw_scope(spot.scope)
    if (key, spot.node.id) not in draft.added:
        draft.removed.append(draft.addresses(key, spot.node.id))
    new = unwrap_node(draft.content, raw, spot.node.id, draft.definitions)
    draft.reload()
    draft.moved({(inner, old): (key, id_) for old, id_ in new.items()})
    for id_ in new.values():
        draft.touched[key, id_] = None
    draft.changed(draft.scope(key))


def _touch(draft: Draft, spots: list[Spot]) -> None:
    """The nodes, and what they are linked with."""
    ids = {spot.node.id for spot in spots}
    scope = spots[0].scope
    for node in scope.nodes.values():
        sources = {one.link.source for one in node.inputs if one.link is not None}
        if node.id in ids or sources & ids:
            draft.touch(scope, node)
    for spot in spots:
        for one in spot.node.inputs:
            source = scope.nodes.get(one.link.source) if one.link is not None else None
            if source is not None:
                draft.touch(scope, source)
