"""What ComfyUI would say of an API prompt, and what it would take though it is wrong.

As `execution.validate_prompt` of ComfyUI 0.33: types are looked up for every node; inputs are
checked for the nodes that an output node reaches, over links whose types fit. All nodes are checked
here; `reached` says which of them ComfyUI looks at. Nothing here recurses, so a chain of any length
is answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from .inputs import ANY, COMBO, MATCH_TYPE, mapping, sequence, split_types
from .node_definitions import NodeDefinition, NodeDefinitions
from .validation_cycles import cycles
from .validation_inputs import (
    DYNAMIC_SLOT,
    PAGE_INPUTS,
    Expected,
    expected_inputs,
    is_dynamic,
    leaves_to_node,
)
from .validation_problems import Fix, Problem, shown
from .validation_values import ValueChecks

LOOKED_AT = 8
"""Outputs of one type that are looked at for a fix."""
STEPS = 50_000
"""Nodes that all fixes of one validation ask for what they need."""


@dataclass
class PromptNodeCheck:
    """One node of a prompt, with what is expected of it."""

    address: str
    type: str
    title: str
    inputs: Mapping[str, Any]
    definition: NodeDefinition | None
    expected: Mapping[str, Expected]


class PromptCheck:
    """Checks one prompt, whose parts may be anything that JSON can hold."""

    def __init__(
        self, prompt: Mapping[str, Any], definitions: NodeDefinitions, values: ValueChecks
    ) -> None:
        self._values = values
        self._steps = STEPS
        self._static: dict[str, Mapping[str, Expected]] = {}
        self.nodes = {
            str(address): self._node(str(address), mapping(raw), definitions)
            for address, raw in prompt.items()
        }

    def _node(
        self, address: str, raw: Mapping[str, Any], definitions: NodeDefinitions
    ) -> PromptNodeCheck:
        kind = raw.get("class_type")
        type_ = kind if isinstance(kind, str) else ""
        title = mapping(raw.get("_meta")).get("title")
        inputs = mapping(raw.get("inputs"))
        definition = definitions.get(type_)
        expected: Mapping[str, Expected] = {}
        if definition is not None:
            expected = self._static.get(type_) or {}
            if not expected:
                expected = expected_inputs(definition, inputs)
                if not is_dynamic(definition):
                    self._static[type_] = expected
        return PromptNodeCheck(
            address, type_, title if isinstance(title, str) else "", inputs, definition, expected
        )

    @cached_property
    def outputs(self) -> list[str]:
        """The nodes for whose sake ComfyUI runs the prompt."""
        return [
            address
            for address, node in self.nodes.items()
            if node.definition is not None and node.definition.is_output
        ]

    @cached_property
    def unknown(self) -> list[PromptNodeCheck]:
        """The nodes of types that are not installed."""
        return [node for node in self.nodes.values() if node.definition is None]

    @cached_property
    def followed(self) -> Mapping[str, list[tuple[str, str]]]:
        """For each node the links that ComfyUI follows from it: input and source."""
        return {
            address: [
                (name, str(value[0]))
                for name, value in node.inputs.items()
                if isinstance(value, list) and self._follows(node, name, value)
            ]
            for address, node in self.nodes.items()
        }

    def _follows(self, node: PromptNodeCheck, name: str, value: list[Any]) -> bool:
        """A node of an unknown type counts as needing all that it has."""
        if self.bad_link(value) is not None:
            return False
        if node.definition is None:
            return True
        expected = node.expected.get(name)
        return expected is not None and expected.checked and self._fits(node, expected, value)

    @cached_property
    def reached(self) -> frozenset[str]:
        """The nodes whose inputs ComfyUI checks: those that an output needs.

        A node of an unknown type may be an output, so what it needs counts, too.
        """
        pending = [*self.outputs, *(one.address for one in self.unknown)]
        found = set(pending)
        while pending:
            for _, source in self.followed[pending.pop()]:
                if source not in found:
                    found.add(source)
                    pending.append(source)
        return frozenset(found)

    def problems(self, nodes: Collection[str] | None = None) -> Iterator[Problem]:
        """Everything but unknown types and absent outputs; `validation.py` words those. With
        `nodes` only of the nodes with these addresses."""
        for node in self.nodes.values():
            if node.definition is not None and (nodes is None or node.address in nodes):
                yield from self.node_problems(node)
        yield from self.cycle_problems()

    def node_problems(self, node: PromptNodeCheck) -> Iterator[Problem]:
        """The problems of one node of a known type. A node that nothing needs may lack inputs."""
        reached = node.address in self.reached
        lacks = reached or not self.reached
        for name, expected in node.expected.items():
            if name not in node.inputs:
                if expected.required and lacks:
                    yield self._missing(node, expected, reached)
                continue
            value = node.inputs[name]
            if isinstance(value, list):
                yield from self._link_problems(node, expected, value, reached)
                continue
            found = self._values.check(node.type, expected, value)
            if found is not None:
                blocks = found.refused and expected.checked and reached
                yield Problem(node.address, name, found.code, found.message, found.fix, blocks)

    def _missing(self, node: PromptNodeCheck, expected: Expected, reached: bool) -> Problem:
        one = expected.input
        blocks = reached and expected.checked
        if one.has_widget and not one.options.get("forceInput"):
            value = one.default if one.default is not None else next(iter(one.choices or ()), None)
            fix = (
                Fix(f"Write a value, such as {shown(value)}.", value) if value is not None else None
            )
        else:
            fix = self._source_for(node, expected)
        message = f"The required input {shown(expected.name)} has no value and no link."
        return Problem(node.address, expected.name, "missing_input", message, fix, blocks)

    def _source_for(self, node: PromptNodeCheck, expected: Expected) -> Fix:
        """What could be connected: the one output of the type that does not need this node."""
        types = " or ".join(expected.input.types)
        fitting = [
            address
            for kind in expected.input.types
            for address in self._by_output_type.get(kind, ())[:LOOKED_AT]
            if address[0] != node.address
        ]
        if len(fitting) == 1 and not self._needs(fitting[0][0], node.address):
            source, slot = fitting[0]
            output = self._output_name(source, slot)
            return Fix(f"Connect {shown(output)} (type {types}).", output)
        return Fix(f"Connect an output of type {types}.")

    @cached_property
    def _by_output_type(self) -> Mapping[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for address, node in self.nodes.items():
            for slot, kind in enumerate(output_types(node.definition)):
                if isinstance(kind, str):
                    found.setdefault(kind, []).append((address, slot))
        return found

    def _needs(self, address: str, other: str) -> bool:
        """Whether a node needs the other one, or may, where too many nodes had to be asked."""
        found, pending = {address}, [address]
        while pending:
            self._steps -= 1
            for _, source in self.followed[pending.pop()]:
                if source not in found:
                    found.add(source)
                    pending.append(source)
            if other in found or self._steps < 0:
                return True
        return False

    def _output_name(self, address: str, slot: int) -> str:
        definition = self.nodes[address].definition
        outputs = definition.outputs if definition is not None else ()
        names = [one.name for one in outputs]
        name = names[slot] if 0 <= slot < len(names) else ""
        return f"{address}.{name if name and names.count(name) == 1 else slot}"

    def bad_link(self, value: list[Any]) -> str | None:
        """Why a list in a prompt leads to no output; `None` for a link that does."""
        if len(value) != 2:
            return f"{shown(value)} is no link: a link is a node and the number of its output"
        source, slot = value
        node = self.nodes.get(source) if isinstance(source, str) else None
        if node is None:
            return f"It is linked to node {shown(source)}, which is not there"
        if not isinstance(slot, int):
            return (
                f"It is linked to output {shown(slot)} of node {shown(source)}, which is no number"
            )
        if node.definition is None:
            return None
        count = len(output_types(node.definition))
        if -count <= slot < count:
            return None
        return f"It is linked to output {slot} of node {shown(source)}, which has {count}"

    def _link_problems(
        self, node: PromptNodeCheck, expected: Expected, value: list[Any], reached: bool
    ) -> Iterator[Problem]:
        name = expected.name
        blocks = reached and expected.checked
        bad = self.bad_link(value)
        if bad is not None:
            yield Problem(
                node.address, name, "dangling_link", f"{bad}.", self._relink(node, expected, value),
                blocks,
            )  # fmt: skip
        elif not self._fits(node, expected, value):
            source, slot = value
            types = " or ".join(expected.input.types)
            given = output_types(self.nodes[source].definition)[slot]
            message = (
                f"{shown(name)} takes {types}, and output {shown(self._output_name(source, slot))} "
                f"is {given if isinstance(given, str) else 'a choice'}."
            )
            yield Problem(
                node.address, name, "wrong_type", message, self._relink(node, expected, value),
                blocks,
            )  # fmt: skip

    def _relink(self, node: PromptNodeCheck, expected: Expected, value: list[Any]) -> Fix:
        """Another output: of the same node where one fits, else the only one that does."""
        source = str(value[0]) if value else ""
        linked = self.nodes.get(source)
        if linked is not None and source != node.address:
            for slot, kind in enumerate(output_types(linked.definition)):
                if accepts(kind, expected):
                    output = self._output_name(source, slot)
                    return Fix(f"Connect {shown(output)}.", output)
        return self._source_for(node, expected)

    def _fits(self, node: PromptNodeCheck, expected: Expected, value: list[Any]) -> bool:
        types = output_types(self.nodes[value[0]].definition)
        return not types or accepts(types[value[1]], expected)

    def cycle_problems(self) -> Iterator[Problem]:
        """Each link within a circle, at the input that it feeds."""
        for circle in cycles(self.followed):
            inside = frozenset(circle)
            path = " <- ".join(circle[:8]) + (" <- ..." if len(circle) > 8 else "")
            for address in circle:
                for name, source in self.followed[address]:
                    if source in inside:
                        message = f"{shown(name)} needs its own node's result: {shown(path)}."
                        fix = Fix(f"Disconnect {shown(name)}, or feed it from outside the circle.")
                        blocks = address in self.reached
                        yield Problem(address, name, "cycle", message, fix, blocks)

    def unknown_inputs(self) -> Iterator[tuple[PromptNodeCheck, str]]:
        """Inputs of known nodes that their definition does not have; ComfyUI ignores them."""
        for node in self.nodes.values():
            if node.definition is None or leaves_to_node(node.type, ANY):
                continue
            open_ = tuple(f"{name}." for name, one in node.expected.items() if not one.checked)
            for name in node.inputs:
                known = name in node.expected or (node.type, name) in PAGE_INPUTS
                if not known and not (open_ and name.startswith(open_)):
                    yield node, name


def output_types(definition: NodeDefinition | None) -> list[Any]:
    """The types of a node's outputs as its definition writes them."""
    return list(sequence(definition.raw.get("output"))) if definition is not None else []


def accepts(given: Any, expected: Expected) -> bool:
    """Whether ComfyUI takes a link of the output type `given` (`validate_node_input`).

    Upper and lower case count. An input whose type is the list of its choices takes `*` and equal
    lists only.
    """
    taken = expected.input.type
    if given in (ANY, MATCH_TYPE) or taken in (ANY, MATCH_TYPE, DYNAMIC_SLOT):
        return True
    if expected.is_old_list:
        return bool(given == list(expected.input.choices or ()))
    if not isinstance(given, str):
        return taken == COMBO
    return given == taken or _share_a_type(given, taken)


@lru_cache(maxsize=4096)
def _share_a_type(given: str, taken: str) -> bool:
    """Cached, since a workflow has many links and few types."""
    offered, wanted = set(split_types(given)), set(split_types(taken))
    return ANY in offered | wanted or not offered.isdisjoint(wanted)
