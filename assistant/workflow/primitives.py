"""PrimitiveNodes, and texts that name the values of other nodes.

A PrimitiveNode is known to the page alone. It has the widget of the first input that it feeds, and
writes its value into the widgets of all of them before a prompt is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from .dynamic_inputs import set_widget
from .inputs import COMBO, WIDGET_TYPES, Input
from .page_values import UNSET, is_truthy, page_text
from .parts import PRIMITIVE
from .rounding import kept_number
from .widgets import CONTROL, CONTROL_MODES, Widget, make_widgets

if TYPE_CHECKING:
    from .live import LiveScope
    from .live_nodes import LiveNode

REPLACES_TEXT = "Run widget replace on values"
"""The property of a PrimitiveNode whose text names values of other nodes: `%KSampler.seed%`."""
_REFERENCE = re.compile(r"%([^%]+)%")
_NOT_IN_FILE_NAMES = re.compile(r'[/?<>\\:*|"\x00-\x1F\x7F]')


def make_primitives(scope: LiveScope) -> None:
    """Give each PrimitiveNode that feeds an input its widgets."""
    for node in scope.nodes.values():
        if node.type == PRIMITIVE and node.definition is None:
            make_primitive(scope, node)


def make_primitive(scope: LiveScope, node: LiveNode) -> None:
    """Give one PrimitiveNode the widgets of the first input that it feeds, if it feeds any."""
    values = node.node.values
    node.own_widgets.clear()
    targets = scope.targets(node.id, 0)
    if not targets:
        return
    theirs, one = targets[0]
    widget = theirs.widget_of(one)
    spec = widget.input if widget is not None else None
    if widget is None and one.widget is None and one.type in WIDGET_TYPES:
        spec = Input(one.name, one.type, {})
    if spec is None:
        return
    made = make_widgets("value", spec, ())
    if widget is not None:
        made[0].assign(widget.value)
    if values and node.outputs and node.outputs[0].type == spec.type:
        made[0].assign(values[0])
        made[0].place = 0
    if len(made) == 1 and spec.widget_type in ("INT", "FLOAT", COMBO):
        made.append(Widget(CONTROL, "control", "fixed", choices=CONTROL_MODES, in_prompt=False))
    if made[0].place == 0 and len(values) > 1 and len(made) > 1 and values[1] in CONTROL_MODES:
        made[1].value = values[1]
    node.own_widgets.extend(made)


def apply_primitives(scope: LiveScope, find: Callable[[str, str], Widget | None]) -> None:
    """Write the values of the PrimitiveNodes into the widgets that they feed.

    `find` is that of `replace_references`.
    """
    for node in scope.nodes.values():
        if node.type != PRIMITIVE or node.definition is not None or not node.own_widgets:
            continue
        value = node.own_widgets[0].value
        if value is UNSET:
            continue
        if isinstance(value, str) and is_truthy(node.node.properties.get(REPLACES_TEXT)):
            value = replace_references(value, find)
        for target, one in scope.targets(node.id, 0):
            widget = target.widget_of(one)
            if widget is not None:
                set_widget(target, widget, kept_number(target, widget, value))


def replace_references(text: str, find: Callable[[str, str], Widget | None]) -> str:
    """A text with the values that it names in place of `%node.widget%`.

    `find` gives the widget by the node's name and the widget's. Dates (`%date:…%`) and what is not
    found stay: a date is only known when the prompt is queued.
    """

    def value(match: re.Match[str]) -> str:
        parts = match[1].split(".")
        widget = find(parts[0], parts[1]) if len(parts) == 2 else None
        if widget is None:
            return match[0]
        return _NOT_IN_FILE_NAMES.sub("_", page_text(widget.value))

    return _REFERENCE.sub(value, text)
