"""A workflow as text for a model, in three levels (R31).

    outline   which nodes there are, by type
    normal    one line a node: its values but for most defaults, and what feeds it
    full      all that counts, nothing cut off; can be read back (`full_view.py`)

*Normal* reads so:

    workflow "portrait", revision 1a2b3c4d: 2 nodes
    4 CheckpointLoaderSimple ckpt_name=dreamshaper.safetensors
    3 KSampler "First pass" muted seed=42 steps=20 cfg=4.5 sampler_name=euler model<-4.MODEL

A subgraph follows the nodes, once, with the addresses of its instances. Notes stand at the end. A
long text is cut off, and the number of characters that are left out stands behind it. Names that
could be read as something else are JSON strings (`words.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..garbage import without_collecting
from ..messages.fences import quoted
from .facts import revision
from .full_view import counted, full_lines, mode_word
from .graph import Graph
from .live import LiveGraph
from .node_definitions import NodeDefinitions
from .node_words import NodeWords, ScopeWords, WorkflowWords, value_labels, workflow_words
from .parts import RUN
from .words import CUT, clamped, id_word, word

Level = Literal["outline", "normal", "full"]
LONGEST_VALUE = 80
"""Characters of one value in *normal*; a prompt's first sentences say what it is about."""
LONGEST_NOTE = 30
"""Characters of a note in *normal*."""
INDENT = " "


@dataclass(frozen=True)
class Opened:
    """What is known of an open workflow beside its graph."""

    name: str = ""
    selection: tuple[str, ...] = ()


@without_collecting()
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
    return "\n".join([*head_lines(words, opened), *lines])


def head_lines(words: WorkflowWords, opened: Opened) -> Iterator[str]:
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
            where = ", ".join(map(id_word, scope.instances)) or "not in use"
            yield f"subgraph {quoted(scope.name)} ({where}):"
        if by_kind:
            yield "; ".join(f"{kind} {', '.join(ids)}" for kind, ids in by_kind.items())
        yield from group_lines(scope)


def _normal(words: WorkflowWords) -> Iterator[str]:
    shown: dict[str, str] = {}
    yield from _scope_lines(words, words.root, "", "", shown)
    for scope in words.scopes.values():
        if scope.key and scope.key not in shown:
            yield f"subgraph {quoted(scope.name)}, not in use:"
            yield from _scope_lines(words, scope, "", INDENT, shown)
    notes = list(note_lines(words))
    if notes:
        yield from ("notes:", *notes)


def _scope_lines(
    words: WorkflowWords, scope: ScopeWords, address: str, indent: str, shown: dict[str, str]
) -> Iterator[str]:
    """A scope's lines; what is inside of a subgraph follows its first instance. `shown` has the
    address of that instance for each subgraph so far."""
    levels = [(scope, address, indent, iter(scope.nodes.values()))]
    if scope.key:
        shown[scope.key] = address
    while levels:
        scope, address, indent, nodes = levels[-1]
        for node in nodes:
            if node.is_note:
                continue
            line = f"{indent}{node_line(node, LONGEST_VALUE)}"
            inner = words.scopes.get(node.subgraph) if node.subgraph else None
            if inner is None:
                yield line
            elif inner.key in shown:
                yield f"{line} (inside as in {shown[inner.key]})"
            else:
                yield line
                inside = f"{address}{id_word(node.id)}"
                shown[inner.key] = inside
                following = (inner, f"{inside}:", f"{indent}{INDENT}", iter(inner.nodes.values()))
                levels.append(following)
                break
        else:
            for name, source in scope.outputs.items():
                yield f"{indent}out {name}<-{source}"
            for line in group_lines(scope):
                yield f"{indent}{line}"
            levels.pop()


def group_lines(scope: ScopeWords) -> Iterator[str]:
    for title, members in scope.groups:
        if members:
            yield f"group {quoted(title)}: {', '.join(map(id_word, members))}"


def node_line(node: NodeWords, longest: int | None, defaults: bool = False) -> str:
    """A node in one line; with `longest` None nothing is cut off, with `defaults` all is said."""
    parts = [node.head]
    for name, value in node.values.items():
        if defaults or not (name in node.defaults or value in ("", None)):
            parts.append(f"{word(name)}={clamped(value, longest)}{_label(node, name)}")
    for name, source in node.sources.items():
        parts.append(f"{word(name)}<-{source}{_label(node, name)}")
    return " ".join(parts)


def _label(node: NodeWords, name: str) -> str:
    label = node.labels.get(name)
    return f"({quoted(label)})" if label is not None else ""


def note_lines(words: WorkflowWords) -> Iterator[str]:
    """The beginning of the first line of each note."""
    for scope in words.scopes.values():
        for node in scope.nodes.values():
            if node.is_note:
                text = str(next(iter(node.values.values()), ""))
                first = text.strip("# *\n").partition("\n")[0][:LONGEST_NOTE].strip()
                cut = f"{CUT}{len(text) - len(first)}" if len(text) > len(first) else ""
                prefix = f"{id_word(scope.instances[0])}:" if scope.instances else ""
                yield f"{prefix}{id_word(node.id)} {quoted(first)}{cut}"
