"""Starts the user's own ComfyUI with this plugin, for `run.py`.

That ComfyUI's folder is not changed: if the plugin is not in its `custom_nodes/`, ComfyUI gets a
temporary folder with a link to the plugin as a further folder of custom nodes. Missing requirements
are installed into ComfyUI's Python; the demo model is installed into a cache folder of this
checkout. Standard library only.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import environment
from environment import ROOT, SetupError, link, say
from network import HEALTH, LOOPBACK, announce, status_of, url_of, wait_until_answers

DEMO_FOLDER = ROOT / ".cache" / "demo-model"  # `assistant/llm/gguf.py` looks there, too
END_LIMIT = 15.0  # seconds for ComfyUI to end before it is killed
OWN_PYTHONS = ("venv", ".venv")
PORTABLE_PYTHON = "python_embeded"  # the Windows package's folder, spelled so, beside ComfyUI
# Prints, as JSON, the requirements among the arguments that are missing or too old.
MISSING = """
import json, re, sys
from importlib.metadata import PackageNotFoundError, version
def numbers(text):
    return [int(part) for part in re.findall(r"\\d+", text)]
missing = []
for requirement in sys.argv[1:]:
    name, _, bound = requirement.partition(">=")
    try:
        if numbers(version(name)) < numbers(bound):
            missing.append(requirement)
    except PackageNotFoundError:
        missing.append(requirement)
print(json.dumps(missing))
"""
# Prints whether ComfyUI can use an accelerator; fails without torch.
ACCELERATOR = """
import importlib.util, torch
found = torch.cuda.is_available() or torch.backends.mps.is_available()
found = found or bool(getattr(torch, "xpu", None) and torch.xpu.is_available())
print("yes" if found or importlib.util.find_spec("torch_directml") else "no")
"""


@dataclass(frozen=True)
class Launch:
    """How to start a ComfyUI. `extra` are further arguments for it."""

    folder: Path
    host: str
    port: int
    open_page: bool
    demo_model: bool
    extra: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def enclosing(script: Path) -> Path | None:
    """The ComfyUI whose `custom_nodes/` holds the plugin with this script, or None."""
    for path in (script.absolute(), script.resolve()):
        plugin = path.parent.parent
        if plugin.parent.name == "custom_nodes" and is_comfyui(plugin.parent.parent):
            return plugin.parent.parent
    return None


def is_comfyui(folder: Path) -> bool:
    return (folder / "main.py").is_file() and (folder / "folder_paths.py").is_file()


def run(launch: Launch) -> int:
    """Start ComfyUI, print its URL when it answers, and wait for its end or Ctrl-C."""
    if not is_comfyui(launch.folder):
        raise SetupError(f"There is no ComfyUI in {launch.folder}: main.py is missing.")
    python, accelerated = find_python(launch)
    install_requirements(python)
    environ = {**launch.environ, **demo_environment(python, launch)}
    with plugin_arguments(launch.folder) as arguments:
        command = [
            python,
            *isolation(python),
            "main.py",
            "--port",
            str(launch.port),
            "--disable-auto-launch",
        ]
        if launch.host != LOOPBACK[0]:
            command += ["--listen", launch.host]
        if not accelerated and "--cpu" not in launch.extra:
            say("No graphics card that PyTorch can use: ComfyUI runs on the processor (--cpu).")
            command.append("--cpu")
        command += [*arguments, *launch.extra]
        say(f"Starting ComfyUI in {launch.folder} ...")
        process = subprocess.Popen(command, cwd=launch.folder, env=environ)
        try:
            return watch(process, launch)
        finally:
            end(process)


def watch(process: "subprocess.Popen[bytes]", launch: Launch) -> int:
    """Print the URL when ComfyUI answers, and wait for its end. Returns its exit code."""
    url = url_of(launch.host, launch.port)
    if not wait_until_answers(f"{url}/api/system_stats", lambda: process.poll() is None):
        say("ComfyUI ended before it answered: its own log above says why.")
        return process.wait()
    if status_of(url + HEALTH) == 404:
        say("ComfyUI runs, but the assistant could not load: see its line in the log above.")
    announce(launch.host, launch.port, open_page=launch.open_page)
    return process.wait()


def end(process: "subprocess.Popen[bytes]") -> None:
    """Terminate ComfyUI, and kill it after `END_LIMIT` seconds. Ctrl-C has reached it already."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def find_python(launch: Launch) -> tuple[str, bool]:
    """The path of ComfyUI's Python, and whether it can use an accelerator. Raises `SetupError`."""
    candidates = [
        launch.environ.get("COMFYUI_PYTHON", ""),
        *(
            str(launch.folder / name / environment.SCRIPTS / environment.EXECUTABLE)
            for name in OWN_PYTHONS
        ),
        str(launch.folder.parent / PORTABLE_PYTHON / environment.EXECUTABLE),
        sys.executable,
    ]
    for python in candidates:
        if python and Path(python).exists():
            result = output_of([python, "-c", ACCELERATOR])
            if result.returncode == 0:
                return python, result.stdout.strip() == "yes"
    raise SetupError(
        f"ComfyUI's Python was not found: neither {launch.folder / 'venv'} nor this Python has"
        " PyTorch. Set COMFYUI_PYTHON to the Python that starts your ComfyUI."
    )


