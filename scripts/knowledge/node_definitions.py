"""ComfyUI's node definitions: the inputs and widgets of a node type, in order.

`template_facts` reads the workflows that use them, `checker` the texts about them.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NUMBERS = ("INT", "FLOAT")
WIDGETS = (*NUMBERS, "STRING", "BOOLEAN", "COMBO")


class NodeDefinitions:
    """Node definitions in the shape of ComfyUI's `/object_info`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.types = definitions
        self.data_types = frozenset(
            kind
            for node in definitions.values()
            for kind in node.get("output") or ()
            if isinstance(kind, str)
        )

    def inputs(self, node: str) -> dict[str, tuple[Any, Mapping[str, Any]]]:
        """The inputs of a node type in widget order: name -> (type or choices, options)."""
        definition = self.types.get(node, {})
        order = definition.get("input_order") or {}
        found: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        for group in ("required", "optional"):
            specs = (definition.get("input") or {}).get(group) or {}
            for name in order.get(group) or specs:
                kind, *rest = specs[name]
                options = rest[0] if rest else {}
                found[name] = (options.get("options", kind) if kind == "COMBO" else kind, options)
        return found

    def widgets(self, node: str) -> Iterator[str | None]:
        """Names for a node's `widgets_values`, in order; None for a control_after_generate slot."""
        for name, (kind, options) in self.inputs(node).items():
            if isinstance(kind, str) and kind not in WIDGETS:
                if kind == "COMFY_DYNAMICCOMBO_V3":
                    return  # its slots depend on its value
                continue
            if options.get("forceInput"):
                continue
            yield name
            if options.get("control_after_generate"):
                yield None


def load_json(path: Path) -> Any:
    """JSON from a plain or gzipped file."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def load_definitions(path: Path) -> Mapping[str, Any]:
    """Node definitions by type, from the preview's catalog or from a saved `/object_info`."""
    data: Mapping[str, Any] = load_json(path)
    nodes: Mapping[str, Any] = data["nodes"] if "comfyui" in data else data
    return nodes
