"""Finds what an operation names: nodes, types, outputs, inputs, widgets.

A name that is not right letter by letter is taken where it has one reading: another case, a title
or a type that one node has, a label, the last part of a dotted name. Else the error says the
nearest right name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..inputs import connects, mapping, sequence
from ..live_nodes import LiveInput, LiveNode
from ..parts import PRIMITIVE, REROUTE, SUBGRAPH_INPUT
from ..validation_names import Nearest
from ..validation_problems import listed, shown
from ..widgets import Widget
from .draft import Draft, Inside, Spot
from .operations import End
from .refused import Code, EditRefused

PAGE_TYPES = ("Note", "MarkdownNote", REROUTE, PRIMITIVE)
"""Types that the page has besides those of the definitions, and that can be added."""
_ADDRESS = re.compile(r"\d+(?::\d+)*")
_SIGNS = re.compile(r"[\W_]+")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Output:
    """An output of a node, or an input of a subgraph seen from its inside."""

    inside: Inside
    id: str
    slot: int

    @property
    def ends(self) -> tuple[str, int]:
        return self.id, self.slot


@dataclass(frozen=True)
class Outlet:
    """An output of a subgraph seen from its inside."""

    inside: Inside
    slot: int
    type: str


def plain(name: str) -> str:
    """A name without case and signs."""
    return _SIGNS.sub("", name.casefold())


def only(found: Iterable[_T]) -> _T | None:
    """What is found, where there is one."""
    distinct = list(found)
    return distinct[0] if len(distinct) == 1 else None


class Lookup:
    """Looks names up in a draft for the operation `number`."""

    def __init__(self, draft: Draft, number: int) -> None:
        self.draft = draft
        self.number = number
        self._nearest = Nearest()

    def refused(self, code: Code, message: str) -> EditRefused:
        return EditRefused(code, message, self.number)

    def near(self, name: str, names: Sequence[str], what: str = "nearest") -> str:
        """A sentence with the nearest name, else with the names that there are."""
        found = self._nearest.name(name, names)
        if found is not None:
            return f" The {what} is {shown(found)}."
        return f" There are {listed(names)}." if names else ""

    # Nodes

    def node(self, name: str) -> Spot:
        found = self.known_node(name)
        if found is not None:
            return found
        same = [spot for spot in self.draft.spots() if name in (spot.node.title, spot.node.type)]
        same = same or [
            spot
            for spot in self.draft.spots()
            if plain(name) and plain(name) in (plain(spot.node.title), plain(spot.node.type))
        ]
        if len(same) == 1:
            return same[0]
        if same:
            which = listed([spot.address for spot in same])
            raise self.refused(
                "unknown_node", f"{len(same)} nodes are called {shown(name)}: {which}."
            )
        written = [self.draft.spot(one) for one in _ADDRESS.findall(name)]
        one = only(spot for spot in written if spot is not None)
        if one is not None and not name.strip().replace(":", "").isdigit():
            return one
        raise self.refused(
            "unknown_node", f"There is no node {shown(name)}.{self._near_node(name)}"
        )

    def known_node(self, name: str) -> Spot | None:
        """The node with this address or name in the batch."""
        return self.draft.spot(name.strip().lstrip("#"))

    def _near_node(self, name: str) -> str:
        spots = list(self.draft.spots())
        names = [*self.draft.names, *(spot.address for spot in spots)]
        titles = {spot.node.title: spot.address for spot in spots}
        titles.update({spot.node.type: spot.address for spot in spots})
        if not name.replace(":", "").isdigit():
            found = self._nearest.name(name, list(titles))
            if found is not None:
                return f" The nearest is {shown(found)}, which is {shown(titles[found])}."
        return f" The nodes are {listed(names, 20)}." if names else ""

    def inside(self, name: str) -> Inside:
        """The scope inside an instance."""
        spot = self.node(name)
        if spot.node.subgraph is None:
            raise self.refused("not_possible", f"{shown(name)} is no instance of a subgraph.")
        return Inside(spot.node.subgraph, (*spot.around, spot.node))

    # Types

    def type(self, name: str) -> str:
        """The type of a new node: of the definitions, of the page, or the key of a subgraph."""
        definitions = self.draft.definitions
        page = () if self.draft.is_prompt else PAGE_TYPES
        if name in definitions or name in self.draft.live.subgraphs or name in page:
            return name
        types = [*definitions, *page]
        wanted = plain(name)
        for found in (
            [one for one in types if one.casefold() == name.casefold()],
            [key for key, one in self.draft.live.subgraphs.items() if one.name == name],
            [one for one in definitions if definitions[one].title == name],
            [one for one in types if plain(one) == wanted],
            [one for one in definitions if plain(definitions[one].title) == wanted],
        ):
            right: str | None = only(found) if wanted else None
            if right is not None:
                return right
        near = self._nearest.name(name, types)
        hint = f" The nearest is {shown(near)}." if near is not None else ""
        message = f"The node type {shown(name)} is not installed.{hint} searchNodes finds types."
        raise self.refused("unknown_type", message)

    # Slots

    def _split(self, end: End) -> tuple[Spot | None, Inside | None, str, str]:
        """The node (or, with "in" or "out", the scope) and the name of the slot.

        The third is "in" or "out" where the subgraph's own side is meant.
        """
        if not end.text:
            options = [(end.node, end.slot)]
        else:
            text = end.text.strip().lstrip("#")
            options = [
                (text[: at.start()], text[at.end() :]) for at in re.finditer(r"\.", text)
            ] + [(text, "")]
        for node, slot in options:
            outer, _, side = node.rpartition(":")
            if side in ("in", "out") and outer and self.known_node(outer) is not None:
                return None, self.inside(outer), side, slot
            spot = self.known_node(node)
            if spot is not None:
                return spot, None, "", slot
        if end.text:
            for sign in ("/", ":", " "):
                node, _, slot = end.text.rpartition(sign)
                spot = self.known_node(node) if node else None
                if spot is not None and slot:
                    return spot, None, "", slot
        node, slot = options[0]
        return self.node(node), None, "", slot

    def output(self, end: End, type_: str | None = None) -> Output:
        """An output; `type_` is what it has to fit where only the node is named."""
        spot, inside, side, slot = self._split(end)
        if spot is None:
            assert inside is not None
            if side != "in":
                raise self.refused("unknown_slot", f"{shown(str(end))} takes links, it gives none.")
            names = [one.name for one in inside.scope.inputs]
            types = [one.type for one in inside.scope.inputs]
            place = self._slot(names, types, [], slot, type_, str(end))
            return Output(inside, SUBGRAPH_INPUT, place)
        outputs = spot.node.outputs
        raws = sequence(spot.node.node.raw.get("outputs"))
        labels = [str(mapping(one).get("label") or "") for one in raws]
        names, types = [one.name for one in outputs], [one.type for one in outputs]
        place = self._slot(names, types, labels, slot, type_, spot.address)
        self.draft.touch(spot.scope, spot.node)
        return Output(Inside(spot.scope, spot.around), spot.node.id, place)

    def _slot(
        self,
        names: list[str],
        types: list[str],
        labels: list[str],
        slot: str,
        type_: str | None,
        whose: str,
    ) -> int:
        if slot in names:
            return names.index(slot)
        if slot.isascii() and slot.isdigit():
            if int(slot) < len(names):
                return int(slot)
        elif slot:
            for known in (names, labels, types):
                place = only(i for i, one in enumerate(known) if plain(one) == plain(slot) != "")
                if place is not None:
                    return place
        elif len(names) == 1:
            return 0
        elif type_ is not None:
            place = only(i for i, one in enumerate(types) if connects(one, type_))
            if place is not None:
                return place
        if not names:
            raise self.refused("unknown_slot", f"{shown(whose)} has no outputs.")
        if not slot:
            ways = listed([f"{whose}.{one}" for one in names])
            raise self.refused("unknown_slot", f"Say which output of {shown(whose)}: {ways}.")
        near = self.near(slot, names)
        raise self.refused("unknown_slot", f"{shown(whose)} has no output {shown(slot)}.{near}")

    def target(self, end: End, type_: str | None = None) -> tuple[Spot, LiveInput] | Outlet:
        """An input, or an output of a subgraph seen from its inside."""
        spot, inside, side, slot = self._split(end)
        if spot is not None:
            return spot, self.input(spot, slot, type_)
        assert inside is not None
        if side != "out":
            raise self.refused("unknown_slot", f"{shown(str(end))} gives links, it takes none.")
        names = [one.name for one in inside.scope.outputs]
        types = [one.type for one in inside.scope.outputs]
        place = self._slot(names, types, [], slot, type_, str(end))
        return Outlet(inside, place, types[place])

    def input(self, spot: Spot, slot: str, type_: str | None = None) -> LiveInput:
        """An input of a node by its name; without one, the only one that takes the type."""
        node = spot.node
        self.draft.touch(spot.scope, node)
        found = self._input(node, slot, type_)
        if found is not None:
            return found
        names = [one.name for one in node.inputs]
        if not slot:
            ways = listed([f"{spot.address}.{one}" for one in names])
            raise self.refused("unknown_slot", f"Say which input of {shown(spot.address)}: {ways}.")
        what = f"{shown(spot.address)} ({node.type}) has no input {shown(slot)}."
        raise self.refused("unknown_slot", f"{what}{self.near(slot, names)}")

    def _input(self, node: LiveNode, slot: str, type_: str | None) -> LiveInput | None:
        found = node.input(slot) if slot else None
        if found is not None:
            return found
        # The group itself, or a row that it has not grown to: its next free row is meant.
        group = slot if slot in node.autogrow else slot.rpartition(".")[0]
        if group in node.autogrow:
            row = node.autogrow[group].ordinal(slot[len(group) + 1 :])
            rows = [one for one in node.inputs if one.name.startswith(f"{group}.")]
            free = next((one for one in rows if one.link is None), None)
            return free if slot == group or row is not None else None
        if not slot:
            fitting = [
                one
                for one in node.inputs
                if type_ is not None and one.widget is None and connects(type_, one.type)
            ]
            return only(fitting) or only(one for one in fitting if one.link is None)
        labels = self._labels(node)
        tests: tuple[Callable[[LiveInput], bool], ...] = (
            lambda one: labels.get(one.name) == slot,
            lambda one: plain(one.name) == plain(slot) != "",
            lambda one: plain(labels.get(one.name, "")) == plain(slot) != "",
            lambda one: one.name.rpartition(".")[2] == slot,
            lambda one: one.widget is None and one.type.casefold() == slot.casefold(),
        )
        for test in tests:
            one = only(filter(test, node.inputs))
            if one is not None:
                return one
        if slot.isascii() and slot.isdigit() and int(slot) < len(node.inputs):
            return node.inputs[int(slot)]
        return None

    @staticmethod
    def _labels(node: LiveNode) -> dict[str, str]:
        """What the canvas calls the inputs, where that is not their name: of an instance also what
        they are called inside."""
        if node.subgraph is None:
            return {slot.name: slot.label for slot in node.node.inputs if slot.label}
        found = {}
        for place, one in enumerate(node.inputs):
            for inner, fed in node.subgraph.fed_by(place):
                for slot in inner.node.inputs:
                    if slot.name == fed.name and slot.label:
                        found[one.name] = slot.label
        slots = [*node.node.inputs, *node.subgraph.scope.inputs]
        return {**found, **{slot.name: slot.label for slot in slots if slot.label}}

    # Widgets

    def widget(self, spot: Spot, name: str) -> Widget:
        """A widget of a node by its name or label."""
        node = spot.node
        own = node.widget(name)
        if own is not None:
            return self._settable(spot, own)
        labels = self._labels(node)
        shown_ones = [one for one in node.widgets if one.type not in ("button", "preview")]
        tests: tuple[Callable[[Widget], bool], ...] = (
            lambda one: labels.get(one.name) == name,
            lambda one: plain(one.name) == plain(name) != "",
            lambda one: plain(labels.get(one.name, "")) == plain(name) != "",
            lambda one: one.name.rpartition(".")[2] == name,
        )
        for test in tests:
            one = only(filter(test, shown_ones))
            if one is not None:
                return self._settable(spot, one)
        what = f"{shown(spot.address)} ({_kind(node)})"
        if node.input(name) is not None:
            raise self.refused(
                "unknown_widget", f"The input {shown(name)} of {what} takes a link: use connect."
            )
        near = self.near(name, [one.name for one in shown_ones])
        raise self.refused("unknown_widget", f"{what} has no widget {shown(name)}.{near}")

    def _settable(self, spot: Spot, one: Widget) -> Widget:
        if one.type in ("button", "preview", "index"):
            what = f"{shown(one.name)} of {shown(spot.address)}"
            raise self.refused("unknown_widget", f"{what} has no value that can be set.")
        return one


def _kind(node: LiveNode) -> str:
    return f"subgraph {node.subgraph.name}" if node.subgraph is not None else node.type