def isolation(python: str) -> list[str]:
    """Options of Python before `main.py`: the portable build leaves out the user's own packages, as
    its batch file does."""
    return ["-s"] if Path(python).parent.name == PORTABLE_PYTHON else []


def output_of(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Runs a program to its end. What it writes may have paths in another encoding than ours."""
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def install_requirements(python: str) -> None:
    """Install the requirements that are missing in ComfyUI's Python. Raises `SetupError`."""
    wanted = [
        line.strip()
        for line in environment.PLUGIN.file.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    result = output_of([python, "-c", MISSING, *wanted])
    missing = json.loads(result.stdout) if result.returncode == 0 else wanted
    if missing:
        say(f"Installing what the assistant needs into ComfyUI's Python: {', '.join(missing)} ...")
        environment.pip_install(python, missing, environment.PLUGIN.title)


def demo_environment(python: str, launch: Launch) -> dict[str, str]:
    """Install the demo model into our cache, where the plugin looks for it; the variables for
    ComfyUI. PYTHONPATH is not one of them: the portable build's Python ignores it."""
    if not launch.demo_model and not launch.environ.get("LLM_GGUF"):
        return {}
    stamp = DEMO_FOLDER / environment.STAMPS
    fingerprint = f"{environment.DEMO.fingerprint()} {python}"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != fingerprint:
        say(f"Fetching {environment.DEMO.title} ...")
        target = ["--no-deps", "--upgrade", "--target", str(DEMO_FOLDER)]
        try:
            environment.pip_install(
                python, [*target, "-r", str(environment.DEMO.file)], environment.DEMO.title
            )
        except SetupError as error:
            say(f"{error}\nGoing on without the demo model.")
            return {}
        stamp.write_text(fingerprint, encoding="utf-8")
    return {"ASSISTANT_DEMO_MODEL": "1"} if launch.demo_model else {}


@contextmanager
def plugin_arguments(comfyui: Path) -> Iterator[list[str]]:
    """Arguments with which ComfyUI loads this plugin from outside its folder."""
    installed = (comfyui / "custom_nodes").glob("*")
    if any(path.resolve() == ROOT for path in installed):
        yield []
        return
    with tempfile.TemporaryDirectory(prefix="comfyui-assistant-") as folder:
        nodes = Path(folder) / "custom_nodes"
        nodes.mkdir()
        link(nodes / ROOT.name, ROOT)
        # JSON is YAML, so no path needs to be quoted by hand.
        paths = {"comfyui_assistant": {"base_path": folder, "custom_nodes": "custom_nodes"}}
        config = Path(folder) / "paths.yaml"
        config.write_text(json.dumps(paths), encoding="utf-8")
        yield ["--extra-model-paths-config", str(config)]
