"""The demo model's packages outside ComfyUI's own Python, where `scripts/run.py --comfyui` puts
them: no variable has to lead there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from plugin.assistant.llm import gguf

LLAMA = """
from types import SimpleNamespace as Some

class CommonParams(Some):
    def __init__(self):
        super().__init__(model=Some(), cpuparams=Some(), cpuparams_batch=Some())

class Server:
    def __init__(self, given):
        self.listening_address = f"http://127.0.0.1:1/{given.n_predict}"
"""


def test_the_packages_are_found_in_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stand_in_engine", "stand_in_model"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "stand_in_model" / "small.gguf").touch()
    monkeypatch.setattr(gguf, "ENGINE", "stand_in_engine")
    monkeypatch.setattr(gguf, "DEMO_PACKAGE", "stand_in_model")
    assert gguf.demo_model().problem() is not None
    monkeypatch.setattr(gguf, "DEMO_FOLDER", tmp_path)
    model = gguf.demo_model()
    assert model.path == tmp_path / "stand_in_model" / "small.gguf"
    assert model.problem() is None
    assert not {"stand_in_engine", "stand_in_model"} & set(sys.modules)


def test_the_program_takes_llama_cpp_from_that_folder(tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text(LLAMA, encoding="utf-8")
    order = {
        "path": "model.gguf",
        "n_ctx": 1,
        "threads": 1,
        "alias": "a",
        "api_key": "k",
        "packages": str(tmp_path),
        "n_predict": 7,
    }
    # Isolated, as the portable build's Python is, and without this Python's own packages.
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(gguf.PROGRAM)],
        input=json.dumps(order) + "\n",
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout) == {"url": "http://127.0.0.1:1/7"}
