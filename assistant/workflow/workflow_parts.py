"""A workflow taken apart into parts that can be compared and exchanged one by one, and put together
again (`three_way`).

A part is named by its scope (a subgraph, or the workflow itself), its node, and what it is there.
Links are named by the input that they feed, since an input has one source; where a link is new, it
gets a new id. What is in none of the parts, such as settings of the view, is taken from the
workflow that is put together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from .graph import ROOT, Graph, Scope
from .inputs import mapping, sequence
from .parts import SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, Group, Link, Node
from .widgets import CONTROL_MODES, SEED_NAMES
from .write import write_workflow

Kind = Literal[
    "node", "type", "mode", "title", "value", "source", "look", "slots", "group", "outside"
]
_FIELDS: Final[Mapping[str, Kind]] = {"type": "type", "mode": "mode", "title": "title"}
_APART: Final = frozenset({"id", "inputs", "outputs", "widgets_values"})
_LINKS: Final = frozenset({"link", "links", "linkIds", "slot_index"})


@dataclass(frozen=True)
class Key:
    """The name of a part. `name` tells the parts of one kind apart. `turns`: the value is a seed
    that each run may change."""

    scope: str
    node: str
    kind: Kind
    name: str = ""
    turns: bool = field(default=False, compare=False)

    @property
    def owner(self) -> tuple[str, str]:
        return self.scope, self.node


@dataclass(frozen=True)
class Source:
    """What feeds an input: output `slot` of `node`. The place of the input is not compared, since
    inputs may come and go before it."""

    node: str
    slot: int
    type: str = field(compare=False)
    place: int = field(compare=False)


Parts = Mapping[Key, Any]


def parts_of(graph: Graph) -> dict[Key, Any]:
    """All parts of a workflow, or of an API prompt."""
    if graph.format == "prompt":
        return dict(_prompt_parts(graph.root))
    return {key: part for scope in graph.scopes() for key, part in _scope_parts(scope)}


def same_part(one: Any, other: Any) -> bool:
    """Whether two parts say the same: 1 is 1.0, but not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_part(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_part, one, other))
    return bool(one == other)


def assembled(now: Graph, end: Graph, parts: Parts) -> dict[str, Any]:
    """The JSON of `now` with exactly these parts; the nodes and subgraphs that it lacks are those
    of `end`."""
    by_scope: dict[str, dict[Key, Any]] = {ROOT: {}}
    for key, part in parts.items():
        by_scope.setdefault(key.scope, {})[key] = part
    if now.format == "prompt":
        return _prompt(now.root, by_scope[ROOT])
    subgraphs: dict[str, Scope] = {}
    for name, own in by_scope.items():
        scope = now.subgraphs.get(name) or end.subgraphs.get(name)
        if scope is not None:
            subgraphs[name] = _with_parts(scope, end.subgraphs.get(name), own)
    kept = [name for name in now.root.definitions if name in subgraphs]
    held = {one for scope in subgraphs.values() for one in scope.definitions}
    added = [name for name in subgraphs if name not in held and name not in kept]
    root = _with_parts(now.root, end.root, by_scope[ROOT])
    root = replace(root, definitions=(*kept, *added), raw=_counted(root, end.root))
    subgraphs = {
        name: replace(one, definitions=tuple(held for held in one.definitions if held in subgraphs))
        for name, one in subgraphs.items()
    }
    return write_workflow(Graph("workflow", root, subgraphs))


# Taking apart


def _prompt_parts(root: Scope) -> Iterator[tuple[Key, Any]]:
    for id_, node in root.nodes.items():
        yield Key(ROOT, id_, "node"), True
        for name, value in node.raw.items():
            if name != "inputs":
                yield Key(ROOT, id_, "type" if name == "class_type" else "look", name), value
        for name, value in mapping(node.raw.get("inputs")).items():
            yield Key(ROOT, id_, "value", name, name in SEED_NAMES), value


