"""How values flow through an API prompt to its outputs, as far as is sure before the run.

The prompt is what ComfyUI gets: muted nodes are gone, bypassed ones bridged, subgraphs flattened. A
`Flow` also looks through `ComfySwitchNode`s whose switch is known, since only one side of them
runs, and works out numbers that nodes compute from constants.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .expressions import Number, evaluate
from .node_definitions import NodeDefinition

SWITCH = "ComfySwitchNode"
MATH = "ComfyMathExpression"
RESOLUTION = "ResolutionSelector"
DEEPEST = 50
"""Links that are followed for one value: more than any template has, so that a cycle ends."""
ANY = "*"
USUAL_NAMES = {
    "positive": "CONDITIONING",
    "negative": "CONDITIONING",
    "samples": "LATENT",
    "latent_image": "LATENT",
    "pixels": "IMAGE",
}
"""What inputs of these names take; others are called by their types, such as `model`."""


@dataclass(frozen=True, slots=True)
class Source:
    """An output by its node's address and its number."""

    address: str
    number: int


class Flow:
    """An API prompt to ask where things come from. Addresses are the prompt's keys."""

    def __init__(
        self, prompt: Mapping[str, Any], definitions: Mapping[str, NodeDefinition]
    ) -> None:
        self.nodes: dict[str, Mapping[str, Any]] = {
            str(address): node for address, node in prompt.items() if isinstance(node, Mapping)
        }
        self.definitions = definitions
        self._constants: dict[Source, Any] = {}
        self._depth = 0

    def type(self, address: str) -> str:
        return str(self.nodes[address].get("class_type") or "")

    def inputs(self, address: str) -> Mapping[str, Any]:
        found = self.nodes[address].get("inputs")
        return found if isinstance(found, Mapping) else {}

    def definition(self, address: str) -> NodeDefinition | None:
        return self.definitions.get(self.type(address))

    def link(self, address: str, name: str) -> Source | None:
        """The output that is linked to an input."""
        return self._as_link(self.inputs(address).get(name))

    def source(self, address: str, name: str) -> Source | None:
        """The output that an input gets its value from, with known switches looked through."""
        return self.through(self.link(address, name))

    def through(self, source: Source | None) -> Source | None:
        """What stands behind known switches."""
        for _ in range(DEEPEST):
            if source is None or self.type(source.address) != SWITCH:
                return source
            side = self._side(source.address)
            if side is None:
                return source
            source = self.link(source.address, side)
        return None

    def kind(self, source: Source) -> str:
        """The type of an output such as `MODEL`; `*` where it is not known."""
        for _ in range(DEEPEST):
            definition = self.definition(source.address)
            outputs = definition.outputs if definition else ()
            if not 0 <= source.number < len(outputs):
                return ANY
            output = outputs[source.number]
            if output.type != ANY or output.template is None:
                return output.type
            follows = self._follows(source.address, output.template)
            if follows is None:
                return ANY
            source = follows
        return ANY

    def linked(self, address: str, *kinds: str) -> Iterator[tuple[str, Source]]:
        """The inputs that get one of these kinds, by name, switches looked through.

        What a node of an unknown type gives is told by the name of the input.
        """
        for name in self._running_inputs(address):
            found = self.source(address, name)
            if found is None:
                continue
            kind = self.kind(found)
            if (USUAL_NAMES.get(name, name.upper()) if kind == ANY else kind) in kinds:
                yield name, found

    def value(self, address: str, name: str) -> Any:
        """The value of an input: its own or one that is sure to come; None where it is not."""
        given = self.inputs(address).get(name)
        found = self._as_link(given)
        return given if found is None else self.constant(found)

    def constant(self, source: Source) -> Any:
        """The value of an output whose nodes only pass on or compute constants; else None.

        Each is worked out once. Values that depend on themselves, or over more than `DEEPEST`
        steps on others, have none.
        """
        if source not in self._constants and self._depth < DEEPEST:
            self._constants[source] = None
            self._depth += 1
            try:
                self._constants[source] = self._constant(source)
            finally:
                self._depth -= 1
        return self._constants.get(source)

    def _constant(self, source: Source) -> Any:
        found = self.through(source)
        if found is None:
            return None
        type_ = self.type(found.address)

        def value(name: str) -> Any:
            return self.value(found.address, name)

        if type_.startswith("Primitive"):
            return value("value")
        if type_ == MATH:
            return _as_output(self._computed(self.inputs(found.address), value), found.number)
        if type_ == RESOLUTION:
            return _resolution(value, found.number)
        return None

    def number(self, address: str, name: str) -> float | None:
        """The value of an input where it is a number."""
        found = self.value(address, name)
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        return float(found) if is_number and math.isfinite(found) else None

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """The output nodes, for whose sake ComfyUI runs the prompt."""
        return tuple(
            address
            for address in self.nodes
            if (found := self.definition(address)) is not None and found.is_output
        )

    @cached_property
    def distances(self) -> dict[str, int]:
        """Each node that an output needs with the number of links to the nearest such output.

        The side of a known switch that is off is not needed.
        """
        found = dict.fromkeys(self.ends, 0)
        waiting = deque(self.ends)
        while waiting:
            address = waiting.popleft()
            for name in self._running_inputs(address):
                link = self.link(address, name)
                if link is not None and link.address not in found:
                    found[link.address] = found[address] + 1
                    waiting.append(link.address)
        return found

    @cached_property
    def reached(self) -> frozenset[str]:
        """All nodes that an output is linked to, also by the side of a switch that is off."""
        seen = set(self.ends)
        waiting = list(self.ends)
        while waiting:
            address = waiting.pop()
            for name in self.inputs(address):
                link = self.link(address, name)
                if link is not None and link.address not in seen:
                    seen.add(link.address)
                    waiting.append(link.address)
        return frozenset(seen)

    def before(self, address: str, *kinds: str) -> Iterator[str]:
        """The nodes that lead to this one by links of these kinds, the nearest first."""
        seen = {address}
        waiting = deque([address])
        while waiting:
            for _, found in self.linked(waiting.popleft(), *kinds):
                if found.address not in seen:
                    seen.add(found.address)
                    waiting.append(found.address)
                    yield found.address

    def ancestors(self, *addresses: str) -> set[str]:
        """All running nodes that one of these needs."""
        seen: set[str] = set()
        waiting = list(addresses)
        while waiting:
            here = waiting.pop()
            for name in self._running_inputs(here):
                link = self.link(here, name)
                if link is not None and link.address not in seen:
                    seen.add(link.address)
                    waiting.append(link.address)
        return seen

    def _as_link(self, value: Any) -> Source | None:
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            return None
        address, number = value
        known = isinstance(address, (str, int)) and str(address) in self.nodes
        return Source(str(address), number) if known and isinstance(number, int) else None

    def _side(self, address: str) -> str | None:
        """The input of a switch that is on; None where that is not sure."""
        value = self.value(address, "switch")
        return None if not isinstance(value, bool) else "on_true" if value else "on_false"

    def _running_inputs(self, address: str) -> list[str]:
        if self.type(address) == SWITCH and (side := self._side(address)) is not None:
            return [side, "switch"]
        return list(self.inputs(address))

    def _follows(self, address: str, template: str) -> Source | None:
        """A linked input of the same template, which gives an output its type."""
        definition = self.definition(address)
        names = [one.name for one in definition.inputs] if definition else []
        for name in names:
            found = definition.input(name) if definition else None
            if found is not None and found.template == template:
                link = self.link(address, name)
                if link is not None:
                    return link
        return None

    def _computed(self, inputs: Mapping[str, Any], value: Callable[[str], Any]) -> Number | None:
        names = {
            name.partition(".")[2]: value(name) for name in inputs if name.startswith("values.")
        }
        known = {name: one for name, one in names.items() if isinstance(one, (bool, int, float))}
        expression = value("expression")
        return evaluate(expression, known) if isinstance(expression, str) else None


def _as_output(value: Number | None, number: int) -> Number | None:
    """The outputs of a computed number are a float, a whole number and a truth value."""
    if value is None or not math.isfinite(value):
        return None
    return (float(value), int(value), bool(value))[number] if 0 <= number < 3 else None


def _resolution(value: Callable[[str], Any], number: int) -> int | None:
    """A side in pixels as `ResolutionSelector` computes it: the ratio's name begins with `16:9`."""
    ratio, megapixels, multiple = value("aspect_ratio"), value("megapixels"), value("multiple")
    across, _, down = str(ratio).partition(" ")[0].partition(":")
    if not (across.isdigit() and down.isdigit() and int(across) and int(down)):
        return None
    plain = (int, float)
    if not isinstance(megapixels, plain) or not isinstance(multiple, plain) or multiple < 1:
        return None
    scale = math.sqrt(megapixels * 1024 * 1024 / (int(across) * int(down)))
    return round(int((across, down)[number]) * scale / multiple) * int(multiple)
