"""Each node of a workflow as named values and named sources: what views and diffs say of it.

Names and values are those that ComfyUI's front end has after loading the file (`live.py`). A
subgraph is described once, however many instances it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..garbage import without_collecting
from ..messages.fences import quoted
from .full_view import mode_word, subgraph_names
from .graph import Graph, Scope
from .live import LiveGraph, LiveScope
from .live_nodes import LiveLink, LiveNode
from .node_definitions import NodeDefinitions
from .page_values import UNSET
from .parts import NOTES, RUN, SUBGRAPH_INPUT
from .widgets import Widget, make_widgets
from .words import id_word, slot_word, type_word

HIDDEN_WIDGETS = frozenset({"button", "preview", "index", "filter"})
"""Types of widgets that hold nothing of the user's."""
USUAL_CONTROL = "randomize"
TELLING_CHOICES = frozenset(
    {"sampler_name", "scheduler", "resolution", "aspect_ratio", "model", "filename_prefix"}
)
"""Choices that people ask for, and where a result is saved."""


@dataclass(frozen=True)
class NodeWords:
    """A node in the words of a view. `values` and `sources` are by the name of the input."""

    id: str
    kind: str
    """Its type as it stands in a line; a subgraph's name for an instance."""
    title: str | None = None
    mode: int = RUN
    values: Mapping[str, Any] = field(default_factory=dict)
    defaults: frozenset[str] = frozenset()
    """The names of values that are the definition's defaults and not worth a word."""
    sources: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the canvas calls an input, where that is not its name."""
    is_note: bool = False
    subgraph: str | None = None
    """The key of the subgraph that an instance stands for."""

    @property
    def head(self) -> str:
        parts = [id_word(self.id), self.kind]
        if self.title is not None:
            parts.append(quoted(self.title))
        if self.mode != RUN:
            parts.append(mode_word(self.mode))
        return " ".join(parts)


@dataclass(frozen=True)
class ScopeWords:
    """One level of a workflow; `nodes` are in the order in which data flows through them."""

    key: str
    name: str
    nodes: Mapping[str, NodeWords]
    outputs: Mapping[str, str]
    """What comes out of a subgraph: the source of each of its outputs."""
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """The titles of groups, with the ids of the nodes that lie in them."""
    instances: tuple[str, ...] = ()
    """The addresses of the instances of a subgraph."""


@dataclass(frozen=True)
class WorkflowWords:
    """A whole workflow; the first scope is the workflow itself."""

    graph: Graph
    scopes: Mapping[str, ScopeWords]

    @property
    def root(self) -> ScopeWords:
        return next(iter(self.scopes.values()))


@without_collecting()
def workflow_words(graph: Graph, definitions: NodeDefinitions) -> WorkflowWords:
    """The words for each node of a graph, with names and defaults from the definitions."""
    return live_words(LiveGraph(graph, definitions))


@without_collecting()
def live_words(live: LiveGraph) -> WorkflowWords:
    """The words for each node of a graph that is loaded already."""
    graph = live.graph
    names = subgraph_names(graph)
    addresses: dict[str, list[str]] = {}
    for place in graph.places():
        if place.node.type in graph.subgraphs:
            addresses.setdefault(place.node.type, []).append(place.address)
    default = _defaults()
    scopes = {}
    for scope in graph.scopes():
        name = names.get(scope.key, "")
        if scope.key and scope.key in graph.cyclic:
            scopes[scope.key] = ScopeWords(scope.key, name, _unread(scope, names), {}, ())
            continue
        inner = live.scope(scope.key)
        nodes = {id_: _node_words(inner, node, names, default) for id_, node in inner.nodes.items()}
        ordered = {id_: nodes[id_] for id_ in _flow(inner)}
        outputs = {
            slot_word([slot.name for slot in inner.outputs], index): _source(inner, link)
            for index, link in sorted(inner.output_links.items())
        }
        groups = tuple(
            (group.title, tuple(node.id for node in scope.members(group))) for group in scope.groups
        )
        found = tuple(addresses.get(scope.key, ()))
        scopes[scope.key] = ScopeWords(scope.key, name, ordered, outputs, groups, found)
    return WorkflowWords(graph, scopes)


def value_labels(live: LiveGraph, scope_key: str, node_id: str) -> list[str]:
    """The names of a node's values by their place in the file; empty where one has none."""
    if scope_key in live.graph.cyclic:
        return []
    node = live.scope(scope_key).nodes[node_id]
    labels: list[str] = []
    for widget in node.widgets:
        if widget.place is not None:
            labels.extend([""] * (widget.place + 1 - len(labels)))
            labels[widget.place] = widget.name
    return labels


