"""The port to ComfyUI: the same contract for ComfyUI itself and for the preview."""

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from plugin.assistant.comfy_port import ComfyPort, Queue, Run
from plugin.assistant.comfyui import ComfyUI
from plugin.preview.catalog import Catalog
from plugin.preview.comfyui import PreviewComfyUI

FOLDERS: dict[str, Any] = {
    "loras": (["/models/loras"], set()),
    "configs": (["/models/configs"], set()),
}
FILES = {"loras": ["a.safetensors", "more/b.safetensors"]}
HISTORY: dict[str, Any] = {
    "done": {"outputs": {"9": {"images": []}}, "status": {"status_str": "success"}},
    "failed": {
        "outputs": {},
        "status": {"status_str": "error", "messages": [("execution_error", {})]},
    },
    "stopped": {
        "outputs": {},
        "status": {"status_str": "error", "messages": [("execution_interrupted", {})]},
    },
}


class NewerNode:
    @classmethod
    def GET_NODE_INFO_V1(cls) -> dict[str, Any]:  # noqa: N802  ComfyUI's name
        return {"name": "Newer"}


class PromptQueue:
    """A queue like ComfyUI's: entries are (number, id, prompt, ...), waiting entries in no
    order."""

    def get_current_queue(self) -> tuple[list[Any], list[Any]]:
        return [(1, "now", {})], [(3, "later", {}), (2, "next", {})]

    def get_history(self, prompt_id: str) -> dict[str, Any]:
        return {name: entry for name, entry in HISTORY.items() if name == prompt_id}


def comfyui() -> ComfyUI:
    return ComfyUI(
        SimpleNamespace(prompt_queue=PromptQueue()),
        SimpleNamespace(folder_names_and_paths=FOLDERS, get_filename_list=FILES.__getitem__),
        SimpleNamespace(NODE_CLASS_MAPPINGS={"Newer": NewerNode}, NODE_DISPLAY_NAME_MAPPINGS={}),
        "0.33.0",
        SimpleNamespace(get_logs=lambda: [{"t": "", "m": "one\ntw"}, {"t": "", "m": "o\n"}]),
    )


def preview() -> PreviewComfyUI:
    return PreviewComfyUI(Catalog("0.33.0", {"Newer": {"name": "Newer"}}))


@pytest.fixture(params=[comfyui, preview], ids=["comfyui", "preview"])
def port(request: pytest.FixtureRequest) -> ComfyPort:
    made: ComfyPort = request.param()
    return made


def test_definitions_have_the_shape_of_object_info(port: ComfyPort) -> None:
    assert port.node_definitions() == {"Newer": {"name": "Newer"}}


def test_every_kind_of_model_has_folders_and_files(port: ComfyPort) -> None:
    kinds = port.model_folders()
    assert "loras" in kinds
    assert "configs" not in kinds
    for kind, folders in kinds.items():
        assert all(isinstance(folder, Path) for folder in folders)
        assert all(isinstance(name, str) for name in port.model_files(kind))


def test_an_unknown_kind_has_no_files(port: ComfyPort) -> None:
    assert port.model_files("nothing") == ()


def test_each_run_of_the_queue_can_be_looked_at(port: ComfyPort) -> None:
    queue = port.queue()
    for place, run_id in enumerate((*queue.running, *queue.waiting)):
        run = port.run(run_id)
        assert run is not None
        assert (run.id, run.position, run.outputs) == (run_id, place, {})
        assert run.state == ("running" if run_id in queue.running else "queued")


def test_an_unknown_run_is_none(port: ComfyPort) -> None:
    assert port.run("nothing") is None


def test_the_log_is_lines_or_none(port: ComfyPort) -> None:
    lines = port.log()
    assert lines is None or all("\n" not in line for line in lines)


# Nodes, files, runs and log of ComfyUI alone


def test_files_queue_and_log_of_comfyui() -> None:
    port = comfyui()
    assert port.model_files("loras") == ("a.safetensors", "more/b.safetensors")
    assert port.queue() == Queue(("now",), ("next", "later"))
    assert port.log() == ["one", "two"]


@pytest.mark.parametrize(
    ("run_id", "state"), [("done", "done"), ("failed", "failed"), ("stopped", "interrupted")]
)
def test_a_run_that_ended_is_in_the_history(run_id: str, state: Any) -> None:
    assert comfyui().run(run_id) == Run(run_id, state, 0, HISTORY[run_id]["outputs"])


def test_a_comfyui_that_keeps_no_log_has_none() -> None:
    port = comfyui()
    assert ComfyUI(port.server, port.folder_paths, port.nodes, None).log() is None


# Workflows by name


def test_a_user_has_a_folder_of_saved_workflows(tmp_path: Path) -> None:
    of_preview = PreviewComfyUI(Catalog("", {}), tmp_path / "default").workflows_folder("default")
    assert of_preview == tmp_path / "default" / "workflows"
    assert preview().workflows_folder("default") is None
    older = SimpleNamespace(get_user_directory=lambda: str(tmp_path))
    newer = SimpleNamespace(
        get_public_user_directory=lambda user: None if user[:2] == "__" else str(tmp_path / user)
    )
    for folder_paths in (older, newer):
        port = ComfyUI(None, folder_paths, None, None)
        assert port.workflows_folder("anna") == tmp_path / "anna" / "workflows"
    assert ComfyUI(None, newer, None, None).workflows_folder("__assistant") is None


def test_templates_are_files_by_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the preview's package, and of ComfyUI's own, which a newer version lists by functions."""
    of_preview = preview().template_files()
    name = "image_z_image_turbo"
    assert of_preview[name].name == f"{name}.json" and "index" not in of_preview
    assets = [SimpleNamespace(filename="flux.json"), SimpleNamespace(filename="flux-1.webp")]
    package: Any = ModuleType("comfyui_workflow_templates")
    package.iter_templates = lambda: [SimpleNamespace(template_id="flux", assets=assets)]
    package.get_asset_path = lambda identity, name: str(tmp_path / identity / name)
    monkeypatch.setitem(sys.modules, package.__name__, package)
    assert comfyui().template_files() == {"flux": tmp_path / "flux" / "flux.json"}
    monkeypatch.setitem(sys.modules, package.__name__, None)
    assert comfyui().template_files() == {}


def test_the_lists_of_the_manager_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among the custom nodes and as a Python package, newest first."""
    assert list(comfyui().package_lists()) == list(preview().package_lists()) == []
    nodes, site = tmp_path / "custom_nodes", tmp_path / "site"
    old, new = nodes / "ComfyUI-Manager", site / "comfyui_manager"
    for age, folder in ((100, old), (50, new)):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "extension-node-map.json").touch()
        os.utime(folder / "extension-node-map.json", (1e9 - age, 1e9 - age))
    (nodes / "Other").mkdir()
    monkeypatch.syspath_prepend(site)
    folders = SimpleNamespace(folder_names_and_paths={"custom_nodes": ([str(nodes)], set())})
    found = ComfyUI(None, folders, None, None).package_lists()
    assert [path.parent.name for path in found] == ["comfyui_manager", "ComfyUI-Manager"]
