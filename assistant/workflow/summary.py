"""An analysis in words: one sentence for people, and a few lines for the model."""

from __future__ import annotations

import re
from itertools import islice

from ..messages.fences import quoted
from .analysis import Analysis, Sampling

PLURAL = {
    "image": "pictures",
    "video": "videos",
    "audio": "audio",
    "3D model": "3D models",
    "vector graphic": "vector graphics",
    "text": "text",
}
FROM = {
    "image": "a picture",
    "video": "a video",
    "audio": "a sound",
    "3D model": "a 3D model",
}
LONGEST_LIST = 8
LONGEST_NAME = 120
"""Characters of a name of a file or sampler. Such names are anybody's words."""
USUAL = re.compile(r"[\w./\\:+-]+", re.ASCII)


def sentence(found: Analysis) -> str:
    """What a workflow makes, such as "This makes 1024 × 1024 pictures with Z-Image Turbo."

    "" where no output is known: then there is nothing to say.
    """
    if not found.makes:
        return ""
    return f"This {_doing(found)}{_with(found)}."


def _doing(found: Analysis) -> str:
    if found.task == "inpainting":
        return "repaints a part of a picture"
    if found.task == "image editing":
        return "edits pictures"
    made = f"{_size(found)}{PLURAL[found.makes]}{_length(found)}"
    given, _, _ = found.task.rpartition(" to ")
    sources = [FROM[one] for one in given.split(" and ") if one in FROM]
    return f"makes {made}" + (f" from {' and '.join(sources)}" if sources else "")


def _size(found: Analysis) -> str:
    of_sampler = found.main and not found.service and found.makes in ("image", "video")
    size = found.main.size if found.main and of_sampler else None
    return f"{size[0]} × {size[1]} " if size else ""


def _length(found: Analysis) -> str:
    return f" of {_number(round(found.seconds, 1))} s" if found.seconds else ""


def _with(found: Analysis) -> str:
    paid = f"{found.service}, a paid service" if found.service else ""
    family = found.family.name if found.family else ""
    named = f"{family} and {paid}" if family and paid else family or paid
    return f" with {named}" if named else ""


def details(found: Analysis) -> list[str]:
    """The rest in lines: samplers, LoRAs, outputs, what is off and what nothing needs."""
    lines = [_sampler_line(one) for one in found.samplers[:LONGEST_LIST]]
    loras = {one.address: one for sampling in found.samplers for one in sampling.loras}
    lines += [
        f"LoRA {_name(one.address)}: {_name(one.file)}"
        + (f" at {_number(one.strength)}" if one.strength is not None else "")
        for one in islice(loras.values(), LONGEST_LIST)
    ]
    more = len(found.samplers) + len(loras) - len(lines)
    if more:
        lines.append(f"{more} more samplers and LoRAs")
    if found.outputs:
        lines.append(f"The result comes out at {_some(found.outputs)}.")
    if found.off:
        lines.append(f"Behind a switch that is off: {_some(found.off)}.")
    if found.dead:
        lines.append(f"No output needs {_some(found.dead)}.")
    return lines


def _sampler_line(one: Sampling) -> str:
    said = [
        _name(one.model.file) if one.model else "",
        f"{_number(one.steps)} steps" if one.steps is not None else "",
        f"CFG {_number(one.cfg)}" if one.cfg is not None else "",
        " ".join(_name(part) for part in (one.sampler, one.scheduler) if part),
        f"denoise {_number(one.denoise)}" if one.denoise not in (None, 1.0) else "",
        f"{one.size[0]} × {one.size[1]}" if one.size else "",
        f"{one.frames} frames" if one.frames and one.frames > 1 else "",
    ]
    return f"Sampler {_name(one.address)}: {', '.join(part for part in said if part)}"


def _some(addresses: tuple[str, ...]) -> str:
    shown = ", ".join(_name(one) for one in addresses[:LONGEST_LIST])
    more = len(addresses) - LONGEST_LIST
    return f"{shown} and {more} more" if more > 0 else shown


def _name(text: str) -> str:
    """A name as it is where it has usual characters only, else as a JSON string."""
    shown = text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"
    return shown if USUAL.fullmatch(shown) else quoted(shown)


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 4):g}"