def _scope_parts(scope: Scope) -> Iterator[tuple[Key, Any]]:
    if scope.key != ROOT:
        slots = {
            name: [_without_links(one) for one in sequence(scope.raw.get(name))]
            for name in ("inputs", "outputs")
        }
        yield Key(scope.key, "", "outside"), {"name": scope.raw.get("name"), **slots}
    for node in scope.nodes.values():
        yield from _node_parts(scope.key, node)
    for link in scope.links.values():
        name = _input_name(scope.nodes.get(link.target), link.target_slot)
        source = Source(link.source, link.source_slot, link.type, link.target_slot)
        yield Key(scope.key, link.target, "source", name), source
    for group in scope.groups:
        named = group.raw.get("id", json.dumps([group.title, list(group.bounds)]))
        yield Key(scope.key, "", "group", str(named)), group.raw


def _node_parts(scope: str, node: Node) -> Iterator[tuple[Key, Any]]:
    yield Key(scope, node.id, "node"), True
    for name, value in node.raw.items():
        if name not in _APART:
            yield Key(scope, node.id, _FIELDS.get(name, "look"), name), value
    for name in ("inputs", "outputs"):
        if isinstance(node.raw.get(name), list):
            slots = [_without_links(one) for one in node.raw[name]]
            yield Key(scope, node.id, "slots", name), slots
    values = node.raw.get("widgets_values")
    if isinstance(values, Mapping):
        for name, value in values.items():
            yield Key(scope, node.id, "value", name, name in SEED_NAMES), value
    listed = sequence(values)
    for place, value in enumerate(listed):
        follows = listed[place + 1] if place + 1 < len(listed) else None
        turns = isinstance(follows, str) and follows in CONTROL_MODES
        yield Key(scope, node.id, "value", str(place), turns and _is_number(value)), value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _input_name(node: Node | None, place: int) -> str:
    """The name of an input, or its place where the node does not list it."""
    inputs = node.inputs if node is not None else ()
    return inputs[place].name if 0 <= place < len(inputs) else str(place)


def _without_links(slot: Any) -> Any:
    return {name: value for name, value in mapping(slot).items() if name not in _LINKS}


# Putting together


def _prompt(root: Scope, parts: Parts) -> dict[str, Any]:
    """The prompt with these parts; nodes in the order of `root`, new ones at the end."""
    made: dict[str, dict[str, Any]] = {
        key.node: {"inputs": {}} for key in parts if key.kind == "node"
    }
    for key, part in parts.items():
        if key.kind != "node":
            (made[key.node]["inputs"] if key.kind == "value" else made[key.node])[key.name] = part
    order = {id_: place for place, id_ in enumerate(root.nodes)}
    return dict(sorted(made.items(), key=lambda item: order.get(item[0], len(order))))


def _with_parts(scope: Scope, theirs: Scope | None, parts: Parts) -> Scope:
    """The scope with exactly these parts; nodes that it lacks are those of `theirs`."""
    by_node: dict[str, dict[Key, Any]] = {}
    for key, part in parts.items():
        by_node.setdefault(key.node, {})[key] = part
    wanted = {key.node: None for key in parts if key.kind == "node"}
    order = [id_ for id_ in scope.nodes if id_ in wanted]
    order += [id_ for id_ in wanted if id_ not in scope.nodes]
    known = {**(theirs.nodes if theirs is not None else {}), **scope.nodes}
    raws = {id_: _raw(known[id_].raw, by_node[id_]) for id_ in order}
    links = _links(scope, raws, parts)
    _name_links(raws, links)
    groups = tuple(_group(part) for key, part in parts.items() if key.kind == "group")
    nodes = {id_: Node(id_, raw) for id_, raw in raws.items()}
    raw = dict(scope.raw)
    outside = parts.get(Key(scope.key, "", "outside"))
    if outside is not None:
        raw.update(_outside(scope, outside, links))
    return replace(scope, nodes=nodes, links={one.id: one for one in links}, groups=groups, raw=raw)


def _group(raw: Mapping[str, Any]) -> Group:
    bounds = [float(one) for one in sequence(raw.get("bounding"))[:4] if _is_number(one)]
    x, y, width, height = (*bounds, 0.0, 0.0, 0.0, 0.0)[:4]
    return Group(str(raw.get("title", "")), (x, y, width, height), raw)