def _unread(scope: Scope, names: Mapping[str, str]) -> dict[str, NodeWords]:
    """The nodes of a subgraph that holds itself, which nothing can flatten."""
    return {
        id_: NodeWords(
            id_,
            f"subgraph {quoted(names[node.type])}" if node.type in names else type_word(node.type),
            title=node.title,
            mode=node.mode,
        )
        for id_, node in scope.nodes.items()
    }


def _node_words(
    scope: LiveScope, live: LiveNode, names: Mapping[str, str], default: Any
) -> NodeWords:
    inner = live.subgraph
    name = names[inner.scope.key] if inner is not None else None
    title = live.node.title
    usual = (live.type, name, live.definition.title if live.definition else None)
    linked = {one.widget for one in live.inputs if one.link is not None and one.widget}
    values = {
        widget.name: widget.value
        for widget in live.widgets
        if widget.type not in HIDDEN_WIDGETS
        and widget.value is not UNSET
        and widget.name not in linked
    }
    usual_values = frozenset(
        widget.name
        for widget in live.widgets
        if inner is None
        and widget.name in values
        and _is_default(widget, default)
        and not _is_telling(widget)
    )
    slots = inner.scope.inputs if inner is not None else live.node.inputs
    return NodeWords(
        id=live.id,
        kind=type_word(live.type) if name is None else f"subgraph {quoted(name)}",
        title=title if title not in usual else None,
        mode=live.mode,
        values=values,
        defaults=usual_values,
        sources={one.name: _source(scope, one.link) for one in live.inputs if one.link is not None},
        labels={
            slot.name: slot.label
            for slot in slots
            if slot.label and slot.label not in (slot.name, slot.name.rpartition(".")[2])
        },
        is_note=live.type in NOTES,
        subgraph=inner.scope.key if inner is not None else None,
    )


def _source(scope: LiveScope, link: LiveLink) -> str:
    if link.source == SUBGRAPH_INPUT and scope.scope.key:
        return f"in.{slot_word([slot.name for slot in scope.inputs], link.source_slot)}"
    node = scope.nodes.get(link.source)
    names = [slot.name for slot in node.outputs] if node is not None else []
    if len(names) == 1 and link.source_slot == 0:
        return id_word(link.source)
    return f"{id_word(link.source)}.{slot_word(names, link.source_slot)}"


def _defaults() -> Any:
    """A function that gives the first value of the widget of an input, each computed once."""
    found: dict[int, Any] = {}

    def default(widget: Widget) -> Any:
        spec = widget.input
        key = id(spec)
        if key not in found:
            made = make_widgets(widget.name, spec, ()) if spec is not None else []
            found[key] = {one.type: one.value for one in reversed(made)}
        return found[key].get(widget.type, UNSET)

    return default


def _is_default(widget: Widget, default: Any) -> bool:
    if widget.control:
        return bool(widget.value == USUAL_CONTROL)
    first = default(widget) if widget.input is not None else UNSET
    # A file has 1 for 1.0, and 1 is no `true`.
    alike = isinstance(first, bool) == isinstance(widget.value, bool)
    return alike and bool(first == widget.value)


def _is_telling(widget: Widget) -> bool:
    """Whether people ask for a value also where it is the default: a number or such a choice."""
    if widget.input is None or widget.input.options.get("advanced"):
        return False
    number = isinstance(widget.value, (int, float)) and not isinstance(widget.value, bool)
    return number or widget.name.rpartition(".")[2] in TELLING_CHOICES


def _flow(scope: LiveScope) -> Iterator[str]:
    """The nodes in the order of the file, but each after the nodes that feed it."""
    done: set[str] = set()
    for first in scope.nodes:
        pending = [first]
        on_path: set[str] = set()
        while pending:
            id_ = pending[-1]
            node = scope.nodes[id_]
            needed = [
                one.link.source
                for one in node.inputs
                if one.link is not None
                and one.link.source in scope.nodes
                and one.link.source not in done
                and one.link.source not in on_path
            ]
            if id_ in done or id_ in on_path or not needed:
                pending.pop()
                on_path.discard(id_)
                if id_ not in done:
                    done.add(id_)
                    yield id_
                continue
            on_path.add(id_)
            pending.extend(reversed(needed))
