"""Node definitions for the preview: facts about ComfyUI's own nodes, as `/object_info` gives them.

`scripts/make_catalog.py` makes the file; this module restores what it left out because it is the
usual value. There are no model files here, so choices of files are as empty as in a new ComfyUI.
"""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CATALOG = Path(__file__).resolve().parent / "catalog.json.gz"


@dataclass(frozen=True)
class Catalog:
    """`version` of the ComfyUI that the facts were taken from; `nodes` like `/object_info`."""

    version: str
    nodes: dict[str, Any]


def load_catalog(path: Path = CATALOG) -> Catalog:
    """Read the compact file and expand it. Raises `OSError` or `ValueError` if it is unusable."""
    compact = json.loads(gzip.decompress(path.read_bytes()))
    nodes = {name: expand(name, node) for name, node in compact["nodes"].items()}
    return Catalog(compact["comfyui"], nodes)


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
