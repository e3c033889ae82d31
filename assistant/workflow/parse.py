"""Reads a workflow: the UI format (0.4 and 1.0) or an API prompt, from decoded JSON or its text.

Whatever a file holds is read or kept: what is no node, link or group stays as an `Oddity` and is
written back where it was. Only what is no workflow at all is refused. Time grows with the size of
the file alone, however its subgraphs refer to each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import NotAWorkflow
from .graph import ROOT, Graph, Scope
from .inputs import mapping, sequence
from .numbering import Numbering
from .parts import (
    Group,
    Link,
    Node,
    Oddity,
    Part,
    PromptNode,
    identity,
    is_prompt_link,
    output_slot,
    slot_type,
    text,
)

DEEPEST_DEFINITIONS = 50
"""Levels of subgraphs that are defined inside of subgraphs; the front end writes none."""

DEEPEST_INSTANCES = 100
"""Levels of subgraph instances inside each other: the length of the longest address."""
ON_CANVAS = "on_canvas"
"""What the panel writes among a workflow's `extra`, since its JSON is that of the open canvas."""
MOST_NODES = 200_000
"""Nodes of the flattened graph; a few subgraphs inside each other can stand for any number."""


def read_workflow(content: str | bytes) -> Graph:
    """The graph in a file's text. Raises `NotAWorkflow`."""
    try:
        document = json.loads(content)
    except RecursionError:
        raise NotAWorkflow("The JSON is nested too deeply for a workflow.") from None
    except ValueError as error:
        # Also what is no UTF-8, and numbers of more digits than Python reads.
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be decoded"
        raise NotAWorkflow(f"This is no JSON: {reason}.") from None
    return parse_workflow(document)


def parse_workflow(document: Any) -> Graph:
    """The graph in decoded JSON, which is kept and must not be changed. Raises `NotAWorkflow`."""
    if not isinstance(document, Mapping):
        raise NotAWorkflow(f"A workflow is a JSON object, not {_kind(document)}.")
    if isinstance(document.get("nodes"), list):
        return _parse_ui(document)
    if any(_is_prompt_node(value) for value in document.values()):
        return _parse_prompt(document)
    raise NotAWorkflow(
        "This JSON is no workflow: it has neither a list of nodes nor nodes with a class_type."
    )


def _kind(document: Any) -> str:
    names = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}
    return names.get(type(document), "a number")


def _parse_ui(document: Mapping[str, Any]) -> Graph:
    subgraphs: dict[str, Scope] = {}
    ids = (identity(mapping(one).get("id")) for one in sequence(document.get("nodes")))
    numbering = Numbering(document, (id_ for id_ in ids if id_ is not None))
    root = _parse_scope(document, ROOT, subgraphs, numbering, DEEPEST_DEFINITIONS)
    on_canvas = mapping(document.get("extra")).get(ON_CANVAS) is True
    graph = Graph("workflow", root, subgraphs, on_canvas)
    if graph.depth > DEEPEST_INSTANCES:
        raise NotAWorkflow(
            f"The subgraphs of this workflow lie in each other over {DEEPEST_INSTANCES} levels.",
            code="workflow_too_large",
        )
    if graph.flat_size > MOST_NODES:
        raise NotAWorkflow(
            f"This workflow has over {MOST_NODES} nodes when its subgraphs are spelled out.",
            code="workflow_too_large",
        )
    return graph


def _parse_scope(
    raw: Mapping[str, Any],
    key: str,
    subgraphs: dict[str, Scope],
    numbering: Numbering,
    levels: int,
) -> Scope:
    oddities: list[Oddity] = []
    inside = key != ROOT
    nodes, renamed = _parse_nodes(raw, oddities, numbering, inside)
    links = _parse_links(raw, oddities, renamed)
    groups = _parse_groups(raw, oddities)
    definitions = _parse_definitions(raw, subgraphs, oddities, numbering, levels)
    return Scope(
        key=key,
        name=text(raw.get("name")),
        nodes=nodes,
        links=links,
        groups=tuple(groups),
        inputs=tuple(map(output_slot, sequence(raw.get("inputs")))) if inside else (),
        outputs=tuple(map(output_slot, sequence(raw.get("outputs")))) if inside else (),
        definitions=tuple(definitions),
        oddities=tuple(oddities),
        raw=raw,
        renamed=renamed,
    )


