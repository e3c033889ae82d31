"""The parts of a workflow's file: nodes, slots, links, groups, and what is none of these.

Each part keeps the JSON that it was read from (`raw`), which is never changed: an edit makes new
parts with `dataclasses.replace`, and what an edit does not touch is written as it was. Slots are
read when they are first asked for. Identities are texts: the number 3 and the text "3" are one
node, as in ComfyUI's front end. `graph.py` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from .inputs import mapping, sequence

SUBGRAPH_INPUT = "-10"
"""The node that a link inside a subgraph comes from where it comes from outside."""
SUBGRAPH_OUTPUT = "-20"
"""The node that a link inside a subgraph goes to where it leaves the subgraph."""

RUN, MUTED, BYPASSED = 0, 2, 4
"""Modes of a node. A muted node gives nothing; a bypassed node passes its inputs on."""

NOTES = frozenset({"Note", "MarkdownNote"})
REROUTE = "Reroute"
PRIMITIVE = "PrimitiveNode"
SETTERS = frozenset({"SetNode", "easy setNode"})
GETTERS = frozenset({"GetNode", "easy getNode"})
"""Nodes of widespread packages that make a link by a name, their first value, without a line."""
REROUTES = frozenset({REROUTE, "Reroute (rgthree)"})
VIRTUAL_TYPES = NOTES | SETTERS | GETTERS | REROUTES | {PRIMITIVE}
"""Types that only the page knows and that are never part of a prompt."""

Part = Literal["node", "link", "group", "subgraph"]


@dataclass(slots=True)
class Slot:
    """An input or output of a node, or of a subgraph. `links` are the ids that the file lists.

    Nobody changes one. It is not frozen because a workflow has tens of thousands of them, and a
    frozen one takes five times as long to make.
    """

    name: str
    type: str
    links: tuple[str, ...]
    widget: str | None = None
    """The widget that this input belongs to; a link takes the widget's place."""
    label: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def link(self) -> str | None:
        """The link of an input."""
        return self.links[0] if self.links else None


@dataclass(frozen=True)
class Link:
    """A link by its ends: output `source_slot` of `source` feeds input `target_slot` of `target`.

    Inside a subgraph the ends may be `SUBGRAPH_INPUT` and `SUBGRAPH_OUTPUT`.
    """

    id: str
    source: str
    source_slot: int
    target: str
    target_slot: int
    type: str
    raw: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Group:
    """A titled frame. Which nodes it holds follows from places alone: see `Scope.members`."""

    title: str
    bounds: tuple[float, float, float, float]
    """x, y, width and height, in pixels of the canvas."""
    raw: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Oddity:
    """Something in the file that is no such part; it is kept and written where it was."""

    part: Part
    position: int
    why: str
    raw: Any = field(repr=False)


@dataclass(frozen=True)
class Node:
    """A node of any type, known or not. `raw` is its JSON in the UI format."""

    id: str
    """What an API prompt calls the node; the file may have another: see `numbering.py`."""
    raw: Mapping[str, Any] = field(repr=False)

    @cached_property
    def type(self) -> str:
        kind = self.raw.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def title(self) -> str | None:
        """The title that somebody gave; `None` where the node has the title of its type."""
        title = self.raw.get("title")
        return title if isinstance(title, str) and title else None

    @property
    def mode(self) -> int:
        mode = self.raw.get("mode")
        return mode if isinstance(mode, int) else RUN

    @property
    def runs(self) -> bool:
        """Whether the node itself is neither muted nor bypassed."""
        return self.mode not in (MUTED, BYPASSED)

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        """The inputs that the file lists; not each input of the definition need be among them."""
        return tuple(map(input_slot, sequence(self.raw.get("inputs"))))

    @cached_property
    def outputs(self) -> tuple[Slot, ...]:
        return tuple(map(output_slot, sequence(self.raw.get("outputs"))))

    @property
    def properties(self) -> Mapping[str, Any]:
        return mapping(self.raw.get("properties"))

    @property
    def values(self) -> Sequence[Any]:
        """The values of the widgets by place, as the file has them; none where it has no list."""
        return sequence(self.raw.get("widgets_values"))

    @property
    def named_values(self) -> Mapping[str, Any]:
        """The values of the widgets by name, where the file has them so; else empty.

        Some packages write an object for a list; the front end writes both beside each other.
        """
        values = self.raw.get("widgets_values")
        return (
            values if isinstance(values, Mapping) else mapping(self.raw.get("widgets_values_named"))
        )

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """x, y, width and height, in pixels of the canvas; 0 for what the file does not say."""
        x, y = _pair(self.raw.get("pos"))
        width, height = _pair(self.raw.get("size"))
        return x, y, width, height


