"""The workflow on the canvas, as the panel sent it with a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import NotAWorkflow
from .graph import Graph
from .parse import parse_workflow

NO_WORKFLOW = "No workflow is open on the canvas, or it could not be read."


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workflow on the canvas as the panel sent it with a turn."""

    id: str = ""
    name: str = ""
    revision: int = 0
    graph: Mapping[str, Any] | None = None
    selection: tuple[str, ...] = ()


def graph_of(snapshot: Snapshot) -> Graph:
    """The graph of the open workflow. Raises `NotAWorkflow` where none is open or it is none."""
    if snapshot.graph is None:
        raise NotAWorkflow(NO_WORKFLOW)
    return parse_workflow(snapshot.graph)


def count_nodes(snapshot: Snapshot) -> int | None:
    """The nodes of the open workflow; None where none is open or it has no list of nodes."""
    nodes = snapshot.graph.get("nodes") if snapshot.graph else None
    return sum(isinstance(node, Mapping) for node in nodes) if isinstance(nodes, list) else None
