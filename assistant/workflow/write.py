"""Writes a graph as JSON again, in the format that it was read from.

The file is put together from the graph's parts, so that an edited graph is written by the same
code. What no part was read from (views, settings of packages, fields that nobody knows) is kept.
A graph that was read and not edited is written as the same JSON: values, types, order of keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .graph import ROOT, Graph, Scope
from .inputs import mapping
from .parts import Link, Part


def write_workflow(graph: Graph) -> dict[str, Any]:
    """The graph's JSON: the UI format, or an API prompt where it was read from one.

    Parts are shared with the graph's own `raw`: do not change them.
    """
    if graph.format == "prompt":
        return _write_prompt(graph.root)
    return _write_scope(graph, graph.root)


def _write_prompt(root: Scope) -> dict[str, Any]:
    nodes = [(id_, node.raw) for id_, node in root.nodes.items()]
    keys = list(root.raw)
    odd = [(oddity.position, (keys[oddity.position], oddity.raw)) for oddity in root.oddities]
    return dict(_merged(nodes, odd))


def _write_scope(graph: Graph, scope: Scope) -> dict[str, Any]:
    written: dict[str, Any] = dict(scope.raw)
    _put(written, "nodes", scope, "node", [node.raw for node in scope.nodes.values()])
    listed = scope.key == ROOT and not _is_new_schema(scope)
    links = [_write_link(scope, link, listed) for link in scope.links.values()]
    _put(written, "links", scope, "link", links)
    _put(written, "groups", scope, "group", [group.raw for group in scope.groups])
    definitions = [_write_scope(graph, graph.subgraphs[key]) for key in scope.definitions]
    kept = dict(mapping(scope.raw.get("definitions")))
    _put(kept, "subgraphs", scope, "subgraph", definitions)
    if kept:
        written["definitions"] = kept
    return written


def _is_new_schema(scope: Scope) -> bool:
    """Whether the links of the workflow itself are objects (1.0) and not lists (0.4)."""
    version = scope.raw.get("version")
    return isinstance(version, (int, float)) and version >= 1


def _write_link(scope: Scope, link: Link, listed: bool) -> Any:
    if link.raw is not None:
        return link.raw
    in_file = {own: id_ for id_, own in scope.renamed.items()}
    ends = [
        _number(link.id),
        _number(in_file.get(link.source, link.source)),
        link.source_slot,
        _number(in_file.get(link.target, link.target)),
        link.target_slot,
        link.type,
    ]
    names = ("id", "origin_id", "origin_slot", "target_id", "target_slot", "type")
    return ends if listed else dict(zip(names, ends, strict=True))


def _number(id_: str) -> int | str:
    """An id as the front end writes it: a number where its text is that of a whole number."""
    plain = id_.removeprefix("-")
    whole = plain.isascii() and plain.isdigit() and len(plain) < 16
    return int(id_) if whole and str(int(id_)) == id_ else id_


def _put(written: dict[str, Any], key: str, scope: Scope, part: Part, parts: Sequence[Any]) -> None:
    """Put a list of parts and oddities under its key; nothing where there was and is nothing."""
    if not parts and not isinstance(written.get(key), list):
        return
    written[key] = _merged(parts, _oddities(scope, part))


def _oddities(scope: Scope, part: Part) -> list[tuple[int, Any]]:
    return [(odd.position, odd.raw) for odd in scope.oddities if odd.part == part]


def _merged(parts: Iterable[Any], odd: Iterable[tuple[int, Any]]) -> list[Any]:
    """The parts in order with each oddity at its place; places after the end are the end."""
    merged: list[Any] = []
    waiting = iter(parts)
    for position, raw in odd:
        while len(merged) < position:
            try:
                merged.append(next(waiting))
            except StopIteration:
                break
        merged.append(raw)
    merged.extend(waiting)
    return merged
