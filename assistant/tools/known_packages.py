"""Which package has a type of node that is not installed, as ComfyUI-Manager lists it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..comfy_port import ComfyPort
from ..workflow.graph import Graph
from ..workflow.node_definitions import NodeDefinitions
from ..workflow.parts import VIRTUAL_TYPES
from ..workflow.validation_packages import Package, manager_packages

logger = logging.getLogger("comfyui_assistant")


def known_packages(
    graph: Graph, definitions: NodeDefinitions, comfyui: ComfyPort | None
) -> Mapping[str, Package]:
    """The packages by type of node; empty where the graph has no unknown type, and without a list
    that can be read. Reads files of some megabytes."""
    if comfyui is None or not _has_unknown(graph, definitions):
        return {}
    return packages_in(comfyui.package_lists())


def packages_in(lists: Iterable[Path]) -> Mapping[str, Package]:
    """The packages by type of node in the first of ComfyUI-Manager's lists that can be read."""
    for path in lists:
        try:
            packages = manager_packages(json.loads(path.read_bytes()))
        except (OSError, ValueError) as error:
            logger.warning("A list of packages cannot be read: %s", ascii(str(error))[1:-1])
            continue
        if packages:
            return packages
    return {}


def _has_unknown(graph: Graph, definitions: NodeDefinitions) -> bool:
    return any(
        not (node.type in definitions or node.type in graph.subgraphs or node.type in VIRTUAL_TYPES)
        for scope in graph.scopes()
        for node in scope.nodes.values()
    )
