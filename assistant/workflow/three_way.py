"""Makes in a workflow, as it is now, a change that led from an older state to a newer one: an edit
is taken back, or made again, and what others changed elsewhere stays.

    carried = carry_over(now, start, end)
    carried.content                   `now` with all that differs between `start` and `end`
    carried.clashes                   the nodes that were changed otherwise: then nothing is done

The three are the JSON of one workflow, or three API prompts. They are compared part by part: the
fields and single values of each node, the source of each input, the groups, the subgraphs. A part
that `start` and `end` have alike stays as it is now. Places, sizes and groups never clash: where
somebody moved what the change moved, too, it stays where it is now. A seed that a run turned is no
change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .graph import Graph
from .parse import parse_workflow
from .parts import SUBGRAPH_INPUT
from .workflow_parts import Key, Parts, Source, assembled, parts_of, same_part

MISSING: Final = object()
"""The part is not there."""
COUNTS: Final = frozenset({"node", "type", "mode", "title", "value", "source"})
"""The kinds of parts that count where two states are told apart; the others are layout."""


@dataclass(frozen=True)
class CarriedOver:
    """`clashes` are addresses, in their order; `is_done` says that `now` has the change already."""

    content: Mapping[str, Any]
    clashes: tuple[str, ...] = ()
    is_done: bool = False


def carry_over(
    now: Mapping[str, Any], start: Mapping[str, Any], end: Mapping[str, Any]
) -> CarriedOver:
    """`now` with the change from `start` to `end`. The result shares parts with what was given.
    Raises NotAWorkflow."""
    graphs = [parse_workflow(one) for one in (now, start, end)]
    current, old, new = map(parts_of, graphs)
    changed = [key for key in {**old, **new} if _differs(old, new, key)]
    counting = [key for key in changed if key.kind in COUNTS]
    if not any(_differs(current, new, key) for key in counting or changed):
        return CarriedOver(now, is_done=True)
    removed = {key.owner for key in changed if key.kind == "node" and key not in new}
    clashes = {key.owner for key in counting if _clashes(current, old, new, key)}
    clashes |= set(_worked_on(current, old, removed))
    merged = dict(current)
    for key in changed:
        if key.kind not in COUNTS and _differs(current, old, key):
            continue
        merged.pop(key, None)
        if key in new:
            merged[key] = new[key]
    merged = {key: part for key, part in merged.items() if key.owner not in removed}
    clashes |= set(_dangling(current, merged))
    if clashes:
        return CarriedOver(now, _addresses((graphs[0], graphs[2]), clashes))
    return CarriedOver(assembled(graphs[0], graphs[2], merged))


def _differs(one: Parts, other: Parts, key: Key) -> bool:
    return not same_part(one.get(key, MISSING), other.get(key, MISSING))


def _clashes(current: Parts, old: Parts, new: Parts, key: Key) -> bool:
    """Whether somebody else changed this part of what is to change."""
    return not key.turns and _differs(current, old, key) and _differs(current, new, key)


def _worked_on(
    current: Parts, old: Parts, removed: set[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """The nodes that are to be removed and that somebody else changed, and the nodes that somebody
    else linked to one of them."""
    for key in {**old, **current}:
        if key.kind not in COUNTS or key.turns or not _differs(current, old, key):
            continue
        part = current.get(key)
        linked = isinstance(part, Source) and (key.scope, part.node) in removed
        if linked or key.owner in removed:
            yield key.owner


def _dangling(current: Parts, merged: Parts) -> Iterator[tuple[str, str]]:
    """The nodes of which an input would lose the node that feeds it."""
    for key, part in merged.items():
        if isinstance(part, Source) and part.node != SUBGRAPH_INPUT:
            fed_by = Key(key.scope, part.node, "node")
            if fed_by not in merged and (fed_by in current or key not in current):
                yield key.owner


def _addresses(graphs: Iterable[Graph], nodes: set[tuple[str, str]]) -> tuple[str, ...]:
    """The addresses of nodes that are named by scope and id; inside of a subgraph in its first
    instance."""
    found: dict[tuple[str, str], str] = {}
    for graph in graphs:
        for place in graph.places():
            found.setdefault((place.scope.key, place.node.id), place.address)
    named = {found.get(node, node[1]) for node in nodes}
    return tuple(sorted(named, key=lambda text: [(len(one), one) for one in text.split(":")]))
