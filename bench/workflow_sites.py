"""Where a defect can be put into a workflow, and the changes of links that make one.

A `Site` says which nodes surely run because an output needs them, which widgets nothing else
drives, and which sockets are linked. See `workflow_defects.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plugin.bench import workflow_raw as raw
from plugin.bench.workflow_raw import Link, Placed, Raw, Scope, Widget

Definitions = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Socket:
    """A linked socket of a node: its slot, its link, and what the definition says about it."""

    place: Placed
    slot: Raw
    link: Link
    spec: list[Any]
    required: bool


class Site:
    """A workflow with its definitions: which nodes run and are needed, and what drives what."""

    def __init__(self, workflow: Raw, definitions: Definitions) -> None:
        self.workflow = workflow
        self.definitions = definitions
        self.all = {place.address: place for place in raw.placed(workflow)}
        self.subgraphs = raw.subgraphs(workflow)
        self._links: dict[int, dict[int, Link]] = {}
        self._times: dict[int, int] = {}
        for place in self.all.values():
            self._times[id(place.node)] = self._times.get(id(place.node), 0) + 1
        scopes = [workflow, *self.subgraphs.values()]
        self._ids = Counter(str(one["id"]) for scope in scopes for one in Scope(scope, "").nodes)
        self.outputs = [place for place in self.all.values() if self._is_output(place)]
        self._needed = self._find_needed()

    def links(self, scope: Scope) -> dict[int, Link]:
        """The links of a scope by id, read once."""
        key = id(scope.graph)
        if key not in self._links:
            self._links[key] = scope.links()
        return self._links[key]

    def real(self) -> list[Placed]:
        """Needed nodes with a definition that stand at one address only."""
        return [
            place
            for address, place in self.all.items()
            if address in self._needed and place.type in self.definitions and self.once(place)
        ]

    def once(self, place: Placed) -> bool:
        """Whether the node stands at this address only, under ids that no other scope uses.

        The front end gives ids that clash anew, so that the prompt has another address.
        """
        around = (place.node, *place.outer)
        clash = any(self._ids[str(one["id"])] > 1 for one in around)
        return self._times[id(place.node)] == 1 and not clash

    def siblings(self, place: Placed) -> list[Placed]:
        """Running nodes of the same scope at the same level, with a definition."""
        head = place.address.rpartition(":")[0]
        return [
            one
            for one in self.all.values()
            if one.address.rpartition(":")[0] == head and one.runs and one.type in self.definitions
        ]

    def free_widgets(self, *, promoted: bool) -> Iterator[tuple[Placed, Widget]]:
        """Widgets that no node drives. With `promoted` also those that a subgraph shows outside."""
        for place in self.real():
            driven = set() if promoted else _promoted(place)
            for slot in place.node.get("inputs") or []:
                link = self.links(place.scope).get(slot.get("link"))
                if slot.get("link") is not None and not (promoted and self._is_shown(place, link)):
                    driven.add(slot.get("name"))
            known = raw.widgets(place.node, self.definitions[place.type]) or []
            for widget in known:
                if widget.name not in driven and _is_read(place, widget, known):
                    yield place, widget

    def _is_shown(self, place: Placed, link: Link | None) -> bool:
        """Whether the link comes from an input of the subgraph that nothing outside feeds.

        Where it leads to several nodes, the value of one of them counts for all.
        """
        if link is None or link.origin != raw.INPUT_SIDE:
            return False
        same = [one for one in self.links(place.scope).values() if one.origin == raw.INPUT_SIDE]
        if [one.origin_slot for one in same].count(link.origin_slot) > 1:
            return False
        name = (place.scope.graph.get("inputs") or [])[link.origin_slot]["name"]
        slots = place.outer[-1].get("inputs") or []
        return all(one.get("link") is None for one in slots if one.get("name") == name)

    def sockets(self) -> Iterator[Socket]:
        """The linked sockets of needed nodes; inputs that have a widget, too, are left out."""
        for place in self.real():
            links = self.links(place.scope)
            for slot in place.node.get("inputs") or []:
                link = links.get(slot.get("link"))
                found = _socket(self.definitions[place.type], str(slot.get("name")))
                if link is not None and found is not None and not slot.get("widget"):
                    yield Socket(place, slot, link, *found)

    def outputs_of(self, place: Placed) -> list[tuple[int, str]]:
        """The outputs of a node that have one plain type, by number."""
        types = (self.definitions.get(place.type) or {}).get("output") or []
        shown = place.node.get("outputs") or []
        return [
            (number, kind)
            for number, kind in enumerate(types)
            if is_plain(kind) and number < len(shown)
        ]

    def downstream(self, place: Placed, *, into_subgraphs: bool) -> dict[str, set[str]]:
        """For each node of the scope after `place`: the nodes on the ways there, ends included.

        An output of a subgraph need not come from each of its inputs, so that a way through one is
        a way only perhaps; `into_subgraphs` takes it for one.
        """
        running = {
            str(one["id"])
            for one in place.scope.nodes
            if not one.get("mode") and (into_subgraphs or one["type"] not in self.subgraphs)
        }
        ahead: dict[str, set[str]] = {}
        for link in self.links(place.scope).values():
            if {str(link.origin), str(link.target)} <= running:
                ahead.setdefault(str(link.origin), set()).add(str(link.target))
        ways: dict[str, set[str]] = {place.local: {place.local}}
        waiting = [place.local]
        while waiting:
            here = waiting.pop()
            for following in ahead.get(here, ()):
                known = ways.setdefault(following, set())
                if not (ways[here] | {following}) <= known:
                    known |= ways[here] | {following}
                    waiting.append(following)
        return ways

    def _is_output(self, place: Placed) -> bool:
        definition = self.definitions.get(place.type)
        return bool(definition and definition.get("output_node")) and place.runs

    def _find_needed(self) -> set[str]:
        """The addresses that the running outputs need; what is bypassed is not looked through."""
        seen: set[str] = set()
        waiting = [place.address for place in self.outputs]
        while waiting:
            address = waiting.pop()
            place = self.all[address]
            if address in seen or not place.runs:
                continue
            seen.add(address)
            around = address.rpartition(":")[0]
            for link in self.links(place.scope).values():
                if str(link.target) == place.local:
                    waiting += self._sources(around, place.scope, link)
        return seen

    def _sources(self, around: str, scope: Scope, link: Link) -> list[str]:
        """The nodes that a link comes from, across borders of subgraphs.

        `around` is the address of the instance that the link is inside of.
        """
        if link.origin == raw.INPUT_SIDE:
            instance = self.all[around]
            name = (scope.graph.get("inputs") or [])[link.origin_slot]["name"]
            links = self.links(instance.scope)
            fed = [one for one in instance.node.get("inputs") or [] if one.get("name") == name]
            head = around.rpartition(":")[0]
            outer = [links[one["link"]] for one in fed if one.get("link") in links]
            return [found for one in outer for found in self._sources(head, instance.scope, one)]
        address = f"{around}:{link.origin}" if around else str(link.origin)
        place = self.all.get(address)
        if place is None:
            return []
        definition = self.subgraphs.get(place.type)
        if definition is None or not place.runs:
            return [address]
        inner = Scope(definition, "")
        ends = [
            one
            for one in self.links(inner).values()
            if one.target == raw.OUTPUT_SIDE and one.target_slot == link.origin_slot
        ]
        return [found for one in ends for found in self._sources(address, inner, one)]


def _socket(definition: Raw, name: str) -> tuple[list[Any], bool] | None:
    """What a definition says about the socket `name`, and whether it is required."""
    spec = raw.specs(definition).get(name)
    if spec is not None:
        is_socket = not raw.is_widget(spec) and spec[0] != raw.AUTOGROW
        return (spec, name in raw.required(definition)) if is_socket else None
    group, _, member = name.partition(".")
    spec = raw.specs(definition).get(group)
    if spec is None or spec[0] != raw.AUTOGROW:
        return None
    template = raw.options(spec)["template"]
    own = next(iter(raw.specs(template).values()))
    least = int(template.get("min") or 0)
    names = template.get("names") or [f"{template['prefix']}{number}" for number in range(least)]
    return own, group in raw.required(definition) and member in names[:least]


def _is_read(place: Placed, widget: Widget, known: list[Widget]) -> bool:
    """Whether the front end surely gives a dynamic widget the value of the file.

    It reads values for the widgets of a new node; those of another option than the first are made
    while it reads, and have their value only where the file has a slot for them.
    """
    group, dot, _ = widget.name.rpartition(".")
    if not dot or any(one.get("name") == widget.name for one in place.node.get("inputs") or []):
        return True
    chosen = next((one for one in known if one.name == group), None)
    options = raw.options(chosen.spec).get("options") if chosen else None
    value = place.node["widgets_values"][chosen.place] if chosen else None
    return options is not None and bool(options) and options[0].get("key") == value


def _promoted(place: Placed) -> set[str]:
    """Names of this node's widgets that the subgraph instance around it shows."""
    if not place.outer:
        return set()
    shown = (place.outer[-1].get("properties") or {}).get("proxyWidgets") or []
    return {str(one[1]) for one in shown if str(one[0]) == place.local}


