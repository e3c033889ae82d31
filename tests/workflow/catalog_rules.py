"""Whether a recorded prompt obeys the catalog: types, ranges, choices that list no files, links.

Written on its own and simply, to judge the validator by: what is asked of the official templates is
asked of those that obey.
"""

from collections.abc import Iterator, Mapping
from typing import Any

FILE_OPTIONS = ("image_upload", "video_upload", "audio_upload", "file_upload", "image_folder")
KINDS: dict[str, tuple[type, ...]] = {
    "INT": (int,),
    "FLOAT": (int, float),
    "STRING": (str,),
    "BOOLEAN": (bool,),
}


def offences(prompt: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The node and the input of each value, link or type that is not as the catalog says."""
    for address, node in prompt.items():
        definition = known.get(node.get("class_type"))
        if definition is None:
            yield address, ""
            continue
        inputs = node["inputs"]
        for name, spec in dict(_inputs(definition["input"], inputs, "")).items():
            if name in inputs and not _obeys(inputs[name], spec, prompt, known):
                yield address, name


def _inputs(
    described: Mapping[str, Any], given: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, Any]]:
    for section in ("required", "optional"):
        for key, spec in described.get(section, {}).items():
            name = prefix + key
            if spec[0] == "COMFY_AUTOGROW_V3":
                rows = spec[1]["template"]["input"]
                row = next(one for part in rows.values() for one in part.values())
                yield from ((one, row) for one in given if one.startswith(f"{name}."))
            elif spec[0] == "COMFY_DYNAMICCOMBO_V3":
                yield name, ["COMBO", {"options": [one["key"] for one in spec[1]["options"]]}]
                for option in spec[1]["options"]:
                    if option["key"] == given.get(name):
                        yield from _inputs(option["inputs"], given, f"{name}.")
            else:
                yield name, spec


def _obeys(value: Any, spec: Any, prompt: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    kind, options = spec[0], (spec[1] if len(spec) > 1 else {})
    if isinstance(value, list):
        source = prompt.get(value[0], {})
        definition = known.get(source.get("class_type"))
        return definition is None or value[1] < len(definition["output"])
    if isinstance(value, dict):
        return True
    if isinstance(kind, list) or kind == "COMBO":
        choices = kind if isinstance(kind, list) else options.get("options", [])
        files = any(options.get(one) for one in FILE_OPTIONS) or lists_models(choices)
        return files or not choices or value in choices
    if kind not in KINDS:
        return True
    if not isinstance(value, KINDS[kind]) or (kind != "BOOLEAN" and isinstance(value, bool)):
        return False
    if kind in ("INT", "FLOAT"):
        return bool(options.get("min", value) <= value <= options.get("max", value))
    return True


def lists_models(choices: list[Any]) -> bool:
    """Whether a list of choices is one of model files."""
    return any(str(one).endswith(".safetensors") or one == "pixel_space" for one in choices)
