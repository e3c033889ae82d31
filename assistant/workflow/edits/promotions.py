"""Promoted widgets of a subgraph as inputs of it, as the front end has them after loading.

Older files name them in `properties.proxyWidgets` of each instance. What moves nodes into a
subgraph or out of it first turns these into inputs and links, which move along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..graph import Scope
from ..inputs import mapping, sequence
from ..live import LiveGraph, LiveScope
from ..live_nodes import LiveNode
from ..node_definitions import NodeDefinitions
from ..page_values import UNSET, page_value
from ..parse import parse_workflow
from ..parts import SUBGRAPH_INPUT, Link, Node
from .boxes import nodes_of
from .scope_links import Content, Ids, read_wires, write_wires
from .uuids import content_uuid

OLD = "proxyWidgets"


def load(content: Content, definitions: NodeDefinitions) -> LiveGraph:
    return LiveGraph(parse_workflow(content), definitions)


def settle_promotions(content: Content, key: str, definitions: NodeDefinitions) -> None:
    """Make all that was promoted out of the subgraph `key` inputs of it; `content` is changed."""
    live = load(content, definitions)
    if not has_old_promotions(live, key):
        return
    inner = live.subgraphs[key]
    raw = raw_of(inner.scope)
    _add_inputs(raw, inner)
    _add_links(content, raw, inner)
    for instance in inner.instances:
        _settle_instance(raw_of(instance.node), instance)


def has_old_promotions(live: LiveGraph, key: str) -> bool:
    """Whether an instance of the subgraph names promoted widgets in the older way."""
    inner = live.subgraphs.get(key)
    instances = inner.instances if inner is not None else []
    return any(one.node.properties.get(OLD) for one in instances)


def raw_of(part: Scope | Node) -> dict[str, Any]:
    """The JSON of a part of a workflow that may be changed."""
    raw = part.raw
    assert isinstance(raw, dict)
    return raw


def _add_inputs(raw: dict[str, Any], inner: LiveScope) -> None:
    listed = [one for one in sequence(raw.get("inputs")) if isinstance(one, dict)]
    for slot in inner.inputs[len(listed) :]:
        id_ = content_uuid("input", raw.get("id"), len(listed), slot.name)
        listed.append({"id": id_, "name": slot.name, "type": slot.type, "linkIds": []})
    raw["inputs"] = listed


def _add_links(content: Content, raw: dict[str, Any], inner: LiveScope) -> None:
    """The links from the new inputs in place of what fed the widgets before."""
    wires, ids = read_wires(raw), Ids(content)
    nodes = nodes_of(raw)
    for node in inner.nodes.values():
        for one in node.inputs:
            link = one.link
            if link is None or link.source != SUBGRAPH_INPUT or link.id:
                continue
            place = input_place(nodes[node.id], one.name, one.type, one.widget)
            before = wires.feeding(node.id, place)
            if before is not None:
                wires.links.remove(before)
            ends = (SUBGRAPH_INPUT, link.source_slot, node.id, place)
            wires.links.append(Link(ids.link(), *ends, inner.inputs[link.source_slot].type))
    write_wires(wires)


def input_place(node: dict[str, Any], name: str, type_: str, widget: str | None) -> int:
    """The place of an input in a node's JSON, to which it is added where it is not there."""
    listed = [one for one in sequence(node.get("inputs")) if isinstance(one, dict)]
    for place, one in enumerate(listed):
        if one.get("name") == name:
            return place
    made: dict[str, Any] = {"name": name, "type": type_}
    if widget is not None:
        made["widget"] = {"name": widget}
    node["inputs"] = [*listed, {**made, "link": None}]
    return len(listed)


def _settle_instance(raw: dict[str, Any], instance: LiveNode) -> None:
    properties = mapping(raw.get("properties"))
    raw["properties"] = {key: value for key, value in properties.items() if key != OLD}
    for one in instance.inputs:
        input_place(raw, one.name, one.type, one.widget)
    write_values(raw, instance)


def write_values(raw: dict[str, Any], node: LiveNode) -> None:
    """Write the values that a node's widgets have into its JSON, in the order of the widgets."""
    kept = [one for one in node.widgets if one.in_file or node.subgraph is not None]
    values = [None if one.value is UNSET else page_value(one.value) for one in kept]
    raw["widgets_values"] = values
    if isinstance(raw.get("widgets_values_named"), Mapping):
        named = {one.name: value for one, value in zip(kept, values, strict=True)}
        raw["widgets_values_named"] = named
