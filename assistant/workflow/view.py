"""A workflow as text for a model, in three levels (R31).

    outline   which nodes there are, by type
    normal    one line a node: values that are not the default, and what feeds it
    full      all that counts, nothing cut off; can be read back (`full_view.py`)

*Normal* reads so:

    workflow "portrait", revision 1a2b3c4d: 2 nodes
    4 CheckpointLoaderSimple ckpt_name=dreamshaper.safetensors
    3 KSampler "First pass" muted seed=42 cfg=4.5 model<-4.MODEL
    defaults, left out above: KSampler steps=20 denoise=1.0

A subgraph follows the nodes, once, with the addresses of its instances. Notes stand at the end. A
long text is cut off, and the number of characters that are left out stands behind it. Names that
could be read as something else are JSON strings (`words.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..messages.fences import quoted
from .facts import revision
from .full_view import counted, full_lines, mode_word
from .graph import Graph
from .parts import RUN
from .live import LiveGraph
from .node_definitions import NodeDefinitions
from .node_words import NodeWords, ScopeWords, WorkflowWords, value_labels, workflow_words
from .words import clamped, id_word, value_words, word

Level = Literal["outline", "normal", "full"]
LONGEST_VALUE = 100
"""Characters of one value in *normal*; a prompt's first sentences say what it is about."""
LONGEST_NOTE = 40
"""Characters of a note in *normal*."""


@dataclass(frozen=True)
class Opened:
    """What is known of an open workflow beside its graph."""

    name: str = ""
    selection: tuple[str, ...] = ()


def view(
    graph: Graph, definitions: NodeDefinitions, level: Level = "normal", opened: Opened = Opened()
) -> str:
    """The text of a workflow in a level."""
    if level == "full":
        live = LiveGraph(graph, definitions)
        lines = full_lines(graph, lambda scope, node: value_labels(live, scope.key, node.id))
        return "\n".join(lines)
    words = workflow_words(graph, definitions)
    lines = _outline(words) if level == "outline" else _normal(words)
    return "\n".join([*_head(words, opened), *lines])


def _head(words: WorkflowWords, opened: Opened) -> Iterator[str]:
    kind = "API prompt" if words.graph.format == "prompt" else "workflow"
    name = f" {quoted(opened.name)}" if opened.name else ""
    count = counted(len(words.graph.root.nodes), "node")
    yield f"{kind}{name}, revision {revision(words.graph)}: {count}"
    if opened.selection:
        yield "selected by the user: " + ", ".join(map(id_word, opened.selection))


def _outline(words: WorkflowWords) -> Iterator[str]:
    for scope in words.scopes.values():
        by_kind: dict[str, list[str]] = {}
        for node in scope.nodes.values():
            mode = "" if node.mode == RUN else f" {mode_word(node.mode)}"
            kind = "Note" if node.is_note else node.kind
            by_kind.setdefault(kind, []).append(f"{id_word(node.id)}{mode}")
        if scope.key:
            yield _scope_head(scope)
        listed = (f"{kind} {', '.join(ids)}" for kind, ids in by_kind.items())
        yield "; ".join(listed)
        yield from _group_lines(scope)


def _normal(words: WorkflowWords) -> Iterator[str]:
    left_out: dict[str, dict[str, str]] = {}
    lines: list[str] = []
    for scope in words.scopes.values():
        indent = ""
        if scope.key:
            lines.append(_scope_head(scope))
            indent = "  "
        lines.extend(f"{indent}{line}" for line in _scope_lines(scope, left_out))
    notes = list(_notes(words))
    if notes:
        lines.extend(("notes:", *notes))
    yield from lines
    if left_out:
        listed = (f"{kind} {' '.join(values.values())}" for kind, values in left_out.items())
        yield "defaults, left out above: " + "; ".join(listed)


def _scope_head(scope: ScopeWords) -> str:
    if not scope.instances:
        return f"subgraph {quoted(scope.name)}:"
    inside = ", ".join(f"{id_word(address)}:" for address in scope.instances)
    return f"subgraph {quoted(scope.name)}, addresses {inside}"


def _scope_lines(scope: ScopeWords, left_out: dict[str, dict[str, str]]) -> Iterator[str]:
    for node in scope.nodes.values():
        if not node.is_note:
            _collect_defaults(node, left_out)
            yield node_line(node, LONGEST_VALUE)
    for name, source in scope.outputs.items():
        yield f"out {name}<-{source}"
    yield from _group_lines(scope)


def _group_lines(scope: ScopeWords) -> Iterator[str]:
    for title, members in scope.groups:
        if members:
            yield f"group {quoted(title)}: {', '.join(map(id_word, members))}"


def node_line(node: NodeWords, longest: int | None, defaults: bool = False) -> str:
    """A node in one line; with `longest` None nothing is cut off, with `defaults` all is said."""
    parts = [node.head]
    for name, value in node.values.items():
        if defaults or not (name in node.defaults or value in ("", None)):
            shown = clamped(value, longest)
            parts.append(f"{_labelled(node, name)}={shown}")
    parts.extend(f"{_labelled(node, name)}<-{source}" for name, source in node.sources.items())
    return " ".join(parts)


def _labelled(node: NodeWords, name: str) -> str:
    label = node.labels.get(name)
    return f"{word(name)}({quoted(label)})" if label is not None else word(name)


def _collect_defaults(node: NodeWords, left_out: dict[str, dict[str, str]]) -> None:
    for name, value in node.values.items():
        if name in node.telling:
            values = left_out.setdefault(node.kind, {})
            values.setdefault(name, f"{word(name)}={value_words(value)}")


def _notes(words: WorkflowWords) -> Iterator[str]:
    for scope in words.scopes.values():
        for node in scope.nodes.values():
            if node.is_note:
                text = next(iter(node.values.values()), "")
                prefix = f"{id_word(scope.instances[0])}:" if scope.instances else ""
                yield f"{prefix}{id_word(node.id)} {clamped(text, LONGEST_NOTE)}"
