"""What a workflow makes, for the panel's empty chat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.routes.workflow_summary import MOST_NODES
from plugin.preview.catalog import load_catalog
from plugin.preview.comfyui import PreviewComfyUI
from plugin.preview.templates import templates_folder
from plugin.tests.routes.site import Site, site

PATH = "/api/assistant/workflow-summary"


def template(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((templates_folder() / f"{name}.json").read_text("utf-8"))
    return found


async def summary(ours: Site, graph: Any) -> str:
    async with ours.client.post(PATH, json={"graph": graph}) as response:
        assert response.status == 200
        said: str = (await response.json())["summary"]
        return said


async def test_a_template_is_summed_up_in_one_sentence(tmp_path: Path) -> None:
    async with site(tmp_path, comfyui=PreviewComfyUI(load_catalog())) as ours:
        said = await summary(ours, template("image_z_image_turbo"))
        assert said == "This makes 1024 × 1024 pictures with Z-Image Turbo."


@pytest.mark.parametrize(
    "graph",
    [
        {},
        {"nodes": "none"},
        {"nodes": [], "links": []},
    ],
    ids=["empty", "no workflow", "no nodes"],
)
async def test_where_there_is_nothing_to_say_it_is_empty(
    tmp_path: Path, graph: dict[str, Any]
) -> None:
    async with site(tmp_path) as ours:
        assert await summary(ours, graph) == ""


async def test_a_huge_workflow_is_not_summed_up(tmp_path: Path) -> None:
    graph = template("image_z_image_turbo")
    graph["nodes"] += [{"id": 1000 + more, "type": "Note"} for more in range(MOST_NODES)]
    async with site(tmp_path, comfyui=PreviewComfyUI(load_catalog())) as ours:
        assert await summary(ours, graph) == ""


async def test_a_graph_that_is_no_object_is_refused(tmp_path: Path) -> None:
    async with site(tmp_path) as ours, ours.client.post(PATH, json={"graph": []}) as response:
        assert response.status == 400
        assert (await response.json())["error"]["where"] == "graph"
