"""Makes live nodes of a file's nodes.

The front end makes a node from its definition, then gives it what the file has: links by the names
of inputs, values by their places. So a file that is newer or older than the definition gets values
in other widgets than it was saved with, and the same happens here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .dynamic_inputs import add_inputs, grow_connected, set_widget
from .inputs import ANY, DYNAMIC_COMBO, Input
from .live_nodes import LiveInput, LiveLink, LiveNode, LiveOutput
from .node_definitions import NodeDefinition
from .parts import NOTES, Node, PromptNode, Slot
from .slot_links import place_links, realign, realign_group_children
from .widgets import (
    CONTROL,
    CONTROL_MODES,
    PLAIN,
    Widget,
    added_inputs,
    added_widgets,
    make_unique,
)


def live_outputs(node: Node, definition: NodeDefinition | None) -> list[LiveOutput]:
    """The outputs of the definition, with the file's types where they follow the inputs."""
    listed = node.outputs
    defined = definition.outputs if definition is not None else ()
    found = []
    for index in range(max(len(listed), len(defined))):
        slot = listed[index] if index < len(listed) else None
        if index >= len(defined):
            if slot is not None:
                found.append(LiveOutput(slot.name, slot.type))
            continue
        one = defined[index]
        kind = slot.type if slot is not None and one.type == ANY else one.type
        found.append(LiveOutput(one.name, kind))
    return found


@dataclass(slots=True)
class FileLinks:
    """The links to one node: by the place that each link names, and by the file's inputs."""

    placed: Sequence[tuple[int, LiveLink]]
    named: Sequence[LiveLink | None]
    """For each input of the file the link that it names; `None` where that is no link of it."""

    def by_name(self, node: Node) -> list[tuple[str, LiveLink | None]]:
        """The names of the file's inputs with the links that they name."""
        return list(zip([slot.name for slot in node.inputs], self.named, strict=True))


@dataclass(frozen=True)
class Prototype:
    """A new node of a type, from which those of a graph are copied: making one takes time."""

    live: LiveNode
    specs: Sequence[Input]
    """The definition's inputs and those that the front end adds: required ones, then optional."""
    count: int
    """How many values a file lists for it."""
    forced: bool
    """Whether an input has no widget though its type has."""
    places: Mapping[str, int]
    """The places of the inputs by name."""
    nested: bool
    """Whether inputs come and go with the values of dynamic combos."""

    def copy(self, node: Node) -> LiveNode:
        made = self.live
        outputs = made.outputs
        if len(node.outputs) > len(outputs) or any(one.type == ANY for one in outputs):
            outputs = live_outputs(node, made.definition)
        return LiveNode(
            node.id,
            node,
            made.definition,
            inputs=[LiveInput(one.name, one.type, one.widget, one.spec) for one in made.inputs],
            outputs=outputs,
            own_widgets=[one.copy() for one in made.own_widgets],
            autogrow=dict(made.autogrow) if made.autogrow else {},
            rows=set(made.rows) if made.rows else set(),
        )


def prototype(definition: NodeDefinition) -> Prototype:
    """A new node of a known type."""
    raw = {"id": 0, "type": definition.type}
    live = LiveNode("0", Node("0", raw), definition)
    live.outputs = live_outputs(live.node, definition)
    added = added_inputs(definition)
    add_inputs(live, [*definition.inputs, *added])
    live.own_widgets.extend(added_widgets(definition.type))
    make_unique(live.own_widgets)
    required = [one for one in definition.inputs if not one.optional]
    optional = [one for one in definition.inputs if one.optional]
    specs = [*required, *added, *optional]
    return Prototype(
        live,
        specs,
        count=sum(widget.in_file for widget in live.own_widgets),
        forced=any(one.options.get("forceInput") for one in specs),
        places={one.name: place for place, one in enumerate(live.inputs)},
        nested=any(spec.type == DYNAMIC_COMBO for spec in specs),
    )


def known_node(node: Node, new: Prototype, links: FileLinks) -> LiveNode:
    """A node of a known type, given a new one of this type."""
    live = new.copy(node)
    named = merge_slots(live, node.inputs, links.named, new.places)
    merged = list(zip([one.name for one in live.inputs], named, strict=True)) if new.nested else []
    place_links(live, links.placed)
    grow_connected(live, named)
    if new.nested:
        realign_group_children(live, merged)
    _restore_values(live, migrated(live, new))
    if new.nested or node.type == "CustomCombo":
        make_unique(live.own_widgets)
    realign(live, links.by_name(node))
    return live


def _restore_values(live: LiveNode, values: Sequence[tuple[int, Any]]) -> None:
    """Give the widgets the file's values, by place; those that it has by name by their names."""
    position = 0
    count = len(values)
    for widget in live.own_widgets:  # Those included that come behind the current one meanwhile.
        if position >= count:
            break
        if not widget.in_file:
            continue
        widget.place, value = values[position]
        position += 1
        if widget.type in PLAIN:
            widget.value = value
        else:
            set_widget(live, widget, value)
    if isinstance(live.node.raw.get("widgets_values"), Mapping):
        for name, value in live.node.named_values.items():
            named = live.widget(name)
            if named is not None:
                set_widget(live, named, value)


