"""Ids that clash are given anew, as the front end does when it loads a file.

The nodes of a workflow and of all its subgraphs have ids of their own. A file whose subgraphs use
an id twice is loaded with new ids for the later nodes, so that its prompt calls a node otherwise
than the file does. Without that, an address would name another node than ComfyUI's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .inputs import mapping

LARGEST = 2**53 - 1
"""The largest id that the front end counts on from: JavaScript's largest safe whole number."""


class Numbering:
    """Gives the nodes of one file their ids; asked for the scopes in the order of the file."""

    def __init__(self, document: Mapping[str, Any], root_ids: Iterable[str]) -> None:
        """`root_ids` are the ids of the workflow's own nodes, which keep them."""
        self._used = set(root_ids)
        last = document.get("last_node_id", mapping(document.get("state")).get("lastNodeId"))
        self._last = last if isinstance(last, int) and 0 <= last <= LARGEST else 0

    def take(self, id_: str) -> str:
        """The id of the next node of a subgraph, given the file's."""
        if id_ in self._used:
            return self.new()
        self._used.add(id_)
        self._observe(id_)
        return id_

    def new(self) -> str:
        """An id that no node has yet, counted on from the largest."""
        while True:
            self._last = self._last + 1 if self._last < LARGEST else 1
            if str(self._last) not in self._used:
                self._used.add(str(self._last))
                return str(self._last)

    def _observe(self, id_: str) -> None:
        plain = id_.isascii() and id_.isdigit() and len(id_) < 17
        if plain and str(int(id_)) == id_ and int(id_) <= LARGEST:
            self._last = max(self._last, int(id_))
