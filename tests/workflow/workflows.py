"""Workflows for the tests of the graph model: official templates, and small ones made by hand."""

import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.live import LiveGraph
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.parts import VIRTUAL_TYPES
from plugin.preview.catalog import load_catalog
from plugin.scripts.knowledge.template_facts import installed_templates

PROMPTS = Path(__file__).resolve().parent / "data" / "prompts.json.gz"
SAMPLE = 11
"""Every how manyth template is in a sample; there are 644."""


@cache
def definitions() -> NodeDefinitions:
    """ComfyUI's own nodes."""
    return NodeDefinitions(load_catalog().nodes)


@cache
def template_texts() -> Mapping[str, str]:
    """The official templates by their ids; the package's index files are none."""
    found = {}
    for path in sorted(Path(installed_templates()).glob("*.json")):
        text = path.read_text(encoding="utf-8")
        if '"nodes"' in text and not path.stem.startswith("index"):
            found[path.stem] = text
    return found


def sample() -> list[str]:
    """The ids of a sample of about sixty templates."""
    return list(template_texts())[::SAMPLE]


def template(name: str) -> dict[str, Any]:
    """A template, decoded anew."""
    decoded: dict[str, Any] = json.loads(template_texts()[name])
    return decoded


@cache
def recorded_prompts() -> Mapping[str, Mapping[str, Any]]:
    """The stock front end's prompts of all templates: see `scripts/make_prompts.py`."""
    recorded: dict[str, dict[str, Any]] = json.loads(gzip.decompress(PROMPTS.read_bytes()))
    outcomes = recorded["prompts"]
    return {name: one["output"] for name, one in outcomes.items() if "output" in one}


def all_types_known(graph: Graph) -> bool:
    """Whether ComfyUI, the workflow itself or the page knows every node's type."""
    known = definitions().keys() | graph.subgraphs.keys() | VIRTUAL_TYPES
    return all(node.type in known for scope in graph.scopes() for node in scope.nodes.values())


def nodes_of(graph: Graph) -> Iterator[str]:
    """The types of all nodes, each subgraph's once."""
    for scope in graph.scopes():
        yield from (node.type for node in scope.nodes.values())


def node(id_: Any, type_: str, **more: Any) -> dict[str, Any]:
    """A node in the UI format."""
    return {"id": id_, "type": type_, **more}


def socket(name: str, type_: str = "*", link: Any = None, **more: Any) -> dict[str, Any]:
    """An input of a node."""
    return {"name": name, "type": type_, "link": link, **more}


def widget_socket(name: str, type_: str, link: Any = None) -> dict[str, Any]:
    """An input that belongs to a widget."""
    return socket(name, type_, link, widget={"name": name})


def workflow(*nodes: Any, links: Any = (), **more: Any) -> dict[str, Any]:
    """A workflow in the UI format 0.4."""
    return {"nodes": list(nodes), "links": list(links), "version": 0.4, **more}


def with_subgraphs(root: dict[str, Any], *subgraphs: dict[str, Any]) -> dict[str, Any]:
    return {**root, "definitions": {"subgraphs": list(subgraphs)}}


def subgraph(key: str, *nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A subgraph's definition; `inputs`, `outputs` and `links` (as objects) are among `more`."""
    return {"id": key, "name": key, "links": [], "nodes": list(nodes), **more}


def inner_link(
    id_: int, source: Any, source_slot: int, target: Any, target_slot: int, type_: str = "*"
) -> dict[str, Any]:
    """A link in the form of subgraphs and of the format 1.0."""
    return {
        "id": id_,
        "origin_id": source,
        "origin_slot": source_slot,
        "target_id": target,
        "target_slot": target_slot,
        "type": type_,
    }


def live(document: Any, known: Mapping[str, Any] | None = None) -> LiveGraph:
    """The live graph of a workflow, with ComfyUI's definitions or those of `known`."""
    found = definitions() if known is None else NodeDefinitions(known)
    return LiveGraph(parse_workflow(document), found)
