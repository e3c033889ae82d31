"""The changes that a tool call made in a workflow, as values. A tool hands the changes in; a
summary has their net effect.

Nodes are named by their addresses (`"8"`, in a subgraph `"57:8"`), widgets by their names; values
are JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A widget has the value `new`. `old` is its value before; `known` is False where that is not
    known."""

    node: str
    widget: str
    new: Any
    old: Any = None
    known: bool = False


@dataclass(frozen=True, slots=True)
class NodeAdded:
    node: str
    type: str


@dataclass(frozen=True, slots=True)
class NodeRemoved:
    """`type` is "" where it is not known."""

    node: str
    type: str = ""


Change = ValueSet | NodeAdded | NodeRemoved
