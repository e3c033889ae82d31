"""Fixtures for tests with a real ComfyUI; without COMFYUI_DIR each says why it is skipped."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from plugin.tests.comfyui.instance import ComfyUI, running_comfyui
from plugin.tests.comfyui.runner import CLIENT, Runner
from plugin.tests.hosts import ROOT
from plugin.tests.providers import ScriptedProvider

MODEL = "tiny.safetensors"


@pytest.fixture(scope="session")
def comfyui_dir() -> Path:
    """The checkout that COMFYUI_DIR names."""
    folder = os.environ.get("COMFYUI_DIR")
    if not folder:
        pytest.skip("COMFYUI_DIR is not set: it names a ComfyUI checkout to test with.")
    return Path(folder)


@pytest.fixture(scope="session")
def comfyui(comfyui_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComfyUI]:
    """A ComfyUI with this plugin, a probe of its port to ComfyUI, one (empty) model file, and no
    provider."""
    folder = tmp_path_factory.mktemp("comfyui")
    checkpoints = folder / "models" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints / MODEL).touch()
    probe = folder / "custom_nodes" / "port_probe"
    probe.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("port_probe.py"), probe / "__init__.py")
    with running_comfyui(ROOT, folder, {"ASSISTANT_DISCOVER": "0"}) as instance:
        yield instance


@pytest.fixture
async def provider(comfyui: ComfyUI) -> AsyncIterator[ScriptedProvider]:
    """A scripted provider, which the running ComfyUI uses during the test."""
    path = "/api/assistant/providers/scripted"
    async with ScriptedProvider() as scripted, aiohttp.ClientSession(comfyui.url) as session:
        body = {"base_url": scripted.base_url, "model": "scripted", "context_window": 32768}
        async with session.put(path, json=body) as response:
            assert response.status == 200, await response.text()
        async with session.post(f"{path}/activate", json={}) as response:
            assert response.status < 300, await response.text()
        yield scripted
        async with session.delete(path) as response:
            assert response.status == 204


@pytest.fixture
async def runner(comfyui: ComfyUI, provider: ScriptedProvider) -> AsyncIterator[Runner]:
    async with (
        aiohttp.ClientSession(comfyui.url) as session,
        session.ws_connect(f"/ws?clientId={CLIENT}") as socket,
    ):
        yield Runner(session, socket)
