"""A real ComfyUI with a plugin in it, as a subprocess, for tests marked `comfyui`.

    with running_comfyui(plugin_folder, folder, {"OPENAI_BASE_URL": provider.url}) as comfyui:
        ...  # comfyui.url, comfyui.log

COMFYUI_DIR names the checkout, COMFYUI_PYTHON its Python (default: `venv/bin/python` in it).
Everything ComfyUI writes goes below the given folder; the checkout stays as it is.
"""

import json
import os
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plugin.tests.links import link_folder

START_LIMIT = 180.0  # seconds: importing torch on a cold, slow disk
STOP_LIMIT = 20.0  # seconds
ANSWER_LIMIT = 60.0  # seconds: the first /object_info reads every node
READY = "To see the GUI go to"
OWN_VARIABLES = ("OPENAI_", "LLM_", "ASSISTANT_")
# ComfyUI imports these at its start. They are large, and no test uses them.
STAND_INS = {
    "torchaudio": ("functional", "transforms"),
    "torchvision": ("ops", "transforms"),
}


@dataclass
class ComfyUI:
    """A running instance: its address, its folder, and what it has written to its log so far."""

    url: str
    folder: Path
    log: list[str] = field(default_factory=list)

    def read_json(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=ANSWER_LIMIT) as answer:
            return json.load(answer)

    def lines_about(self, text: str) -> list[str]:
        return [line for line in self.log if text in line]


@contextmanager
def running_comfyui(plugin: Path, folder: Path, environ: Mapping[str, str]) -> Iterator[ComfyUI]:
    """Start the ComfyUI of COMFYUI_DIR with that plugin; yields when it answers."""
    checkout = Path(os.environ["COMFYUI_DIR"])
    python = os.environ.get("COMFYUI_PYTHON") or str(checkout / "venv" / "bin" / "python")
    nodes = folder / "custom_nodes"
    nodes.mkdir(parents=True, exist_ok=True)
    link_folder(nodes / plugin.name, plugin)
    port = free_port()
    command = [python, str(checkout / "main.py"), "--cpu", "--port", str(port)]
    command += ["--base-directory", str(folder), "--disable-auto-launch"]
    command += ["--database-url", "sqlite:///:memory:"]
    comfyui = ComfyUI(f"http://127.0.0.1:{port}", folder)
    process = subprocess.Popen(
        command,
        env=process_environment(python, folder / "stand-ins", environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        encoding="utf-8",
    )
    ready = threading.Event()
    reader = threading.Thread(target=follow, args=(process, comfyui.log, ready), daemon=True)
    reader.start()
    try:
        assert ready.wait(START_LIMIT), "ComfyUI did not start:\n" + "".join(comfyui.log)
        assert process.poll() is None, "ComfyUI ended:\n" + "".join(comfyui.log)
        yield comfyui
    finally:
        process.terminate()
        try:
            process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
        reader.join(STOP_LIMIT)
        assert process.stdout is not None
        process.stdout.close()
        process.wait()


def follow(process: "subprocess.Popen[str]", log: list[str], ready: threading.Event) -> None:
    """Collects the log; sets `ready` when ComfyUI serves, or when it has ended."""
    assert process.stdout is not None
    for line in process.stdout:
        log.append(line)
        if READY in line:
            ready.set()
    ready.set()


def process_environment(python: str, folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of ComfyUI, without the developer's own settings for the plugin."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)
    }
    for name, modules in STAND_INS.items():
        if not can_import(python, name):
            package = folder / name
            package.mkdir(parents=True)
            for module in ("__init__", *modules):
                (package / f"{module}.py").touch()
    return {**inherited, "PYTHONPATH": str(folder), **environ}


def can_import(python: str, module: str) -> bool:
    command = [python, "-c", f"import {module}"]
    return subprocess.run(command, capture_output=True).returncode == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
