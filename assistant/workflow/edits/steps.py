"""Steps that turn the workflow on a canvas into another: what a page carries out.

Computed from the two workflows alone, so that one way serves a batch of operations, undo, redo and
going back to an earlier state. Both are read as the canvas shows them (`LiveGraph`): widgets by
name, links by the names of inputs. The steps come in this order, whatever changed:

1. `{"do": "unlink", "to": address, "input": name, "input_index": place}`: a link that is gone. Not
   for a link whose input is fed by another one afterwards, nor for the links of removed nodes.
2. `{"do": "remove", "node": address}`: a node, with its links. Addresses in 1 and 2 are those that
   nodes have before, in all other steps those that they have afterwards.
3. `{"do": "define", "subgraph": definition}`: a subgraph that has no instance which stays. Its
   nodes, links and groups are in it; no other step speaks of them. A subgraph stands after those
   that it has instances of.
4. `{"do": "boundary", "scope": address, "name": text, "inputs": [slot], "outputs": [slot]}`: the
   subgraph's own inputs and outputs, all of them, in order: `{"id"?, "name", "type", "label"?}`.
   A slot that is there already (the same `id`, else the same name) keeps its links.
5. `{"do": "add", "scope": address, "node": address, "raw": node}`: the node's JSON with its links
   left out. A node that gets another type is removed and added with its id.
6. `{"do": "values", "node": address, "values": {widget: value}}`: those of dynamic combos, on which
   it depends which inputs a node has.
7. `{"do": "link", "from": address, "output": place, "output_name": name, "to": address, "input":
   name, "input_index": place}`: in the order of the inputs, so that groups of inputs grow. An input
   that has a link gets this one instead.
8. `values` again: all the others. Only now a PrimitiveNode and a subgraph's instance have theirs.
9. `{"do": "node", "node": address, ...}` with those of `title`, `mode`, `pos`, `size`, `flags`,
   `properties`, `color`, `bgcolor` and `shape` that changed; null where there is none any more.
10. `{"do": "group", "scope": address, "remove": group}`, then `{"do": "group", "scope": address,
    "group": group}`: a group is the one with its `id`, else with its `title` and `bounding`. One
    that is there already gets what the step says.

A scope is named by the address of an instance, the workflow itself by "". A subgraph with several
instances is changed once, in one of them. A link from or to the outside of a subgraph has the end
`57:in` (`output` is the place of the subgraph's input) or `57:out` (`input` names its output).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ..graph import ROOT
from ..inputs import DYNAMIC_COMBO, mapping, sequence
from ..live import LiveGraph, LiveScope, LiveSlot
from ..live_nodes import LiveNode
from ..node_definitions import NodeDefinitions
from ..page_values import UNSET, page_value
from ..parse import parse_workflow
from ..parts import PRIMITIVE, SUBGRAPH_INPUT, Slot
from ..write import write_workflow
from .promotions import has_old_promotions, settle_promotions

Step = dict[str, Any]

IN, OUT = "in", "out"
"""The ends of links at a subgraph's own inputs and outputs, as the last part of an address."""

_LOOKS = ("title", "mode", "flags", "properties", "color", "bgcolor", "shape")
_PHASES = (
    "unlink",
    "remove",
    "define",
    "boundary",
    "add",
    "choices",
    "link",
    "values",
    "node",
    "group",
)


def steps_between(
    before: Mapping[str, Any], after: Mapping[str, Any], definitions: NodeDefinitions
) -> list[Step]:
    """The steps that make `after` of `before`, two workflows in the UI format; none where both are
    the same. Raises `NotAWorkflow`, and `ValueError` for an API prompt, which no canvas shows.
    """
    old, new = (LiveGraph(parse_workflow(one), definitions) for one in (before, after))
    if "prompt" in (old.graph.format, new.graph.format):
        raise ValueError("Steps are between workflows of the UI format, not API prompts.")
    phases: dict[str, list[Step]] = {phase: [] for phase in _PHASES}
    standing = _standing(old, new)
    new = _with_inputs(new, standing)
    for key, address in standing.items():
        _Change(address, old.scope(key), new.scope(key), phases).collect()
    phases["define"].extend(_defined(new, standing))
    return [step for phase in _PHASES for step in phases[phase]]


def same_value(first: Any, second: Any) -> bool:
    """Whether two values of a widget are the same in the page, where 1 and 1.0 are, 1 and true
    not."""
    return _written(first) == _written(second)


def _written(value: Any) -> str:
    return "" if value is UNSET else json.dumps(page_value(value), sort_keys=True, default=str)


