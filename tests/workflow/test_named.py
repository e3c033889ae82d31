"""The names that a workflow has for its models and packages."""

from __future__ import annotations

from typing import Any

from plugin.assistant.workflow.named import MOST_NAMES, names_in
from plugin.assistant.workflow.snapshot import Snapshot


def node(*values: Any, **more: Any) -> dict[str, Any]:
    return {"id": 1, "type": "Loader", "widgets_values": list(values), **more}


def names(*nodes: Any, **more: Any) -> tuple[str, ...]:
    return names_in(Snapshot(graph={"nodes": list(nodes), **more}))


def test_a_model_file_is_named_with_its_family() -> None:
    found = names(node("unet\\flux1-dev.safetensors", "default", 3))
    assert found[:2] == ("flux1-dev.safetensors", "flux1-dev")
    assert "flux" in found


def test_inner_nodes_and_packages_are_named() -> None:
    inner = {"nodes": [node("detail.gguf", properties={"cnr_id": "comfyui-kjnodes"})]}
    found = names(
        node("no file", properties={"cnr_id": "comfy-core"}),
        definitions={"subgraphs": [inner]},
    )
    assert found == ("detail.gguf", "detail", "comfyui-kjnodes")


def test_no_workflow_and_damaged_ones_have_no_names() -> None:
    assert names_in(Snapshot()) == ()
    assert names(1, {"widgets_values": 5}, {"properties": []}, definitions=3) == ()


def test_there_is_a_limit() -> None:
    many = [node(f"model{number}.ckpt") for number in range(500)]
    assert len(names(*many)) == MOST_NAMES
