"""Nodes of an API prompt as live nodes with all inputs and widgets of their definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..api_prompt import wrapped
from ..dynamic_inputs import grow_behind, set_widget
from ..inputs import ANY, mapping
from ..live_nodes import LiveInput, LiveNode
from ..loading import Prototype
from ..page_values import UNSET, page_value
from ..parts import PromptNode, is_prompt_link
from ..widgets import Widget


def prompt_node(listed: LiveNode, new: Prototype) -> LiveNode:
    """The node with what a new one of its type has; `listed` has only what the prompt lists."""
    live = new.copy(listed.node)
    for name, value in listed.node.named_values.items():
        widget = live.widget(name)
        if widget is None:
            live.own_widgets.append(Widget(name, "", value))
        else:
            set_widget(live, widget, value)
    for old in listed.inputs:
        one = grown_input(live, old.name)
        if one is None:
            one = LiveInput(old.name, ANY)
            live.inputs.append(one)
        one.link = old.link
        grow_behind(live, one)
    return live


def grown_input(live: LiveNode, name: str) -> LiveInput | None:
    """The input of this name; a group that grows gets as many rows as it needs for it."""
    group = live.autogrow.get(name.rpartition(".")[0])
    while True:
        one = live.input(name)
        if one is not None or group is None:
            return one
        rows = len(live.inputs)
        for last in [one for one in live.inputs if one.name.startswith(name.rpartition(".")[0])]:
            grow_behind(live, last)
        if len(live.inputs) == rows:
            return None


def written_inputs(live: LiveNode, is_new: bool, named: frozenset[str]) -> dict[str, Any]:
    """The `inputs` of a prompt's node: those that it had, and those in `named`; of a new node all.

    What has become a link is one, what is a link no more has its widget's value.
    """
    before: Mapping[str, Any] = mapping(live.node.raw.get("inputs"))
    found: dict[str, Any] = {}
    linked = {one.name: one.link for one in live.inputs if one.link is not None}
    widgets = {one.name: one for one in live.own_widgets if one.in_prompt}
    for name in dict.fromkeys([*before, *widgets, *linked]):
        link, widget = linked.get(name), widgets.get(name)
        if link is not None:
            found[name] = [link.source, link.source_slot]
        elif widget is not None and widget.value is not UNSET:
            if name in before and not is_prompt_link(before[name]) and name not in named:
                found[name] = before[name]
            elif is_new or name in named or name in before:
                found[name] = wrapped(page_value(widget.value), widget.type == "CURVE")
    return found


def new_prompt_node(id_: str, type_: str, title: str) -> PromptNode:
    return PromptNode(id_, {"inputs": {}, "class_type": type_, "_meta": {"title": title}})
