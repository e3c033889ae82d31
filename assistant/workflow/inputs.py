"""The inputs of a node, as its definition in `/object_info` describes them.

An input's description is `[type, options]`; an older choice is `[[names], options]`. Three types of
the newer nodes are dynamic: `COMFY_DYNAMICCOMBO_V3` adds inputs that depend on the chosen option,
`COMFY_AUTOGROW_V3` has as many inputs as are connected, and the inputs of one `COMFY_MATCHTYPE_V3`
template must have one type. Nested inputs are named with dots, as in a prompt:
`resize_type.width`, `images.image0`. This module knows nothing of graphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

ANY = "*"
"""The type of a socket that takes every type."""
COMBO = "COMBO"
DYNAMIC_COMBO = "COMFY_DYNAMICCOMBO_V3"
AUTOGROW = "COMFY_AUTOGROW_V3"
MATCH_TYPE = "COMFY_MATCHTYPE_V3"
UNKNOWN = "UNKNOWN"
"""The type of an input whose description is of no known form."""

WIDGET_TYPES = frozenset({
    "INT", "FLOAT", "BOOLEAN", "STRING", "MARKDOWN", COMBO, "IMAGEUPLOAD", "COLOR", "IMAGECOMPARE",
    "BOUNDING_BOX", "CHART", "GALLERIA", "PAINTER", "COMPOSITOR", "TEXTAREA", "CURVE", "RANGE",
    "VIDEO_EDIT", "RESOLUTION_PREVIEW", "BOUNDING_BOXES", "LIGHT_INFO_PREVIEW", "COLORS",
    DYNAMIC_COMBO, "COMFY_DYNAMICGROUP_V3", "AUDIO_UI", "AUDIOUPLOAD", "AUDIO_RECORD", "WEBCAM",
    "LOAD_3D", "PREVIEW_3D", "COMFY_BRANCH_INPUT_NAMES", "COMFY_BRANCH_SELECTOR",
})  # fmt: skip
"""The types that ComfyUI's front end (1.58) draws as a widget; all others are sockets only."""

MEDIA_UPLOADS = ("image_upload", "animated_image_upload", "video_upload")
"""Options that make a choice of files one that files can be added to."""
FILE_OPTIONS = (*MEDIA_UPLOADS, "audio_upload", "file_upload", "image_folder")
"""Options that only choices of the user's own files have."""

_ORDINAL = re.compile(r"\d+$")


@dataclass(frozen=True)
class Autogrow:
    """A group of inputs that grows: `names`, or `prefix` with a number from 0."""

    inputs: tuple[Input, ...]
    minimum: int
    maximum: int
    names: tuple[str, ...] | None
    prefix: str

    def name(self, ordinal: int, key: str) -> str:
        """The name, without the group's, of the input `key` of the row `ordinal`, from 0."""
        if self.names is not None:
            return self.names[ordinal] if 0 <= ordinal < len(self.names) else ""
        return f"{self.prefix if len(self.inputs) == 1 else key}{ordinal}"

    def ordinal(self, name: str) -> int | None:
        """The row of an input, given its name without the group's."""
        if self.names is not None:
            return self.names.index(name) if name in self.names else None
        found = _ORDINAL.search(name)
        return int(found[0]) if found and len(found[0]) < 10 else None

    def input(self, name: str) -> Input | None:
        """The description of the input with this name, given without the group's."""
        if self.names is not None:
            return self.inputs[0] if name in self.names and self.inputs else None
        ordinal = self.ordinal(name)
        if ordinal is None or ordinal >= self.maximum:
            return None
        return next((one for one in self.inputs if self.name(ordinal, one.name) == name), None)