def _standing(old: LiveGraph, new: LiveGraph) -> dict[str, str]:
    """The scopes that both have, each with an address that leads to it in both."""
    known = {}
    for place in old.graph.places():
        if place.node.type in old.subgraphs:
            known[place.address] = place.node.type
    found = {ROOT: ""}
    for place in new.graph.places():
        key = place.node.type
        if key in new.subgraphs and known.get(place.address) == key:
            found.setdefault(key, place.address)
    return found


def _with_inputs(new: LiveGraph, standing: Mapping[str, str]) -> LiveGraph:
    """Subgraphs that a page has to define have inputs for all that was promoted out of them."""
    made = [key for key in new.subgraphs if key not in standing]
    if not any(has_old_promotions(new, key) for key in made):
        return new
    content = deepcopy(write_workflow(new.graph))
    for key in made:
        settle_promotions(content, key, new.definitions)
    return LiveGraph(parse_workflow(content), new.definitions)


def _defined(new: LiveGraph, standing: Mapping[str, str]) -> Iterator[Step]:
    used = {place.node.type for place in new.graph.places()}
    missing = [key for key in new.subgraphs if key in used and key not in standing]
    if not missing:
        return
    written = {one["id"]: one for one in _definitions(write_workflow(new.graph))}
    for key in missing:
        subgraph = {name: part for name, part in written[key].items() if name != "definitions"}
        yield {"do": "define", "subgraph": subgraph}


