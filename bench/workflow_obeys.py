"""Whether a prompt obeys the node definitions: types, ranges and choices that list no files.

This is the measure of which official templates a validator has to find clean, since some templates
are newer than the definitions. It shares no code with the validator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plugin.bench import workflow_raw as raw
from plugin.bench.workflow_defects import FILE_END, INPUT_FILES, MODELS_BESIDE_OTHERS

Place = tuple[str, str]


def disobeys(prompt: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[Place]:
    """The values that the definitions do not allow, as address and input."""
    found: set[Place] = set()
    for address, node in prompt.items():
        definition = definitions.get(node.get("class_type"))
        if definition is None:
            continue
        inputs = node["inputs"]
        for name, value in inputs.items():
            if _is_link(value, prompt) and not _leads_to_an_output(value, prompt, definitions):
                found.add((address, name))
        for name, spec in _shown(raw.specs(definition), inputs):
            given = name in inputs and not _is_link(inputs[name], prompt)
            if given and not _allowed(node, name, spec):
                found.add((address, name))
    return found


def _leads_to_an_output(
    link: list[Any], prompt: Mapping[str, Any], definitions: Mapping[str, Any]
) -> bool:
    """Whether the node that a link names has this output, as far as its type is known."""
    source = definitions.get(prompt[link[0]].get("class_type"))
    return source is None or 0 <= int(link[1]) < len(source.get("output") or ())


def lost_links(workflow: raw.Raw, definitions: Mapping[str, Any]) -> set[Place]:
    """The links into widgets that the definitions do not have, as address and input.

    The front end drops such a link, so that the prompt does not show it.
    """
    found: set[Place] = set()
    for place in raw.placed(workflow):
        definition = definitions.get(place.type)
        if definition is None:
            continue
        names = set(_all_names(raw.specs(definition)))
        for slot in place.node.get("inputs") or []:
            if slot.get("widget") and slot.get("link") is not None and slot["name"] not in names:
                found.add((place.address, slot["name"]))
    return found


def _all_names(inputs: Mapping[str, list[Any]], before: str = "") -> Iterator[str]:
    """The names of all inputs, those of each option of a dynamic combo included."""
    for name, spec in inputs.items():
        yield f"{before}{name}"
        for option in raw.options(spec).get("options") or []:
            if isinstance(option, Mapping):
                nested = raw.specs({"input": option.get("inputs") or {}})
                yield from _all_names(nested, f"{before}{name}.")


def unknown_types(prompt: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    return {node.get("class_type") for node in prompt.values()} - definitions.keys()


def _shown(
    inputs: Mapping[str, list[Any]], values: Mapping[str, Any], before: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    for name, spec in inputs.items():
        if not raw.is_widget(spec):
            continue
        full = f"{before}{name}"
        yield full, spec
        if spec[0] == raw.DYNAMIC_COMBO:
            for option in raw.options(spec).get("options") or []:
                if option.get("key") == values.get(full):
                    nested = raw.specs({"input": option.get("inputs") or {}})
                    yield from _shown(nested, values, f"{full}.")


def _is_link(value: Any, prompt: Mapping[str, Any]) -> bool:
    return isinstance(value, list) and len(value) == 2 and str(value[0]) in prompt


def _allowed(node: Mapping[str, Any], name: str, spec: list[Any]) -> bool:
    value, kind, limits = node["inputs"][name], spec[0], raw.options(spec)
    if kind in ("INT", "FLOAT"):
        return _is_in_range(value, limits, whole=kind == "INT")
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind == raw.DYNAMIC_COMBO:
        return any(one.get("key") == value for one in limits.get("options") or [])
    listed = raw.choices(spec)
    key = (str(node.get("class_type")), name)
    if not listed or key in INPUT_FILES or key in MODELS_BESIDE_OTHERS:
        return True
    files = any(isinstance(one, str) and one.endswith(FILE_END) for one in listed)
    uploads = any("upload" in one or one == "remote" for one in limits)
    if files or uploads:
        return True
    chosen = value if limits.get("multiselect") and isinstance(value, list) else [value]
    return all(one in listed for one in chosen)


def _is_in_range(value: Any, limits: Mapping[str, Any], *, whole: bool) -> bool:
    """ComfyUI turns texts and truth values into numbers where it can."""
    try:
        number = int(value) if whole else float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    least, most = limits.get("min", number), limits.get("max", number)
    return bool(least <= number <= most)