@dataclass(frozen=True)
class Input:
    """One input. `options` is the definition's own, never changed; `name` is without a group's."""

    name: str
    type: str
    options: Mapping[str, Any]
    optional: bool = False
    choices: tuple[Any, ...] | None = field(default=None, repr=False)
    """The values of a `COMBO` as the definition lists them; empty where it lists none."""

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types that the socket takes: one, several (`"A,B"`), or `("*",)`."""
        if self.type == MATCH_TYPE:
            template = mapping(self.options.get("template"))
            allowed = template.get("allowed_types")
            return split_types(allowed) if isinstance(allowed, str) else (ANY,)
        if self.type == DYNAMIC_COMBO:
            return (COMBO,)
        return split_types(self.type)

    @property
    def template(self) -> str | None:
        """For a `COMFY_MATCHTYPE_V3` input, the name that inputs and outputs of one type share."""
        if self.type != MATCH_TYPE:
            return None
        name = mapping(self.options.get("template")).get("template_id")
        return name if isinstance(name, str) else None

    @property
    def widget_type(self) -> str:
        """The type of the widget, which may be another than the socket's."""
        other = self.options.get("widgetType")
        return other if isinstance(other, str) and other else self.type

    @property
    def has_widget(self) -> bool:
        """Whether the input is drawn as a widget, which a link may replace."""
        return self.widget_type in WIDGET_TYPES and not self.options.get("forceInput")

    @property
    def default(self) -> Any:
        """The definition's default; `None` where it has none. See `widgets.default_value`."""
        return self.options.get("default")

    @property
    def lists_files(self) -> bool:
        """Whether the choices are the user's own files (pictures, sounds), not models."""
        return self.type == COMBO and any(self.options.get(name) for name in FILE_OPTIONS)

    @cached_property
    def branches(self) -> Mapping[str, tuple[Input, ...]]:
        """Of a dynamic combo: for each option the inputs that it adds, in order; else empty."""
        if self.type != DYNAMIC_COMBO:
            return {}
        found: dict[str, tuple[Input, ...]] = {}
        for option in sequence(self.options.get("options")):
            key = mapping(option).get("key")
            if isinstance(key, str):
                found[key] = tuple(read_inputs(mapping(mapping(option).get("inputs"))))
        return found

    @cached_property
    def autogrow(self) -> Autogrow | None:
        """Of an autogrow input its rows; `None` for any other input."""
        if self.type != AUTOGROW:
            return None
        template = mapping(self.options.get("template"))
        names = template.get("names")
        listed = tuple(map(str, names)) if isinstance(names, list) else None
        return Autogrow(
            inputs=tuple(read_inputs(mapping(template.get("input")))),
            minimum=_whole(template.get("min"), 1),
            maximum=len(listed) if listed is not None else _whole(template.get("max"), 100),
            names=listed,
            prefix=str(template.get("prefix") or ""),
        )

    def inside(self, rest: str, value: Callable[[str], Any], path: str) -> Input | None:
        """The nested input `rest` of this one, whose full name is `path`.

        `value` gives the current value of a widget by its full name, since a dynamic combo has
        other inputs for each option.
        """
        if self.autogrow is not None:
            return self.autogrow.input(rest)
        chosen = self.branches.get(value(path)) if self.branches else None
        return find_input(chosen, rest, value, f"{path}.") if chosen else None


def find_input(
    inputs: Sequence[Input], name: str, value: Callable[[str], Any], prefix: str = ""
) -> Input | None:
    """The description of the input that a prompt calls `prefix + name`.

    A dotted name is looked for inside of dynamic inputs; see `Input.inside` for `value`.
    """
    for one in inputs:
        if one.name == name:
            return one
    for one in inputs:
        if name.startswith(f"{one.name}."):
            found = one.inside(name[len(one.name) + 1 :], value, prefix + one.name)
            if found is not None:
                return found
    return None


def read_inputs(description: Mapping[str, Any]) -> Iterator[Input]:
    """The inputs of `{"required": {...}, "optional": {...}}`, in this order."""
    for section in ("required", "optional"):
        for name, spec in mapping(description.get(section)).items():
            yield read_input(str(name), spec, section == "optional")


def read_input(name: str, spec: Any, optional: bool) -> Input:
    """One input from `[type, options]`, whatever its form; `UNKNOWN` where it has none."""
    parts = spec if isinstance(spec, (list, tuple)) else [spec]
    kind = parts[0] if parts else None
    options = mapping(parts[1]) if len(parts) > 1 else {}
    if isinstance(kind, (list, tuple)):
        return Input(name, COMBO, options, optional, tuple(kind))
    if kind == COMBO:
        return Input(name, COMBO, options, optional, tuple(sequence(options.get("options"))))
    return Input(name, kind if isinstance(kind, str) else UNKNOWN, options, optional)


def split_types(types: str) -> tuple[str, ...]:
    """The types of a socket: `"IMAGE,MASK"` is two; the empty type stands for any."""
    found = tuple(part.strip() for part in types.split(",") if part.strip())
    return found or (ANY,)


def connects(output: str, input_: str) -> bool:
    """Whether a link of the output's type may feed the input's type, as the front end decides.

    Types are compared without regard to case; `*` and the empty type fit every other.
    """
    if output == input_:
        return True
    offered, taken = split_types(output.lower()), split_types(input_.lower())
    return ANY in offered or ANY in taken or not set(offered).isdisjoint(taken)


def mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    # Asked for `dict` first: to ask an abstract class takes ten times as long.
    return value if isinstance(value, (dict, Mapping)) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def _whole(value: Any, otherwise: int) -> int:
    whole = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if whole and abs(value) < 1e9 else otherwise
