"""Links that operations ask for: checked, then made."""

from __future__ import annotations

from ..inputs import ANY, connects
from ..live_nodes import LiveInput
from ..parts import BYPASSED, SUBGRAPH_INPUT
from ..sources import Position
from ..validation_problems import shown
from .draft import Draft, Spot
from .lookup import Lookup, Outlet, Output
from .operations import End
from .wiring import group_types, link, link_out, source_type, template_of, unlink, unlink_out


def connect(draft: Draft, source: End, target: End, lookup: Lookup) -> None:
    """Feed an input from an output. Raises `EditRefused`."""
    found = _target(draft, source, target, lookup)
    if isinstance(found, Outlet):
        output = lookup.output(source, found.type)
        _same_scope(output, found.inside.scope is output.inside.scope, str(target), lookup)
        _check_types(draft, output, found.type, str(target), lookup)
        link_out(draft, found.inside.scope, output.ends, found.slot)
        return
    spot, one = found
    join(draft, lookup.output(source, one.type), spot, one, lookup)


def _target(
    draft: Draft, source: End, target: End, lookup: Lookup
) -> tuple[Spot, LiveInput] | Outlet:
    """The input; where only its node is named, the one that takes what the output gives."""
    if target.slot or "." in target.text:
        return lookup.target(target)
    output = lookup.output(source)
    return lookup.target(target, source_type(output.inside.scope, output.ends))


def join(draft: Draft, output: Output, spot: Spot, one: LiveInput, lookup: Lookup) -> None:
    """Feed this input from this output."""
    name = f"{spot.address}.{one.name}"
    _same_scope(output, spot.scope is output.inside.scope, name, lookup)
    _check_types(draft, output, one.type, name, lookup)
    _check_template(draft, output, spot, one, lookup)
    before = one.link
    if before is not None and (before.source, before.source_slot) == output.ends:
        return
    link(draft, spot.scope, output.ends, spot.node, one)
    if _is_circle(draft, spot, one):
        message = f"A link from {_named(output)} to {shown(name)} would make a circle."
        raise lookup.refused("cycle", message)


def _named(output: Output) -> str:
    prefix = "".join(f"{one.id}:" for one in output.inside.around)
    scope, (id_, slot) = output.inside.scope, output.ends
    if id_ == SUBGRAPH_INPUT and scope.scope.key:
        return shown(f"{prefix}in.{scope.inputs[slot].name}")
    return shown(f"{prefix}{id_}.{scope.nodes[id_].outputs[slot].name}")


def _same_scope(output: Output, same: bool, target: str, lookup: Lookup) -> None:
    if not same:
        message = (
            f"{_named(output)} and {shown(target)} lie in different graphs. Connect inside of one "
            'subgraph, or to its own side: "57:in.NAME", "57:out.NAME".'
        )
        raise lookup.refused("not_possible", message)


def _check_types(draft: Draft, output: Output, taken: str, target: str, lookup: Lookup) -> None:
    given = source_type(output.inside.scope, output.ends)
    if connects(given, taken):
        return
    message = f"{_named(output)} gives {given}, and {shown(target)} takes {taken}."
    node = output.inside.scope.nodes.get(output.id)
    right = [one.name for one in node.outputs if connects(one.type, taken)] if node else []
    if len(right) == 1:
        message += f" {shown(f'{output.id}.{right[0]}')} would fit."
    raise lookup.refused("wrong_type", message)


def _check_template(
    draft: Draft, output: Output, spot: Spot, one: LiveInput, lookup: Lookup
) -> None:
    """Inputs of one template take one type."""
    template = template_of(spot.node, one)
    if template is None:
        return
    given = source_type(output.inside.scope, output.ends)
    for other in group_types(spot.scope, spot.node, template, without=one):
        if ANY not in (given, other) and not connects(given, other):
            name = shown(f"{spot.address}.{one.name}")
            message = (
                f"{_named(output)} gives {given}; the other inputs beside {name} have {other}."
            )
            raise lookup.refused("wrong_type", message)


def _is_circle(draft: Draft, spot: Spot, one: LiveInput) -> bool:
    """Whether what feeds this input needs this input, with subgraphs spelled out."""
    start = (id(spot.node), spot.prefix, one.name)
    pending = [(spot.position, one)]
    seen: set[tuple[int, str, str]] = set()
    while pending:
        at, asked = pending.pop()
        for position, needed in _needs(draft, at, asked):
            key = (id(position.node), position.prefix, needed.name)
            if key == start:
                return True
            if key not in seen:
                seen.add(key)
                pending.append((position, needed))
    return False


def _needs(draft: Draft, at: Position, one: LiveInput) -> list[tuple[Position, LiveInput]]:
    """The inputs that what feeds this input is made of."""
    if one.link is None:
        return []
    source, slot = one.link.source, one.link.source_slot
    if source == SUBGRAPH_INPUT and at.around:
        scope = at.around[-2].subgraph if len(at.around) > 1 else draft.live.root
        assert scope is not None
        outer = at.outside(scope)
        return [(outer, outer.node.inputs[slot])] if slot < len(outer.node.inputs) else []
    node = at.scope.nodes.get(source)
    at = at.beside(node) if node is not None else at
    while node is not None and node.subgraph is not None and node.mode != BYPASSED:
        inner = node.subgraph.output_links.get(slot)
        if inner is None:
            return []
        if inner.source == SUBGRAPH_INPUT:
            place = inner.source_slot
            return [(at, node.inputs[place])] if place < len(node.inputs) else []
        slot, scope = inner.source_slot, node.subgraph
        node = scope.nodes.get(inner.source)
        at = at.inside(scope, node) if node is not None else at
    return [(at, needed) for needed in node.inputs] if node is not None else []


def disconnect(draft: Draft, target: End, lookup: Lookup) -> None:
    """Take the link of an input away. An input without one stays as it is."""
    found = lookup.target(target)
    if isinstance(found, Outlet):
        unlink_out(draft, found.inside.scope, found.slot)
        return
    spot, one = found
    unlink(draft, spot.scope, spot.node, one)
    # The file may name a link that is not there.
    draft.note_links(spot.scope, spot.node)
