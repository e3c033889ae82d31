"""The values, links and model files in ComfyUI's official workflow templates.

A value that comes through a link is followed through primitives and switches; the values of both
sides of a switch count.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .node_definitions import NodeDefinitions

TEMPLATES_PACKAGE = "comfyui_workflow_templates_json"
SUBGRAPH_INPUT = -10  # the id of a subgraph's own input side in its links

Link = tuple[str, str, str]  # type of the node it leaves, type it enters, input


@dataclass(frozen=True)
class Facts:
    """The facts of templates: values by (node type, input), links, model files as folder/name."""

    values: Mapping[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    links: frozenset[Link] = frozenset()
    models: frozenset[str] = frozenset()


def installed_templates() -> Path:
    """The folder of the installed templates package; LookupError if it is not installed."""
    spec = importlib.util.find_spec(TEMPLATES_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"Install {TEMPLATES_PACKAGE} (pip install --no-deps) to check against.")
    return Path(next(iter(spec.submodule_search_locations))) / "templates"


def template_facts(workflow: Mapping[str, Any], definitions: NodeDefinitions) -> Facts:
    """The facts of one UI workflow and its subgraphs, muted and bypassed variants included."""
    values: dict[tuple[str, str], tuple[Any, ...]] = {}
    links: set[Link] = set()
    models: set[str] = set()
    for graph in (workflow, *(workflow.get("definitions") or {}).get("subgraphs", ())):
        nodes = {node["id"]: node for node in graph["nodes"]}
        feeding = _feeding(graph["links"])
        for (target, slot), origin in feeding.items():
            if origin in nodes and target in nodes:
                name = nodes[target]["inputs"][slot]["name"]
                links.add((nodes[origin]["type"], nodes[target]["type"], name))
        for node in nodes.values():
            for model in (node.get("properties") or {}).get("models") or ():
                models.add(f"{model['directory']}/{model['name']}")
            for name, shown in _widget_values(node, definitions):
                key = (node["type"], name)
                values[key] = (*values.get(key, ()), *_sources(node, name, shown, nodes, feeding))
    return Facts(values, frozenset(links), frozenset(models))


def merge(parts: list[Facts]) -> Facts:
    """The union of several templates' facts."""
    values: dict[tuple[str, str], tuple[Any, ...]] = {}
    for part in parts:
        for key, found in part.values.items():
            values[key] = (*values.get(key, ()), *found)
    return Facts(
        values,
        frozenset().union(*(part.links for part in parts)),
        frozenset().union(*(part.models for part in parts)),
    )


def _feeding(links: list[Any]) -> dict[tuple[int, int], int]:
    """(target node, input slot) -> origin node, from both forms that links have."""
    feeding: dict[tuple[int, int], int] = {}
    for link in links:
        if isinstance(link, dict):
            feeding[link["target_id"], link["target_slot"]] = link["origin_id"]
        else:
            feeding[link[3], link[4]] = link[1]
    return feeding


def _widget_values(
    node: Mapping[str, Any], definitions: NodeDefinitions
) -> Iterator[tuple[str, Any]]:
    stored = node.get("widgets_values") or ()
    if isinstance(stored, dict):
        yield from stored.items()
        return
    for name, value in zip(definitions.widgets(node["type"]), stored, strict=False):
        if name is not None:
            yield name, value


def _sources(
    node: Mapping[str, Any],
    name: str,
    shown: Any,
    nodes: Mapping[int, Mapping[str, Any]],
    feeding: Mapping[tuple[int, int], int],
) -> tuple[Any, ...]:
    """The values of an input: the values of the node that feeds it, or else the widget's own
    value."""
    slots = [slot for slot, item in enumerate(node.get("inputs") or ()) if item["name"] == name]
    origin = feeding.get((node["id"], slots[0]), SUBGRAPH_INPUT) if slots else SUBGRAPH_INPUT
    if origin not in nodes:
        return (shown,)
    source = nodes[origin]
    if source["type"].startswith("Primitive"):
        return tuple((source.get("widgets_values") or (shown,))[:1])
    if source["type"] == "ComfySwitchNode":
        branches = (
            _sources(source, side, shown, nodes, feeding) for side in ("on_false", "on_true")
        )
        return tuple(value for branch in branches for value in branch)
    return (shown,)