def _definitions(written: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The definitions of subgraphs in a workflow, those inside of others included."""
    for one in sequence(mapping(written.get("definitions")).get("subgraphs")):
        if isinstance(one, Mapping) and isinstance(one.get("id"), str):
            yield one
            yield from _definitions(one)


@dataclass(frozen=True)
class _Input:
    """An input that a link may feed: by node and name, and the place among those of this name."""

    node: str
    name: str
    nth: int = 0


@dataclass(frozen=True)
class _Feed:
    """What feeds an input. A subgraph's own input is told by its name, since places shift."""

    node: str
    output: int | str


@dataclass
class _End:
    """Where a link is written: the places that the steps name."""

    feed: _Feed
    output: int
    output_name: str
    input_index: int


@dataclass
class _Change:
    """What changes in one scope; the steps go into `phases`."""

    address: str
    old: LiveScope
    new: LiveScope
    phases: dict[str, list[Step]]
    gone: set[str] = field(init=False)
    """The nodes that are removed, also those that are added again with another type."""
    made: set[str] = field(init=False)

    def __post_init__(self) -> None:
        stay = {
            id_
            for id_, node in self.old.nodes.items()
            if id_ in self.new.nodes and self.new.nodes[id_].type == node.type
        }
        self.gone = self.old.nodes.keys() - stay
        self.made = self.new.nodes.keys() - stay

    def collect(self) -> None:
        for id_ in self.old.nodes:
            if id_ in self.gone:
                self.phases["remove"].append({"do": "remove", "node": self._name(id_)})
        if self.address:
            self._boundary()
        for id_, node in self.new.nodes.items():
            if id_ in self.made:
                self._add(node)
        self._links()
        for id_, node in self.new.nodes.items():
            if id_ not in self.made:
                self._values(self.old.nodes[id_], node)
                self._looks(self.old.nodes[id_], node)
            elif node.type == PRIMITIVE:
                self._values(None, node)
        self._groups()

    def _name(self, id_: str) -> str:
        return f"{self.address}:{id_}" if self.address else id_

    def _boundary(self) -> None:
        name, inputs, outputs = _outside(self.new)
        if _outside(self.old) != (name, inputs, outputs):
            step: Step = {"do": "boundary", "scope": self.address, "name": name}
            self.phases["boundary"].append({**step, "inputs": inputs, "outputs": outputs})

    def _add(self, node: LiveNode) -> None:
        raw = {**node.node.raw, "id": _number(node.id)}
        raw["inputs"] = [{**mapping(one), "link": None} for one in sequence(raw.get("inputs"))]
        raw["outputs"] = [{**mapping(one), "links": []} for one in sequence(raw.get("outputs"))]
        step = {"do": "add", "scope": self.address, "node": self._name(node.id), "raw": raw}
        self.phases["add"].append(step)

    def _links(self) -> None:
        old = {
            one: end
            for one, end in _ends(self.old)
            if one.node not in self.gone and end.feed.node not in self.gone
        }
        new = dict(_ends(self.new))
        for one, end in old.items():
            if one not in new:
                step: Step = {"do": "unlink", "to": self._name(one.node), "input": one.name}
                step["input_index"] = end.input_index
                self.phases["unlink"].append(step)
        for one, end in new.items():
            before = old.get(one)
            if before is None or before.feed != end.feed:
                step = {"do": "link", "from": self._name(end.feed.node), "output": end.output}
                step["output_name"] = end.output_name
                step.update(to=self._name(one.node), input=one.name, input_index=end.input_index)
                self.phases["link"].append(step)

    def _values(self, old: LiveNode | None, new: LiveNode) -> None:
        early: dict[str, Any] = {}
        late: dict[str, Any] = {}
        for widget in new.widgets:
            if not widget.in_file or widget.value is UNSET:
                continue
            known = old.widget(widget.name) if old is not None else None
            # The page makes what hangs on a choice anew, with defaults, when the choice changes.
            is_remade = any(widget.name.startswith(f"{choice}.") for choice in early)
            if known is None or is_remade or not same_value(known.value, widget.value):
                kind = early if widget.type == DYNAMIC_COMBO else late
                kind[widget.name] = page_value(widget.value)
        for phase, values in (("choices", early), ("values", late)):
            if values:
                step = {"do": "values", "node": self._name(new.id), "values": values}
                self.phases[phase].append(step)

    def _looks(self, old: LiveNode, new: LiveNode) -> None:
        step: Step = {"do": "node", "node": self._name(new.id)}
        for name in _LOOKS:
            value = _look(new, name)
            if _look(old, name) != value:
                step[name] = value
        for name, part in (("pos", slice(0, 2)), ("size", slice(2, 4))):
            place = list(new.node.bounds)[part]
            if new.node.raw.get(name) is not None and list(old.node.bounds)[part] != place:
                step[name] = [_whole(one) for one in place]
        if len(step) > 2:
            self.phases["node"].append(step)

    def _groups(self) -> None:
        old = [dict(group.raw) for group in self.old.scope.groups]
        new = [dict(group.raw) for group in self.new.scope.groups]
        stay = _ids(old) & _ids(new)
        gone = [one for one in old if one not in new and one.get("id") not in stay]
        made = [one for one in new if one not in old]
        for one in gone:
            known = {key: one[key] for key in ("id", "title", "bounding") if key in one}
            self.phases["group"].append({"do": "group", "scope": self.address, "remove": known})
        for one in made:
            self.phases["group"].append({"do": "group", "scope": self.address, "group": one})


def _ends(scope: LiveScope) -> Iterator[tuple[_Input, _End]]:
    """The links of a scope by the inputs that they feed, in the order of nodes and inputs."""
    for node in scope.nodes.values():
        names: dict[str, int] = {}
        for place, one in enumerate(node.inputs):
            nth = names[one.name] = names.get(one.name, -1) + 1
            end = _end(scope, one.link.source, one.link.source_slot, place) if one.link else None
            if end is not None:
                yield _Input(node.id, one.name, nth), end
    for place, slot in enumerate(scope.outputs):
        link = scope.output_links.get(place)
        end = _end(scope, link.source, link.source_slot, place) if link is not None else None
        if end is not None:
            yield _Input(OUT, slot.name), end


def _end(scope: LiveScope, source: str, output: int, place: int) -> _End | None:
    """None for a link that comes from nowhere."""
    if source == SUBGRAPH_INPUT:
        if output >= len(scope.inputs):
            return None
        name = scope.inputs[output].name
        return _End(_Feed(IN, name), output, name, place)
    node = scope.nodes.get(source)
    if node is None:
        return None
    name = node.outputs[output].name if output < len(node.outputs) else ""
    return _End(_Feed(source, output), output, name, place)


def _look(node: LiveNode, name: str) -> Any:
    if name == "title":
        return node.node.title
    if name == "mode":
        return node.node.mode
    value = node.node.raw.get(name)
    return value if value not in ({}, None) else None


def _outside(scope: LiveScope) -> tuple[str, list[Step], list[Step]]:
    """The name of a subgraph, its inputs and its outputs."""
    sides = ((scope.inputs, scope.scope.inputs), (scope.outputs, scope.scope.outputs))
    inputs, outputs = (
        [
            _slot(slot, listed[place] if place < len(listed) else None)
            for place, slot in enumerate(slots)
        ]
        for slots, listed in sides
    )
    return scope.scope.name, inputs, outputs


def _slot(slot: LiveSlot, listed: Slot | None) -> Step:
    """A slot as the steps have it; one that is not in the file was promoted in an older way."""
    raw = listed.raw if listed is not None else {}
    kept = {key: raw[key] for key in ("id", "label") if raw.get(key) is not None}
    return {**kept, "name": slot.name, "type": slot.type}


def _ids(groups: Iterable[Mapping[str, Any]]) -> set[Any]:
    """The ids of groups; no id that two groups have."""
    found = [one["id"] for one in groups if isinstance(one.get("id"), (int, str))]
    return {id_ for id_ in found if found.count(id_) == 1}


def _number(id_: str) -> int | str:
    return int(id_) if id_.isascii() and id_.isdigit() and str(int(id_)) == id_ else id_


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() else number
