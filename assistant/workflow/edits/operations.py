"""The operations of a batch, as values. `reading.py` makes them of what a model sent.

Nodes are named by address ("8", "57:8") or by the `id` that the batch gave them; whether they are
there is only known when the batch is applied. `number` is the place in the batch, from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Mode = Literal["run", "mute", "bypass"]
LARGEST_BATCH: Final = 100
"""Operations of one batch at most."""


@dataclass(frozen=True)
class End:
    """An output or an input, as it was named: `"8.LATENT"`, or node and slot apart.

    `slot` is empty where only the node was named: then the one that fits is meant.
    """

    text: str
    """Node and slot in one text; empty where they came apart."""
    node: str = ""
    slot: str = ""

    def __str__(self) -> str:
        return self.text or (f"{self.node}.{self.slot}" if self.slot else self.node)


@dataclass(frozen=True)
class Operation:
    number: int


@dataclass(frozen=True)
class Add(Operation):
    """A new node with its definition's defaults, but `values`; `inputs` are outputs by input."""

    id: str
    type: str
    title: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, End] = field(default_factory=dict)
    inside: str | None = None
    """The instance of a subgraph; None for the workflow itself, or where the inputs say it."""
    near: str | None = None


@dataclass(frozen=True)
class Remove(Operation):
    node: str
    bridge: bool = False
    """Whether what the node gave is replaced by what of the same type feeds it."""


@dataclass(frozen=True)
class Replace(Operation):
    """Another type for a node, which keeps id, place, and the values and links that fit."""

    node: str
    type: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Insert(Operation):
    """A new node in the link that feeds the input `into`."""

    id: str
    type: str
    into: End
    title: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, End] = field(default_factory=dict)


@dataclass(frozen=True)
class Connect(Operation):
    source: End
    target: End


@dataclass(frozen=True)
class Disconnect(Operation):
    target: End


@dataclass(frozen=True)
class SetValues(Operation):
    node: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class SetTitle(Operation):
    node: str
    title: str


@dataclass(frozen=True)
class SetMode(Operation):
    node: str
    mode: Mode


@dataclass(frozen=True)
class Move(Operation):
    """To a place (both `x` and `y`, pixels of the canvas), or beside the node `near`."""

    node: str
    x: float | None = None
    y: float | None = None
    near: str | None = None


@dataclass(frozen=True)
class Arrange(Operation):
    """Lay out these nodes; none: all nodes of the workflow itself."""

    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group(Operation):
    title: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Ungroup(Operation):
    """Take away the frame of the group with this title, not what is in it."""

    group: str


@dataclass(frozen=True)
class Wrap(Operation):
    """Make a subgraph of these nodes; `id` names its instance in the batch, where it is given."""

    nodes: tuple[str, ...]
    title: str
    id: str = ""


@dataclass(frozen=True)
class Unwrap(Operation):
    """Put what is in an instance of a subgraph in its place."""

    node: str
