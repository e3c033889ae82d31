"""Writes what was changed of live nodes into their JSON, as the front end serialises them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..api_prompt import FILE_NAMES
from ..inputs import ANY, mapping, sequence
from ..instances import widget_sources
from ..live_nodes import LiveInput, LiveLink, LiveNode, LiveOutput
from ..loading import FileLinks, Prototype, known_node, migrated
from ..node_definitions import NodeDefinition
from ..page_values import UNSET
from ..parts import PRIMITIVE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, Node
from ..widgets import Widget
from .raw_links import RawLinks, number

OPTIONAL, LISTED = 7, 6
"""Shapes of slots: an optional input, an output that is a list."""
OWN_MODULES = ("nodes", "comfy_extras", "comfy_api_nodes")
"""The modules of ComfyUI's own nodes."""


def new_node(id_: str, type_: str, definition: NodeDefinition | None) -> dict[str, Any]:
    """The JSON of a new node, without slots and values; its size is not known yet."""
    properties: dict[str, Any] = {}
    module = definition.module.partition(".")[0] if definition is not None else ""
    if module in OWN_MODULES:
        properties["cnr_id"] = "comfy-core"
    if definition is not None and type_ not in FILE_NAMES:
        properties["Node name for S&R"] = type_
    return {
        "id": number(id_),
        "type": type_,
        "pos": [0, 0],
        "size": [210, 58],
        "flags": {},
        "order": 0,
        "mode": 0,
        "inputs": [],
        "outputs": [],
        "properties": properties,
    }


LAYOUTS = ("kept", "full", "sockets", "linked")
"""Which inputs are listed: those that the file lists, and what is new and linked; all; those
without a widget; the linked ones. A new node lists all, as the front end does."""


def write_slots(node: LiveNode, links: RawLinks, layout: str = "kept") -> None:
    """Write a node's inputs and outputs with their links, and its links with their places."""
    raw = _raw(node)
    listed = _listed(node, layout)
    raw["inputs"] = [_input(one, before, links) for one, before in listed]
    wanted = {one.link.id: place for place, (one, _) in enumerate(listed) if one.link is not None}
    for id_ in links.into(node.id):
        if id_ in wanted:
            links.place_target(id_, wanted[id_])
        else:
            links.remove(id_)
    write_outputs(node, links)
    node.node = Node(node.id, raw)


def _listed(node: LiveNode, layout: str) -> list[tuple[LiveInput, Mapping[str, Any] | None]]:
    """The inputs to be written, each with what the file has of it."""
    before = [one for one in sequence(node.node.raw.get("inputs")) if isinstance(one, Mapping)]
    named: dict[Any, list[Mapping[str, Any]]] = {}
    for raw in before:
        named.setdefault(raw.get("name"), []).append(raw)
    pairs = []
    for one in node.inputs:
        known = named.get(one.name)
        pairs.append((one, known.pop(0) if known else None))
    if layout == "kept" and before:
        order = {id(raw): place for place, raw in enumerate(before)}
        kept = [pair for pair in pairs if pair[1] is not None]
        kept.sort(key=lambda pair: order[id(pair[1])])
        return kept + [pair for pair in pairs if pair[1] is None and pair[0].link is not None]
    if layout == "sockets":
        return [pair for pair in pairs if pair[0].widget is None or pair[0].link is not None]
    if layout == "linked":
        return [pair for pair in pairs if pair[0].link is not None]
    return pairs


def write_outputs(node: LiveNode, links: RawLinks) -> None:
    """Write a node's outputs with the links from them."""
    raw = _raw(node)
    listed = list(sequence(raw.get("outputs")))
    written = []
    for place in range(max(len(listed), len(node.outputs))):
        known = node.outputs[place] if place < len(node.outputs) else None
        before = listed[place] if place < len(listed) else None
        one = dict(before) if isinstance(before, Mapping) else _new_output(node, known, place)
        if known is not None and node.subgraph is None and isinstance(one.get("type"), str):
            one["type"] = known.type
        ids = links.at_output(node.id, place)
        if ids or one.get("links") or "links" not in one:
            one["links"] = [number(id_) for id_ in ids] or ([] if one.get("links") == [] else None)
        written.append(one)
    raw["outputs"] = written
    node.node = Node(node.id, raw)


def _raw(node: LiveNode) -> dict[str, Any]:
    raw = node.node.raw
    assert isinstance(raw, dict)
    return raw


def _input(one: LiveInput, before: Mapping[str, Any] | None, links: RawLinks) -> dict[str, Any]:
    link = number(one.link.id) if one.link is not None and one.link.id in links.by_id else None
    if before is not None:
        return {**before, "link": link}
    made: dict[str, Any] = {}
    if "." in one.name:
        made["label"] = one.name.rpartition(".")[2]
    made.update(localized_name=one.name, name=one.name)
    if one.spec is not None and one.spec.optional:
        made["shape"] = OPTIONAL
    made["type"] = one.type
    if one.widget is not None:
        made["widget"] = {"name": one.widget}
    made["link"] = link
    return made


