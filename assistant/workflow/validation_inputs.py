"""The inputs that ComfyUI expects of one node of a prompt, dynamic ones spelled out.

As ComfyUI does it (`get_finalized_class_inputs`): which inputs there are depends on the prompt's
own values, since a dynamic combo has other inputs for each option and a group grows with what it is
given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .inputs import AUTOGROW, DYNAMIC_COMBO, Input, mapping, read_input
from .node_definitions import NodeDefinition

DYNAMIC_SLOT: Final = "COMFY_DYNAMICSLOT_V3"
ALL: Final = frozenset({"*"})
SELF_CHECKED: Final[Mapping[str, frozenset[str]]] = {
    "LoadImage": frozenset({"image"}),
    "LoadImageMask": frozenset({"image"}),
    "LoadImageOutput": frozenset({"image"}),
    "LoadLatent": frozenset({"latent"}),
    "LoadAudio": frozenset({"audio"}),
    "LoadVideo": frozenset({"file"}),
    "Load3D": ALL,
    "Load3DAdvanced": ALL,
    "CustomCombo": ALL,
    "ModelAttentionBackend": frozenset({"attention"}),
    "SelectModelDevice": frozenset({"device"}),
    "SelectCLIPDevice": frozenset({"device"}),
    "SelectVAEDevice": frozenset({"device"}),
    "FluxProUltraImageNode": frozenset({"aspect_ratio"}),
}
"""Inputs whose choices and ranges ComfyUI leaves to the node (`VALIDATE_INPUTS`); ComfyUI 0.33."""

MOST_REQUIRED: Final = 1000
"""Rows that a group can be said to need; ComfyUI's own groups need at most two."""
PAGE_INPUTS: Final = frozenset({("SaveGLB", "image"), ("Preview3D", "image")})
"""Inputs that the front end puts into prompts though no definition has them."""


@dataclass(frozen=True)
class Expected:
    """One input by the name that the prompt calls it."""

    name: str
    input: Input
    required: bool
    checked: bool = True
    """Whether ComfyUI looks at it; it does not where no option of a dynamic combo is chosen."""

    @property
    def is_old_list(self) -> bool:
        """Whether the definition's type is the list of choices itself: such an input has no type
        that a link could have."""
        return self.input.choices is not None and not (
            {"options", "remote"} & self.input.options.keys()
        )


def expected_inputs(definition: NodeDefinition, given: Mapping[str, Any]) -> dict[str, Expected]:
    """The inputs by their full names, the required ones first; `given` are the prompt's."""
    found: dict[str, Expected] = {}
    for one in _spelled_out(mapping(definition.raw.get("input")), given, ""):
        known = found.get(one.name)
        if known is None or (one.required and not known.required):
            found[one.name] = one
    return found


def is_dynamic(definition: NodeDefinition) -> bool:
    """Whether the node's inputs depend on what a prompt gives."""
    return any(one.type in (AUTOGROW, DYNAMIC_COMBO, DYNAMIC_SLOT) for one in definition.inputs)


def _spelled_out(
    description: Mapping[str, Any], given: Mapping[str, Any], prefix: str
) -> Iterator[Expected]:
    for section in ("required", "optional"):
        for key, spec in mapping(description.get(section)).items():
            one = read_input(str(key), spec, section == "optional")
            name = f"{prefix}{one.name}"
            if one.type == AUTOGROW:
                yield from _grown(one, name, given)
            elif one.type == DYNAMIC_COMBO:
                yield from _chosen(one, name, given)
            elif one.type == DYNAMIC_SLOT:
                yield Expected(name, one, required=False, checked=name in given)
                if name in given:
                    yield from _spelled_out(mapping(one.options.get("inputs")), given, f"{name}.")
            else:
                yield Expected(name, one, not one.optional)


def _grown(one: Input, name: str, given: Mapping[str, Any]) -> Iterator[Expected]:
    """The rows of a group: as many as it must have, and those that are given."""
    grow = one.autogrow
    if grow is None or not grow.inputs:
        return
    template = grow.inputs[0]
    must = 0 if template.optional else min(grow.minimum, grow.maximum, MOST_REQUIRED)
    required = dict.fromkeys(grow.name(row, template.name) for row in range(must))
    given_rows = [full[len(name) + 1 :] for full in given if full.startswith(f"{name}.")]
    for row in dict.fromkeys([*required, *given_rows]):
        inner = grow.input(row)
        if inner is not None:
            yield Expected(f"{name}.{row}", inner, row in required)


def _chosen(one: Input, name: str, given: Mapping[str, Any]) -> Iterator[Expected]:
    """A dynamic combo, and the inputs of the option that is chosen."""
    option = chosen_option(one, given.get(name))
    yield Expected(name, one, not one.optional, checked=option is not None)
    if option is not None:
        yield from _spelled_out(mapping(option.get("inputs")), given, f"{name}.")


def chosen_option(one: Input, key: Any) -> Mapping[str, Any] | None:
    """The option of a dynamic combo with this key."""
    options = one.options.get("options")
    for option in options if isinstance(options, list) else ():
        if mapping(option).get("key") == key:
            return mapping(option)
    return None


def leaves_to_node(type_: str, name: str) -> bool:
    """Whether ComfyUI leaves an input's choices and range to the node itself."""
    left = SELF_CHECKED.get(type_, frozenset())
    return left is ALL or name in left
