"""The measures of `sense.py` on another commit of this repository.

The commit is unpacked into a folder for a time, with the present modules of this benchmark in it,
so that both versions are measured in the same way. All else is the commit's own.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from plugin.bench.environments import ROOT

if TYPE_CHECKING:
    from plugin.bench.sense_row import Options

MODULES = (
    "asked.py",
    "guides.py",
    "lived*.py",
    "revision.py",
    "sense*.py",
    "sight.py",
    "talk*.py",
    "whole.py",
)
"""The modules of this benchmark, which an earlier commit may lack."""


def measured_at(
    revision: str, rows: Sequence[str] | None, options: Options
) -> list[dict[str, Any]]:
    """Our figures at `revision`, as `sense.json` has them. Raises CalledProcessError when the
    commit is unknown or cannot be measured."""
    with TemporaryDirectory() as name:
        root, out = Path(name) / "plugin", Path(name) / "out"
        _unpack(revision, root)
        for pattern in MODULES:
            for module in (ROOT / "bench").glob(pattern):
                shutil.copy(module, root / "bench" / module.name)
        command = [sys.executable, str(root / "bench" / "sense.py"), "--only", "ours"]
        command += ["--modes", *options.modes, "--seed", str(options.seed), "--out", str(out)]
        for flag, value in (
            ("--locomo", options.locomo),
            ("--realtalk", options.realtalk),
            ("--sample", options.sample),
        ):
            command += [flag, str(value)] if value is not None else []
        command += ["--rows", *rows] if rows else []
        command += ["--lived"] if options.lived else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found: list[dict[str, Any]] = json.loads((out / "sense.json").read_text("utf-8"))["rows"]
        return found


def _unpack(revision: str, folder: Path) -> None:
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", revision]
    packed = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder)
