"""A virtual environment for each peer, and the run of its adapter in it.

A peer that cannot be installed or that fails is reported with the reason.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".cache" / "peers"
ADAPTERS = Path(__file__).resolve().parent / "adapters"
INSTALL_SECONDS = 900
GRACE_SECONDS = 240
"""Seconds for starting, converting and the first points of a slow peer, in addition to its time for
the points."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One row of the table: an adapter, and the environment that it runs in.

    Peers with the same `environment` share it. `python` is the lowest minor version of Python 3.
    """

    adapter: str
    title: str
    environment: str
    packages: tuple[str, ...] = ()
    python: int = 10
    options: tuple[str, ...] = ()
    """Further arguments of the adapter."""

    @property
    def name(self) -> str:
        return "_".join((self.adapter, *self.options))


class PeerUnavailable(Exception):
    """The peer cannot be installed or run here; the text gives the reason."""


def ask(
    peer: Peer, log: Path, blocks: list[list[int]], limit: int, seconds: float, folder: Path
) -> list[dict[str, Any]]:
    """The peer's lines for the points of `blocks`. Raises PeerUnavailable."""
    python = python_of(peer)
    asked, answered = folder / "blocks.json", folder / f"{peer.name}.jsonl"
    asked.write_text(json.dumps(blocks), encoding="utf-8")
    command = [python, ADAPTERS / f"{peer.adapter}.py", log, asked, limit, seconds, answered]
    _run([*map(str, command), *peer.options], seconds + GRACE_SECONDS)
    lines = answered.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def version_of(peer: Peer) -> str:
    """Name and installed version of the peer's first package, such as `litellm 1.80.0`."""
    if not peer.packages:
        return "-"
    package = peer.packages[0].split("==")[0]
    program = f"import importlib.metadata as m; print(m.version({package!r}))"
    return f"{package} {_run([str(python_of(peer)), '-c', program], GRACE_SECONDS).strip()}"


def python_of(peer: Peer) -> Path:
    """The Python of the peer's environment; a missing environment is made. Raises
    PeerUnavailable."""
    folder = ENVIRONMENTS / peer.environment
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / "installed.txt"
    wanted = "\n".join(peer.packages)
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return python
    _run([_python(peer.python), "-m", "venv", str(folder)], INSTALL_SECONDS)
    if peer.packages:
        _run([str(python), "-m", "pip", "install", "-q", *peer.packages], INSTALL_SECONDS)
    done.write_text(wanted, encoding="utf-8")
    return python


def _python(minor: int) -> str:
    if sys.version_info >= (3, minor):
        return sys.executable
    for number in range(minor, minor + 4):
        if found := shutil.which(f"python3.{number}"):
            try:
                _run([found, "--version"], GRACE_SECONDS)
            except PeerUnavailable:
                continue
            return found
    raise PeerUnavailable(f"needs Python 3.{minor}")


def _run(command: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PeerUnavailable(f"{type(problem).__name__} in {Path(command[0]).name}") from problem
    if done.returncode:
        last = (done.stderr.strip().split("\n") or [""])[-1]
        raise PeerUnavailable(last[:200] or f"exit code {done.returncode}")
    return done.stdout