def _new_output(node: LiveNode, one: LiveOutput | None, place: int) -> dict[str, Any]:
    assert one is not None
    made: dict[str, Any] = {"localized_name": one.name, "name": one.name}
    defined = node.definition.outputs if node.definition is not None else ()
    if place < len(defined) and defined[place].is_list:
        made["shape"] = LISTED
    return {**made, "type": one.type, "links": None}


def write_boundary(links: RawLinks, raw: dict[str, Any]) -> None:
    """Write which links the inputs and outputs of a subgraph have."""
    for key in ("inputs", "outputs"):
        for place, slot in enumerate(sequence(raw.get(key))):
            if isinstance(slot, dict):
                into = [id_ for id_ in links.into(SUBGRAPH_OUTPUT) if links.target(id_)[1] == place]
                ids = links.at_output(SUBGRAPH_INPUT, place) if key == "inputs" else into
                now = [number(id_) for id_ in ids]
                if now != list(sequence(slot.get("linkIds"))):
                    slot["linkIds"] = _ordered(now, slot.get("linkIds"))


def _ordered(now: list[int | str], before: Any) -> list[int | str]:
    """The links in the order that they were listed in, new ones last."""
    listed = [id_ for id_ in sequence(before) if id_ in now]
    return [*listed, *(id_ for id_ in now if id_ not in listed)]


def write_values(node: LiveNode) -> None:
    """Write the values of a node's widgets, in the form that its file has."""
    raw = _raw(node)
    widgets = [one for one in node.widgets if one.in_file]
    before = raw.get("widgets_values")
    if isinstance(before, dict):
        before.update({one.name: _value(one) for one in widgets})
    elif node.definition is None and node.subgraph is None and node.type != PRIMITIVE:
        _write_places(raw, widgets)
    elif widgets or before is not None:
        raw["widgets_values"] = [_value(one) for one in widgets]
        for place, one in enumerate(widgets):
            one.place = place
    if node.subgraph is not None:
        _forget_quarantined(raw)
    if isinstance(raw.get("widgets_values_named"), dict):
        raw["widgets_values_named"] = {one.name: _value(one) for one in widgets}
    node.node = Node(node.id, raw)


def keep_values(node: LiveNode, new: Prototype) -> None:
    """Let the values be read as they are written: with one more place behind them, a front end
    does not take them for those of an old file, which had values for inputs without widgets."""
    raw = _raw(node)
    values = raw.get("widgets_values")
    if isinstance(values, list) and len(migrated(new.copy(node.node), new)) < len(values):
        raw["widgets_values"] = [*values, None]
        node.node = Node(node.id, raw)


def _forget_quarantined(raw: dict[str, Any]) -> None:
    """The values that an earlier loading could not place, which would come before those written."""
    properties = raw.get("properties")
    listed = properties.get(_QUARANTINE) if isinstance(properties, dict) else None
    if isinstance(properties, dict) and isinstance(listed, list):
        kept = [one for one in listed if "hostValue" not in mapping(one)]
        properties.update({_QUARANTINE: kept} if kept else {})
        if not kept:
            del properties[_QUARANTINE]


_QUARANTINE = "proxyWidgetErrorQuarantine"


def _write_places(raw: dict[str, Any], widgets: list[Widget]) -> None:
    """Values of a node whose definition is not known: each at the place that it came from."""
    values = list(sequence(raw.get("widgets_values")))
    for one in widgets:
        if one.place is not None and one.place < len(values):
            values[one.place] = _value(one)
        elif one.place is None:
            one.place = len(values)
            values.append(_value(one))
    raw["widgets_values"] = values


def _value(widget: Widget) -> Any:
    value = widget.value
    if value is UNSET:
        return None
    return json.loads(json.dumps(value)) if isinstance(value, (list, dict)) else value


def write_promoted(instance: LiveNode) -> bool:
    """Write the values of an instance whose file says in `proxyWidgets` which widgets it shows:
    each at the place of its entry. False where it has a widget without an entry."""
    raw = _raw(instance)
    shown: dict[tuple[str, str], Widget] = {}
    for slot, one in enumerate(instance.inputs):
        source = next(widget_sources(instance, slot), None)
        if one.promoted is not None and source is not None:
            shown.setdefault(source, one.promoted)
    listed = raw["properties"]["proxyWidgets"]
    entries = [tuple(map(str, sequence(entry)[:2])) for entry in sequence(listed)]
    if len(shown) < len(instance.widgets) or not shown.keys() <= set(entries):
        return False
    raw["widgets_values"] = [_value(shown[entry]) if entry in shown else None for entry in entries]
    instance.node = Node(instance.id, raw)
    return True


def reads_same(node: LiveNode, new: Prototype, links: RawLinks) -> bool:
    """Whether the JSON of a node is read as the node: the same links by the names of inputs, and
    the same values."""
    found = {id_: LiveLink(id_, *links.source(id_), ANY) for id_ in links.into(node.id)}
    placed = [(links.target(id_)[1], link) for id_, link in found.items()]
    named = [found.get(slot.link or "") for slot in node.node.inputs]
    read = known_node(node.node, new, FileLinks(placed, named))
    return _facts(read) == _facts(node)


def _facts(node: LiveNode) -> tuple[dict[str, str], dict[str, Any]]:
    links = {one.name: one.link.id for one in node.inputs if one.link is not None}
    return links, {one.name: one.value for one in node.own_widgets if one.in_file}
