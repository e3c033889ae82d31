"""Checks of one value of a prompt against the definition of its input.

What ComfyUI refuses (`execution.validate_inputs`) is told from what it takes but nobody meant: it
makes a whole number of "20" and of 20.7, and *true* of the text "false".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Final

from .inputs import ANY, COMBO, DYNAMIC_COMBO, Input, mapping, sequence
from .validation_files import (
    beyond_the_list,
    files_by_ending,
    listed_files,
    model_folder,
    plain_file,
)
from .validation_inputs import Expected, leaves_to_node
from .validation_names import Nearest
from .validation_problems import NO_VALUE, Code, Fix, listed, shown
from .validation_sources import Source

SOCKETS: Final = frozenset(
    "MODEL CLIP VAE CONDITIONING LATENT IMAGE MASK AUDIO VIDEO CONTROL_NET CLIP_VISION "
    "CLIP_VISION_OUTPUT STYLE_MODEL GLIGEN UPSCALE_MODEL SAMPLER SIGMAS NOISE GUIDER HOOKS MESH "
    "SVG VOXEL LORA_MODEL AUDIO_ENCODER AUDIO_ENCODER_OUTPUT MODEL_PATCH PHOTOMAKER".split()
)
"""Types of ComfyUI's own that nobody can type in: an input of such a type takes links only."""
NUMBERS: Final = {"INT": "a whole number", "FLOAT": "a number"}
WORDS: Final = {**NUMBERS, "STRING": "a text", "BOOLEAN": "true or false"}


@dataclass(frozen=True)
class Finding:
    """A problem of one value, without its place. `refused`: ComfyUI does not take the value."""

    code: Code
    message: str
    fix: Fix | None
    refused: bool


class Choices:
    """A list of choices with an index, since lists of files are long."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self._texts = frozenset(one for one in values if isinstance(one, str))
        self.files = files_by_ending(values)
        """What the choices are files of, as far as their endings tell."""

    def __contains__(self, value: object) -> bool:
        """As ComfyUI decides it: by equality, so that 1, 1.0 and *true* are one choice."""
        if isinstance(value, str):
            return value in self._texts
        try:
            return value in self.values
        except RecursionError:
            return False

    @cached_property
    def by_text(self) -> Mapping[str, Any]:
        return {str(one): one for one in reversed(self.values)}


class ValueChecks:
    """Checks values; one object for one validation, since it remembers nearest names."""

    def __init__(self, nearest: Nearest, sources: dict[str, Source]) -> None:
        self._nearest = nearest
        self._sources = sources
        self._choices: dict[int, Choices] = {}

    def _indexed(self, values: Sequence[Any]) -> Choices:
        """The index of a list. Each holds its list, so that no other list gets that identity."""
        found = self._choices.get(id(values))
        if found is None:
            found = self._choices[id(values)] = Choices(values)
        return found

    def check(self, type_: str, expected: Expected, value: Any) -> Finding | None:
        """The first thing that is wrong with a value that is no link; `type_` is the node's."""
        one = expected.input
        value = mapping(value).get("__value__", value)
        if one.type == DYNAMIC_COMBO:
            keys = [mapping(option).get("key") for option in sequence(one.options.get("options"))]
            if keys and value not in keys:
                return self._not_a_choice(expected, value, Choices(keys), refused=False)
            return None
        taken = one.type.strip()
        wrong = _wrong_kind(expected.name, one, value)
        if wrong is not None and wrong.refused:
            return wrong
        free = leaves_to_node(type_, expected.name)
        if taken in NUMBERS or {"min", "max"} & one.options.keys():
            found = _out_of_range(expected.name, one, _converted(taken, value), refused=not free)
            if found is not None:
                return found
        if one.choices:
            found = self._among_choices(type_, expected, value, refused=not free)
            if found is not None:
                return found
        return wrong

    def _among_choices(
        self, type_: str, expected: Expected, value: Any, refused: bool
    ) -> Finding | None:
        one = expected.input
        choices = self._indexed(one.choices or ())
        several = bool(one.options.get("multiselect")) and isinstance(value, list)
        wrong = [part for part in (value if several else [value]) if part not in choices]
        if not wrong:
            return None
        kind = listed_files(type_, expected.name, one, choices.files, wrong[0])
        if kind == "file":
            return self._missing_file(type_, expected, wrong[0], choices)
        if kind == "model":
            return self._missing_model(type_, expected, wrong[0], choices)
        return self._not_a_choice(expected, wrong[0], choices, refused)

    def _not_a_choice(
        self, expected: Expected, value: Any, choices: Choices, refused: bool
    ) -> Finding:
        fix = self._choice(expected.input, value, choices)
        message = f"{shown(value)} is not among the choices of {shown(expected.name)}."
        return Finding("not_a_choice", message, fix, refused)

    def _choice(self, one: Input, value: Any, choices: Choices) -> Fix:
        """The same choice of another type, else the nearest, else the default or the first."""
        plain = isinstance(value, (str, int, float)) and shown(value).strip('"')
        near = choices.by_text.get(plain) if plain else None
        if near is None:
            near = self._nearest.name(value, choices.values)
        if near is not None:
            return Fix(f"Choose {shown(near)}.", near)
        default = one.default if one.default in choices else choices.values[0]
        return Fix(f"Choose one of {listed(choices.values)}.", default)

    def _missing_file(
        self, type_: str, expected: Expected, value: Any, choices: Choices
    ) -> Finding | None:
        """An input file that no list has. Where it may be there all the same, it blocks nothing."""
        name, folder = plain_file(value) if isinstance(value, str) else ("", "")
        if folder == "input" and name in choices:
            return None
        near = self._nearest.name(value, choices.values)
        fix = Fix("Choose another file, or add this one to ComfyUI's input folder.")
        if near is not None:
            text = f"Choose {shown(near)}, or add the file to ComfyUI's input folder."
            fix = Fix(text, near)
        if leaves_to_node(type_, expected.name) and beyond_the_list(type_, value):
            message = f"{shown(value)} is in none of the lists of files: it may be missing."
            return Finding("missing_file", message, fix, refused=False)
        return Finding("missing_file", f"The file {shown(value)} is not there.", fix, refused=True)

    def _missing_model(
        self, type_: str, expected: Expected, value: Any, choices: Choices
    ) -> Finding:
        near = self._nearest.name(value, choices.values)
        file = str(value).replace("\\", "/").rpartition("/")[2]
        source = self._sources.get(file.lower())
        folder = (source.folder if source else None) or model_folder(type_, expected.name)
        texts = []
        if near is not None:
            texts.append(f"Choose {shown(near)}, which is installed")
        if source is not None and (source.address or near is None):
            where = f" into models/{folder}" if folder else ""
            got = f"from {shown(source.address)}" if source.address else f"the file {shown(file)}"
            texts.append(f"get {got}{where}")
        if not texts:
            where = f"models/{folder}" if folder else "its folder of models"
            texts.append(f"Put the file into {where}, or choose one that is installed")
        text = ", or ".join(texts)
        fix = Fix(
            f"{text[0].upper()}{text[1:]}.",
            near if near is not None else NO_VALUE,
            name=file if source is not None or folder is not None else None,
            folder=folder,
            address=source.address if source is not None else None,
        )
        message = f"The model {shown(value)} of {shown(expected.name)} is not installed."
        return Finding("missing_model", message, fix, refused=True)


