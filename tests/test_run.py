"""`scripts/run.py` and its modules, as far as they can be tested without installing anything."""

import importlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"


ScriptImporter = Callable[[str], ModuleType]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptImporter]:
    """Imports scripts with their folder first in `sys.path`, as Python runs them."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        del sys.modules[name]


@contextmanager
def port_in_use() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def make_comfyui(folder: Path) -> Path:
    (folder / "custom_nodes").mkdir(parents=True)
    (folder / "main.py").touch()
    (folder / "folder_paths.py").touch()
    return folder


# Options


def test_help_names_every_option_of_the_readme() -> None:
    command = [sys.executable, str(SCRIPTS / "run.py"), "--help"]
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 0
    for option in ("--host", "--port", "--no-open", "--comfyui DIR", "--no-demo-model"):
        assert option in result.stdout


def test_a_folder_without_comfyui_is_named_in_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "run.py"), "--comfyui", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert result.returncode == 1
    assert result.stderr == f"There is no ComfyUI in {tmp_path}: main.py is missing.\n"


# Ports


def test_a_wanted_port_that_is_taken_is_refused(script: ScriptImporter) -> None:
    network, environment = script("network"), script("environment")
    with port_in_use() as port, pytest.raises(environment.SetupError, match=f"Port {port}"):
        network.choose_port("127.0.0.1", port)


def test_without_a_wanted_port_the_next_free_one_is_used(
    script: ScriptImporter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    network = script("network")
    with port_in_use() as port:
        monkeypatch.setattr(network, "DEFAULT_PORT", port)
        chosen = network.choose_port("127.0.0.1", None)
    assert port < chosen < port + network.TRIED_PORTS
    assert f"Port {port} is in use" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8188"),
        ("0.0.0.0", "http://127.0.0.1:8188"),
        ("::", "http://[::1]:8188"),
        ("::1", "http://[::1]:8188"),
        ("studio.local", "http://studio.local:8188"),
    ],
)
def test_the_url_is_one_that_a_browser_here_can_open(
    script: ScriptImporter, host: str, url: str
) -> None:
    assert script("network").url_of(host, 8188) == url


def test_waiting_ends_when_the_server_dies(script: ScriptImporter) -> None:
    assert not script("network").wait_until_answers("http://127.0.0.1:9", lambda: False)


# The environment


def test_requirements_are_installed_once_until_they_change(
    script: ScriptImporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = script("environment")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path)
    calls: list[list[str]] = []
    monkeypatch.setattr(
        environment, "pip_install", lambda python, arguments, title: calls.append(arguments)
    )
    file = tmp_path / "requirements.txt"
    file.write_text("a>=1\n", encoding="utf-8")
    wanted = [environment.Requirements("things", file, no_deps=True)]
    environment.install(wanted)
    environment.install(wanted)
    assert calls == [["--no-deps", "-r", str(file)]]
    file.write_text("a>=2\n", encoding="utf-8")
    environment.install(wanted)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("NewConnectionError: Failed to establish a new connection", "computer online"),
        ("ERROR: No matching distribution found for x", "no package for this Python"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: something else", "pip reported an error"),
    ],
)
def test_a_failed_installation_is_explained(
    script: ScriptImporter, output: str, reason: str
) -> None:
    text = script("environment").explain(["Collecting x", output], "the demo model")
    assert text.startswith("Could not install the demo model: ")
    assert reason in text
    assert output in text


def test_a_broken_environment_counts_as_none(script: ScriptImporter, tmp_path: Path) -> None:
    assert not script("environment").works(tmp_path / "python")


def test_requirements_files_and_project_metadata_agree() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = [
        line.strip()
        for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    block = text.split("dependencies = [", 1)[1].split("]", 1)[0]
    assert [line.strip(' ",') for line in block.splitlines() if line.strip()] == listed
    assert not any("==" in line for line in listed)


def test_version_is_the_same_everywhere() -> None:
    from plugin.assistant import __version__

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{__version__}"\n' in text


# The folder of a ComfyUI


def test_a_plugin_in_custom_nodes_knows_its_comfyui(script: ScriptImporter, tmp_path: Path) -> None:
    comfyui = make_comfyui(tmp_path / "ComfyUI")
    start = comfyui / "custom_nodes" / "plugin" / "scripts" / "run.py"
    assert script("comfyui").enclosing(start) == comfyui
    assert script("comfyui").enclosing(tmp_path / "plugin" / "scripts" / "run.py") is None


def test_a_plugin_elsewhere_is_linked_outside_the_comfyui_folder_and_unlinked(
    script: ScriptImporter, tmp_path: Path
) -> None:
    folder = make_comfyui(tmp_path / "ComfyUI")
    before = sorted(folder.rglob("*"))
    with script("comfyui").plugin_arguments(folder) as arguments:
        assert arguments[0] == "--extra-model-paths-config"
        config = Path(arguments[1])
        paths = json.loads(config.read_text(encoding="utf-8"))["comfyui_assistant"]
        link = Path(paths["base_path"], paths["custom_nodes"], ROOT.name)
        assert link.resolve() == ROOT
        assert sorted(folder.rglob("*")) == before
    assert not config.exists()
    assert (ROOT / "pyproject.toml").exists(), "Removing the link must not remove what it shows."


def test_a_plugin_that_is_installed_already_needs_no_link(
    script: ScriptImporter, tmp_path: Path
) -> None:
    folder = make_comfyui(tmp_path / "ComfyUI")
    (folder / "custom_nodes" / "anything").symlink_to(ROOT, target_is_directory=True)
    with script("comfyui").plugin_arguments(folder) as arguments:
        assert arguments == []


def test_a_python_without_torch_is_no_comfyui_python(
    script: ScriptImporter, tmp_path: Path
) -> None:
    comfyui, environment = script("comfyui"), script("environment")
    folder = make_comfyui(tmp_path / "ComfyUI")
    launch = comfyui.Launch(folder, "127.0.0.1", 8188, False, False, environ={})
    with pytest.raises(environment.SetupError, match="Set COMFYUI_PYTHON"):
        comfyui.find_python(launch)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for Python")
def test_the_named_python_comes_first(script: ScriptImporter, tmp_path: Path) -> None:
    comfyui = script("comfyui")
    folder = make_comfyui(tmp_path / "ComfyUI")
    for place, answer in ((folder / "venv" / "bin", "no"), (tmp_path, "yes")):
        place.mkdir(parents=True, exist_ok=True)
        (place / "python").write_text(f"#!/bin/sh\necho {answer}\n", encoding="utf-8")
        (place / "python").chmod(0o755)
    named = str(tmp_path / "python")
    launch = comfyui.Launch(
        folder, "127.0.0.1", 8188, False, False, environ={"COMFYUI_PYTHON": named}
    )
    assert comfyui.find_python(launch) == (named, True)
    unnamed = comfyui.Launch(folder, "127.0.0.1", 8188, False, False, environ={})
    assert comfyui.find_python(unnamed) == (str(folder / "venv" / "bin" / "python"), False)
