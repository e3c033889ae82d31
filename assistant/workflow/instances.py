"""Instances of subgraphs, with the widgets of inner nodes that were promoted to them.

An input of a subgraph that feeds a widget inside gives each instance a widget of its own, whose
value counts for that instance. Older files say what was promoted in `properties.proxyWidgets`; the
front end turns that into inputs of the subgraph when it loads the file, and so does this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .inputs import mapping
from .live_nodes import LiveInput, LiveNode, LiveOutput
from .loading import FileLinks
from .parts import PRIMITIVE, Node
from .slot_links import place_links, realign
from .widgets import Widget

if TYPE_CHECKING:
    from .live import LiveScope

_PREFIX = re.compile(r"\s*(\d+)\s*:\s*(.+)", re.DOTALL)
_PREVIEWS = frozenset({"preview"})
LONGEST_CHAIN = 100
"""Subgraphs inside of each other through which a promoted widget is looked for."""


@dataclass(frozen=True)
class Promotion:
    """An entry of `proxyWidgets`: the inner node and its widget, and the instance's value."""

    node: str
    widget: str
    has_value: bool
    value: Any


def instance_node(node: Node, inner: LiveScope, links: FileLinks) -> LiveNode:
    """An instance of a loaded subgraph."""
    live = LiveNode(node.id, node, None, inner)
    live.inputs = [LiveInput(slot.name, slot.type) for slot in inner.inputs]
    live.outputs = [LiveOutput(slot.name, slot.type) for slot in inner.outputs]
    place_links(live, links.placed)
    realign(live, links.by_name(node))
    for slot in range(len(live.inputs)):
        promote(live, slot)
    _apply_values(live)
    inner.instances.append(live)
    return live


def promote(live: LiveNode, slot: int) -> None:
    """Give an input of an instance the widget that it feeds inside, with that widget's value.

    A node of an unknown type has no such widgets in the front end.
    """
    fed = [
        target.widget_of(one)
        for target, one in _fed_inputs(live, slot)
        if target.definition is not None or target.subgraph is not None
    ]
    source = next((widget for widget in fed if widget is not None), None)
    if source is None:
        return
    one = live.inputs[slot]
    one.widget = one.name
    one.spec = source.input
    one.promoted = Widget(
        name=one.name,
        type=source.type,
        value=deepcopy(source.value),
        input=source.input,
        choices=source.choices,
        in_file=source.in_file,
    )


def _fed_inputs(live: LiveNode, slot: int) -> Iterator[tuple[LiveNode, LiveInput]]:
    if live.subgraph is not None:
        yield from live.subgraph.fed_by(slot)


def _apply_values(live: LiveNode) -> None:
    """The instance's own values, by the order of its promoted widgets."""
    kept = _quarantined(live.node.properties.get("proxyWidgetErrorQuarantine"))
    values = live.node.values
    place = 0
    for one in live.inputs:
        if one.promoted is None:
            continue
        if one.name in kept:
            one.promoted.value = kept[one.name]
        elif place < len(values):
            one.promoted.value = values[place]
            one.promoted.place = place
        place += 1


def _quarantined(value: Any) -> dict[str, Any]:
    """The values by input that an earlier loading could not place; the first of each name."""
    found: dict[str, Any] = {}
    for entry in _decoded(value):
        original = mapping(entry).get("originalEntry")
        if not isinstance(original, list) or len(original) not in (2, 3) or original[0] != "-1":
            continue
        if "hostValue" in entry and isinstance(original[1], str):
            found.setdefault(original[1], entry["hostValue"])
    return found


