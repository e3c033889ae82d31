"""Where new nodes go: where a person would put them.

A node lies right of what feeds it, else left of what it feeds, else beside the node that is named,
else below everything. It covers no node and lies in no group that it does not belong to. It belongs
to the groups that hold all its neighbours; these grow around it, unless they would then hold nodes
that do not belong to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..parts import SUBGRAPH_INPUT, SUBGRAPH_OUTPUT
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
)

COLUMN_GAP = 60.0
"""Between a node and what feeds it."""
_CLEARANCE = 20.0
"""The least distance to anything else."""
_COLUMNS = 24
"""Columns that are tried right (or left) of the best place."""
_SIDEWAYS = 1.5
"""What a pixel to the side costs, compared with one up or down."""


_Allowed = Callable[[Box], bool]
_Own = list[dict[str, Any]]


@dataclass
class _Floor:
    """What lies in a scope already: what a new node must not cover."""

    nodes: dict[str, Box]
    """The nodes by id, and the panels of a subgraph's own inputs and outputs."""
    groups: list[dict[str, Any]]

    def holding(self, boxes: Iterable[Box]) -> list[dict[str, Any]]:
        """The groups that hold all of these, the smallest first."""
        listed = list(boxes)
        found = [one for one in self.groups if all(group_box(one).holds(box) for box in listed)]
        return sorted(found, key=lambda group: group_box(group).width * group_box(group).height)


class _Groups:
    """The groups that a node may lie in, and whether they may grow around it."""

    def __init__(self, floor: _Floor, own: list[dict[str, Any]]) -> None:
        self.own = own
        self.foreign = [group_box(one) for one in floor.groups if not any(one is o for o in own)]
        frames = [group_box(one) for one in own]
        self._strangers = [
            [box for box in floor.nodes.values() if not frame.holds(box)] for frame in frames
        ]

    def grown(self, box: Box) -> list[Box] | None:
        """The frames with this rectangle in them; None where one would hold what is not its own."""
        frames: list[Box] = []
        for group, strangers in zip(self.own, self._strangers, strict=True):
            frame = group_box(group)
            grown = _around(frame, box)
            for inner, inner_frame in zip(self.own, frames, strict=False):
                if frame.encloses(group_box(inner)) and not grown.encloses(inner_frame):
                    grown = _around(grown, inner_frame)
            if grown != frame:
                if any(grown.holds(one) for one in strangers):
                    return None
                if any(grown.covers(one) and not frame.covers(one) for one in self.foreign):
                    return None
            frames.append(grown)
        return frames


def _around(frame: Box, box: Box) -> Box:
    """A group's frame with a node in it, below the group's title."""
    if frame.encloses(box):
        return frame
    wished = box.widened(PADDING)
    left, top = min(frame.x, wished.x), min(frame.y, wished.y - GROUP_TITLE)
    right, bottom = max(frame.right, wished.right), max(frame.bottom, wished.bottom)
    top = top if box.y < frame.y + GROUP_TITLE else frame.y
    return Box(left, top, right - left, bottom - top)


def place_new(scope: ScopeJson, new: Mapping[str, str | None]) -> None:
    """Give new nodes of a scope their places, and grow groups around them.

    `scope` is the JSON of a workflow or a subgraph's definition, with the new nodes, their sizes
    and links in it; it is changed. `new` are their ids in order, each with the id of the node that
    it shall be near, or None. What is not new keeps its place.
    """
    nodes = nodes_of(scope)
    pending = [id_ for id_ in new if id_ in nodes]
    floor = _floor(scope, set(pending))
    feeding, fed = _neighbours(scope)
    while pending:
        id_ = min(pending, key=lambda one: _rank(one, new[one], floor, feeding, fed, set(pending)))
        pending.remove(id_)
        near = new[id_]
        sources = [floor.nodes[one] for one in feeding.get(id_, []) if one in floor.nodes]
        targets = [floor.nodes[one] for one in fed.get(id_, []) if one in floor.nodes]
        beside = floor.nodes.get(near) if near is not None else None
        box, own = _free(node_box(nodes[id_]), sources, targets, beside, floor)
        put(nodes[id_], box.x, box.y)
        box = node_box(nodes[id_])
        _grow(floor, own, box)
        floor.nodes[id_] = box


def settled(scope: ScopeJson, box: Box, nodes: Iterable[str], groups: list[dict[str, Any]]) -> Box:
    """The place nearest to a rectangle where it covers nothing but these nodes and groups.

    The groups around it grow.
    """
    floor = _floor(scope, set(nodes))
    floor.groups = [one for one in floor.groups if not any(one is mine for mine in groups)]
    place, own = _nearest(box, floor, floor.holding([box]), lambda other: True)
    _grow(floor, own, place)
    return place


def _grow(floor: _Floor, own: _Own, box: Box) -> None:
    """Grow groups around a rectangle, as far as they may."""
    for group, frame in zip(own, _Groups(floor, own).grown(box) or [], strict=False):
        if frame != group_box(group):
            put_group(group, frame)