@dataclass(frozen=True)
class PromptNode(Node):
    """A node of an API prompt: `{"class_type", "inputs", "_meta"}`."""

    @property
    def type(self) -> str:
        kind = self.raw.get("class_type")
        return kind if isinstance(kind, str) else ""

    @property
    def title(self) -> str | None:
        title = mapping(self.raw.get("_meta")).get("title")
        return title if isinstance(title, str) and title else None

    @property
    def mode(self) -> int:
        return RUN

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        """The inputs that are links. The link's id is `node.input`."""
        return tuple(
            Slot(str(name), "*", (f"{self.id}.{name}",))
            for name, value in mapping(self.raw.get("inputs")).items()
            if is_prompt_link(value)
        )

    @property
    def outputs(self) -> tuple[Slot, ...]:
        """None: a prompt does not list them. See the node's definition."""
        return ()

    @property
    def named_values(self) -> Mapping[str, Any]:
        """The values by name, lists out of their wrapping (`{"__value__": [...]}`)."""
        return {
            str(name): unwrapped(value)
            for name, value in mapping(self.raw.get("inputs")).items()
            if not is_prompt_link(value)
        }


def identity(value: Any) -> str | None:
    """An id as text, as the front end writes it; `None` for what cannot be an id."""
    if value is None:
        return None
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python writes
        return None


def input_slot(raw: Any) -> Slot:
    """An input of a node from its JSON, whatever it is."""
    raw = mapping(raw)
    link = identity(raw.get("link"))
    widget = mapping(raw["widget"]).get("name") if "widget" in raw else None
    label = raw.get("label")
    return Slot(
        text(raw.get("name")),
        slot_type(raw.get("type")),
        (link,) if link is not None else (),
        widget if isinstance(widget, str) else None,
        label if isinstance(label, str) else None,
        raw,
    )


def output_slot(raw: Any) -> Slot:
    """An output of a node, or an input or output of a subgraph (`linkIds`), from its JSON."""
    raw = mapping(raw)
    listed = raw["links"] if "links" in raw else raw.get("linkIds")
    return Slot(
        name=text(raw.get("name")),
        type=slot_type(raw.get("type")),
        links=tuple(link for link in map(identity, sequence(listed)) if link is not None),
        label=raw["label"] if isinstance(raw.get("label"), str) else None,
        raw=raw,
    )


def slot_type(value: Any) -> str:
    """The type of a slot as text. Old files have 0 or nothing for *any*, or a list of choices."""
    if isinstance(value, str):
        return value or "*"
    return "COMBO" if isinstance(value, list) else "*"


def is_prompt_link(value: Any) -> bool:
    """Whether an input's value in a prompt is a link: `[node, output]`, as ComfyUI decides it."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], (int, float))
    )


def unwrapped(value: Any) -> Any:
    """A prompt's value without the object that keeps a list from being read as a link."""
    if isinstance(value, Mapping) and "__value__" in value:
        inner = value["__value__"]
        if value.get("__type__") == "CURVE" or isinstance(inner, list):
            return inner
    return value


def text(value: Any) -> str:
    """A name as text; empty where it is none."""
    return value if isinstance(value, str) else ""


def _pair(value: Any) -> tuple[float, float]:
    """Two numbers from a list, or from an object with the keys "0" and "1"."""
    if isinstance(value, Mapping):
        value = [value.get("0"), value.get("1")]
    pair = [
        float(part)
        if isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) < 1e300
        else 0.0
        for part in sequence(value)[:2]
    ]
    return (pair[0], pair[1]) if len(pair) == 2 else (0.0, 0.0)
