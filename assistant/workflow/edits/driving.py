"""Which widget says the value of an input: the input's own, or one that a link leads to.

Links are followed to a PrimitiveNode, to a node that only holds a value (`PrimitiveInt`), to the
outside of a subgraph, and through reroutes, bypassed nodes and nodes that link by a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..api_prompt import running
from ..live_nodes import LiveInput, LiveNode
from ..parts import BYPASSED, GETTERS, MUTED, PRIMITIVE, REROUTES, SETTERS, SUBGRAPH_INPUT
from ..sources import Position, bypass_slot
from ..widgets import Widget
from .draft import Draft

HOLDERS = frozenset(
    "PrimitiveInt PrimitiveFloat PrimitiveString PrimitiveStringMultiline PrimitiveBoolean "
    "INTConstant FloatConstant StringConstant StringConstantMultiline BOOLConstant".split()
)
"""Types of nodes that give the value of their only widget as it is."""


@dataclass(frozen=True)
class Driver:
    """The widget that says a value, with its node's place."""

    at: Position
    widget: Widget
    through: frozenset[int] = frozenset()
    """The inputs that the links led through, by identity."""

    @property
    def key(self) -> tuple[LiveNode, str]:
        return self.at.node, self.widget.name


@dataclass(frozen=True)
class Undriven:
    """No widget says the value: `at` is the node that makes it; None where nothing does."""

    at: Position | None


def driver_of(draft: Draft, at: Position, one: LiveInput) -> Driver | Undriven:
    """What says the value of an input of the node at `at`."""
    passed: set[tuple[int, str]] = set()
    through: list[int] = []
    while True:
        key = (id(at.node), f"{at.prefix}.{one.name}")
        if key in passed:
            return Undriven(None)
        passed.add(key)
        through.append(id(one))
        link = one.link
        if link is None:
            widget = at.node.widget_of(one)
            return Driver(at, widget, frozenset(through)) if widget is not None else Undriven(at)
        if link.source == SUBGRAPH_INPUT and at.around:
            around = at.around[:-1]
            scope = around[-1].subgraph if around else draft.live.root
            assert scope is not None
            at = at.outside(scope)
            if link.source_slot >= len(at.node.inputs):
                return Undriven(None)
            one = at.node.inputs[link.source_slot]
            continue
        node = at.scope.nodes.get(link.source)
        step = _into(draft, at.beside(node), link.source_slot, one) if node is not None else None
        if step is None:
            return Undriven(None)
        if isinstance(step, Driver):
            return replace(step, through=frozenset(through))
        if isinstance(step, Undriven):
            return step
        at, one = step


def _into(
    draft: Draft, at: Position, slot: int, asked: LiveInput
) -> tuple[Position, LiveInput] | Driver | Undriven | None:
    """From an output to the input, or the widget, that says what comes out of it."""
    node = at.node
    while node.subgraph is not None and node.mode not in (MUTED, BYPASSED):
        link = node.subgraph.output_links.get(slot)
        inner = node.subgraph.nodes.get(link.source) if link is not None else None
        if link is None or inner is None:
            return None
        at, slot = at.inside(node.subgraph, inner), link.source_slot
        node = inner
    if node.mode == MUTED:
        return None
    if node.mode == BYPASSED:
        passed = bypass_slot(node, slot, asked.type)
        return (at, node.inputs[passed]) if passed is not None else None
    if node.virtual:
        if node.type == PRIMITIVE:
            return Driver(at, node.own_widgets[0]) if node.own_widgets else None
        if node.type in GETTERS:
            setter = _setter(at)
            return (setter, setter.node.inputs[0]) if setter and setter.node.inputs else None
        passes = node.type in REROUTES or node.type in SETTERS
        return (at, node.inputs[0]) if passes and node.inputs else None
    if node.type in HOLDERS:
        held = next((one for one in node.own_widgets if one.in_prompt), None)
        own = next(
            (one for one in node.inputs if held is not None and one.widget == held.name), None
        )
        if own is not None and own.link is not None:
            return at, own
        return Driver(at, held) if held is not None else Undriven(at)
    return Undriven(at)


def _setter(at: Position) -> Position | None:
    name = at.node.node.values[0] if at.node.node.values else None
    for node in at.scope.nodes.values():
        named = node.node.values[0] if node.node.values else None
        if node.virtual and node.type in SETTERS and named == name:
            return at.beside(node)
    return None


def driven_by(
    draft: Draft, driver: Driver, asked: set[int]
) -> Iterator[tuple[Position, LiveInput]]:
    """The inputs of nodes that run whose value this widget says, besides its own node's.

    Not those that get it through one of the inputs `asked` (by identity).
    """
    for at in running(draft.live):
        if at.node.virtual:
            continue
        for one in at.node.inputs:
            if one.link is None:
                continue
            found = driver_of(draft, at, one)
            if not isinstance(found, Driver) or found.key != driver.key or found.through & asked:
                continue
            yield at, one
