"""Fixtures for tests with a real ComfyUI; without COMFYUI_DIR each says why it is skipped."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin.tests.comfyui.instance import ComfyUI, running_comfyui
from plugin.tests.hosts import ROOT


@pytest.fixture(scope="session")
def comfyui_dir() -> Path:
    """The checkout that COMFYUI_DIR names."""
    folder = os.environ.get("COMFYUI_DIR")
    if not folder:
        pytest.skip("COMFYUI_DIR is not set: it names a ComfyUI checkout to test with.")
    return Path(folder)


@pytest.fixture(scope="session")
def comfyui(comfyui_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComfyUI]:
    """A ComfyUI with this plugin and no provider."""
    with running_comfyui(ROOT, tmp_path_factory.mktemp("comfyui"), {}) as instance:
        yield instance