def merge_slots(
    live: LiveNode,
    slots: Sequence[Slot],
    named: Sequence[LiveLink | None],
    places: Mapping[str, int],
) -> list[LiveLink | None]:
    """Add the file's inputs that the node has not behind those that it has.

    `places` are those of the inputs that the node has, by name. Returns the links that the file's
    inputs name, by the places of the node's inputs.
    """
    found: list[LiveLink | None] = [None] * len(live.inputs)
    for slot, link in zip(slots, named, strict=True):
        place = places.get(slot.name)
        if place is None:
            live.inputs.append(LiveInput(slot.name, slot.type, slot.widget))
            found.append(link)
            continue
        found[place] = link
        one = live.inputs[place]
        if one.widget is None and slot.widget is not None:
            one.widget = slot.widget
    return found


def migrated(live: LiveNode, new: Prototype) -> list[tuple[int, Any]]:
    """The file's values with their places, without those that old front ends wrote for inputs.

    An input with `forceInput` once had a place in the list though it has no widget. The list is
    only touched where its length says that it was written so.
    """
    widgets = live.own_widgets
    values = list(enumerate(live.node.values))
    if not values or (not new.forced and len(values) == new.count):
        return values
    names = {widget.name for widget in widgets}
    skipped = {widget.name for widget in widgets if not widget.in_file}
    forced: list[bool] = []
    for one in new.specs:
        force = bool(one.options.get("forceInput"))
        if (one.name not in names and not force) or one.name in skipped:
            continue
        forced.extend([force, False] if one.options.get(CONTROL) else [force])
    if True not in forced and len(values) == new.count:
        return values
    compact = [pair for pair in values if pair[0] >= len(widgets) or widgets[pair[0]].in_file]
    aligned = next((one for one in (compact, values) if len(one) == len(forced)), None)
    if aligned is None:
        return values
    return [pair for pair, force in zip(aligned, forced, strict=True) if not force]


def unknown_node(node: Node, links: FileLinks) -> LiveNode:
    """A node whose definition is not known, with what its file says of names.

    The values of its widgets have names where the file gives them: as an object, or by the inputs
    that belong to widgets. A value without a name is `value_0`, `value_1`, … and not for a prompt.
    """
    live = LiveNode(node.id, node, None, outputs=live_outputs(node, None))
    live.inputs.extend(LiveInput(slot.name, slot.type, slot.widget) for slot in node.inputs)
    place_links(live, links.placed)
    realign(live, links.by_name(node))
    live.own_widgets.extend(_unknown_widgets(node))
    return live


def _unknown_widgets(node: Node) -> list[Widget]:
    if node.type in NOTES:
        return [Widget("text", "STRING", value, place=0) for value in node.values[:1]]
    found: list[Widget]
    listed = isinstance(node.raw.get("widgets_values"), list)
    if node.named_values and (not listed or len(node.named_values) == len(node.values)):
        found = []
        for index, (name, value) in enumerate(node.named_values.items()):
            control = name.startswith(CONTROL) and value in CONTROL_MODES
            kind = "control" if control else ""
            place = index if listed else None
            found.append(Widget(name, kind, value, place=place, in_prompt=not control))
        return found
    names = [slot.widget for slot in node.inputs if slot.widget is not None]
    found = []
    position = 0
    for place, value in enumerate(node.values):
        before = found[-1].name if found else ""
        spare = len(node.values) - place > len(names) - position
        if spare and "seed" in before and value in CONTROL_MODES:
            found.append(Widget(CONTROL, "control", value, place=place, in_prompt=False))
        elif position < len(names):
            found.append(Widget(names[position], "", value, place=place))
            position += 1
        else:
            found.append(Widget(f"value_{place}", "", value, place=place, in_prompt=False))
    make_unique(found)
    return found


def prompt_node(
    node: PromptNode, definition: NodeDefinition | None, links: Mapping[str, LiveLink]
) -> LiveNode:
    """A node of an API prompt: its values are its widgets, its links its inputs."""
    live = LiveNode(node.id, node, definition, outputs=live_outputs(node, definition))
    values = node.named_values
    find = definition.input if definition is not None else lambda name, value: None
    for name, value in values.items():
        spec = find(name, values.get)
        live.own_widgets.append(Widget(name, spec.widget_type if spec else "", value, spec))
    for slot in node.inputs:
        spec = find(slot.name, values.get)
        kind = ",".join(spec.types) if spec else ANY
        live.inputs.append(LiveInput(slot.name, kind, spec=spec, link=links.get(slot.link or "")))
    return live