def _converted(type_: str, value: Any) -> Any:
    """A value as ComfyUI converts it before it compares it."""
    if type_ == "INT":
        return int(value)
    return float(value) if type_ == "FLOAT" else value


def _wrong_kind(name: str, one: Input, value: Any) -> Finding | None:
    """A value of another type than the input's."""
    types = one.types
    if one.type in WORDS:
        return _wrong_simple(name, one, value)
    if ANY in types or COMBO in types:
        return None
    if set(types) <= SOCKETS:
        text = Fix(f"Connect an output of type {' or '.join(types)}.")
        message = f"{shown(name)} takes a link, not the value {shown(value)}."
        return Finding("wrong_type", message, text, refused=False)
    if set(types) <= WORDS.keys():
        if any(_is_of(kind, value) for kind in types):
            return None
        message = f"The value {shown(value)} of {shown(name)} is not of type {one.type}."
        bounded = {"min", "max"} & one.options.keys() and not isinstance(value, (int, float))
        return Finding("wrong_type", message, _default(one), refused=bool(bounded))
    return None


def _wrong_simple(name: str, one: Input, value: Any) -> Finding | None:
    """A value that is not of the one type of its input."""
    kind = one.type
    said = f"The value {shown(value)} of {shown(name)} is not {WORDS[kind]}"
    try:
        converted = _converted(kind, value)
        as_text = str(value) if kind == "STRING" else ""
    except (TypeError, ValueError, OverflowError, RecursionError):
        return Finding("wrong_type", f"{said}.", _default(one), refused=True)
    if _is_of(kind, value):
        return None
    if kind in NUMBERS and isfinite(converted):
        fix: Fix | None = Fix(f"Write {shown(converted)}.", converted)
    elif kind == "STRING" and isinstance(value, (int, float)):
        fix = Fix(f"Write {shown(as_text)}.", as_text)
    else:
        fix = _default(one)
    return Finding("wrong_type", f"{said}; ComfyUI converts it.", fix, refused=False)


def _is_of(kind: str, value: Any) -> bool:
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind == "STRING":
        return isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return kind != "INT" or isinstance(value, int) or value.is_integer()


def _out_of_range(name: str, one: Input, value: Any, refused: bool) -> Finding | None:
    """A number below `min` or above `max`; ComfyUI compares whatever has one of these."""
    for key, sign in (("min", -1), ("max", 1)):
        limit = one.options.get(key)
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            continue
        try:
            beyond = value < limit if sign < 0 else value > limit
        except TypeError:
            message = f"The value {shown(value)} of {shown(name)} cannot be compared with {limit}."
            return Finding("wrong_type", message, _default(one), refused)
        if beyond:
            least = "at least" if sign < 0 else "at most"
            message = f"{shown(name)} is {shown(value)}; it must be {least} {limit}."
            return Finding("out_of_range", message, Fix(f"Write {limit}.", limit), refused)
    return None


def _default(one: Input) -> Fix | None:
    """The definition's default as a fix, where it has one."""
    if one.default is None:
        return None
    return Fix(f"The default is {shown(one.default)}.", one.default)
