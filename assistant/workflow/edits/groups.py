"""Groups: titled frames around nodes. What a group holds follows from places alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from ..inputs import mapping, sequence
from ..parts import identity
from ..words import word
from .arrange import arrange, fitted
from .boxes import ScopeJson, groups_of, node_box, nodes_of, put_group
from .placement import place_new
from .refused import EditRefused

COLOR = "#3f789e"
FONT_SIZE = 24
"""What the front end gives a new group."""


def group(
    content: Mapping[str, Any], scope: ScopeJson, title: str, nodes: Collection[str]
) -> dict[str, Any]:
    """Draw a group around nodes of a scope, which is changed. Returns the group.

    Where its frame would hold other nodes, too, its own are first laid out at a free place.
    `content` is the whole workflow, whose groups all have ids of their own.
    """
    known = nodes_of(scope)
    frame = fitted(node_box(known[id_]) for id_ in nodes)
    if any(frame.holds(node_box(node)) for id_, node in known.items() if id_ not in nodes):
        arrange(scope, nodes)
        frame = fitted(node_box(known[id_]) for id_ in nodes)
    made: dict[str, Any] = {"id": new_group_id(content), "title": title}
    put_group(made, frame)
    made.update(color=COLOR, font_size=FONT_SIZE, flags={})
    scope["groups"] = [*sequence(scope.get("groups")), made]
    return made


def ungroup(scope: ScopeJson, name: str) -> None:
    """Take a group's frame away; its nodes stay. `name` is the group's title or id.

    Raises `EditRefused` where none or several are called so.
    """
    groups = groups_of(scope)
    found = [one for one in groups if one.get("title") == name]
    found = found or [one for one in groups if identity(one.get("id")) == name]
    if len(found) == 1:
        scope["groups"] = [one for one in sequence(scope.get("groups")) if one is not found[0]]
        return
    if found:
        ids = ", ".join(str(identity(one.get("id"))) for one in found)
        raise EditRefused("not_possible", f"{len(found)} groups are called {word(name)}: {ids}.")
    titles = [title for one in groups if isinstance(title := one.get("title"), str)]
    near = get_close_matches(name, titles, 1) or titles[:1]
    hint = f" The nearest is {word(near[0])}." if near else " There are no groups here."
    raise EditRefused("not_possible", f"No group is called {word(name)}.{hint}")


def move(scope: ScopeJson, node: str, x: float, y: float) -> None:
    """Move a node so that the upper left corner of its body, below the title, lies there."""
    nodes_of(scope)[node]["pos"] = [x, y]


def move_near(scope: ScopeJson, node: str, near: str) -> None:
    """Move a node to the nearest free place right of another, into the groups that hold that."""
    place_new(scope, {node: near})


def new_group_id(content: Mapping[str, Any]) -> int:
    """An id that no group of a workflow has."""
    ids = [one["id"] for one in _all_groups(content) if isinstance(one.get("id"), int)]
    return max(ids, default=0) + 1


def _all_groups(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from groups_of(content)
    for one in sequence(mapping(content.get("definitions")).get("subgraphs")):
        if isinstance(one, Mapping):
            yield from _all_groups(one)
