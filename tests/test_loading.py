"""The root `__init__.py` as ComfyUI imports it, with stand-ins for ComfyUI's own modules."""

import importlib.util
import logging
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.tests.hosts import ROOT, plugin_without_settings
from plugin.tests.links import link_folder


class ComfyUI:
    """ComfyUI's modules, as far as they are read before its server starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plugin = plugin_without_settings(folder / "custom.nodes" / "an assistant")
        for path in ROOT.glob("*.py"):
            shutil.copy(path, self.plugin)
        link_folder(self.plugin / "assistant", ROOT / "assistant")
        users = SimpleNamespace(get_request_user_id=lambda request: "default")
        self.server: Any = SimpleNamespace(
            routes=web.RouteTableDef(), app=web.Application(), user_manager=users
        )
        self.name = str(self.plugin).replace(".", "_x_")
        modules: dict[str, dict[str, Any]] = {
            "server": {"PromptServer": SimpleNamespace(instance=self.server)},
            "nodes": {"NODE_CLASS_MAPPINGS": {}, "NODE_DISPLAY_NAME_MAPPINGS": {}},
            "folder_paths": {
                "folder_names_and_paths": {},
                "get_system_user_directory": lambda name: str(folder / f"__{name}"),
            },
        }
        for name, content in modules.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setenv("ASSISTANT_DISCOVER", "0")

    def load(self) -> Any:
        spec = importlib.util.spec_from_file_location(self.name, self.plugin / "__init__.py")
        assert spec is not None and spec.loader is not None
        module = sys.modules[self.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def imported(self, module: str) -> bool:
        return f"{self.name}.{module}" in sys.modules


@pytest.fixture
def comfyui(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ComfyUI]:
    comfyui = ComfyUI(tmp_path, monkeypatch)
    yield comfyui
    for name in [name for name in sys.modules if name.partition(".")[0] == comfyui.name]:
        del sys.modules[name]


async def test_the_assistant_is_built_when_the_server_starts(comfyui: ComfyUI) -> None:
    module = comfyui.load()
    assert list(module.NODE_CLASS_MAPPINGS) == ["AssistantPrompt"]
    assert not comfyui.imported("assistant.app")
    comfyui.server.app.add_routes(comfyui.server.routes)
    async with TestClient(TestServer(comfyui.server.app)) as client:
        response = await client.get("/assistant/health")
        assert response.status == 200
        assert comfyui.imported("assistant.app")


def test_a_program_without_comfyui_s_server_gets_one_line(
    comfyui: ComfyUI, caplog: pytest.LogCaptureFixture
) -> None:
    """Some programs import nodes without a server, with an empty module in its place."""
    del sys.modules["server"].PromptServer
    assert comfyui.load().NODE_CLASS_MAPPINGS == {}
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith("ComfyUI Assistant could not load and stays off: Import")
