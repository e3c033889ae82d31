"""The changes that a tool call made in a workflow or in the plan of a task, as values. A tool hands
the changes in; a summary has their net effect.

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


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """Something else of a node is another now. `part` says what (`mode`, `title`, `type`, `inside`,
    or `link` and the name of an input), `text` how it is now, in the words of a view:
    `model<-8.MODEL`, `mode=bypass`."""

    node: str
    part: str
    text: str


@dataclass(frozen=True, slots=True)
class WorkflowNamed:
    """The changes after this one are made in the workflow of this name: it was read or opened."""

    name: str


@dataclass(frozen=True, slots=True)
class PlanStep:
    """`state` is open, doing, done or dropped."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class PlanMade:
    """These are the steps of the task now, in place of any before."""

    steps: tuple[PlanStep, ...]


Change = ValueSet | NodeAdded | NodeRemoved | NodeChanged | WorkflowNamed | PlanMade
