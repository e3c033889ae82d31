"""The workflow that is open in a client, as the client sent it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import NotAWorkflow
from .facts import revision
from .graph import Graph
from .parse import parse_workflow

NO_WORKFLOW = "No workflow is open on the canvas, or it could not be read."
TOO_LARGE = "The workflow on the canvas is too large to be read: {:.0f} MB, the most is 20 MB."


@dataclass(frozen=True)
class Snapshot:
    """`id` is the panel's for the open workflow, whatever its name. `graph` is the JSON of the
    canvas; None where no workflow is open, and where it was not sent because it is `too_large`
    (its size in bytes; else 0). `selection` are the ids of the selected nodes.

    `parsed` and `revision` are computed once, when they are first asked for: of a large graph in a
    thread.
    """

    id: str = ""
    name: str = ""
    graph: Mapping[str, Any] | None = None
    selection: tuple[str, ...] = ()
    too_large: int = 0

    @property
    def is_open(self) -> bool:
        """Whether the client has a workflow open, also one that is too large to be sent."""
        return self.graph is not None or self.too_large > 0

    @cached_property
    def parsed(self) -> Graph:
        """The graph. Raises NotAWorkflow where there is none to read."""
        if self.too_large:
            raise NotAWorkflow(TOO_LARGE.format(self.too_large / 1e6))
        if self.graph is None:
            raise NotAWorkflow(NO_WORKFLOW)
        return parse_workflow(self.graph)

    @cached_property
    def revision(self) -> str:
        """The revision of the graph. Raises NotAWorkflow."""
        return revision(self.parsed)


def count_nodes(snapshot: Snapshot) -> int | None:
    """The nodes of the open workflow; None where none is open or it has no list of nodes."""
    nodes = snapshot.graph.get("nodes") if snapshot.graph else None
    return sum(isinstance(node, Mapping) for node in nodes) if isinstance(nodes, list) else None
