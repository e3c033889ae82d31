"""Node definitions for the preview: facts about ComfyUI's own nodes, as `/object_info` gives them.

`scripts/make_catalog.py` makes the file; this module restores what it left out because it is the
usual value. There are no model files here, so choices of files are as empty as in a new ComfyUI,
except for those that the front end's first workflow names: without them it would open in red.
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
    """`version` of the ComfyUI that the facts were taken from; `nodes` like `/object_info`."""

    version: str
    nodes: dict[str, Any]


def load_catalog(path: Path = CATALOG) -> Catalog:
    """Read the compact file and expand it. Raises `OSError` or `ValueError` if it is unusable."""
    compact = json.loads(gzip.decompress(path.read_bytes()))
    nodes = {name: expand(name, node) for name, node in compact["nodes"].items()}
    for (node, name), file in FIRST_WORKFLOW_FILES.items():
        offer_file(nodes[node]["input"]["required"][name], file)
    return Catalog(compact["comfyui"], nodes)


def offer_file(spec: list[Any], file: str) -> None:
    """Add a choice to an input's specification, in the older form or the newer one."""
    choices = spec[0] if isinstance(spec[0], list) else spec[1]["options"]
    choices.append(file)


def expand(name: str, node: dict[str, Any]) -> dict[str, Any]:
    """One compact node as `/object_info` gives it."""
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
    }