def _raw(before: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """A node's JSON with these parts, in the order of the fields that it had."""
    given: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for key, part in parts.items():
        if key.kind == "value":
            values[key.name] = part
        elif key.kind in ("type", "mode", "title", "look"):
            given[key.name] = part
        elif key.kind == "slots":
            given[key.name] = [dict(one) for one in part]
    if isinstance(before.get("widgets_values"), Mapping):
        given["widgets_values"] = values
    elif values or "widgets_values" in before:
        given["widgets_values"] = [values[name] for name in sorted(values, key=int)]
    raw = {name: given.get(name, before[name]) for name in before if name in {*given, "id"}}
    return {**raw, **given}


def _links(scope: Scope, raws: Mapping[str, Mapping[str, Any]], parts: Parts) -> list[Link]:
    """The links of the parts; one that the scope has already keeps its id and its JSON."""
    known = {(one.source, one.source_slot, one.target, one.target_slot): one for one in _all(scope)}
    newest = max((int(one.id) for one in _all(scope) if one.id.isdigit()), default=0)
    links = []
    for key, source in parts.items():
        if key.kind != "source":
            continue
        place = _place(raws.get(key.node), key.name, source.place)
        ends = (source.node, source.slot, key.node, place)
        if ends in known:
            links.append(known[ends])
        else:
            newest += 1
            links.append(Link(str(newest), *ends, source.type))
    return sorted(links, key=lambda one: (len(one.id), one.id))


def _all(scope: Scope) -> Iterable[Link]:
    return scope.links.values()


def _place(raw: Mapping[str, Any] | None, name: str, before: int) -> int:
    """The place of an input by its name; where it was before for one that is not listed."""
    inputs = sequence(raw.get("inputs")) if raw is not None else []
    places = [place for place, slot in enumerate(inputs) if mapping(slot).get("name") == name]
    return before if before in places or not places else places[0]


def _name_links(raws: Mapping[str, dict[str, Any]], links: Sequence[Link]) -> None:
    """Writes the ids of their links into the nodes' slots."""
    by_input: dict[tuple[str, int], int | str] = {}
    by_output: dict[tuple[str, int], list[int | str]] = {}
    for one in links:
        by_input.setdefault((one.target, one.target_slot), _id(one))
        by_output.setdefault((one.source, one.source_slot), []).append(_id(one))
    for id_, raw in raws.items():
        for place, slot in enumerate(sequence(raw.get("inputs"))):
            slot["link"] = by_input.get((id_, place))
        for place, slot in enumerate(sequence(raw.get("outputs"))):
            slot["links"] = by_output.get((id_, place), [])


def _id(link: Link) -> int | str:
    return int(link.id) if link.id.isdigit() else link.id


def _outside(scope: Scope, outside: Mapping[str, Any], links: Sequence[Link]) -> dict[str, Any]:
    """The name and the slots of a subgraph, with the ids of its links in the slots."""
    made: dict[str, Any] = {"name": outside["name"]}
    for name, own in (("inputs", SUBGRAPH_INPUT), ("outputs", SUBGRAPH_OUTPUT)):
        if not isinstance(scope.raw.get(name), list):
            continue
        made[name] = []
        for place, slot in enumerate(outside[name]):
            ids = [
                _id(one)
                for one in links
                if (own, place) in ((one.source, one.source_slot), (one.target, one.target_slot))
            ]
            made[name].append({**slot, "linkIds": ids})
    return made


def _counted(root: Scope, end: Scope) -> dict[str, Any]:
    """The root's own fields; its counters of ids are not below what was given out."""
    raw = dict(root.raw)
    links = [int(one.id) for one in root.links.values() if one.id.isdigit()]
    for name, more in (("last_node_id", []), ("last_link_id", links)):
        counts = [one for one in (raw.get(name), end.raw.get(name), *more) if isinstance(one, int)]
        if name in raw and counts:
            raw[name] = max(counts)
    return raw
