"""A reader of UI workflows that shares no code with the plugin's own.

The benches of the graph model (`workflow.py`) need a second opinion: the questions and the injected
defects are stated in terms of this reader, which knows nodes, links, subgraphs and, where it is
sure of them, widgets by name. What it is not sure of it leaves out, so that a bench asks about less
rather than asks wrongly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Raw = dict[str, Any]

MUTED, BYPASSED = 2, 4
NOT_RUN = ("Note", "MarkdownNote", "Reroute", "PrimitiveNode")
"""Types that the front end resolves itself: they have no node definition."""
WIDGET_TYPES = frozenset({"INT", "FLOAT", "STRING", "BOOLEAN", "COMBO"})
DYNAMIC_COMBO, AUTOGROW = "COMFY_DYNAMICCOMBO_V3", "COMFY_AUTOGROW_V3"
UPLOADS = ("image_upload", "video_upload", "audio_upload", "animated_image_upload")
INPUT_SIDE, OUTPUT_SIDE = -10, -20
"""The ids under which links inside a subgraph name its own inputs and outputs."""
DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Link:
    """A link by its ends: node ids of its own scope and the numbers of the slots there."""

    id: int
    origin: Any
    origin_slot: int
    target: Any
    target_slot: int
    type: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The root graph or a subgraph's definition, as raw JSON."""

    graph: Raw
    name: str

    @property
    def nodes(self) -> list[Raw]:
        return [node for node in self.graph.get("nodes") or [] if isinstance(node, dict)]

    def links(self) -> dict[int, Link]:
        return {link.id: link for link in _links(self.graph)}


@dataclass(frozen=True, slots=True)
class Placed:
    """A node at its address: the ids of the subgraph instances around it, then its own."""

    address: str
    node: Raw
    scope: Scope
    outer: tuple[Raw, ...]

    @property
    def local(self) -> str:
        return str(self.node["id"])

    @property
    def type(self) -> str:
        return str(self.node["type"])

    @property
    def mode(self) -> int:
        return int(self.node.get("mode") or 0)

    @property
    def runs(self) -> bool:
        """Whether neither the node nor a subgraph around it is muted or bypassed."""
        return not any(
            int(one.get("mode") or 0) in (MUTED, BYPASSED) for one in (self.node, *self.outer)
        )


@dataclass(frozen=True, slots=True)
class Widget:
    """A widget by name, the place of its value in `widgets_values`, and its definition."""

    name: str
    place: int
    spec: list[Any]


def subgraphs(workflow: Raw) -> dict[str, Raw]:
    found = (workflow.get("definitions") or {}).get("subgraphs") or []
    return {one["id"]: one for one in found}


def placed(workflow: Raw) -> Iterator[Placed]:
    """Every node at each of its addresses, a subgraph's nodes once per instance."""
    known = subgraphs(workflow)

    def inside(scope: Scope, path: tuple[str, ...], outer: tuple[Raw, ...]) -> Iterator[Placed]:
        for node in scope.nodes:
            here = (*path, str(node["id"]))
            yield Placed(":".join(here), node, scope, outer)
            definition = known.get(node["type"])
            if definition is not None and len(path) < DEEPEST:
                deeper = Scope(definition, str(definition.get("name") or ""))
                yield from inside(deeper, here, (*outer, node))

    yield from inside(Scope(workflow, ""), (), ())


def _links(graph: Raw) -> Iterator[Link]:
    for link in graph.get("links") or []:
        if isinstance(link, list) and len(link) >= 6:
            yield Link(*link[:6])
        elif isinstance(link, dict):
            yield Link(
                link["id"],
                link["origin_id"],
                link["origin_slot"],
                link["target_id"],
                link["target_slot"],
                str(link.get("type")),
            )


def specs(definition: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The inputs of a node's definition by name, as `[type, options]`, required ones first."""
    inputs = definition.get("input") or {}
    return {
        name: list(spec)
        for group in ("required", "optional")
        for name, spec in (inputs.get(group) or {}).items()
    }


def required(definition: Mapping[str, Any]) -> frozenset[str]:
    return frozenset((definition.get("input") or {}).get("required") or {})


def options(spec: list[Any]) -> Raw:
    return spec[1] if len(spec) > 1 and isinstance(spec[1], dict) else {}


def choices(spec: list[Any]) -> list[Any] | None:
    """The choices of a combo; None for everything else."""
    if isinstance(spec[0], list):
        return spec[0]
    if spec[0] == "COMBO":
        found = options(spec).get("options")
        return found if isinstance(found, list) else None
    return None


def is_widget(spec: list[Any]) -> bool:
    kind = "COMBO" if isinstance(spec[0], list) else spec[0]
    known = kind in WIDGET_TYPES or kind == DYNAMIC_COMBO
    return known and not options(spec).get("forceInput")


def widgets(node: Raw, definition: Mapping[str, Any]) -> list[Widget] | None:
    """The widgets of a node, in the order of its values; None where that order is not sure."""
    values = node.get("widgets_values")
    if not isinstance(values, list):
        return None
    found: list[Widget] = []
    place = 0
    uploads = 0
    for name, spec in _flat(specs(definition), values, found):
        found.append(Widget(name, place, spec))
        place += 2 if _turned(name, spec) else 1
        uploads += any(options(spec).get(one) for one in UPLOADS)
        if place > len(values):
            return None
    sure = place in (len(values), len(values) - uploads)
    return found if sure and all(_fits(one, values) for one in found) else None


def _flat(
    inputs: Mapping[str, list[Any]], values: list[Any], found: list[Widget], before: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    """The widgets that a node shows; those of a dynamic combo follow the choice that is made."""
    for name, spec in inputs.items():
        if not is_widget(spec):
            continue
        yield f"{before}{name}", spec
        if spec[0] == DYNAMIC_COMBO:
            place = found[-1].place
            chosen = values[place] if place < len(values) else None
            for option in options(spec).get("options") or []:
                if option.get("key") == chosen:
                    nested = specs({"input": option.get("inputs") or {}})
                    yield from _flat(nested, values, found, f"{before}{name}.")


def _turned(name: str, spec: list[Any]) -> bool:
    """Whether `control_after_generate` has a value of its own after this one."""
    said = options(spec).get("control_after_generate")
    return bool(said) or (said is None and spec[0] == "INT" and name in ("seed", "noise_seed"))


def _fits(widget: Widget, values: list[Any]) -> bool:
    value, kind = values[widget.place], widget.spec[0]
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind in ("INT", "FLOAT"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == DYNAMIC_COMBO:
        return any(one.get("key") == value for one in options(widget.spec).get("options") or [])
    listed = choices(widget.spec)
    if listed:
        return isinstance(value, type(listed[0]))
    return isinstance(value, str)


def linked(placed_node: Placed, name: str) -> Link | None:
    """The link that feeds the input `name`; None without one."""
    found = placed_node.scope.links()
    for slot in placed_node.node.get("inputs") or []:
        if slot.get("name") == name and slot.get("link") is not None:
            return found.get(slot["link"])
    return None
