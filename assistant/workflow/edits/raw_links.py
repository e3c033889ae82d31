"""The links of one scope of a file, in the file's own JSON: found by their ends, added, removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..graph import Scope

_PLACES = {"origin_id": 1, "origin_slot": 2, "target_id": 3, "target_slot": 4, "type": 5}


class RawLinks:
    """The links by id and by their ends. A link's JSON is a list (0.4) or an object."""

    def __init__(self, scope: Scope, listed: bool) -> None:
        """`listed`: whether new links are lists."""
        self._listed = listed
        self._scope = scope
        self.by_id: dict[str, Any] = {}
        self._sources: dict[str, tuple[str, int]] = {}
        self._targets: dict[str, tuple[str, int]] = {}
        self._from: dict[str, dict[str, None]] = {}
        self._to: dict[str, dict[str, None]] = {}
        self._gone: set[int] = set()
        self._changed = False
        for link in scope.links.values():
            ends = (link.source, link.source_slot), (link.target, link.target_slot)
            self._keep(link.id, link.raw, *ends)

    def _keep(self, id_: str, raw: Any, source: tuple[str, int], target: tuple[str, int]) -> None:
        self.by_id[id_] = raw
        self._sources[id_] = source
        self._targets[id_] = target
        self._from.setdefault(source[0], {})[id_] = None
        self._to.setdefault(target[0], {})[id_] = None

    def add(self, id_: int, source: tuple[str, int], target: tuple[str, int], type_: str) -> None:
        """A new link; the ends are pairs of a node's id and the place of a slot."""
        ends = [id_, number(source[0]), source[1], number(target[0]), target[1], type_]
        raw = ends if self._listed else dict(zip(("id", *_PLACES), ends, strict=True))
        self._keep(str(id_), raw, source, target)
        self._changed = True

    def remove(self, id_: str) -> None:
        raw = self.by_id.pop(id_)
        self._gone.add(id(raw))
        del self._from[self._sources.pop(id_)[0]][id_]
        del self._to[self._targets.pop(id_)[0]][id_]
        self._changed = True

    def place_target(self, id_: str, slot: int) -> None:
        """The link feeds another input of the same node."""
        node, before = self._targets[id_]
        if before != slot:
            self._targets[id_] = (node, slot)
            self._put(id_, "target_slot", slot)

    def place_source(self, id_: str, slot: int) -> None:
        node, before = self._sources[id_]
        if before != slot:
            self._sources[id_] = (node, slot)
            self._put(id_, "origin_slot", slot)

    def _put(self, id_: str, key: str, value: Any) -> None:
        raw = self.by_id[id_]
        raw[_PLACES[key] if isinstance(raw, list) else key] = value

    def source(self, id_: str) -> tuple[str, int]:
        return self._sources[id_]

    def target(self, id_: str) -> tuple[str, int]:
        return self._targets[id_]

    def into(self, node: str) -> list[str]:
        """The ids of the links to a node."""
        return list(self._to.get(node, ()))

    def out_of(self, node: str) -> list[str]:
        """The ids of the links from a node."""
        return list(self._from.get(node, ()))

    def at_output(self, node: str, slot: int) -> list[str]:
        return [id_ for id_ in self._from.get(node, ()) if self._sources[id_][1] == slot]

    def write(self, raw: dict[str, Any]) -> None:
        """Put the links into the scope's JSON. What is no link stays where it is."""
        if not self._changed:
            return
        before = raw.get("links")
        kept = [
            one for one in (before if isinstance(before, list) else []) if id(one) not in self._gone
        ]
        known = {id(one) for one in kept}
        raw["links"] = [*kept, *(one for one in self._living() if id(one) not in known)]
        self._changed = False

    def _living(self) -> Iterator[Any]:
        yield from self.by_id.values()


def number(id_: str) -> int | str:
    """An id as the front end writes it: a number where its text is that of a whole number."""
    plain = id_.removeprefix("-")
    whole = plain.isascii() and plain.isdigit() and len(plain) < 16
    return int(id_) if whole and str(int(id_)) == id_ else id_
