"""A node as the front end has it after loading: its inputs and widgets by name, with their values.

`loading.py` makes them of a file's nodes, `live.py` of whole graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .inputs import Autogrow, Input
from .node_definitions import NodeDefinition
from .parts import VIRTUAL_TYPES, Node
from .widgets import Widget

if TYPE_CHECKING:
    from .live import LiveScope


@dataclass(eq=False, slots=True)
class LiveLink:
    """A link by where it comes from; the input that it feeds has it as `link`."""

    id: str
    source: str
    source_slot: int
    type: str


@dataclass(eq=False, slots=True)
class LiveInput:
    """An input of a node. `spec` is its definition, where it has one."""

    name: str
    type: str
    widget: str | None = None
    """The widget whose value a link replaces."""
    spec: Input | None = None
    link: LiveLink | None = None
    promoted: Widget | None = None
    """On a subgraph's instance: the value that it has for a widget inside."""


@dataclass(frozen=True)
class LiveOutput:
    name: str
    type: str


@dataclass(eq=False, slots=True)
class LiveNode:
    """A node of one scope; instances of the scope's subgraph share it."""

    id: str
    node: Node
    definition: NodeDefinition | None
    subgraph: LiveScope | None = None
    """What an instance of a subgraph stands for."""
    inputs: list[LiveInput] = field(default_factory=list)
    outputs: list[LiveOutput] = field(default_factory=list)
    own_widgets: list[Widget] = field(default_factory=list)
    autogrow: dict[str, Autogrow] = field(default_factory=dict)
    """The groups of inputs that grow, by their full names."""
    rows: set[str] = field(default_factory=set)
    """The full names of the inputs that those groups have."""
    loose: list[LiveLink] = field(default_factory=list)
    """Links to the node for which it has no input."""

    @property
    def type(self) -> str:
        return self.node.type

    @property
    def mode(self) -> int:
        return self.node.mode

    @property
    def title(self) -> str:
        """The node's own title, or that of its type."""
        if self.node.title:
            return self.node.title
        if self.subgraph is not None:
            return self.subgraph.name
        return self.definition.title if self.definition is not None else self.type

    @property
    def virtual(self) -> bool:
        """Whether only the page knows the node: never part of a prompt."""
        if self.subgraph is not None:
            return True
        return self.definition is None and self.type in VIRTUAL_TYPES

    @property
    def widgets(self) -> list[Widget]:
        """The widgets in order; of a subgraph's instance those that were promoted to it."""
        if self.subgraph is None:
            return self.own_widgets
        return [one.promoted for one in self.inputs if one.promoted is not None]

    def widget(self, name: str) -> Widget | None:
        return next((one for one in self.widgets if one.name == name), None)

    def input(self, name: str) -> LiveInput | None:
        return next((one for one in self.inputs if one.name == name), None)

    def widget_of(self, one: LiveInput) -> Widget | None:
        """The widget that belongs to an input."""
        if one.promoted is not None:
            return one.promoted
        return self.widget(one.widget) if one.widget is not None else None