def cut(socket: Socket) -> None:
    """Takes the link away, with what the nodes and the subgraph's border say about it."""
    graph, link = socket.place.scope.graph, socket.link
    graph["links"] = [one for one in graph["links"] if link_id(one) != link.id]
    socket.slot["link"] = None
    for node in socket.place.scope.nodes:
        for output in node.get("outputs") or []:
            output["links"] = [one for one in output.get("links") or [] if one != link.id]
    for border in graph.get("inputs") or [] if link.origin == raw.INPUT_SIDE else []:
        if isinstance(border.get("linkIds"), list):
            border["linkIds"] = [one for one in border["linkIds"] if one != link.id]


def relink(socket: Socket, origin: Raw, number: int, kind: str) -> None:
    """Makes the input come from output `number` of the node `origin` of the same scope."""
    cut(socket)
    add_link(socket.place, socket.slot, socket.link.id, origin, number, kind)


def add_link(place: Placed, slot: Raw, id_: int, origin: Raw, number: int, kind: str) -> None:
    """Adds a link from output `number` of the node `origin` into an input that has none."""
    slots = place.node.get("inputs") or []
    target = next(place_ for place_, one in enumerate(slots) if one is slot)
    ends = (origin["id"], number, place.node["id"], target)
    names = ("origin_id", "origin_slot", "target_id", "target_slot")
    new: Any = [id_, *ends, kind]
    if place.outer:
        new = {"id": id_, **dict(zip(names, ends, strict=True)), "type": kind}
    place.scope.graph["links"].append(new)
    slot["link"] = id_
    output = origin["outputs"][number]
    output["links"] = [*(output.get("links") or []), id_]


def link_id(link: Any) -> Any:
    """The id of a link in either form."""
    return link[0] if isinstance(link, list) else link.get("id")


def put(place: Placed, widget: Widget, value: Any) -> None:
    """Sets a widget, and what the subgraphs around it keep as the promoted widget's value."""
    before = place.node["widgets_values"][widget.place]
    place.node["widgets_values"][widget.place] = value
    for instance in place.outer:
        kept = instance.get("widgets_values")
        if isinstance(kept, list):
            instance["widgets_values"] = [value if one == before else one for one in kept]


def is_plain(kind: Any) -> bool:
    """Whether it is one type of sockets, such as `MODEL`, and no widget's, no group's, no `*`."""
    return (
        isinstance(kind, str)
        and kind.isupper()
        and kind not in raw.WIDGET_TYPES
        and not any(mark in kind for mark in ("*", ",", "COMFY_"))
    )