def _decoded(value: Any) -> Sequence[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    return value if isinstance(value, list) else ()


def migrate_promotions(live: LiveNode, renamed: Mapping[str, str]) -> None:
    """Turn an instance's `proxyWidgets` into inputs of its subgraph and values of the instance.

    `renamed` are the nodes of the subgraph that got another id than in the file.
    """
    promotions = _promotions(live, renamed)
    if promotions is None:
        return
    standing: dict[tuple[str, str], LiveInput] = {}
    for slot, one in enumerate(live.inputs):
        source = next(widget_sources(live, slot), None)
        if source is not None:
            standing.setdefault(source, one)
    plans = [_plan(live, promotion, standing) for promotion in promotions]
    primitives: dict[str, list[Promotion]] = {}
    for promotion, plan in zip(promotions, plans, strict=True):
        if isinstance(plan, LiveInput):
            _set(live, plan, promotion)
        elif plan == "create":
            _create_input(live, promotion)
        elif plan == "primitive":
            primitives.setdefault(promotion.node, []).append(promotion)
        elif promotion.node == "-1":
            named = live.input(promotion.widget)
            if named is not None:
                _set(live, named, promotion)
    for cohort in primitives.values():
        _replace_primitive(live, cohort)


def _promotions(live: LiveNode, renamed: Mapping[str, str]) -> list[Promotion] | None:
    """The entries of `proxyWidgets`; `None` where one of them has not the known form."""
    listed = live.node.properties.get("proxyWidgets")
    values = live.node.values
    found = []
    for index, entry in enumerate(_decoded(listed)):
        texts = isinstance(entry, list) and all(isinstance(part, str) for part in entry)
        if not texts or len(entry) not in (2, 3):
            return None
        node = renamed.get(entry[0], entry[0]) if isinstance(listed, list) else entry[0]
        widget = entry[1]
        if not _resolves(live, node, widget):
            while (match := _PREFIX.fullmatch(widget)) is not None:
                widget = match[2]
        has_value = index < len(values)
        found.append(Promotion(node, widget, has_value, values[index] if has_value else None))
    return found


def _resolves(live: LiveNode, id_: str, name: str) -> bool:
    """Whether a widget of this name is there, in however deep a subgraph."""
    host: LiveNode = live
    for _ in range(LONGEST_CHAIN):
        node = host.subgraph.nodes.get(id_) if host.subgraph is not None else None
        if node is None:
            return False
        if node.subgraph is None:
            return node.widget(name) is not None
        slot = next((i for i, one in enumerate(node.inputs) if one.name == name), None)
        target = next(widget_sources(node, slot), None) if slot is not None else None
        if target is None:
            return False
        host, (id_, name) = node, target
    return False


def widget_sources(live: LiveNode, slot: int) -> Iterator[tuple[str, str]]:
    """What an instance's input stands for: inner nodes with the names of their widgets."""
    for target, one in _fed_inputs(live, slot):
        if target.subgraph is not None:
            yield target.id, one.name
        else:
            widget = target.widget_of(one)
            if widget is not None:
                yield target.id, widget.name


def _plan(
    live: LiveNode, promotion: Promotion, standing: Mapping[tuple[str, str], LiveInput]
) -> LiveInput | str:
    """The input that promotes the widget already, or what is to be done.

    `standing` are the instance's inputs by the inner node and widget that they stand for.
    """
    one = standing.get((promotion.node, promotion.widget))
    if one is not None:
        same = [other for other in live.inputs if other.name == one.name]
        return one if len(same) == 1 else "nothing"
    inner = live.subgraph
    source = inner.nodes.get(promotion.node) if inner is not None else None
    if source is None or inner is None:
        return "nothing"
    if source.type == PRIMITIVE:
        return "primitive" if inner.targets(source.id, 0) else "nothing"
    widget = _source_widget(source, promotion.widget)
    if widget is None or promotion.widget.startswith("$$") or widget.type in _PREVIEWS:
        return "nothing"
    return "create"


def _source_widget(source: LiveNode, name: str) -> Widget | None:
    if source.subgraph is not None:
        for slot, one in enumerate(source.inputs):
            target = next(widget_sources(source, slot), None)
            if one.name == name or (target is not None and target[1] == name):
                return one.promoted
    return source.widget(name)


def _set(live: LiveNode, one: LiveInput, promotion: Promotion) -> None:
    if one.promoted is not None and promotion.has_value:
        one.promoted.value = promotion.value


def _create_input(live: LiveNode, promotion: Promotion) -> None:
    """Give the subgraph an input that feeds the promoted widget, in all its instances."""
    inner = live.subgraph
    source = inner.nodes[promotion.node] if inner is not None else None
    widget = _source_widget(source, promotion.widget) if source is not None else None
    if inner is None or source is None or widget is None:
        return
    one = next((one for one in source.inputs if source.widget_of(one) is widget), None)
    if one is None:
        return
    slot = inner.add_input(promotion.widget, one.type)
    inner.feed_from_outside(source, one, slot)
    _grow_instances(inner, slot)
    _set(live, live.inputs[slot], promotion)


def _replace_primitive(live: LiveNode, cohort: Sequence[Promotion]) -> None:
    """Feed what a promoted PrimitiveNode feeds from an input of the subgraph instead."""
    inner = live.subgraph
    if inner is None or any(one.widget != cohort[0].widget for one in cohort):
        return
    primitive = inner.nodes[cohort[0].node]
    targets = inner.targets(primitive.id, 0)
    kind = primitive.outputs[0].type if primitive.outputs else "*"
    if any("*" not in (kind, one.type) and one.type != kind for _, one in targets):
        return
    title = primitive.node.title
    base = title if title and title != PRIMITIVE else cohort[0].widget
    slot = inner.add_input(base, kind)
    for node, one in list(targets):
        inner.feed_from_outside(node, one, slot)
    _grow_instances(inner, slot)
    first = next((one for one in cohort if one.has_value), None)
    if first is not None:
        _set(live, live.inputs[slot], first)


def _grow_instances(inner: LiveScope, slot: int) -> None:
    """Give all instances of a subgraph its new last input."""
    added = inner.inputs[slot]
    for instance in inner.instances:
        instance.inputs.append(LiveInput(added.name, added.type))
        promote(instance, slot)
