"""How large a new node will be in the front end, which measures its texts: here each letter counts
the same.

The rules and figures are those of the stock front end (1.58). Of ComfyUI's own 885 types,
width and height are right within a fifth for 96 in a hundred, not counting pictures.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..live_nodes import LiveNode
from .boxes import TITLE

_SLOT = 20.0
_WIDGET = 24.0
_EDGE = 6.0
_WIDGETS_EDGE = 8.0
_TITLE_LETTER, _LETTER = 7.0, 6.2
"""Average width of a letter of the title (14 pixels) and of other texts (12 pixels)."""
_VALUE = 104.0
"""What a widget needs besides its name."""
_NARROWEST = 140.0
_MORE_WITH_WIDGETS = 60.0
_TEXT = (400.0, 200.0)
"""The least size of a node with a text of several lines."""
_MORE_FOR_TEXT = 36.0
_PICTURE = 220.0
"""Height of a picture below the widgets, which comes when there is one."""
_UPLOADS = ("image_upload", "video_upload", "animated_image_upload")
_PICTURE_TYPES = frozenset({"IMAGE", "MASK", "VIDEO"})
_OWN: dict[str, tuple[float, float]] = {
    "CreateBoundingBoxes": (420.0, 560.0),
    "CreateCameraInfo": (360.0, 480.0),
    "ImageCompare": (400.0, 350.0),
    "ImageCompositor": (300.0, 400.0),
    "ImageCropV2": (300.0, 450.0),
    "Load3D": (300.0, 600.0),
    "Load3DAdvanced": (300.0, 600.0),
    "LoadAudio": (290.0, 136.0),
    "Painter": (450.0, 550.0),
    "Preview3D": (400.0, 550.0),
    "Preview3DAdvanced": (400.0, 550.0),
    "PreviewAny": (210.0, 122.0),
    "PreviewAudio": (270.0, 88.0),
    "PreviewGaussianSplat": (400.0, 550.0),
    "PreviewPointCloud": (400.0, 550.0),
    "RecordAudio": (270.0, 112.0),
    "Save3DAdvanced": (400.0, 550.0),
    "SaveAudio": (330.0, 112.0),
    "SaveAudioMP3": (330.0, 136.0),
    "SaveGLB": (400.0, 550.0),
    "SaveGaussianSplat": (400.0, 550.0),
    "SavePointCloud": (400.0, 550.0),
}
"""Types that draw something of their own."""


def estimated_size(node: LiveNode) -> tuple[float, float]:
    """Width and height, without the title, of a new node: with room for a picture that it shows."""
    if node.type in _OWN:
        return _OWN[node.type]
    shown = [one for one in node.widgets if one.type != "preview"]
    names = {one.name for one in shown}
    sockets = [one for one in node.inputs if one.widget is None or one.widget not in names]
    rows = max(len(sockets), len(node.outputs), 1)
    slots = _widest(one.name for one in sockets) + _widest(one.name for one in node.outputs)
    widgets = _widest(names) + _VALUE if names else 0.0
    title = len(node.title) * _TITLE_LETTER + TITLE * 1.33
    least = _NARROWEST * (1.5 if shown else 1.0)
    width = max(slots + 2 * _SLOT + 5, widgets, title, least)
    height = rows * _SLOT + _EDGE
    if shown:
        width += _MORE_WITH_WIDGETS
        texts = sum(one.type == "customtext" for one in shown)
        height += _WIDGETS_EDGE + len(shown) * _WIDGET + texts * _MORE_FOR_TEXT
    if any(one.type == "customtext" for one in shown):
        width, height = max(width, _TEXT[0]), max(height, _TEXT[1])
    if _shows_picture(node):
        height += _PICTURE
    return float(round(width)), float(round(height))


def _shows_picture(node: LiveNode) -> bool:
    """Whether a node loads a picture or a video, or shows what it saves."""
    specs = [one.input.options for one in node.widgets if one.input is not None]
    if any(options.get(name) for options in specs for name in _UPLOADS):
        return True
    saves = node.definition is not None and node.definition.is_output
    return saves and any(_PICTURE_TYPES & set(one.type.split(",")) for one in node.inputs)


def _widest(names: Iterable[str]) -> float:
    return max((len(name) for name in names), default=0) * _LETTER
