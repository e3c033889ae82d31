"""Where the nodes and groups of one scope lie, as rectangles: what layout is worked out with.

A scope is the JSON of a workflow or of a subgraph's definition. `pos` of a node is the upper left
corner below its title, which belongs to the node's rectangle here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from ..inputs import mapping, sequence
from ..parts import Node, identity

ScopeJson = MutableMapping[str, Any]

TITLE = 30.0
"""Height of a node's title in pixels of the canvas (the front end's `NODE_TITLE_HEIGHT`)."""
GAP = 40.0
"""Between two nodes that are placed beside or below each other."""
PADDING = 10.0
"""Between a group's frame and its nodes, as the front end fits a group."""
GROUP_TITLE = 34.0
"""Height of a group's title: 1.4 times its usual font size of 24."""
COLLAPSED_WIDTH = 160.0
LEAST_SIZE = (140.0, 26.0)


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of the canvas."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def covers(self, other: Box, gap: float = 0.0) -> bool:
        """Whether the two lie less than `gap` apart, or on each other."""
        return (
            self.x < other.right + gap
            and other.x < self.right + gap
            and self.y < other.bottom + gap
            and other.y < self.bottom + gap
        )

    def holds(self, other: Box) -> bool:
        """Whether the other's centre lies in it: so the front end says what a group holds."""
        x, y = other.x + other.width / 2, other.y + other.height / 2
        return self.x <= x < self.right and self.y <= y < self.bottom

    def encloses(self, other: Box) -> bool:
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.right <= self.right
            and other.bottom <= self.bottom
        )

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.x + dx, self.y + dy, self.width, self.height)

    def widened(self, gap: float) -> Box:
        return Box(self.x - gap, self.y - gap, self.width + 2 * gap, self.height + 2 * gap)


def around(boxes: Iterable[Box]) -> Box | None:
    """The smallest rectangle around all; None without any."""
    listed = list(boxes)
    if not listed:
        return None
    left, top = min(one.x for one in listed), min(one.y for one in listed)
    right, bottom = max(one.right for one in listed), max(one.bottom for one in listed)
    return Box(left, top, right - left, bottom - top)


def nodes_of(scope: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The nodes of a scope by id, in the order of the file; of two with one id the first."""
    found: dict[str, dict[str, Any]] = {}
    for one in sequence(scope.get("nodes")):
        id_ = identity(one.get("id")) if isinstance(one, dict) else None
        if id_ is not None:
            found.setdefault(id_, one)
    return found


def groups_of(scope: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [one for one in sequence(scope.get("groups")) if isinstance(one, dict)]


def node_box(node: Mapping[str, Any]) -> Box:
    """The rectangle of a node with its title; of a collapsed node that of its title."""
    x, y, width, height = Node("", node).bounds
    if mapping(node.get("flags")).get("collapsed"):
        return Box(x, y - TITLE, COLLAPSED_WIDTH, TITLE)
    width, height = max(width, LEAST_SIZE[0]), max(height, LEAST_SIZE[1])
    return Box(x, y - TITLE, width, height + TITLE)


def put(node: dict[str, Any], x: float, y: float) -> None:
    """Move a node so that the upper left corner of its rectangle lies there."""
    node["pos"] = [written(x), written(y + TITLE)]


def group_box(group: Mapping[str, Any]) -> Box:
    numbers = [
        float(one) if isinstance(one, (int, float)) and abs(one) < 1e300 else 0.0
        for one in sequence(group.get("bounding"))[:4]
    ]
    return Box(*numbers) if len(numbers) == 4 else Box(0, 0, 0, 0)


def put_group(group: dict[str, Any], box: Box) -> None:
    group["bounding"] = [written(one) for one in (box.x, box.y, box.width, box.height)]


def boundary_boxes(scope: Mapping[str, Any]) -> dict[str, Box]:
    """The panels of a subgraph's own inputs and outputs, by `inputNode` and `outputNode`."""
    found = {}
    for name in ("inputNode", "outputNode"):
        numbers = sequence(mapping(scope.get(name)).get("bounding"))
        if len(numbers) == 4 and all(isinstance(one, (int, float)) for one in numbers):
            found[name] = Box(*map(float, numbers))
    return found


def written(number: float) -> int | float:
    """A place as the file has it, to a tenth of a pixel."""
    rounded = round(number, 1)
    return int(rounded) if rounded.is_integer() else rounded


def members(scope: Mapping[str, Any], group: Mapping[str, Any]) -> list[str]:
    """The ids of the nodes that a group holds."""
    frame = group_box(group)
    return [id_ for id_, node in nodes_of(scope).items() if frame.holds(node_box(node))]


def wires(scope: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The links of a scope as pairs of nodes, source and target, each pair once and in order."""
    found: dict[tuple[str, str], None] = {}
    for one in sequence(scope.get("links")):
        if isinstance(one, list) and len(one) >= 5:
            ends = one[1], one[3]
        else:
            ends = mapping(one).get("origin_id"), mapping(one).get("target_id")
        source, target = identity(ends[0]), identity(ends[1])
        if source is not None and target is not None:
            found[source, target] = None
    return list(found)