def _floor(scope: Mapping[str, Any], new: set[str]) -> _Floor:
    boxes = {id_: node_box(node) for id_, node in nodes_of(scope).items() if id_ not in new}
    panels = boundary_boxes(scope)
    for name, id_ in (("inputNode", SUBGRAPH_INPUT), ("outputNode", SUBGRAPH_OUTPUT)):
        if name in panels:
            boxes[id_] = panels[name]
    return _Floor(boxes, groups_of(scope))


def _neighbours(scope: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """For each node what feeds it, and what it feeds."""
    feeding: dict[str, list[str]] = {}
    fed: dict[str, list[str]] = {}
    for source, target in wires(scope):
        feeding.setdefault(target, []).append(source)
        fed.setdefault(source, []).append(target)
    return feeding, fed


def _rank(
    id_: str,
    near: str | None,
    floor: _Floor,
    feeding: Mapping[str, list[str]],
    fed: Mapping[str, list[str]],
    pending: set[str],
) -> int:
    """What is known of a node's neighbours: the best known node is placed first."""
    if near is not None:
        return 0 if near in floor.nodes else (2 if near in pending else 4)
    sources, targets = feeding.get(id_, []), fed.get(id_, [])
    if any(one in floor.nodes for one in sources):
        return 1 if any(one in pending for one in sources) else 0
    return 2 if any(one in floor.nodes for one in targets) else 3


def _free(
    box: Box, sources: list[Box], targets: list[Box], beside: Box | None, floor: _Floor
) -> tuple[Box, _Own]:
    """The best free place for a node of this size, and the groups that it belongs to there."""
    if beside is not None:
        start = Box(beside.right + GAP, beside.y, box.width, box.height)
        own = floor.holding([beside])
        return _nearest(start, floor, own, lambda other: True)
    neighbours = [*sources, *targets]
    own = floor.holding(neighbours) if neighbours else []
    if sources:
        left = max(one.right for one in sources) + COLUMN_GAP
        height = sum(one.y for one in neighbours) / len(neighbours)
        start = Box(left, height, box.width, box.height)
        return _nearest(start, floor, own, lambda other: other.x >= left)
    if targets:
        right = min(one.x for one in targets) - COLUMN_GAP
        height = sum(one.y for one in targets) / len(targets)
        start = Box(right - box.width, height, box.width, box.height)
        return _nearest(start, floor, own, lambda other: other.right <= right)
    whole = around([*floor.nodes.values(), *(group_box(one) for one in floor.groups)])
    if whole is None:
        return Box(0.0, 0.0, box.width, box.height), []
    return Box(whole.x, whole.bottom + GAP, box.width, box.height), []


def _nearest(start: Box, floor: _Floor, own: _Own, allowed: _Allowed) -> tuple[Box, _Own]:
    """The free place with the shortest way from `start`, in the columns and rows that what lies
    around makes; inside of the groups `own` if they can grow around it, else outside of all."""
    groups = _Groups(floor, own)
    solid = [*floor.nodes.values(), *groups.foreign]
    best, shortest = None, math.inf
    for x in _columns(start, solid, allowed):
        aside = abs(x - start.x) * _SIDEWAYS
        if aside >= shortest:
            continue
        for candidate in _rows(Box(x, start.y, start.width, start.height), solid):
            cost = aside + abs(candidate.y - start.y)
            if cost < shortest and groups.grown(candidate) is not None:
                best, shortest = candidate, cost
    if best is not None:
        return best, own
    if own:
        return _nearest(start, floor, [], allowed)
    lowest = max((one.bottom for one in solid), default=start.y)
    return Box(start.x, lowest + GAP, start.width, start.height), []


def _columns(start: Box, solid: list[Box], allowed: _Allowed) -> list[float]:
    """Where a node may begin from left to right: as wished, or just beside something."""
    wished = {start.x}
    for one in solid:
        wished.add(one.right + _CLEARANCE)
        wished.add(one.x - _CLEARANCE - start.width)
    fitting = [x for x in wished if allowed(Box(x, start.y, start.width, start.height))]
    return sorted(fitting, key=lambda x: abs(x - start.x))[:_COLUMNS]


def _rows(column: Box, solid: list[Box]) -> list[Box]:
    """The free places in one column that are nearest above and below."""
    strip = [
        one
        for one in solid
        if column.x < one.right + _CLEARANCE and one.x < column.right + _CLEARANCE
    ]
    spans = sorted((one.y - _CLEARANCE - column.height, one.bottom + _CLEARANCE) for one in strip)
    merged: list[tuple[float, float]] = []
    for low, high in spans:
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    wished = [column.y]
    for low, high in merged:
        wished.extend((low, high))
    free = [y for y in wished if not any(low < y < high for low, high in merged)]
    return [column.moved(0.0, y - column.y) for y in free]
