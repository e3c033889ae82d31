"""The node definitions of one ComfyUI: what `/object_info` answers, as a value with an index.

An index is made once and kept until ComfyUI's definitions change. A definition is read when it is
first asked for, so that making the index of a thousand definitions takes no time to speak of. The
order of keys in the definitions is part of what they say (the order of inputs in a dynamic combo is
the order of its widgets), so it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .inputs import ANY, COMBO, MATCH_TYPE, Input, find_input, mapping, read_input, sequence


@dataclass(frozen=True)
class Output:
    """One output of a node. `type` is `*` where it follows the inputs (`template` names them)."""

    name: str
    type: str
    is_list: bool
    template: str | None = None


@dataclass(frozen=True)
class NodeDefinition:
    """One type of node. `raw` is the definition as ComfyUI gave it and is never changed."""

    type: str
    raw: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The name that people read."""
        return str(self.raw.get("display_name") or self.raw.get("name") or self.type)

    @property
    def category(self) -> str:
        return str(self.raw.get("category") or "")

    @property
    def description(self) -> str:
        return str(self.raw.get("description") or "")

    @property
    def module(self) -> str:
        """The Python module: `nodes`, `comfy_extras.…`, `comfy_api_nodes.…`, `custom_nodes.…`."""
        return str(self.raw.get("python_module") or "")

    @property
    def is_output(self) -> bool:
        """Whether ComfyUI runs the graph for this node's sake, such as `SaveImage`."""
        return bool(self.raw.get("output_node"))

    @property
    def costs_money(self) -> bool:
        """Whether the node calls a partner's paid service."""
        return bool(self.raw.get("api_node"))

    @property
    def is_deprecated(self) -> bool:
        return bool(self.raw.get("deprecated"))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """All inputs without the hidden ones, in the order of the front end's widgets."""
        described = mapping(self.raw.get("input"))
        found: dict[str, Input] = {}
        for section in ("required", "optional"):
            for name, spec in mapping(described.get(section)).items():
                found[str(name)] = read_input(str(name), spec, section == "optional")
        order = mapping(self.raw.get("input_order"))
        placed: dict[str, Input] = {}
        for section in ("required", "optional"):
            for name in sequence(order.get(section)):
                one = found.get(name) if isinstance(name, str) else None
                if one is not None and one.optional == (section == "optional"):
                    placed[one.name] = one
        return tuple({**placed, **found}.values())

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs in order; those without a name are called by the front end's rule."""
        names = sequence(self.raw.get("output_name"))
        lists = sequence(self.raw.get("output_is_list"))
        templates = sequence(self.raw.get("output_matchtypes"))
        found = []
        for index, kind in enumerate(sequence(self.raw.get("output"))):
            type_ = COMBO if isinstance(kind, (list, tuple)) else str(kind)
            name = names[index] if index < len(names) else None
            template = templates[index] if index < len(templates) else None
            found.append(
                Output(
                    name=str(name) if name else f"output_{index}",
                    type=ANY if type_ == MATCH_TYPE else type_,
                    is_list=bool(lists[index]) if index < len(lists) else False,
                    template=template if isinstance(template, str) else None,
                )
            )
        return tuple(found)

    def input(self, name: str, value: Callable[[str], Any] = lambda _: None) -> Input | None:
        """The input that a prompt calls `name`, dotted names of dynamic inputs included.

        `value` gives the current value of a widget by its full name: the inputs of a dynamic combo
        depend on it. Without it, only inputs that are always there are found.
        """
        return find_input(self.inputs, name, value)


class NodeDefinitions(Mapping[str, NodeDefinition]):
    """The definitions by type, in the order of `/object_info`."""

    def __init__(self, object_info: Any) -> None:
        """Make the index from the decoded JSON; entries that are no definitions are left out."""
        self._raw = {
            str(type_): raw
            for type_, raw in mapping(object_info).items()
            if isinstance(raw, Mapping)
        }
        self._read: dict[str, NodeDefinition] = {}
        self.made: dict[str, Any] = {}
        """What `live.py` makes once of each definition, and kept with them."""

    def __getitem__(self, type_: str) -> NodeDefinition:
        found = self._read.get(type_)
        if found is None:
            found = self._read[type_] = NodeDefinition(type_, self._raw[type_])
        return found

    def __contains__(self, type_: object) -> bool:
        return type_ in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


NO_DEFINITIONS = NodeDefinitions({})
"""What is known where ComfyUI's definitions cannot be had: every type is unknown."""
