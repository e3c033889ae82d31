"""The circles of a graph, found in linear time and without recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def cycles(links: Mapping[str, Sequence[tuple[str, str]]]) -> list[list[str]]:
    """The groups of nodes that need each other (Tarjan's strongly connected components).

    `links` has for each node pairs of an input and the node that feeds it. Each group is in the
    order in which its nodes are met along the links; a node that feeds itself is a group, too.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    is_open: set[str] = set()
    found: list[list[str]] = []
    for start in links:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        open_.append(start)
        is_open.add(start)
        path = [(start, iter(links[start]))]
        while path:
            node, ahead = path[-1]
            for _, source in ahead:
                if source not in order:
                    order[source] = low[source] = len(order)
                    open_.append(source)
                    is_open.add(source)
                    path.append((source, iter(links.get(source, ()))))
                    break
                if source in is_open:
                    low[node] = min(low[node], order[source])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    group = _close(node, open_, is_open)
                    if len(group) > 1 or any(source == node for _, source in links[node]):
                        found.append(group)
    return found


def _close(node: str, open_: list[str], is_open: set[str]) -> list[str]:
    """Take a group from the nodes that are open: all from `node` on."""
    place = len(open_) - 1
    while open_[place] != node:
        place -= 1
    group = open_[place:]
    del open_[place:]
    is_open.difference_update(group)
    return group
