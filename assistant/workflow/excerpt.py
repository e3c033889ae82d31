"""Some nodes of a workflow, whole: those with given addresses, or those that hold given words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .node_words import NodeWords, ScopeWords, WorkflowWords
from .view import LONGEST_VALUE, node_line
from .words import id_word

MOST_FOUND = 40
"""Nodes that a search shows; more of them are counted."""
_SLASHES = re.compile(r"[\\/]+")


def show_nodes(words: WorkflowWords, addresses: Sequence[str]) -> str:
    """Each node with all its values, nothing cut off, and what it feeds; for an instance of a
    subgraph also the nodes inside."""
    lines: list[str] = []
    for address in dict.fromkeys(addresses):
        lines.extend(_whole_node(words, address))
    return "\n".join(lines)


def find_nodes(words: WorkflowWords, query: str) -> str:
    """The nodes whose type, title, values or sources hold all words of the query."""
    wanted = _folded(query).split()
    found = [
        node_line(placed(node, prefix), LONGEST_VALUE)
        for prefix, scope in _levels(words)
        for node in scope.nodes.values()
        if _holds(node_line(node, None, defaults=True), wanted)
    ]
    if not found:
        return "No node of the workflow holds these words."
    more = len(found) - MOST_FOUND
    return "\n".join(found[:MOST_FOUND] + ([f"and {more} more"] if more > 0 else []))


def placed(node: NodeWords, prefix: str) -> NodeWords:
    """The node with whole addresses, for a reader who does not see the subgraph around it."""
    if not prefix:
        return node
    sources = {
        name: source if source.startswith("in.") else f"{prefix}{source}"
        for name, source in node.sources.items()
    }
    return replace(node, id=f"{prefix}{node.id}", sources=sources)


def _holds(text: str, wanted: Sequence[str]) -> bool:
    folded = _folded(text)
    return all(word in folded for word in wanted)


def _folded(text: str) -> str:
    """Without regard to case and to how folders are parted: Windows lists them with a backslash,
    of which there are two in a value in quotation marks."""
    return _SLASHES.sub("/", text.casefold())


def _levels(words: WorkflowWords) -> Iterator[tuple[str, ScopeWords]]:
    """Each scope with what comes before the ids of its nodes: the address of one instance."""
    for scope in words.scopes.values():
        prefix = f"{scope.instances[0]}:" if scope.instances else ""
        if not scope.key or scope.instances:
            yield prefix, scope


def _whole_node(words: WorkflowWords, address: str) -> Iterator[str]:
    place = words.graph.place(address)
    if place is None:
        yield _unknown(words, address)
        return
    scope = words.scopes[place.scope.key]
    node = scope.nodes[place.node.id]
    prefix = address[: len(address) - len(node.id)]
    yield node_line(placed(node, prefix), None, defaults=True)
    feeds = [f"{prefix}{target}" for target in _targets(scope, node.id)]
    if feeds:
        yield f"  feeds {', '.join(feeds)}"
    inner = words.scopes.get(node.subgraph) if node.subgraph else None
    for one in inner.nodes.values() if inner is not None else ():
        yield f"  {node_line(placed(one, f'{address}:'), LONGEST_VALUE)}"


def _targets(scope: ScopeWords, node_id: str) -> Iterator[str]:
    """The inputs that the node's outputs feed."""
    own = id_word(node_id)
    for node in scope.nodes.values():
        for name, source in node.sources.items():
            if source == own or source.startswith(f"{own}."):
                yield f"{id_word(node.id)}.{name}"
    for name, source in scope.outputs.items():
        if source == own or source.startswith(f"{own}."):
            yield f"out.{name}"


def _unknown(words: WorkflowWords, address: str) -> str:
    """That there is no such node, with the addresses of nodes of this id inside subgraphs."""
    last = address.rpartition(":")[2]
    inside = [
        f"{prefix}{last}" for prefix, scope in _levels(words) if prefix and last in scope.nodes
    ]
    hint = f" There is {', '.join(map(id_word, inside))}." if inside else ""
    return f"There is no node {id_word(address)}.{hint}"
