"""Importing the package as `plugin`, from any folder name, without a change of `sys.path`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PROBE = """
import sys
before = list(sys.path)
from bootstrap import register
register()
from plugin.assistant import __version__
assert sys.path == before
print(__version__)
"""


def copy_of_skeleton(folder: Path) -> Path:
    """A copy of the files that an import and a collection by pytest need."""
    for name in (
        *("scripts/bootstrap.py", "tests/conftest.py", "tests/windows_rules.py"),
        "assistant/__init__.py",
    ):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    for name in ("__init__.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "tests" / "test_seen.py").write_text(
        "from plugin.assistant import __version__\n\n"
        "def test_version() -> None:\n    assert __version__\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.parametrize("name", ["plain", "ComfyUI-Assistant", "with space"])
def test_package_imports_from_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    folder = copy_of_skeleton(tmp_path / name)
    (folder / "scripts" / "probe.py").write_text(PROBE, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, str(folder / "scripts" / "probe.py")],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "0.1.0"


@pytest.mark.parametrize("name", ["plain", "ComfyUI-Assistant"])
@pytest.mark.parametrize("arguments", [[], ["tests"], ["tests/test_seen.py"]])
def test_pytest_passes_for_every_way_to_call_it(
    tmp_path: Path, name: str, arguments: list[str]
) -> None:
    folder = copy_of_skeleton(tmp_path / name)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_asyncio.plugin", *arguments]
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # a quicker start
    result = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, encoding="utf-8"
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout


def test_registering_a_second_checkout_in_one_process_is_refused(tmp_path: Path) -> None:
    folder = copy_of_skeleton(tmp_path / "other")
    (folder / "scripts" / "probe.py").write_text(
        "from pathlib import Path\n"
        "from bootstrap import register\n"
        "register()\n"
        "register()\n"
        "try:\n    register(Path.cwd())\n"
        "except RuntimeError as error:\n    print(error)\n",
        encoding="utf-8",
    )
    result = subprocess.run(
        [sys.executable, str(folder / "scripts" / "probe.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert "already belongs to" in result.stdout, result.stderr


def test_the_root_package_wires_nothing_outside_comfyui() -> None:
    """pytest imports the root `__init__.py`; without ComfyUI's `server` it must do nothing."""
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('any_name', {str(ROOT / '__init__.py')!r},"
        f" submodule_search_locations=[{str(ROOT)!r}])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules['any_name'] = module\n"
        "spec.loader.exec_module(module)\n"
        "assert module.NODE_CLASS_MAPPINGS == {}\n"
        "assert module.WEB_DIRECTORY == './web'\n"
        "assert 'any_name.assistant.app' not in sys.modules\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8"
    )
    assert result.returncode == 0, result.stderr
