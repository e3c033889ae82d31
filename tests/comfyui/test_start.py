"""A real ComfyUI starts with our plugin, and works when our plugin cannot be loaded."""

import shutil
from pathlib import Path

import pytest
from plugin.tests.comfyui.instance import ComfyUI, running_comfyui
from plugin.tests.hosts import ROOT

pytestmark = pytest.mark.comfyui

NOT_COPIED = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "tests", "docs", "bench")


def test_comfyui_serves_the_panel(comfyui: ComfyUI) -> None:
    modules = comfyui.read_json("/extensions")
    assert f"/extensions/{ROOT.name}/main.js" in modules
    assert modules.count(f"/extensions/{ROOT.name}/main.js") == 1


def test_the_assistant_answers_below_api(comfyui: ComfyUI) -> None:
    health = comfyui.read_json("/api/assistant/health")
    assert health["status"] == "ok"
    assert health["comfyui"]
    assert health["preview"] is False


def test_our_node_is_there(comfyui: ComfyUI) -> None:
    definitions = comfyui.read_json("/api/object_info")
    assert any(node["display_name"] == "Assistant Prompt" for node in definitions.values())


def test_what_the_user_stores_lies_in_the_system_user_folder(comfyui: ComfyUI) -> None:
    comfyui.read_json("/api/chats")
    assert (comfyui.folder / "user" / "__assistant").is_dir()


@pytest.mark.usefixtures("comfyui_dir")
def test_comfyui_works_when_our_plugin_fails_to_load(tmp_path: Path) -> None:
    broken = tmp_path / "broken-plugin"
    shutil.copytree(ROOT, broken, ignore=NOT_COPIED)
    app = broken / "assistant" / "app.py"
    app.write_text('raise RuntimeError("broken on purpose,\\nwith an ü")\n', encoding="utf-8")
    with running_comfyui(broken, tmp_path / "comfyui", {}) as instance:
        assert "KSampler" in instance.read_json("/api/object_info")
        (line,) = instance.lines_about("could not load")
    assert line.isascii()
    assert "RuntimeError: broken on purpose, with an ?" in line