def _parse_nodes(
    raw: Mapping[str, Any], oddities: list[Oddity], numbering: Numbering, inside: bool
) -> tuple[dict[str, Node], dict[str, str]]:
    """The nodes, and which of them have another id than in the file.

    The second node of an id gets a new one in the workflow itself, and is dropped in a subgraph, as
    in the front end; here it is kept as an oddity.
    """
    nodes: dict[str, Node] = {}
    renamed: dict[str, str] = {}
    seen: set[str] = set()
    for position, one in enumerate(sequence(raw.get("nodes"))):
        id_ = identity(one.get("id")) if isinstance(one, Mapping) else None
        if id_ is None or (inside and id_ in seen):
            why = "it has no id" if id_ is None else f"another node has the id {id_}"
            oddities.append(_odd("node", position, why, one))
            continue
        if inside:
            own = numbering.take(id_)
            if own != id_:
                renamed[id_] = own
        else:
            own = numbering.new() if id_ in seen else id_
        seen.add(id_)
        nodes[own] = Node(own, one)
    return nodes, renamed


def _parse_links(
    raw: Mapping[str, Any], oddities: list[Oddity], renamed: Mapping[str, str]
) -> dict[str, Link]:
    links: dict[str, Link] = {}
    for position, one in enumerate(sequence(raw.get("links"))):
        link = parse_link(one)
        if link is not None and (link.source in renamed or link.target in renamed):
            source = renamed.get(link.source, link.source)
            link = replace(link, source=source, target=renamed.get(link.target, link.target))
        if link is None or link.id in links:
            why = "it has no ends" if link is None else f"another link has the id {link.id}"
            oddities.append(_odd("link", position, why, one))
        else:
            links[link.id] = link
    return links


def parse_link(raw: Any) -> Link | None:
    """A link of the list form (0.4) or of the object form (1.0, subgraphs)."""
    if isinstance(raw, list) and len(raw) >= 5:
        id_, source, source_slot, target, target_slot, *rest = raw
        type_ = rest[0] if rest else "*"
    elif isinstance(raw, Mapping):
        id_, type_ = raw.get("id"), raw.get("type")
        source, source_slot = raw.get("origin_id"), raw.get("origin_slot")
        target, target_slot = raw.get("target_id"), raw.get("target_slot")
    else:
        return None
    ids = identity(id_), identity(source), identity(target)
    slots = _index(source_slot), _index(target_slot)
    if ids[0] is None or ids[1] is None or ids[2] is None or slots[0] is None or slots[1] is None:
        return None
    return Link(ids[0], ids[1], slots[0], ids[2], slots[1], slot_type(type_), raw)


def _index(value: Any) -> int | None:
    """The place of a slot; a few files have it as text or as a float."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if abs(value) < 1e9 and value == int(value) else None


def _parse_groups(raw: Mapping[str, Any], oddities: list[Oddity]) -> list[Group]:
    groups = []
    for position, one in enumerate(sequence(raw.get("groups"))):
        if not isinstance(one, Mapping):
            oddities.append(_odd("group", position, "it is no object", one))
            continue
        numbers = [
            float(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else 0.0
            for value in sequence(one.get("bounding"))[:4]
        ]
        x, y, width, height = numbers + [0.0] * (4 - len(numbers))
        groups.append(Group(text(one.get("title")), (x, y, width, height), one))
    return groups


def _parse_definitions(
    raw: Mapping[str, Any],
    subgraphs: dict[str, Scope],
    oddities: list[Oddity],
    numbering: Numbering,
    levels: int,
) -> list[str]:
    keys = []
    listed = mapping(raw.get("definitions")).get("subgraphs")
    for position, one in enumerate(sequence(listed)):
        key = one.get("id") if isinstance(one, Mapping) else None
        if not isinstance(key, str) or not key or key in subgraphs or levels == 0:
            why = "it has no id of its own" if levels else "it is defined too deeply inside others"
            oddities.append(_odd("subgraph", position, why, one))
            continue
        keys.append(key)
        # Reserved before its own definitions are read, so that one of them cannot take its id.
        subgraphs[key] = _EMPTY
        subgraphs[key] = _parse_scope(one, key, subgraphs, numbering, levels - 1)
    return keys


def _is_prompt_node(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("class_type"), str)


def _parse_prompt(document: Mapping[str, Any]) -> Graph:
    nodes: dict[str, Node] = {}
    links: dict[str, Link] = {}
    oddities = []
    for position, (id_, raw) in enumerate(document.items()):
        if not _is_prompt_node(raw) or not isinstance(id_, str):
            oddities.append(_odd("node", position, "it has no class_type", raw))
            continue
        nodes[id_] = PromptNode(id_, raw)
        fed = [pair for pair in mapping(raw.get("inputs")).items() if is_prompt_link(pair[1])]
        for slot, (name, (source, output)) in enumerate(fed):
            link_id = f"{id_}.{name}"
            links[link_id] = Link(link_id, source, int(output), id_, slot, "*")
    root = Scope(ROOT, "", nodes, links, (), (), (), (), tuple(oddities), document)
    return Graph("prompt", root, {})


def _odd(part: Part, position: int, why: str, raw: Any) -> Oddity:
    return Oddity(part, position, why, raw)


_EMPTY = Scope(ROOT, "", {}, {}, (), (), (), (), (), {})
