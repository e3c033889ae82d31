"""`scripts/run.py` and its modules, as far as they can be tested without installing anything."""

import ast
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


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])
def test_a_port_is_taken_when_somebody_answers_there_even_if_it_can_be_bound(
    script: ScriptImporter, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """On Windows and BSD a port can be bound at one address while another program listens at all
    addresses, such as a ComfyUI with `--listen`."""
    network = script("network")

    class Binds(socket.socket):
        def bind(self, address: object) -> None:
            pass

    with port_in_use() as port:
        monkeypatch.setattr(network.socket, "socket", Binds)
        assert not network.is_free(host, port)
    assert network.is_free(host, port)


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
    script("environment").link(folder / "custom_nodes" / "anything", ROOT)
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


# Other Pythons and systems than those of a developer


PORTABLE = "ComfyUI_windows_portable"
SCRIPTS_OF_USERS = ("run.py", "test.py", "check.py")


@pytest.mark.parametrize("name", SCRIPTS_OF_USERS)
def test_an_isolated_python_finds_the_modules_beside_the_script(name: str) -> None:
    """The Python of ComfyUI's portable build puts no script's folder on its path, like `-I`."""
    code = f"import runpy; runpy.run_path({str(SCRIPTS / name)!r}, run_name='not main')"
    isolated = [sys.executable, "-I", "-c", code]
    result = subprocess.run(isolated, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_help_is_shown_by_an_isolated_python() -> None:
    command = [sys.executable, "-I", str(SCRIPTS / "run.py"), "--help"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "--comfyui DIR" in result.stdout


def stand_in(path: Path, *, torch: str = "no") -> Path:
    """A program that answers as ComfyUI's Python: torch's accelerator, no missing packages, and for
    `main.py` nothing but its end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    log = path.with_suffix(".log")
    path.write_text(
        f'#!/bin/sh\necho "$@" | tr "\\n" " " >> "{log}"\necho >> "{log}"\n'
        f'case "$*" in *torch*) echo {torch};; *importlib*) echo "[]";; esac\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for Python")
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_path_that_the_terminal_cannot_show_stops_nothing(tmp_path: Path, encoding: str) -> None:
    comfyui = make_comfyui(tmp_path / "絵" / "ComfyUI")
    python = stand_in(tmp_path / "python")
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "COMFYUI_PYTHON": str(python)}
    command = [sys.executable, str(SCRIPTS / "run.py"), "--no-demo-model", "--comfyui"]
    result = subprocess.run(
        [*command, str(comfyui)], env=environ, capture_output=True, text=True, encoding=encoding
    )
    assert "Traceback" not in result.stderr
    assert "Starting ComfyUI in" in result.stdout
    assert "\\u7d75" in result.stdout


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for Python")
def test_the_portable_build_is_started_as_its_own_batch_file_does(
    script: ScriptImporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comfyui, environment = script("comfyui"), script("environment")
    folder = make_comfyui(tmp_path / PORTABLE / "ComfyUI")
    python = stand_in(tmp_path / PORTABLE / "python_embeded" / "python.exe")
    monkeypatch.setattr(environment, "EXECUTABLE", "python.exe")
    launch = comfyui.Launch(folder, "127.0.0.1", 8188, False, False, environ={})
    assert comfyui.run(launch) == 0
    started = python.with_suffix(".log").read_text().splitlines()[-1]
    assert started.startswith("-s main.py --port 8188")


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for Python")
def test_the_demo_model_of_a_comfyui_needs_no_pythonpath(
    script: ScriptImporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The portable build's `._pth` file makes Python ignore the variable."""
    from plugin.assistant.llm.gguf import DEMO_FOLDER

    comfyui, environment = script("comfyui"), script("environment")
    assert comfyui.DEMO_FOLDER == DEMO_FOLDER
    monkeypatch.setattr(comfyui, "DEMO_FOLDER", tmp_path / "demo")
    monkeypatch.setattr(environment, "pip_install", lambda *_: (tmp_path / "demo").mkdir())
    launch = comfyui.Launch(tmp_path, "127.0.0.1", 8188, False, True, environ={})
    found = comfyui.demo_environment(str(tmp_path / "python"), launch)
    assert found == {"ASSISTANT_DEMO_MODEL": "1"}


@pytest.mark.parametrize(
    ("system", "advice", "other"),
    [("win32", "--comfyui", "apt"), ("linux", "apt install python3-venv", "--comfyui")],
)
def test_a_python_without_venv_gets_the_advice_for_its_system(
    script: ScriptImporter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    advice: str,
    other: str,
) -> None:
    environment = script("environment")
    monkeypatch.setattr(environment, "PYTHON", tmp_path / "no python")
    failed = subprocess.CompletedProcess([], 1, "", "No module named venv\n")
    monkeypatch.setattr(environment.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr(environment.sys, "platform", system)
    with pytest.raises(environment.SetupError) as refused:
        environment.make()
    assert "No module named venv" in str(refused.value)
    assert advice in str(refused.value)
    assert other not in str(refused.value)


def test_a_link_on_windows_is_a_junction_whatever_the_path_has(
    script: ScriptImporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = script("environment")
    made: list[tuple[str, str]] = []
    system = ModuleType("_winapi")
    system.CreateJunction = lambda target, path: made.append((target, path))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "_winapi", system)
    monkeypatch.setattr(environment.sys, "platform", "win32")
    path, target = tmp_path / "a & b" / "link", tmp_path / "50% (x)"
    environment.link(path, target)
    assert made == [(str(target), str(path))]


def test_what_other_programs_write_stops_nothing_whatever_their_encoding() -> None:
    """Node and pip write UTF-8, which Windows reads as its code page: it has no sign for some
    bytes, and the call would raise."""
    strict = [
        f"{path.name}, line {call.lineno}"
        for path in sorted((ROOT / "scripts").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and "text" in (given := {keyword.arg for keyword in call.keywords})
        and ast.unparse(call.func).startswith("subprocess.")
        and "errors" not in given
    ]
    assert strict == []


# What the tests need


@pytest.mark.parametrize("fast", [True, False])
def test_only_tests_with_a_browser_ask_for_one(
    script: ScriptImporter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fast: bool
) -> None:
    test, tools, environment = script("test"), script("tools"), script("environment")
    monkeypatch.setattr(environment, "install", lambda wanted: None)
    monkeypatch.setattr(tools, "ensure_npm_packages", lambda: None)
    monkeypatch.setattr(tools, "node", lambda: "node")
    monkeypatch.setattr(tools, "find_chromium", lambda: None)
    monkeypatch.setattr(tools.shutil, "which", lambda *_, **__: None)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(sys, "argv", ["test.py", *(["--fast"] if fast else [])])
    if fast:
        assert "CHROMIUM" not in test.prepare(test.parse_arguments())
    else:
        with pytest.raises(environment.SetupError, match="Chromium is missing"):
            test.prepare(test.parse_arguments())
