"""The widgets that ComfyUI's front end (1.58) makes for an input, with their first values.

One input may have several widgets: a seed is followed by `control_after_generate`, a choice of
files by its button. Which of them are in the file's list of values, and which in a prompt, is said
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from .inputs import DYNAMIC_COMBO, MEDIA_UPLOADS, Input, mapping
from .node_definitions import NodeDefinition
from .page_values import UNSET, is_truthy, key_order, page_text

CONTROL = "control_after_generate"
CONTROL_MODES = ("fixed", "increment", "decrement", "randomize", "increment-wrap")
SEED_NAMES = ("seed", "noise_seed")
TEXT = "customtext"
"""The type of a text field of several lines, which holds nothing but texts."""


@dataclass(eq=False, slots=True)
class Widget:
    """A widget with its value; `value` is `UNSET` where the front end has none."""

    name: str
    type: str
    """The type of its input, or `control`, `filter`, `button`, `preview`, `customtext`, …"""
    value: Any = UNSET
    input: Input | None = None
    """The input that it was made for."""
    choices: Sequence[Any] = ()
    in_file: bool = True
    """Whether the file's list of values has a place for it."""
    in_prompt: bool = True
    place: int | None = None
    """The place in the file's list of values that its value was taken from."""
    dynamic_prompt: bool = False
    """Whether `{a|b}` and comments are resolved when the prompt is queued."""

    @property
    def control(self) -> bool:
        """Whether it says how a seed changes after each run; never part of a prompt."""
        return self.type in ("control", "filter")

    def copy(self) -> Widget:
        """The same widget for another node."""
        return Widget(
            self.name,
            self.type,
            deepcopy(self.value) if isinstance(self.value, (list, dict)) else self.value,
            self.input,
            self.choices,
            self.in_file,
            self.in_prompt,
            self.place,
            self.dynamic_prompt,
        )

    def assign(self, value: Any) -> None:
        """Give it a value as the front end's widget takes it."""
        if self.type in _FIXED:
            return
        self.value = page_text(value) if self.type == TEXT else value


_FIXED = frozenset({"preview", "index"})
"""Types of widgets whose value cannot be set."""
PLAIN = frozenset({"INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", "control"})
"""Types of widgets that take any value as it is, with nothing that follows from it."""


def make_widgets(name: str, spec: Input, taken: Sequence[Widget]) -> list[Widget]:
    """The widgets of one input. `name` is its full name; `taken` are the node's earlier widgets."""
    kind = spec.widget_type
    maker = _MAKERS.get(kind)
    if maker is not None:
        return maker(name, spec, taken)
    default = deepcopy(spec.default) if is_truthy(spec.default) else _EMPTY.get(kind, UNSET)
    return [Widget(name, kind, deepcopy(default), spec)]


