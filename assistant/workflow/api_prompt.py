"""The API prompt of a graph, as the front end's `graphToPrompt` makes it.

Muted and bypassed nodes are left out and their links led past them, subgraphs are replaced by what
is in them (`57:8`), and what only the page knows (notes, reroutes, PrimitiveNodes) has no part. The
front end's own rules, from its sources (comfyui-frontend-package 1.58), with two exceptions where
it draws lots or looks at the clock: of `{a|b}` the first is taken, and `%date:…%` stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .graph import Graph
from .live import LiveGraph, LiveScope
from .live_nodes import LiveNode
from .node_definitions import NodeDefinitions
from .page_values import UNSET, page_value
from .parts import BYPASSED, MUTED
from .primitives import replace_references
from .sources import OutputSource, Position, Sources, ValueSource
from .widgets import Widget
from .write import write_workflow

FILE_NAMES = frozenset(
    "SaveImage SaveImageAdvanced SaveSVGNode SaveVideo SaveAnimatedWEBP SaveWEBM SaveAudio "
    "SaveAudioMP3 SaveAudioOpus SaveAudioAdvanced SaveGLB Save3DAdvanced SaveGaussianSplat "
    "SavePointCloud SaveAnimatedPNG CLIPSave VAESave ModelSave LoraSave SaveLatent".split()
)
"""Nodes whose `filename_prefix` may name values of other nodes."""
_COMMENT = re.compile(r"/\*[\s\S]*?\*/|//.*")
_ESCAPED = re.compile(r"\\([{}|])")


def api_prompt(graph: Graph, definitions: NodeDefinitions) -> dict[str, Any]:
    """The prompt: `{address: {"inputs", "class_type", "_meta"}}`.

    A graph that was read from a prompt is that prompt. A node of an unknown type stands in it with
    the values whose names its file tells; ComfyUI would refuse it.
    """
    if graph.format == "prompt":
        return write_workflow(graph)
    return live_prompt(LiveGraph(graph, definitions))


def live_prompt(live: LiveGraph) -> dict[str, Any]:
    """The prompt of a graph that is loaded already."""
    sources = Sources(live)
    prompt: dict[str, Any] = {}
    for at in running(live):
        node = at.node
        if not node.virtual:
            inputs = _inputs(live, sources, at)
            prompt[at.address] = {
                "inputs": inputs,
                "class_type": node.type,
                "_meta": {"title": node.title, **_package(node)},
            }
    for entry in prompt.values():
        for name in [name for name, value in entry["inputs"].items() if _dangles(value, prompt)]:
            del entry["inputs"][name]
    return prompt


def running(live: LiveGraph) -> Iterator[Position]:
    """Every node that is neither muted nor bypassed itself, an instance before what is in it.

    A muted or bypassed instance takes along what is in it. Inside of another subgraph it does not:
    the front end mutes its inner nodes, too, when somebody mutes it there.
    """
    pending: list[Iterator[Position]] = [
        (Position(live.root, node) for node in live.root.nodes.values())
    ]
    while pending:
        for at in pending[-1]:
            runs = at.node.mode not in (MUTED, BYPASSED)
            if runs:
                yield at
            if at.node.subgraph is not None and (runs or at.around):
                pending.append(_inside(at, at.node.subgraph))
                break
        else:
            pending.pop()


def _inside(at: Position, scope: LiveScope) -> Iterator[Position]:
    return (at.inside(scope, node) for node in scope.nodes.values())


def _package(node: LiveNode) -> dict[str, str]:
    """Which package the file says the node is from; ComfyUI does not read it."""
    said = {name: node.node.properties.get(name) for name in ("cnr_id", "aux_id", "ver")}
    return {name: value for name, value in said.items() if isinstance(value, str) and value}


def _dangles(value: Any, prompt: dict[str, Any]) -> bool:
    return isinstance(value, list) and len(value) == 2 and value[0] not in prompt


def _inputs(live: LiveGraph, sources: Sources, at: Position) -> dict[str, Any]:
    """The inputs of one node: the values of its widgets, then what its links lead to."""
    node = at.node
    inputs: dict[str, Any] = {}
    for widget in node.widgets:
        value = widget_value(live, node, widget)
        if widget.in_prompt and value is not UNSET:
            inputs[widget.name] = wrapped(page_value(value), widget.type == "CURVE")
    for slot, one in enumerate(node.inputs):
        source = sources.source(at, slot)
        if isinstance(source, ValueSource):
            if source.value is not UNSET:
                inputs[one.name] = wrapped(page_value(source.value))
        elif isinstance(source, OutputSource):
            inputs[one.name] = [source.address, source.slot]
    return inputs


def wrapped(value: Any, curve: bool = False) -> Any:
    """A value for a prompt: a list goes into an object, since it would be read as a link."""
    if curve and value is not None:
        return {"__type__": "CURVE", "__value__": value}
    return {"__value__": value} if isinstance(value, list) else value


def widget_value(live: LiveGraph, node: LiveNode, widget: Widget) -> Any:
    """A widget's value as it is queued."""
    value = widget.value
    if widget.type == "index":
        choice = node.own_widgets[0].value
        options = [one.value for one in node.own_widgets[2:]]
        return options.index(choice) if choice in options else -1
    if not isinstance(value, str):
        return value
    if widget.dynamic_prompt:
        return resolve_choices(value)
    if widget.name == "filename_prefix" and node.type in FILE_NAMES:
        return replace_references(value, live.named_widget)
    return value


def resolve_choices(text: str) -> str:
    """A text without comments (`//`, `/* */`) and with the first of each `{a|b}`."""
    text = _COMMENT.sub("", text)
    if "{" not in text and "\\" not in text:
        return text
    return _ESCAPED.sub(r"\1", _first_choices(text))


def _first_choices(text: str) -> str:
    """Of each block in braces the first choice, and so on inside of it."""
    result: list[str] = []
    index, depth = 0, 0
    skipping = 0
    while index < len(text):
        sign = text[index]
        index += 1
        if sign == "\\":
            escaped = text[index : index + 1] or "undefined"
            index += 1
            if not skipping:
                result.append("\\" + escaped)
        elif sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
            skipping = min(skipping, depth)
        elif sign == "|" and depth:
            skipping = skipping or depth
        elif not skipping:
            result.append(sign)
    return "".join(result)
