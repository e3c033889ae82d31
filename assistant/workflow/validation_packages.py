"""The package that has a type of node: what an unknown node is answered with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .inputs import mapping, sequence

COMFYUI: Final = "comfy-core"
"""The name that the front end writes for ComfyUI's own nodes."""
RENAMED: Final = {
    "T2IAdapterLoader": "ControlNetLoader",
    "Load3DAnimation": "Load3D",
    "Preview3DAnimation": "Preview3D",
    "SDV_img2vid_Conditioning": "SVD_img2vid_Conditioning",
    "ConditioningAverage ": "ConditioningAverage",
}
"""Types that ComfyUI (0.33) no longer has and itself replaces before it looks at a prompt."""
REGISTRY: Final = "https://registry.comfy.org/nodes/"
_NAME = re.compile(r"[\w.-]{1,100}(/[\w.-]{1,100})?")


@dataclass(frozen=True)
class Package:
    """A package of nodes: its name in the registry (or `owner/repository`) and its web address."""

    name: str
    address: str | None = None
    version: str | None = None
    """The version that the node was last used with, as far as the workflow says it."""


def own_package(properties: Mapping[str, Any]) -> Package | None:
    """The package that a node of a workflow says it is from."""
    version = properties.get("ver")
    ver = version[:40] if isinstance(version, str) and version else None
    registry, repository = properties.get("cnr_id"), properties.get("aux_id")
    if isinstance(registry, str) and _NAME.fullmatch(registry):
        address = None if registry == COMFYUI else f"{REGISTRY}{registry}"
        return Package(registry, address, ver)
    if isinstance(repository, str) and _NAME.fullmatch(repository) and "/" in repository:
        return Package(repository, f"https://github.com/{repository}", ver)
    return None


def manager_packages(node_map: Any) -> dict[str, Package]:
    """The packages by type of node, from ComfyUI-Manager's `extension-node-map.json`.

    Its form is `{address: [[types], {"title_aux": …}]}`. The first package that has a type counts.
    """
    found: dict[str, Package] = {}
    for address, entry in mapping(node_map).items():
        parts = sequence(entry)
        types = sequence(parts[0]) if parts else ()
        package = Package("/".join(str(address).rstrip("/").split("/")[-2:]), str(address))
        for type_ in types:
            if isinstance(type_, str):
                found.setdefault(type_, package)
    return found
