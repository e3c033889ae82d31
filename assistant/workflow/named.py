"""What a workflow names that a person may have spoken of: its model files, their families, and the
packages of its nodes. Pure.

Reads the JSON of the canvas as it is: a graph that cannot be parsed has names, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .families import family_of
from .snapshot import Snapshot

MOST_NODES: Final = 5_000
MOST_NAMES: Final = 60
_FILE: Final = re.compile(r"[^\\/]+\.(?:safetensors|gguf|ckpt|pt|pth|sft|bin)\Z", re.IGNORECASE)
_CORE: Final = "comfy-core"


def names_in(workflow: Snapshot) -> tuple[str, ...]:
    """The names, each once, in the order of the nodes; none for a workflow that was not sent."""
    found: dict[str, None] = {}
    for node, _ in zip(_nodes(workflow.graph), range(MOST_NODES), strict=False):
        found.update(dict.fromkeys(_names_of(node)))
    return tuple(found)[:MOST_NAMES]


def _nodes(graph: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    if graph is None:
        return
    definitions = graph.get("definitions")
    inner = definitions.get("subgraphs") if isinstance(definitions, Mapping) else None
    for one in (graph, *(inner if isinstance(inner, list) else ())):
        nodes = one.get("nodes") if isinstance(one, Mapping) else None
        for node in nodes if isinstance(nodes, list) else ():
            if isinstance(node, Mapping):
                yield node


def _names_of(node: Mapping[str, Any]) -> Iterator[str]:
    values = node.get("widgets_values")
    if isinstance(values, Mapping):
        values = list(values.values())
    for value in values if isinstance(values, list) else ():
        file = _FILE.search(value) if isinstance(value, str) and len(value) < 300 else None
        if file is not None:
            yield file.group()
            yield file.group().rpartition(".")[0]
            if (family := family_of(value)) is not None:
                yield from (family.name, family.kin, re.split(r"[ .\-]", family.kin)[0])
    properties = node.get("properties")
    package = properties.get("cnr_id") if isinstance(properties, Mapping) else None
    if isinstance(package, str) and package != _CORE:
        yield package