def _integer(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    main = Widget(name, "INT", _given(spec.default, 0), spec)
    control = spec.options.get(CONTROL)
    if control is None:
        control = name in SEED_NAMES
    return [main, *([_control(spec, "randomize")] if is_truthy(control) else [])]


def _float(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    main = Widget(name, "FLOAT", _given(spec.default, 0), spec)
    return [main, *([_control(spec, "fixed")] if is_truthy(spec.options.get(CONTROL)) else [])]


def _boolean(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    return [Widget(name, "BOOLEAN", _given(spec.default, False), spec)]


def _string(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    kind = TEXT if is_truthy(spec.options.get("multiline")) else "STRING"
    dynamic = spec.options.get("dynamicPrompts") is True
    return [Widget(name, kind, _given(spec.default, ""), spec, dynamic_prompt=dynamic)]


def _combo(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    options = spec.options
    choices = spec.choices or ()
    remote = is_truthy(options.get("remote"))
    if is_truthy(spec.default):
        default = spec.default
    elif choices:
        default = choices[0]
    else:
        default = "Loading..." if remote else UNSET
    if is_truthy(options.get("multi_select")):
        return [Widget(name, "multiselect", [], spec, choices)]
    made = [Widget(name, "COMBO", default, spec, choices)]
    if remote:
        made.append(Widget("Auto-refresh after generation", "BOOLEAN", False, in_prompt=False))
        if is_truthy(mapping(options.get("remote")).get("refresh_button")):
            made.append(Widget("refresh", "button", "refresh"))
    if is_truthy(options.get(CONTROL)):
        made.append(_control(spec, "randomize"))
        made.append(Widget("control_filter_list", "filter", "", in_prompt=False))
    return made


def _dynamic_combo(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    keys = key_order(spec.branches)
    return [Widget(name, DYNAMIC_COMBO, keys[0] if keys else UNSET, spec, keys)]


def _bounding_box(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    box = mapping(spec.default) or {"x": 0, "y": 0, "width": 512, "height": 512}
    made = [Widget(name, "BOUNDING_BOX", dict(box), spec)]
    for side in ("x", "y", "width", "height"):
        made.append(Widget(side, "INT", box.get(side, UNSET), in_prompt=False))
    return made


def _image_compare(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    return [Widget(name, "IMAGECOMPARE", ["", ""], spec, in_file=False)]


def _color(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    default = _given(spec.default, mapping(spec.options.get("options")).get("default"))
    return [Widget(name, "COLOR", _given(default, "#000000"), spec)]


def _compositor(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    return [Widget(name, "COMPOSITOR", dict(mapping(spec.default)), spec)]


def _load_3d(name: str, spec: Input, taken: Sequence[Widget]) -> list[Widget]:
    made = []
    if any(widget.name == "model_file" for widget in taken):
        for label, value in (
            ("upload 3d model", "upload3dmodel"),
            ("upload extra resources", "uploadExtraResources"),
            ("clear", "clear"),
        ):
            made.append(Widget(label, "button", value))
    if name == "viewport_state":
        return [Widget(name, "preview", deepcopy(VIEWPORT), spec)]
    return [*made, Widget(name, "preview", "", spec)]


def _preview(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    return [Widget(name, "preview", "", spec)]


def _upload_button(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    value = "image" if spec.widget_type == "IMAGEUPLOAD" else ""
    return [Widget(name, "button", value, spec, in_prompt=False)]


def _audio_player(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    return [Widget(name, "preview", "", spec, in_file=False, in_prompt=False)]


def _resolution_preview(name: str, spec: Input, _: Sequence[Widget]) -> list[Widget]:
    return [Widget(name, "preview", None, spec, in_file=False, in_prompt=False)]


VIEWPORT = {
    "image": "",
    "mask": "",
    "normal": "",
    "camera_info": {
        "position": {"x": 10, "y": 10, "z": 10.000000000000002},
        "target": {"x": 0, "y": 0, "z": 0},
        "zoom": 1,
        "cameraType": "perspective",
        "quaternion": {
            "x": -0.2798481423331213,
            "y": 0.3647051996310008,
            "z": 0.11591689595929511,
            "w": 0.8804762392171493,
        },
        "fov": 35,
        "aspect": 1,
        "near": 0.01,
        "far": 10000,
        "frustum": {"left": -5, "right": 5, "top": 5, "bottom": -5},
    },
    "recording": "",
    "model_3d_info": [],
}
"""What a view of a 3D model says before anybody turned it; measured in the front end."""

_MAKERS = {
    "INT": _integer,
    "FLOAT": _float,
    "BOOLEAN": _boolean,
    "STRING": _string,
    "COMBO": _combo,
    DYNAMIC_COMBO: _dynamic_combo,
    "BOUNDING_BOX": _bounding_box,
    "IMAGECOMPARE": _image_compare,
    "COLOR": _color,
    "COMPOSITOR": _compositor,
    "LOAD_3D": _load_3d,
    "LOAD_3D_ADVANCED": _preview,
    "PREVIEW_3D": _preview,
    "WEBCAM": _preview,
    "AUDIO_RECORD": _preview,
    "IMAGEUPLOAD": _upload_button,
    "AUDIOUPLOAD": _upload_button,
    "AUDIO_UI": _audio_player,
    "RESOLUTION_PREVIEW": _resolution_preview,
}
_EMPTY = {
    "TEXTAREA": "",
    "MARKDOWN": "",
    "CHART": {},
    "GALLERIA": [],
    "COLORS": [],
    "BOUNDING_BOXES": [],
    "LIGHT_INFO_PREVIEW": [],
    "RANGE": {"min": 0.0, "max": 1.0},
    "CURVE": {"points": [[0, 0], [1, 1]], "interpolation": "monotone_cubic"},
    "VIDEO_EDIT": {
        "trim": {"start_time": 0, "duration": 0},
        "crop": {"x": 0, "y": 0, "width": 0, "height": 0},
    },
}
"""The values that widgets without a default in their definition begin with."""


def _given(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value


def _control(spec: Input, mode: str) -> Widget:
    """The widget that says how the value before it changes after each run."""
    asked = spec.options.get(CONTROL)
    name = CONTROL
    if isinstance(asked, str) and asked.strip():
        if asked in CONTROL_MODES:
            mode = asked
        else:
            name = asked
    elif is_truthy(spec.options.get("control_prefix")):
        name = f"{spec.options['control_prefix']} {CONTROL}"
    return Widget(name, "control", mode, choices=CONTROL_MODES, in_prompt=False)


AUDIO_PLAYERS = frozenset(
    "LoadAudio SaveAudio PreviewAudio SaveAudioMP3 SaveAudioOpus SaveAudioAdvanced".split()
)
MODEL_PREVIEWS = frozenset({"Preview3D", "SaveGLB"})
TEXT_PREVIEWS = frozenset({"PreviewAny", "SaveText"})


def added_inputs(definition: NodeDefinition) -> list[Input]:
    """The inputs that the front end adds to a definition: buttons, players, previews."""
    required = [one for one in definition.inputs if not one.optional]
    added = []
    if definition.type in AUDIO_PLAYERS:
        added.append(Input("audioUI", "AUDIO_UI", {}))
    upload = next(
        (
            one
            for one in required
            if one.type == "COMBO" and any(one.options.get(key) is True for key in MEDIA_UPLOADS)
        ),
        None,
    )
    if upload is not None:
        added.append(Input("upload", "IMAGEUPLOAD", {}))
    audio = next((one for one in required if one.name == "audio"), None)
    if audio is not None and audio.options.get("audio_upload") is True:
        added = [one for one in added if one.name != "upload"]
        added.append(Input("upload", "AUDIOUPLOAD", {}))
    if definition.type in MODEL_PREVIEWS and all(one.name != "image" for one in required):
        added.append(Input("image", "PREVIEW_3D", {}))
    return added


def added_widgets(type_: str) -> list[Widget]:
    """The widgets that the front end adds to a new node of a type, after those of its inputs."""
    if type_ in TEXT_PREVIEWS:
        preview = Widget("preview_text", "preview", "", in_file=False, in_prompt=False)
        mode = Widget("preview_mode", "BOOLEAN", False, in_file=False, in_prompt=False)
        return [preview, mode]
    if type_ == "WebcamCapture":
        return [Widget("waiting for camera...", "button", UNSET)]
    if type_ == "CustomCombo":
        return [Widget("index", "index", -1), Widget("option1", "option", "")]
    return []


def make_unique(widgets: Sequence[Widget]) -> None:
    """Rename the later widgets of one name to `name#1`, `name#2`, as the front end does."""
    taken = {widget.name for widget in widgets}
    used: set[str] = set()
    numbers: dict[str, int] = {}
    for widget in widgets:
        name = widget.name
        if name in used:
            number = numbers.get(name, 1)
            while f"{name}#{number}" in taken:
                number += 1
            numbers[name] = number
            widget.name = f"{name}#{number}"
            taken.add(widget.name)
        used.add(widget.name)
