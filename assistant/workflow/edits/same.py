"""Compares two workflows as graphs: the one that an edit should give, and the one that it gave.

Nodes count with type, mode, title and the values of widgets by name, and links by their ends. Not
counted are ids and order of links, order of nodes, places and sizes, groups, and texts that the
front end computes when a prompt is queued (`{a|b}`, `%date%`): such a text may be there computed or
as it was written. Two instances of one subgraph are compared once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..graph import ROOT
from ..live import LiveGraph, LiveScope
from ..live_nodes import LiveNode
from ..node_definitions import NodeDefinitions
from ..page_values import UNSET
from ..parse import parse_workflow
from ..parts import BYPASSED, MUTED, SUBGRAPH_INPUT
from ..widgets import Widget
from ..words import clamped, word
from .steps import same_value

_COMPUTED = re.compile(r"\{[^{}]*\}|%[^%\n]+%|/\*[\s\S]*?\*/|//[^\n]*")
LONGEST = 80
"""Characters of a value that a sentence shows."""
_MODES = {MUTED: "muted", BYPASSED: "bypassed"}


def differences(
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    definitions: NodeDefinitions,
    ids: Mapping[str, str] | None = None,
) -> list[str]:
    """What differs, each as a sentence; none where both are equal as graphs.

    `ids` are the addresses of nodes that are called otherwise in `found`, by their addresses in
    `expected`. The sentences use those of `expected`, for nodes that it does not have those of
    `found`. Raises `NotAWorkflow`.
    """
    first, second = (LiveGraph(parse_workflow(one), definitions) for one in (expected, found))
    return list(_Comparison(first, second, _local(first, second, ids or {})).scope(ROOT, ROOT, ""))


def _local(
    first: LiveGraph, second: LiveGraph, ids: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """The ids by scope and node, whichever instance the addresses lead through."""
    found = {}
    for address, other in ids.items():
        place, theirs = first.graph.place(address), second.graph.place(other)
        if place is not None and theirs is not None:
            found[place.scope.key, place.node.id] = theirs.node.id
    return found


@dataclass
class _Comparison:
    first: LiveGraph
    second: LiveGraph
    ids: Mapping[tuple[str, str], str]

    def scope(self, first_key: str, second_key: str, prefix: str) -> Iterator[str]:
        """The differences of two scopes, then those of the subgraphs that have instances there."""
        pending = [(first_key, second_key, prefix)]
        compared = set()
        while pending:
            key, other, prefix = pending.pop(0)
            if (key, other) in compared:
                continue
            compared.add((key, other))
            one, two = self.first.scope(key), self.second.scope(other)
            pairs, rest = self._pairs(one, two)
            yield from self._nodes(prefix, pairs, rest)
            if prefix:
                yield from _boundary(prefix, one, two)
            yield from self._links(prefix, one, two)
            for node, same in pairs:
                if node.subgraph is not None and same.subgraph is not None:
                    pending.append((node.type, same.type, f"{prefix}{node.id}:"))

    def _pairs(
        self, one: LiveScope, two: LiveScope
    ) -> tuple[list[tuple[LiveNode, LiveNode]], list[tuple[LiveNode | None, LiveNode | None]]]:
        """The nodes that both have, and those that only one of them has."""
        pairs: list[tuple[LiveNode, LiveNode]] = []
        rest: list[tuple[LiveNode | None, LiveNode | None]] = []
        paired = set()
        for id_, node in one.nodes.items():
            same = two.nodes.get(self._id(one, id_))
            if same is None:
                rest.append((node, None))
            else:
                paired.add(same.id)
                pairs.append((node, same))
        rest.extend((None, node) for id_, node in two.nodes.items() if id_ not in paired)
        return pairs, rest

    def _id(self, scope: LiveScope, id_: str) -> str:
        return self.ids.get((scope.scope.key, id_), id_)

    def _nodes(
        self,
        prefix: str,
        pairs: list[tuple[LiveNode, LiveNode]],
        rest: list[tuple[LiveNode | None, LiveNode | None]],
    ) -> Iterator[str]:
        for missing, extra in rest:
            if missing is not None:
                yield f"{_called(prefix, missing)} is missing."
            if extra is not None:
                yield f"{_called(prefix, extra)} is there and should not be."
        for node, same in pairs:
            called = _called(prefix, node)
            both = node.subgraph is not None and same.subgraph is not None
            if node.type != same.type and not both:
                yield f"{called} has the type {word(same.type)}."
                continue
            if node.title != same.title:
                yield f"{called} has the title {word(same.title)}, not {word(node.title)}."
            if node.mode != same.mode:
                yield f"{called} is {_mode(same)}, not {_mode(node)}."
            yield from _values(called, node, same)

    def _links(self, prefix: str, one: LiveScope, two: LiveScope) -> Iterator[str]:
        expected = {
            (self._id(one, node), name): (self._id(one, source), output)
            for (node, name), (source, output) in _ends(one)
        }
        found = dict(_ends(two))
        names = {self._id(one, id_): id_ for id_ in one.nodes}
        for end in {**expected, **found}:
            if expected.get(end) == found.get(end) or not _both(end[0], one, two, names):
                continue
            node, name = end
            to = f"{prefix}{names.get(node, node)}" if node else (prefix.rstrip(":") + ":out")
            theirs, mine = (_source(prefix, ends.get(end), names) for ends in (found, expected))
            yield f"{to}.{word(name)} is fed by {theirs}, not by {mine}."


def _both(id_: str, one: LiveScope, two: LiveScope, names: Mapping[str, str]) -> bool:
    """Whether both have the node; where one is missing, its links say nothing new."""
    return not id_ or (id_ in two.nodes and names.get(id_) in one.nodes)


def _ends(scope: LiveScope) -> Iterator[tuple[tuple[str, str], tuple[str, int | str]]]:
    """The links by node and input: source and output. The outside is "", its slots have names."""
    for node in scope.nodes.values():
        for one in node.inputs:
            if one.link is not None:
                source = _feeding(scope, one.link.source, one.link.source_slot)
                if source is not None:
                    yield (node.id, one.name), source
    for slot, link in scope.output_links.items():
        source = _feeding(scope, link.source, link.source_slot)
        if source is not None and slot < len(scope.outputs):
            yield ("", scope.outputs[slot].name), source


def _feeding(scope: LiveScope, source: str, slot: int) -> tuple[str, int | str] | None:
    if source == SUBGRAPH_INPUT:
        return ("", scope.inputs[slot].name) if slot < len(scope.inputs) else None
    return (source, slot) if source in scope.nodes else None


def _source(prefix: str, end: tuple[str, int | str] | None, names: Mapping[str, str]) -> str:
    if end is None:
        return "nothing"
    node, output = end
    return f"{prefix}{names.get(node, node)}.{output}" if node else f"{prefix}in.{output}"


def _boundary(prefix: str, one: LiveScope, two: LiveScope) -> Iterator[str]:
    for what, mine, theirs in (
        ("inputs", one.inputs, two.inputs),
        ("outputs", one.outputs, two.outputs),
    ):
        expected, found = (sorted(slot.name for slot in slots) for slots in (mine, theirs))
        if expected != found:
            listed = [", ".join(names) or "none" for names in (found, expected)]
            yield f"{prefix.rstrip(':')} has the {what} {listed[0]}, not {listed[1]}."


def _values(called: str, node: LiveNode, same: LiveNode) -> Iterator[str]:
    mine, theirs = _named(node), _named(same)
    for name in {**mine, **theirs}:
        expected, found = (
            values[name].value if name in values else UNSET for values in (mine, theirs)
        )
        if not same_value(expected, found) and not _computed(expected, found):
            said = [_said(value) for value in (found, expected)]
            yield f"{called}: {name} is {said[0]}, not {said[1]}."


def _named(node: LiveNode) -> dict[str, Widget]:
    return {one.name: one for one in node.widgets if one.in_file}


def _computed(expected: Any, found: Any) -> bool:
    """Whether the found text may be what the front end computes of the expected one."""
    if not isinstance(expected, str) or not isinstance(found, str):
        return False
    fixed = _COMPUTED.split(expected)
    if len(fixed) == 1:
        return False
    pattern = "[\\s\\S]*?".join(re.escape(part) for part in fixed)
    return re.fullmatch(pattern, found) is not None


def _said(value: Any) -> str:
    return "not set" if value is UNSET else clamped(value, LONGEST)


def _called(prefix: str, node: LiveNode) -> str:
    return f"{prefix}{node.id} ({word(node.type if node.subgraph is None else node.title)})"


def _mode(node: LiveNode) -> str:
    return _MODES.get(node.mode, "running")
