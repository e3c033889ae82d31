"""Node definitions of ComfyUI's own nodes for the preview, in the shape of `/object_info`.

`scripts/make_catalog.py` makes the file and leaves out usual values, which this module restores.
The preview has no model files, so choices of files are empty, except for the files of the front
end's first workflow: without them the front end would mark its nodes as invalid.
"""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CATALOG = Path(__file__).resolve().parent / "catalog.json.gz"
FIRST_WORKFLOW_FILES = {
    ("UNETLoader", "unet_name"): "z_image_turbo_bf16.safetensors",
    ("CLIPLoader", "clip_name"): "qwen_3_4b.safetensors",
    ("VAELoader", "vae_name"): "ae.safetensors",
}


@dataclass(frozen=True)
class Catalog:
    """`nodes` in the shape of `/object_info`, and the `version` of the ComfyUI that they come
    from."""

    version: str
    nodes: dict[str, Any]


def load_catalog(path: Path = CATALOG) -> Catalog:
    """Read and expand the compact file. Raises `OSError` or `ValueError` for a broken file."""
    compact = json.loads(gzip.decompress(path.read_bytes()))
    nodes = {name: expand(name, node) for name, node in compact["nodes"].items()}
    for (node, name), file in FIRST_WORKFLOW_FILES.items():
        offer_file(nodes[node]["input"]["required"][name], file)
    return Catalog(compact["comfyui"], nodes)


def offer_file(spec: list[Any], file: str) -> None:
    """Add `file` to the choices of an input's specification, in the older or the newer form."""
    choices = spec[0] if isinstance(spec[0], list) else spec[1]["options"]
    choices.append(file)


def expand(name: str, node: dict[str, Any]) -> dict[str, Any]:
    """A compact node in the shape of `/object_info`."""
    return {
        "name": name,
        "display_name": name,
        "description": "",
        "python_module": "nodes",
        "input_order": {section: list(inputs) for section, inputs in node["input"].items()},
        "is_input_list": False,
        "output_name": node["output"],
        "output_is_list": [False] * len(node["output"]),
        "output_node": False,
        "has_intermediate_output": False,
        "search_aliases": [],
        **node,
        "input": {section: complete(inputs) for section, inputs in node["input"].items()},
    }


def complete(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs with the empty options that the file leaves out inside templates and options.

    Front ends before 1.50 make no node with a growing list of inputs or with an input that has
    options of its own, where one of these has none.
    """
    return {name: completed(spec) for name, spec in inputs.items()}


def completed(spec: Any) -> Any:
    """An input's specification; that of a hidden input may be a word alone."""
    if not isinstance(spec, list) or len(spec) != 2 or not isinstance(spec[1], dict):
        return spec
    filled = dict(spec[1])
    if isinstance(template := filled.get("template"), dict) and "input" in template:
        filled["template"] = {**template, "input": within(template["input"])}
    if isinstance(choices := filled.get("options"), list):
        filled["options"] = [
            {**one, "inputs": within(one["inputs"])}
            if isinstance(one, dict) and "inputs" in one
            else one
            for one in choices
        ]
    return [spec[0], filled]


def within(sections: dict[str, Any]) -> dict[str, Any]:
    return {
        section: {
            name: completed([*spec, {}] if len(spec) == 1 else spec)
            for name, spec in inputs.items()
        }
        for section, inputs in sections.items()
    }
