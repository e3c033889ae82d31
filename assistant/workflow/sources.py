"""Where an input's value comes from when the graph runs.

Links are followed through reroutes, bypassed nodes, the borders of subgraphs and nodes that link by
a name, to the output of a node that runs, or to a value. No chain is too long, and a circle has no
source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from .inputs import ANY, connects
from .live import LiveGraph, LiveScope
from .live_nodes import LiveInput, LiveNode
from .parts import BYPASSED, GETTERS, MUTED, REROUTES, SETTERS, SUBGRAPH_INPUT


@dataclass(frozen=True)
class OutputSource:
    """The output of a node, by its address and the output's place."""

    address: str
    slot: int


@dataclass(frozen=True)
class ValueSource:
    """A value that stands at an input of a subgraph's instance, named by address and input."""

    address: str
    input: str
    value: Any


Source = OutputSource | ValueSource


class Position(NamedTuple):
    """A node inside of instances: the scopes and instances around it, the outermost first."""

    scope: LiveScope
    node: LiveNode
    around: tuple[LiveNode, ...] = ()
    prefix: str = ""
    """The ids of the instances around it, each with a colon."""

    @property
    def address(self) -> str:
        return self.prefix + self.node.id

    def beside(self, node: LiveNode) -> Position:
        """Another node of the same scope."""
        return Position(self.scope, node, self.around, self.prefix)

    def inside(self, scope: LiveScope, node: LiveNode) -> Position:
        """A node inside of this instance."""
        return Position(scope, node, (*self.around, self.node), f"{self.address}:")

    def outside(self, scope: LiveScope) -> Position:
        """The innermost instance around this node; `scope` is the one that it is in."""
        *around, instance = self.around
        prefix = self.prefix[: -len(instance.id) - 1]
        return Position(scope, instance, tuple(around), prefix)


class Sources:
    """Finds the sources of inputs in one live graph."""

    def __init__(self, live: LiveGraph) -> None:
        self._live = live
        self._known: dict[_Key, Source | None] = {}

    def position(self, address: str) -> Position | None:
        """The node with this address, with what is around it."""
        place = self._live.graph.place(address)
        if place is None:
            return None
        scopes = self._scopes(tuple(one.id for one in place.instances))
        around = tuple(
            scope.nodes[one.id] for scope, one in zip(scopes, place.instances, strict=False)
        )
        prefix = "".join(f"{one.id}:" for one in around)
        return Position(scopes[-1], scopes[-1].nodes[place.node.id], around, prefix)

    def _scopes(self, ids: tuple[str, ...]) -> list[LiveScope]:
        scopes = [self._live.root]
        for id_ in ids:
            inner = scopes[-1].nodes[id_].subgraph
            if inner is not None:
                scopes.append(inner)
        return scopes

    def source(self, at: Position, slot: int) -> Source | None:
        """What feeds the input at this place of a node; `None` where nothing does."""
        step: _Step | Source | None = _Step(at, slot, True, None)
        passed: set[_Key] = set()
        while isinstance(step, _Step):
            key = (step.at.address, step.entering, step.slot, step.type)
            if key in passed:
                step = None
                break
            passed.add(key)
            if key in self._known:
                step = self._known[key]
            elif step.entering:
                step = self._into(step.at, step.slot, step.type)
            else:
                step = self._out_of(step.at, step.slot, step.type or ANY)
        self._known.update(dict.fromkeys(passed, step))
        return step

    def _into(self, at: Position, slot: int, kind: str | None) -> Source | _Step | None:
        """From an input to what its link comes from."""
        if slot >= len(at.node.inputs):
            return None
        one = at.node.inputs[slot]
        link = one.link
        if link is None:
            return None
        if link.source == SUBGRAPH_INPUT and at.around:
            return self._leave(at, link.source_slot)
        node = at.scope.nodes.get(link.source)
        if node is None:
            return None
        return _Step(at.beside(node), link.source_slot, False, kind or one.type)

    def _leave(self, at: Position, slot: int) -> ValueSource | _Step | None:
        """From the inside of an instance to its own input."""
        around = at.around[:-1]
        scope = around[-1].subgraph if around else self._live.root
        if scope is None:
            return None
        outer = at.outside(scope)
        if slot >= len(outer.node.inputs):
            return None
        one = outer.node.inputs[slot]
        if one.link is not None:
            return _Step(outer, slot, True, None)
        if one.promoted is None:
            return None
        return ValueSource(outer.address, one.name, one.promoted.value)

    def _out_of(self, at: Position, slot: int, kind: str) -> OutputSource | _Step | None:
        """From an output to the node that makes what comes out of it."""
        node = at.node
        if node.mode == MUTED:
            return None
        if node.mode == BYPASSED:
            passed = bypass_slot(node, slot, kind)
            return _Step(at, passed, True, None) if passed is not None else None
        if node.subgraph is not None:
            link = node.subgraph.output_links.get(slot)
            inner = node.subgraph.nodes.get(link.source) if link is not None else None
            if link is None or inner is None:
                return None
            return _Step(at.inside(node.subgraph, inner), link.source_slot, False, kind)
        if not node.virtual:
            return OutputSource(at.address, slot)
        if node.type in REROUTES:
            return _Step(at, 0, True, kind)
        if node.type in GETTERS:
            setter = self._setters.get((at.scope.scope.key, _set_name(node)))
            return _Step(at.beside(setter), 0, True, kind) if setter else None
        return _Step(at, 0, True, kind) if node.type in SETTERS else None

    @cached_property
    def _setters(self) -> Mapping[tuple[str, str | None], LiveNode]:
        """The nodes that name a value, by scope and name."""
        found: dict[tuple[str, str | None], LiveNode] = {}
        for scope in self._live.scopes():
            for node in scope.nodes.values():
                if node.virtual and node.type in SETTERS:
                    found.setdefault((scope.scope.key, _set_name(node)), node)
        return found


class _Step(NamedTuple):
    """On to an input (`entering`) or an output; `type` is what the last input takes."""

    at: Position
    slot: int
    entering: bool
    type: str | None


_Key = tuple[str, bool, int, "str | None"]


def _set_name(node: LiveNode) -> str | None:
    name = node.node.values[0] if node.node.values else None
    return name if isinstance(name, str) else None


def bypass_slot(node: LiveNode, slot: int, kind: str) -> int | None:
    """The input that a bypassed node passes on to an output; `kind` is what is asked for.

    The input at the output's place if its type fits, else the first of exactly that type, else the
    first that fits.
    """
    inputs: list[LiveInput] = node.inputs
    if kind in (ANY, ""):
        return (slot if len(inputs) > slot else 0) if inputs else None
    offered = node.outputs[slot].type if slot < len(node.outputs) else ANY

    def fits(one: LiveInput) -> bool:
        return connects(one.type, offered) and connects(one.type, kind)

    if slot < len(inputs) and fits(inputs[slot]):
        return slot
    exact = next((i for i, one in enumerate(inputs) if one.type == kind), None)
    if exact is not None:
        return exact
    return next((i for i, one in enumerate(inputs) if fits(one)), None)
