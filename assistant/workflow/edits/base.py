"""What a node was like before a batch: what the page compares before it carries the batch out."""

from __future__ import annotations

from typing import Any

from ..live import LiveScope
from ..live_nodes import LiveLink, LiveNode
from ..node_words import HIDDEN_WIDGETS
from ..page_values import UNSET, page_value
from ..parts import BYPASSED, MUTED, SUBGRAPH_INPUT
from ..widgets import CONTROL, SEED_NAMES

MODE_NAMES = {MUTED: "mute", BYPASSED: "bypass"}


def base_entry(scope: LiveScope, node: LiveNode, prefix: str) -> dict[str, Any]:
    """`{"type", "mode", "values": {widget: value}, "links": {input: "8.LATENT"}}`.

    `prefix` is that of addresses in the scope. A seed that changes after each run is left out: a
    run in the meantime is no change.
    """
    return {
        "type": node.type,
        "mode": MODE_NAMES.get(node.mode, "run"),
        "values": {
            widget.name: page_value(widget.value) for widget, turned in _widgets(node) if not turned
        },
        "links": {
            one.name: source_text(scope, one.link, prefix)
            for one in node.inputs
            if one.link is not None
        },
    }


def _widgets(node: LiveNode) -> list[tuple[Any, bool]]:
    """The widgets that hold something, each with whether a run changes its value."""
    listed = list(node.widgets)
    found = []
    for place, widget in enumerate(listed):
        behind = listed[place + 1] if place + 1 < len(listed) else None
        turned = behind is not None and behind.type == "control" and behind.value != "fixed"
        if node.subgraph is not None and widget.input is not None:
            turned = CONTROL in widget.input.options or widget.input.name in SEED_NAMES
        if widget.type not in HIDDEN_WIDGETS and widget.value is not UNSET:
            found.append((widget, turned))
    return found


def source_text(scope: LiveScope, link: LiveLink, prefix: str = "") -> str:
    """Where a link comes from: `8.LATENT`, or `57:in.image` for the outside of a subgraph."""
    if link.source == SUBGRAPH_INPUT and scope.scope.key:
        names = [slot.name for slot in scope.inputs]
        node = "in"
    else:
        source = scope.nodes.get(link.source)
        names = [one.name for one in source.outputs] if source is not None else []
        node = link.source
    name = names[link.source_slot] if link.source_slot < len(names) else str(link.source_slot)
    return f"{prefix}{node}.{name}"
