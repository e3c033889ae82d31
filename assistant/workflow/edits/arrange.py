"""Lays nodes out in columns by depth: each right of all that feeds it, nothing covered.

A group stays together: its nodes get columns of their own inside of its frame, and the frame stands
in a column of the whole. Where that would set a node left of what feeds it, because links lead out
of the group and back into it, the group's nodes go into the columns of the whole, and its frame is
drawn around them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..inputs import mapping
from .boxes import (
    GAP,
    GROUP_TITLE,
    PADDING,
    Box,
    ScopeJson,
    around,
    boundary_boxes,
    group_box,
    groups_of,
    node_box,
    nodes_of,
    put,
    put_group,
    wires,
    written,
)
from .placement import COLUMN_GAP, settled


@dataclass(eq=False)
class _Block:
    """A node, or a group with what it holds. Places are relative to the block around it."""

    box: Box
    node: str | None = None
    group: dict[str, Any] | None = None
    held: list[_Block] = field(default_factory=list)

    def nodes(self) -> list[str]:
        if self.node is not None:
            return [self.node]
        return [id_ for one in self.held for id_ in one.nodes()]


def arrange(scope: ScopeJson, nodes: Collection[str] | None = None) -> None:
    """Lay out these nodes of a scope (all without `nodes`); `scope` is changed.

    Without `nodes` the upper left corner stays where it is, and the panels of a subgraph's inputs
    and outputs go to both sides. With `nodes` the others keep their places, and these come as near
    to their old place as there is room.
    """
    known = nodes_of(scope)
    wanted = [id_ for id_ in known if nodes is None or id_ in nodes]
    before = around(node_box(known[id_]) for id_ in wanted)
    if before is None:
        return
    links = wires(scope)
    blocks, loose = _blocks(scope, wanted, links)
    size = _lay_out(blocks, links)
    left, top = before.x, before.y
    if nodes is None:
        frames = [group_box(one.group) for one in blocks if one.group is not None]
        corner = around([before, *frames]) or before
        left, top = corner.x, corner.y
    else:
        groups = [one for block in blocks for one in _groups_in(block)]
        place = settled(scope, Box(left, top, *size), wanted, groups)
        left, top = place.x, place.y
    for block in blocks:
        _put(block, left, top, known)
    for group, ids in loose:
        put_group(group, fitted(node_box(known[id_]) for id_ in ids))
    if nodes is None:
        _put_panels(scope, Box(left, top, *size))


def fitted(boxes: Any) -> Box:
    """The frame of a group around these rectangles, as the front end fits it."""
    inner = (around(boxes) or Box(0, 0, 140, 80)).widened(PADDING)
    return Box(inner.x, inner.y - GROUP_TITLE, inner.width, inner.height + GROUP_TITLE)


def _blocks(
    scope: Mapping[str, Any], wanted: list[str], links: list[tuple[str, str]]
) -> tuple[list[_Block], list[tuple[dict[str, Any], list[str]]]]:
    """The blocks of the outermost level, and the groups that cannot stay with their nodes."""
    known = nodes_of(scope)
    boxes = {id_: node_box(known[id_]) for id_ in known}
    groups: list[tuple[dict[str, Any], list[str]]] = []
    for group in groups_of(scope):
        frame = group_box(group)
        held = [id_ for id_, box in boxes.items() if frame.holds(box)]
        if held and all(id_ in wanted for id_ in held):
            groups.append((group, held))
    groups.sort(key=lambda pair: len(pair[1]))
    loose: list[tuple[dict[str, Any], list[str]]] = []
    while True:
        blocks = _nested(wanted, boxes, groups)
        torn = _torn(blocks, links)
        if torn is None:
            return blocks, loose
        pair = next(one for one in groups if one[0] is torn)
        groups.remove(pair)
        loose.append(pair)


def _nested(
    wanted: list[str], boxes: Mapping[str, Box], groups: list[tuple[dict[str, Any], list[str]]]
) -> list[_Block]:
    """Nodes in the smallest group that holds them, and groups in the next larger one.

    `groups` are sorted by size. A group that shares nodes with another without lying in it has
    those that no smaller group has.
    """
    top: dict[str, _Block] = {id_: _Block(boxes[id_], node=id_) for id_ in wanted}
    for group, held in groups:
        inside = list(dict.fromkeys(top[id_] for id_ in held))
        if any(id_ not in held for block in inside for id_ in block.nodes()):
            inside = [block for block in inside if all(id_ in held for id_ in block.nodes())]
        if inside:
            block = _Block(group_box(group), group=group, held=inside)
            for id_ in block.nodes():
                top[id_] = block
    return list(dict.fromkeys(top.values()))


def _torn(blocks: list[_Block], links: list[tuple[str, str]]) -> dict[str, Any] | None:
    """The smallest group in a circle of blocks, on any level."""
    pending = [blocks]
    while pending:
        level = pending.pop()
        _, circle = _depths(level, links)
        groups = [one for one in circle if one.group is not None]
        if groups:
            return min(groups, key=lambda one: len(one.nodes())).group
        pending.extend(one.held for one in level if one.group is not None)
    return None


def _depths(
    blocks: list[_Block], links: list[tuple[str, str]]
) -> tuple[dict[_Block, int], list[_Block]]:
    """The column of each block, counted along the longest way; and what is in a circle."""
    of = {id_: block for block in blocks for id_ in block.nodes()}
    feeding: dict[_Block, set[_Block]] = {block: set() for block in blocks}
    fed: dict[_Block, list[_Block]] = {block: [] for block in blocks}
    for source, target in links:
        one, other = of.get(source), of.get(target)
        if one is None or other is None or one is other or one in feeding[other]:
            continue
        feeding[other].add(one)
        fed[one].append(other)
    depths: dict[_Block, int] = {}
    counts = {block: len(sources) for block, sources in feeding.items()}
    ready = [block for block in blocks if counts[block] == 0]
    for block in ready:
        depths[block] = 1 + max((depths[one] for one in feeding[block]), default=-1)
        for other in fed[block]:
            counts[other] -= 1
            if counts[other] == 0:
                ready.append(other)
    circle = [block for block in blocks if block not in depths]
    while True:
        kept = [one for one in circle if any(other in circle for other in fed[one])]
        if len(kept) == len(circle):
            break
        circle = kept
    for block in [block for block in blocks if block not in depths]:
        depths[block] = 1 + max((depths.get(one, -1) for one in feeding[block]), default=-1)
    return depths, circle


def _lay_out(blocks: list[_Block], links: list[tuple[str, str]]) -> tuple[float, float]:
    """Give blocks their places from (0, 0) on; returns the width and height of all."""
    for block in blocks:
        if block.group is not None:
            width, height = _lay_out(block.held, links)
            wide, high = width + 2 * PADDING, height + 2 * PADDING + GROUP_TITLE
            block.box = Box(block.box.x, block.box.y, wide, high)
            for one in block.held:
                one.box = one.box.moved(PADDING, PADDING + GROUP_TITLE)
    depths, _ = _depths(blocks, links)
    columns: dict[int, list[_Block]] = {}
    for block in blocks:
        columns.setdefault(depths[block], []).append(block)
    of = {id_: block for block in blocks for id_ in block.nodes()}
    feeding: dict[_Block, list[_Block]] = {}
    for source, target in links:
        if source in of and target in of:
            feeding.setdefault(of[target], []).append(of[source])
    left, lowest = 0.0, 0.0
    for depth in sorted(columns):
        column = columns[depth]
        column.sort(key=lambda block: _height(block, feeding.get(block, []), depths))
        top = 0.0
        for block in column:
            block.box = Box(left, top, block.box.width, block.box.height)
            top = block.box.bottom + GAP
        lowest = max(lowest, top - GAP)
        left = max(block.box.right for block in column) + COLUMN_GAP
    return max(left - COLUMN_GAP, 0.0), lowest


def _height(block: _Block, sources: list[_Block], depths: Mapping[_Block, int]) -> float:
    """Where what feeds a block lies on average; its own old height where nothing does."""
    placed = [one.box.y + one.box.height / 2 for one in sources if depths[one] < depths[block]]
    return sum(placed) / len(placed) if placed else block.box.y


def _put(block: _Block, left: float, top: float, known: Mapping[str, dict[str, Any]]) -> None:
    box = block.box.moved(left, top)
    if block.node is not None:
        put(known[block.node], box.x, box.y)
        return
    if block.group is not None:
        put_group(block.group, box)
    for one in block.held:
        _put(one, box.x, box.y, known)


def _groups_in(block: _Block) -> list[dict[str, Any]]:
    own = [block.group] if block.group is not None else []
    return own + [group for one in block.held for group in _groups_in(one)]


def _put_panels(scope: ScopeJson, whole: Box) -> None:
    """A subgraph's inputs go left of its nodes, its outputs right of them."""
    for name, box in boundary_boxes(scope).items():
        left = whole.x - 2 * COLUMN_GAP - box.width
        x = left if name == "inputNode" else whole.right + 2 * COLUMN_GAP
        y = whole.y + (whole.height - box.height) / 2
        bounding = [written(one) for one in (x, y, box.width, box.height)]
        scope[name] = {**mapping(scope.get(name)), "bounding": bounding}
