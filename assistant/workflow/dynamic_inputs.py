"""Inputs of a live node that come and go: dynamic combos, groups that grow, matched types.

Named with dots, as in a prompt. A dynamic combo's inputs stand right behind its own; a group that
grows always has a free input behind the last linked one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .inputs import AUTOGROW, DYNAMIC_COMBO, MATCH_TYPE, Input
from .live_nodes import LiveInput, LiveLink, LiveNode
from .widgets import Widget, make_unique, make_widgets

MOST_ROWS = 1000
"""Rows that a group is made with, whatever its definition asks for."""


def add_inputs(live: LiveNode, specs: Sequence[Input]) -> None:
    """Add the inputs of a definition: first all sockets, then what has widgets."""
    for spec in specs:
        _add_socket(live, spec.name, spec)
    for spec in specs:
        _add_widget(live, spec.name, spec)


def add_input(live: LiveNode, name: str, spec: Input) -> None:
    """Add one input by its full name."""
    _add_socket(live, name, spec)
    _add_widget(live, name, spec)


def _add_socket(live: LiveNode, name: str, spec: Input) -> None:
    if spec.has_widget:
        return
    if spec.type == AUTOGROW:
        _add_group(live, name, spec)
    elif spec.type == MATCH_TYPE:
        add_input(live, name, replace(spec, type=",".join(spec.types)))
    else:
        live.inputs.append(LiveInput(name, spec.type, spec=spec))


def _add_widget(live: LiveNode, name: str, spec: Input) -> None:
    if not spec.has_widget:
        return
    made = make_widgets(name, spec, live.own_widgets)
    live.own_widgets.extend(made)
    if spec.type == DYNAMIC_COMBO:
        set_dynamic_combo(live, made[0], made[0].value)
    live.inputs.append(LiveInput(name, spec.type, widget=name, spec=spec))


def set_widget(live: LiveNode, widget: Widget, value: Any) -> None:
    """Give a widget a value, with what follows from it for the node's other inputs."""
    if widget.type == DYNAMIC_COMBO:
        set_dynamic_combo(live, widget, value)
        return
    widget.assign(value)
    if widget.type == "option" and widget is live.own_widgets[-1] and value:
        # The front end keeps an empty line at the end of a list of one's own choices.
        number = len(live.own_widgets) - 1
        live.own_widgets.append(Widget(f"option{number}", "option", ""))


def set_dynamic_combo(live: LiveNode, widget: Widget, value: Any) -> None:
    """Choose an option: the inputs of the one before go, those of the new one come."""
    widget.value = value
    prefix = f"{widget.name}."
    removed = [one for one in live.inputs if one.name.startswith(prefix)]
    live.inputs[:] = [one for one in live.inputs if not one.name.startswith(prefix)]
    live.own_widgets[:] = [one for one in live.own_widgets if not one.name.startswith(prefix)]
    for name in [name for name in live.autogrow if name.startswith(prefix)]:
        del live.autogrow[name]
    live.rows = {name for name in live.rows if not name.startswith(prefix)}
    spec = widget.input
    branch = spec.branches.get(value) if spec is not None and isinstance(value, str) else None
    if branch is None:
        return
    widgets_before, inputs_before = len(live.own_widgets), len(live.inputs)
    for one in branch:
        add_input(live, prefix + one.name, one)
    added_widgets = live.own_widgets[widgets_before:]
    del live.own_widgets[widgets_before:]
    at = next(i for i, one in enumerate(live.own_widgets) if one is widget) + 1
    live.own_widgets[at:at] = added_widgets
    own = next((i for i, one in enumerate(live.inputs) if one.name == widget.name), None)
    if own is not None:
        added = live.inputs[inputs_before:]
        del live.inputs[inputs_before:]
        live.inputs[own + 1 : own + 1] = added
    _take_links(live, removed)
    make_unique(live.own_widgets)


def _take_links(live: LiveNode, removed: Sequence[LiveInput]) -> None:
    """Give the new inputs the links of those of the same name, growing groups as needed."""
    for old in removed:
        if old.link is None:
            continue
        new = live.input(old.name)
        if new is not None:
            new.link = old.link
            grow_behind(live, new)


def _add_group(live: LiveNode, name: str, spec: Input) -> None:
    group = spec.autogrow
    if group is None:
        return
    live.autogrow[name] = group
    for ordinal in range(min(max(group.minimum + 1, 1), MOST_ROWS)):
        _add_row(live, name, ordinal)


def grow_connected(live: LiveNode, links: Sequence[LiveLink | None]) -> None:
    """Grow the groups behind linked inputs, in the order in which the front end connects them.

    It counts by the places of the file's inputs while the groups grow, and so do we.
    """
    if not live.autogrow:
        return
    index = 0
    while index < len(live.inputs):
        if index < len(links) and links[index] is not None:
            grow_behind(live, live.inputs[index])
        index += 1


def grow_behind(live: LiveNode, one: LiveInput) -> None:
    """Add the row behind an input of a group that grows."""
    name, _, last = one.name.rpartition(".")
    group = live.autogrow.get(name)
    ordinal = group.ordinal(last) if group is not None else None
    if ordinal is not None:
        _add_row(live, name, ordinal + 1)


def _add_row(live: LiveNode, name: str, ordinal: int) -> None:
    """Add a row of inputs; those of the same names that are there are replaced."""
    group = live.autogrow[name]
    names = [f"{name}.{group.name(ordinal, spec.name)}" for spec in group.inputs]
    if ordinal >= group.maximum or live.rows.issuperset(names):
        return
    live.rows.update(names)
    row = []
    for full, spec in zip(names, group.inputs, strict=True):
        optional = spec.optional or ordinal >= group.minimum
        add_input(live, full, replace(spec, optional=optional))
        row.append(live.inputs.pop())
    for new in row:
        for old in [one for one in live.inputs if one.name == new.name]:
            live.inputs.remove(old)
            new.link = new.link or old.link
    behind = f"{name}.{group.name(ordinal - 1, group.inputs[-1].name)}" if group.inputs else name
    places = [i for i, one in enumerate(live.inputs) if one.name.startswith(behind)]
    at = places[-1] + 1 if places and ordinal > 0 else len(live.inputs)
    live.inputs[at:at] = row
