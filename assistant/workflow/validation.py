"""Checks a workflow against the node definitions: what is wrong, and what would mend it.

A UI workflow is checked as the prompt that the front end makes of it, so that a problem has the
address and the input that ComfyUI itself would name; what only the file shows is added. Nodes that
are muted, bypassed or needed by no output are checked, too, but block nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from ..errors import NotAWorkflow
from .api_prompt import live_prompt
from .graph import Graph
from .inputs import mapping
from .live import LiveGraph
from .node_definitions import NodeDefinitions
from .validation_graph import GraphCheck, awake
from .validation_matches import match_problems
from .validation_names import Nearest
from .validation_packages import COMFYUI, RENAMED, Package, own_package
from .validation_problems import NO_VALUE, Fix, Problem, shown, worst_first
from .validation_prompt import PromptCheck, PromptNodeCheck
from .validation_sources import file_sources
from .validation_values import ValueChecks
from .write import write_workflow

LARGEST: Final = 200_000
"""Nodes with all subgraphs spelled out. Nested instances can make millions of a small file."""
LIKE_A_TYPE: Final = 0.75
"""How like an installed type has to be to be named: names of nodes share many words."""
NO_PACKAGES: Final[Mapping[str, Package]] = MappingProxyType({})


def validate(
    graph: Graph,
    definitions: NodeDefinitions,
    packages: Mapping[str, Package] = NO_PACKAGES,
    live: LiveGraph | None = None,
    nodes: Collection[str] | None = None,
) -> list[Problem]:
    """The problems, worst first; with `nodes` only those of the nodes with these addresses.

    `packages` says for types of nodes that are not installed which package has them; `live` is the
    graph where it is loaded already. Raises `NotAWorkflow` where the graph is too large with its
    subgraphs spelled out.
    """
    if graph.flat_size > LARGEST:
        raise NotAWorkflow(
            f"The workflow has {graph.flat_size} nodes with its subgraphs spelled out; at most "
            f"{LARGEST} can be checked."
        )
    found = worst_first(_Validation(graph, definitions, packages, live, nodes).problems())
    return found if nodes is None else [one for one in found if one.node in nodes]


class _Validation:
    def __init__(
        self,
        graph: Graph,
        definitions: NodeDefinitions,
        packages: Mapping[str, Package],
        live: LiveGraph | None,
        nodes: Collection[str] | None,
    ) -> None:
        self._graph = graph
        self._nodes = nodes
        self._live = live
        self._definitions = definitions
        self._types = list(definitions)
        self._packages = packages
        self._nearest = Nearest()
        self._values = ValueChecks(self._nearest, file_sources(graph))

    def problems(self) -> Iterator[Problem]:
        if self._graph.format == "prompt":
            yield from self._of_prompt(write_workflow(self._graph))
            return
        live = self._live or LiveGraph(self._graph, self._definitions)
        prompt = live_prompt(live)
        found = list(self._of_prompt(prompt))
        in_file = list(GraphCheck(live, self._nearest).problems())
        yield from _merged(found, in_file)
        sleeping = awake(self._graph)
        if sleeping is not None:
            whole = live_prompt(LiveGraph(sleeping, self._definitions))
            yield from self._asleep(whole, prompt)

    def _of_prompt(self, prompt: Mapping[str, Any]) -> Iterator[Problem]:
        check = PromptCheck(prompt, self._definitions, self._values)
        for node in check.unknown:
            yield self._unknown_node(node)
        if not check.outputs and not check.unknown:
            yield _no_output(check)
        yield from check.problems(self._nodes)
        yield from match_problems(check)
        yield from self._unknown_inputs(check)

    def _asleep(self, whole: Mapping[str, Any], prompt: Mapping[str, Any]) -> Iterator[Problem]:
        """Wrong values and links of nodes that do not run.

        That such a node is not installed or lacks an input is no problem: nobody needs it to run.
        """
        check = PromptCheck(whole, self._definitions, self._values)
        for address, node in check.nodes.items():
            if address in prompt or node.definition is None:
                continue
            if self._nodes is not None and address not in self._nodes:
                continue
            for problem in check.node_problems(node):
                if problem.code != "missing_input":
                    yield replace(problem, blocks_run=False)

    def _unknown_inputs(self, check: PromptCheck) -> Iterator[Problem]:
        for node, name in check.unknown_inputs():
            near = self._nearest.name(name, list(node.expected))
            fix = Fix(f"The nearest is {shown(near)}.", near) if near is not None else None
            message = f"{shown(node.type)} has no input {shown(name)}; ComfyUI ignores it."
            yield Problem(node.address, name, "unknown_widget", message, fix)

    def _unknown_node(self, node: PromptNodeCheck) -> Problem:
        place = self._graph.place(node.address)
        if place is not None and place.node.type in self._graph.cyclic:
            message = "The subgraph holds an instance of itself, so it has no end."
            out = Fix("Take the instance out of its own subgraph.")
            return Problem(node.address, "", "cycle", message, out, blocks_run=True)
        if not node.type:
            message = "The node does not say its type."
            return Problem(node.address, "", "unknown_node", message, None, blocks_run=True)
        renamed = RENAMED.get(node.type)
        if renamed is not None and renamed in self._definitions:
            message = (
                f"The node type {shown(node.type)} is old; ComfyUI takes {shown(renamed)} for it."
            )
            return Problem(node.address, "", "unknown_node", message, _package_fix(None, renamed))
        properties = mapping(place.node.properties) if place is not None else {}
        near = self._nearest.name(node.type, self._types, LIKE_A_TYPE)
        package = own_package(properties) or self._packages.get(node.type)
        message = f"The node type {shown(node.type)} is not installed."
        fix = _package_fix(package, near)
        return Problem(node.address, "", "unknown_node", message, fix, blocks_run=True)


def _package_fix(package: Package | None, near: str | None) -> Fix | None:
    nearest = f"The nearest installed type is {shown(near)}." if near is not None else ""
    value = near if near is not None else NO_VALUE
    if package is None:
        return Fix(nearest, value) if nearest else None
    if package.name == COMFYUI:
        seen = f" (it was used with {shown(package.version)})" if package.version else ""
        text = f"Update ComfyUI, whose own node it is{seen}."
    else:
        text = f"Install the package {shown(package.name)}."
    text = f"{text} {nearest}".strip()
    return Fix(text, value, package.name, address=package.address)


def _no_output(check: PromptCheck) -> Problem:
    message = "No node of the workflow gives a result that is saved or shown."
    if not check.nodes:
        message = "No node of the workflow runs."
    fix = Fix("Add an output node, such as SaveImage or PreviewImage, or unmute one.")
    return Problem("", "", "no_output", message, fix, blocks_run=True)


def _merged(found: list[Problem], in_file: list[Problem]) -> Iterator[Problem]:
    """A link that leads nowhere is why an input is missing: one problem, not two."""
    missing = {(one.node, one.input): one for one in found if one.code == "missing_input"}
    dangling = {(one.node, one.input) for one in in_file if one.code == "dangling_link"}
    for one in found:
        if one.code != "missing_input" or (one.node, one.input) not in dangling:
            yield one
    for one in in_file:
        cause = missing.get((one.node, one.input)) if one.code == "dangling_link" else None
        if cause is None:
            yield one
        else:
            yield replace(one, fix=cause.fix, blocks_run=cause.blocks_run)
