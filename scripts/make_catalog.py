"""Makes `preview/catalog.json.gz` from a ComfyUI's `/object_info`, without its descriptions.

    python scripts/make_catalog.py object_info.json.gz --comfyui-version 0.33.0

Kept: types, inputs, defaults, ranges, choices, outputs, categories, names. Left out: descriptions,
tooltips, search words, prices, and every usual value, which `preview/catalog.py` restores. The same
input gives the same bytes.

Keys keep the order of the input. The front end makes widgets in the order of the definition's
keys, and a saved workflow has their values as a list: in another order the values would go to the
wrong widgets. Defaults are kept whole, since a workflow that lacks the value gets the default into
its prompt.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from bootstrap import ROOT

CATALOG = ROOT / "preview" / "catalog.json.gz"
# Fields that change how an input behaves. Other fields are descriptions or appearance.
INPUT_FACTS = frozenset(
    """
    default min max step round options multiselect multiline dynamicPrompts label_on label_off
    control_after_generate forceInput socketless lazy hidden advanced template
    display display_name widgetType component
    image_upload file_upload audio_upload video_upload image_folder remote
    """.split()
)
SECTIONS = ("required", "optional", "hidden")
# Flags of a node that are false for nearly every node.
NODE_FLAGS = (
    "output_node",
    "is_input_list",
    "has_intermediate_output",
    "deprecated",
    "experimental",
    "api_node",
    "dev_only",
)


def compact_input(spec: list[Any]) -> list[Any]:
    """One input, `[type or choices, facts]`, reduced to `INPUT_FACTS`."""
    kind, facts = spec[0], spec[1] if len(spec) > 1 else {}
    kept = {key: compact_fact(key, fact) for key, fact in facts.items() if key in INPUT_FACTS}
    return [kind, kept] if kept else [kind]


def compact_fact(key: str, value: Any) -> Any:
    """One fact; inputs inside it (dynamic choices, growing lists) are compacted too."""
    if key == "template" and "input" in value:
        return {**value, "input": compact_inputs(value["input"], {})}
    if key == "options" and isinstance(value, list):
        return [
            {**option, "inputs": compact_inputs(option["inputs"], {})}
            if isinstance(option, dict) and "inputs" in option
            else option
            for option in value
        ]
    return value


def compact_inputs(sections: dict[str, Any], order: dict[str, list[str]]) -> dict[str, Any]:
    """All inputs by section, in the order in which the node shows them."""
    compact = {}
    for section in (name for name in SECTIONS if name in sections):
        inputs = sections[section]
        names = order.get(section, list(inputs))
        # A hidden input is a string such as "UNIQUE_ID", and a list in some nodes.
        compact[section] = {
            name: compact_input(inputs[name]) if isinstance(inputs[name], list) else inputs[name]
            for name in names
        }
    return compact


def compact_node(name: str, info: dict[str, Any]) -> dict[str, Any]:
    """One node's facts, without the usual values that `preview/catalog.py` restores."""
    node: dict[str, Any] = {
        "category": info["category"],
        "input": compact_inputs(info["input"], info["input_order"]),
        "output": info["output"],
    }
    if info["display_name"] != name:
        node["display_name"] = info["display_name"]
    if info["output_name"] != info["output"]:
        node["output_name"] = info["output_name"]
    if any(info["output_is_list"]):
        node["output_is_list"] = info["output_is_list"]
    if info.get("output_matchtypes"):
        node["output_matchtypes"] = info["output_matchtypes"]
    if info["python_module"] != "nodes":
        node["python_module"] = info["python_module"]
    node.update({flag: True for flag in NODE_FLAGS if info.get(flag)})
    return node


def read_object_info(path: Path) -> dict[str, Any]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        info: dict[str, Any] = json.load(file)
    return info


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the preview's node catalog.")
    parser.add_argument("object_info", type=Path, help="JSON of /object_info, may be .gz")
    parser.add_argument("--comfyui-version", required=True, help="the ComfyUI that gave it")
    arguments = parser.parse_args()
    info = read_object_info(arguments.object_info)
    nodes = {name: compact_node(name, node) for name, node in info.items()}
    catalog = {"comfyui": arguments.comfyui_version, "nodes": nodes}
    text = json.dumps(catalog, ensure_ascii=False, separators=(",", ":"))
    CATALOG.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{len(nodes)} nodes, {CATALOG.stat().st_size:,} bytes: {CATALOG.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
