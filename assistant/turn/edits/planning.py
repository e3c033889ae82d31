"""What an edit would make of a workflow, and whether a canvas made just that of its own. Pure, but
slow for large graphs: call it in a thread.

An edit is a `Plan`: a function of a workflow, so that it can be worked out on the graph that the
server knows, and again on the one that the canvas had when the panel carried the edit out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...chats import StoredEdit
from ...errors import AssistantError, NotAWorkflow
from ...workflow.diff import ScopeDiff, compare
from ...workflow.edits.base import MODE_NAMES, base_entry
from ...workflow.edits.forecast import forecast
from ...workflow.edits.refused import EditRefused
from ...workflow.edits.same import differences
from ...workflow.edits.steps import steps_between
from ...workflow.graph import Graph
from ...workflow.live import LiveGraph
from ...workflow.node_definitions import NodeDefinitions
from ...workflow.node_words import workflow_words
from ...workflow.parse import parse_workflow
from ...workflow.three_way import carry_over

Json = dict[str, Any]
Content = Mapping[str, Any]
"""A workflow's own JSON."""
MOST_DIFFERENCES = 20
"""Sentences about a canvas that differs."""


@dataclass(frozen=True)
class Planned:
    """`content` is the workflow with the edit, `ids` has the address of each name that the edit
    gave a node, `base` what the nodes that it reads or writes were like before. `answer` is what
    the model gets. `removed` are the nodes that it takes away (`Applied.removed`)."""

    content: Content
    base: Mapping[str, Any]
    answer: Json
    ids: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


Plan = Callable[[Content, NodeDefinitions], Planned]
"""Raises EditRefused, ChangedSince and NotAWorkflow."""


class ChangedSince(AssistantError):
    """What is to be taken back was changed since: `nodes` are addresses. Empty where it is as it
    should be already."""

    code = "changed_since"
    status = 409

    def __init__(self, nodes: Sequence[str]) -> None:
        named = ", ".join(nodes)
        super().__init__(f"Changed since: {named}." if nodes else "It is so already.")
        self.nodes = tuple(nodes)


def batch(operations: object) -> Plan:
    """The plan of a batch of operations."""

    def plan(content: Content, definitions: NodeDefinitions) -> Planned:
        found = forecast(content, operations, definitions)
        return Planned(found.content, found.base, found.json(), found.ids, found.removed)

    return plan


def taking_back(edits: Sequence[StoredEdit], *, redo: bool = False) -> Plan:
    """The plan that takes back the edits of one workflow, or makes them again."""

    def plan(content: Content, definitions: NodeDefinitions) -> Planned:
        made, done = content, True
        for edit in edits if redo else reversed(edits):
            ends = (edit.before, edit.after) if redo else (edit.after, edit.before)
            carried = carry_over(made, *ends)
            if carried.clashes:
                raise ChangedSince(carried.clashes)
            done = done and carried.is_done
            made = carried.content
        if done:
            raise ChangedSince(())
        return replacing(made)(content, definitions)

    return plan


def replacing(target: Content) -> Plan:
    """The plan that makes a workflow another one, whatever it is."""

    def plan(content: Content, definitions: NodeDefinitions) -> Planned:
        graphs = parse_workflow(content), parse_workflow(target)
        words = [workflow_words(graph, definitions) for graph in graphs]
        diff = compare(*words)
        base = _base(graphs[0], diff.scopes, definitions)
        return Planned(target, base, {"diff": diff.text(), **_changed(diff.scopes)})

    return plan


def _changed(scopes: Sequence[ScopeDiff]) -> Json:
    """What changed, by address: `values` that were set, the sources of `links` (None where there is
    none any more), `modes`, the types of nodes that were `added`, and the nodes that were
    `removed`. What is empty is left out."""
    values: dict[str, Json] = {}
    links: dict[str, Json] = {}
    modes: Json = {}
    added: Json = {}
    removed: list[str] = []
    for scope in scopes:
        known = scope.after or scope.before
        prefix = f"{known.instances[0]}:" if known is not None and known.instances else ""
        added.update({f"{prefix}{node.id}": node.kind for node in scope.added})
        removed.extend(f"{prefix}{node.id}" for node in scope.removed)
        for before, after in scope.changed:
            new = {
                name: value
                for name, value in after.values.items()
                if name not in before.values or before.values[name] != value
            }
            node = f"{prefix}{after.id}"
            if new:
                values[node] = new
            sources = {
                name: after.sources.get(name)
                for name in {**before.sources, **after.sources}
                if before.sources.get(name) != after.sources.get(name)
            }
            if sources:
                links[node] = sources
            if after.mode != before.mode:
                modes[node] = MODE_NAMES.get(after.mode, "run")
    found = {"values": values, "links": links, "modes": modes, "added": added, "removed": removed}
    return {name: one for name, one in found.items() if one}


def _base(graph: Graph, scopes: Sequence[ScopeDiff], definitions: NodeDefinitions) -> Json:
    """The nodes that change, as they are before."""
    live = LiveGraph(graph, definitions)
    found: Json = {}
    for scope in scopes:
        if scope.before is None:
            continue
        here = live.scope(scope.before.key)
        prefix = f"{scope.before.instances[0]}:" if scope.before.instances else ""
        for node in (*scope.removed, *(before for before, _ in scope.changed)):
            if node.id in here.nodes:
                found[f"{prefix}{node.id}"] = base_entry(here, here.nodes[node.id], prefix)
    return found


def steps(before: Content, after: Content, definitions: NodeDefinitions) -> list[Json]:
    """What a page carries out; nothing for API prompts, which no canvas shows."""
    try:
        return steps_between(before, after, definitions)
    except ValueError:
        return []


@dataclass(frozen=True)
class Judged:
    """Whether a canvas did what was planned. `planned` is the plan on the workflow as the canvas
    had it; None where that could not be worked out."""

    differs: tuple[str, ...] = ()
    planned: Planned | None = None


def judged(
    plan: Plan,
    foreseen: Planned,
    before: Content,
    after: Content,
    ids: Mapping[str, str],
    definitions: NodeDefinitions,
) -> Judged:
    """Compares `after` with the plan on `before`. `before` may differ from what the server knew,
    but not in what the edit reads or writes."""
    try:
        planned = plan(before, definitions)
        other = [name for name in foreseen.base if planned.base.get(name) != foreseen.base[name]]
        if other or planned.base.keys() != foreseen.base.keys():
            named = ", ".join(other or sorted(planned.base.keys() ^ foreseen.base.keys()))
            return Judged((f"These nodes were changed before the edit was made: {named}.",))
        named_ids = {planned.ids[name]: ids[name] for name in planned.ids if name in ids}
        differs = differences(planned.content, after, definitions, named_ids)
    except (EditRefused, ChangedSince, NotAWorkflow) as error:
        return Judged((f"The edit does not fit the canvas: {error.message}",))
    return Judged(tuple(differs[:MOST_DIFFERENCES]), planned)
