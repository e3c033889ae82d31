"""Defects that only the file of a workflow shows: the page mends or drops them without a word.

Links that lead nowhere, widgets that are promoted or filled but not there, subgraphs that hold
themselves. They are found once for each scope and told for each of its instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from .graph import ROOT, Graph, Scope
from .inputs import sequence
from .live import LiveGraph, LiveScope
from .live_nodes import LiveNode
from .parts import (
    BYPASSED,
    MUTED,
    RUN,
    SUBGRAPH_INPUT,
    SUBGRAPH_OUTPUT,
    Link,
    Node,
    PromptNode,
    identity,
)  # fmt: skip
from .validation_names import Nearest
from .validation_problems import Fix, Problem, shown


@dataclass(frozen=True)
class Defect:
    """A problem of a scope's node, before it is told for each instance."""

    scope: str
    node: str
    problem: Problem


class GraphCheck:
    """Checks what is in the file of a workflow; a prompt has nothing of this."""

    def __init__(self, live: LiveGraph, nearest: Nearest) -> None:
        self._live = live
        self._graph = live.graph
        self._nearest = nearest

    def problems(self) -> Iterator[Problem]:
        """The defects at the addresses of the nodes; the node "" only where none has it."""
        if self._graph.format == "prompt":
            return
        by_node: dict[tuple[str, str], list[Problem]] = {}
        for defect in self._defects():
            by_node.setdefault((defect.scope, defect.node), []).append(defect.problem)
        if not by_node:
            return
        for place in self._graph.places():
            for problem in by_node.get((place.scope.key, place.node.id), ()):
                yield replace(problem, node=place.address)

    def _defects(self) -> Iterator[Defect]:
        for live in self._live.scopes():
            for node, problem in self._dangling(live.scope):
                yield Defect(live.scope.key, node, problem)
            for one in live.nodes.values():
                for problem in self._unknown_widgets(live, one):
                    yield Defect(live.scope.key, one.id, problem)

    def _dangling(self, scope: Scope) -> Iterator[tuple[str, Problem]]:
        for link in scope.links.values():
            yield from self._dangling_link(scope, link)
        for node in scope.nodes.values():
            for index, slot in enumerate(node.inputs):
                gone = slot.link is not None and slot.link not in scope.links
                if gone and (node.id, index) not in scope.by_target:
                    message = f"It names link {shown(slot.link)}, which is not there."
                    yield node.id, _dangles(slot.name, message)

    def _dangling_link(self, scope: Scope, link: Link) -> Iterator[tuple[str, Problem]]:
        """A link one of whose ends is not there, told at the end that is."""
        target = scope.nodes.get(link.target)
        bad = self._bad_source(scope, link)
        if target is not None:
            slots = target.inputs
            name = slots[link.target_slot].name if 0 <= link.target_slot < len(slots) else None
            if name is None:
                message = f"A link leads to input {link.target_slot}, which the node does not have."
                yield target.id, _dangles("", message)
            elif bad is not None and scope.feeding(target, link.target_slot) is link:
                yield target.id, _dangles(name, bad)
            return
        leaves = link.target == SUBGRAPH_OUTPUT and scope.key != ROOT
        if leaves and 0 <= link.target_slot < len(scope.outputs):
            return
        if link.source in scope.nodes:
            message = f"A link leads to node {shown(link.target)}, which is not there."
            if leaves:
                message = (
                    f"A link leads to output {link.target_slot} of the subgraph, which has none."
                )
            yield link.source, _dangles("", message)

    def _bad_source(self, scope: Scope, link: Link) -> str | None:
        if link.source == SUBGRAPH_INPUT and scope.key != ROOT:
            if 0 <= link.source_slot < len(scope.inputs):
                return None
            return f"It is linked to input {link.source_slot} of the subgraph, which is not there."
        source = scope.nodes.get(link.source)
        if source is None:
            return f"It is linked to node {shown(link.source)}, which is not there."
        count = self._outputs(scope, source)
        if 0 <= link.source_slot < count:
            return None
        return (
            f"It is linked to output {link.source_slot} of node {shown(source.id)}, "
            f"which has {count}."
        )

    def _outputs(self, scope: Scope, node: Node) -> int:
        live = self._live.scope(scope.key).nodes.get(node.id)
        return max(len(node.outputs), len(live.outputs) if live is not None else 0)

    def _unknown_widgets(self, scope: LiveScope, one: LiveNode) -> Iterator[Problem]:
        """Widgets that the file has and the node's definition has not."""
        if one.subgraph is not None:
            yield from self._unknown_promotions(one, one.subgraph)
        elif one.definition is not None:
            names = [widget.name for widget in one.widgets]
            said = [slot.widget for slot in one.node.inputs if slot.widget is not None]
            if isinstance(one.node.raw.get("widgets_values"), Mapping):
                said.extend(one.node.named_values)
            for name in dict.fromkeys(said):
                if name not in names:
                    yield self._unknown(name, names)

    def _unknown_promotions(self, instance: LiveNode, inside: LiveScope) -> Iterator[Problem]:
        """Widgets that a subgraph's instance promotes though nothing inside has them."""
        for entry in sequence(instance.node.properties.get("proxyWidgets")):
            pair = sequence(entry)
            id_ = identity(pair[0]) if len(pair) >= 2 else None
            name = pair[1] if len(pair) >= 2 else None
            if id_ is None or not isinstance(name, str) or name.startswith("$$") or id_ == "-1":
                continue
            node = inside.nodes.get(inside.scope.renamed.get(id_, id_))
            if node is None:
                message = f"It promotes {shown(name)} of node {shown(id_)}, which is not inside."
                yield Problem("", name, "unknown_widget", message)
            elif (node.definition is not None or node.subgraph is not None) and not (
                node.widget(name) or node.input(name)
            ):
                names = [widget.name for widget in node.widgets]
                yield self._unknown(name, names, f" that it promotes of node {shown(id_)}")

    def _unknown(self, name: str, names: list[str], which: str = "") -> Problem:
        near = self._nearest.name(name, names)
        fix = Fix(f"The nearest is {shown(near)}.", near) if near is not None else None
        message = f"There is no widget {shown(name)}{which}."
        return Problem("", name, "unknown_widget", message, fix)


def _dangles(name: str, message: str) -> Problem:
    return Problem("", name, "dangling_link", message, Fix("Connect it anew, or take it away."))


def awake(graph: Graph) -> Graph | None:
    """The graph with every node running; `None` where every node does already."""
    scopes = {scope.key: _awake_scope(scope) for scope in graph.scopes()}
    if all(scopes[scope.key] is scope for scope in graph.scopes()):
        return None
    root = scopes.pop(ROOT)
    return replace(graph, root=root, subgraphs={key: scopes[key] for key in graph.subgraphs})


def _awake_scope(scope: Scope) -> Scope:
    asleep: dict[str, Node] = {
        id_: replace(node, raw={**node.raw, "mode": RUN})
        for id_, node in scope.nodes.items()
        if node.mode in (MUTED, BYPASSED) and not isinstance(node, PromptNode)
    }
    return replace(scope, nodes={**scope.nodes, **asleep}) if asleep else scope
