"""The *full* view: all that counts of a workflow, one line a node, nothing cut off.

    workflow: 2 nodes
    4 CheckpointLoaderSimple ckpt_name=a.safetensors -> MODEL:MODEL CLIP:CLIP VAE:VAE
    3 KSampler "My sampler" muted seed=42 steps=20 model<-4.MODEL:MODEL mask:MASK -> LATENT:LATENT
    group "First pass" [0.0,0.0,800.0,600.0]: 4 3
    subgraph "Upscale" key="9b3c…": 1 node
      in image:IMAGE
      ...
      out image<-8.IMAGE:IMAGE

`full_reading.py` reads it back as a graph with the same facts (`facts.py`). Names of values are for
the reader: they come from the node definitions, and their order is the file's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..messages.fences import quoted
from .facts import output_links, promoted, stray_links
from .graph import Graph, Scope
from .parts import BYPASSED, MUTED, NOTES, RUN, SUBGRAPH_INPUT, Link, Node, Slot
from .words import id_word, slot_word, type_word, value_words, word

MODES = {MUTED: "muted", BYPASSED: "bypassed"}
Labels = Callable[[Scope, Node], Sequence[str]]
"""The names of a node's values by their place in the file; there may be fewer than values."""


def full_lines(graph: Graph, labels: Labels) -> Iterator[str]:
    """The lines of the full view."""
    names = subgraph_names(graph)
    yield f"{graph.format}: {counted(len(graph.root.nodes), 'node')}"
    yield from _scope_lines(graph, graph.root, names, labels)
    for key, scope in graph.subgraphs.items():
        real = "" if names[key] == scope.name else f" name={quoted(scope.name)}"
        head = f"subgraph {quoted(names[key])} key={quoted(key)}{real}"
        yield f"{head}: {counted(len(scope.nodes), 'node')}"
        for line in _scope_lines(graph, scope, names, labels):
            yield f"  {line}"


def subgraph_names(graph: Graph) -> dict[str, str]:
    """The name of each subgraph by its key; a second one of the same name gets a number."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    taken = {scope.name for scope in graph.subgraphs.values()}
    for key, scope in graph.subgraphs.items():
        name = scope.name or "subgraph"
        counts[name] += 1
        numbered = name
        while counts[name] > 1 and numbered in taken:
            numbered = f"{name} ({counts[name]})"
            counts[name] += numbered in taken
        names[key] = numbered
        taken.add(numbered)
    return names


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def mode_word(mode: int) -> str:
    return MODES.get(mode, f"mode({int(mode)})")


def source_word(scope: Scope, link: Link, names: Callable[[Node], Sequence[str]]) -> str:
    """Where a link comes from: `4.MODEL`, or `in.text` from outside of a subgraph."""
    if link.source == SUBGRAPH_INPUT and scope.key:
        return f"in.{slot_word([slot.name for slot in scope.inputs], link.source_slot)}"
    node = scope.nodes.get(link.source)
    slot = slot_word(names(node) if node is not None else (), link.source_slot)
    return f"{id_word(link.source)}.{slot}"


def listed_outputs(node: Node) -> list[str]:
    """The names of the outputs that the file lists."""
    return [slot.name for slot in node.outputs]


def _scope_lines(
    graph: Graph, scope: Scope, names: Mapping[str, str], labels: Labels
) -> Iterator[str]:
    if scope.inputs:
        yield "in " + " ".join(map(_slot, scope.inputs))
    notes = [node for node in scope.nodes.values() if node.type in NOTES]
    for node in scope.nodes.values():
        if node.type not in NOTES:
            yield _node_line(graph, scope, node, names, labels(scope, node))
    if notes:
        yield "notes:"
        for node in notes:
            yield _node_line(graph, scope, node, names, ("text",))
    for slot, links in zip(scope.outputs, output_links(scope), strict=True):
        yield f"out {_slot(slot, _fed(scope, links))}"
    for link in stray_links(scope):
        source = source_word(scope, link, listed_outputs)
        yield f"link {source} to {id_word(link.target)}.{link.target_slot}"
    for group in scope.groups:
        members = " ".join(id_word(node.id) for node in scope.members(group))
        yield f"group {quoted(group.title)} {value_words(list(group.bounds))}: {members}"
    for odd in scope.oddities:
        yield f"odd {odd.part} {value_words(odd.raw)}"


def _node_line(
    graph: Graph, scope: Scope, node: Node, names: Mapping[str, str], labels: Sequence[str]
) -> str:
    inner = graph.subgraph_of(node)
    kind = type_word(node.type) if inner is None else f"subgraph {quoted(names[inner.key])}"
    parts = [id_word(node.id), kind]
    if node.title is not None:
        parts.append(quoted(node.title))
    if node.mode != RUN:
        parts.append(mode_word(node.mode))
    parts.extend(_values(node, labels))
    if promoted(node) is not None:
        parts.append(f"@promoted={value_words(promoted(node))}")
    for index, slot in enumerate(node.inputs):
        link = scope.feeding(node, index)
        widget = f"@{word(slot.widget)}" if slot.widget is not None else ""
        parts.append(f"{_slot(slot, _fed(scope, [link] if link is not None else []))}{widget}")
    if node.outputs:
        parts.extend(("->", *map(_slot, node.outputs)))
    return " ".join(parts)


def _values(node: Node, labels: Sequence[str]) -> Iterator[str]:
    """The values in the order of the file, or by name where the file has them so."""
    if not node.values:
        for name, value in node.named_values.items():
            yield f"{word(name)}:={value_words(value)}"
        return
    shown: dict[str, Any] = {}
    for place, value in enumerate(node.values):
        label = labels[place] if place < len(labels) else ""
        name = label or f"value_{place}"
        shown[name] = value
        yield f"{word(name)}={value_words(value)}"
    if node.named_values:
        same = value_words(shown) == value_words(dict(node.named_values))
        yield "@named" if same else f"@named={value_words(dict(node.named_values))}"


def _fed(scope: Scope, links: Sequence[Link]) -> str:
    return "".join(f"<-{source_word(scope, link, listed_outputs)}" for link in links)


def _slot(slot: Slot, fed: str = "") -> str:
    label = f"({quoted(slot.label)})" if slot.label is not None else ""
    return f"{word(slot.name)}{fed}:{word(slot.type)}{label}"
