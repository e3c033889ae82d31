"""The command line `bench/validate.py`: JSON on stdout, exit codes."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from plugin.tests.hosts import ROOT

OBJECT_INFO = {
    "Saver": {
        "input": {"required": {"count": ["INT", {"min": 1, "max": 4}]}},
        "output": [],
        "output_node": True,
    }
}
PROMPT = {"7": {"class_type": "Saver", "inputs": {"count": 9}}}


def validated(
    folder: Path, document: Any, *, zipped: bool = False
) -> "subprocess.CompletedProcess[bytes]":
    known = json.dumps(OBJECT_INFO).encode()
    (folder / "object_info").write_bytes(gzip.compress(known) if zipped else known)
    (folder / "w.json").write_text(json.dumps(document), encoding="utf-8")
    command = [sys.executable, str(ROOT / "bench" / "validate.py")]
    command += ["--input", str(folder / "w.json"), "--object-info", str(folder / "object_info")]
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, capture_output=True, cwd=folder, env=environ)


def test_the_problems_are_json_on_stdout_and_no_failure(tmp_path: Path) -> None:
    for zipped in (False, True):
        run = validated(tmp_path, PROMPT, zipped=zipped)
        assert (run.returncode, run.stderr) == (0, b"")
        assert json.loads(run.stdout) == [
            {
                "node": "7",
                "input": "count",
                "code": "out_of_range",
                "message": '"count" is 9; it must be at most 4.',
                "fix": {"text": "Write 4.", "value": 4},
                "blocks_run": True,
            }
        ]


def test_no_workflow_is_exit_code_three_and_one_sentence(tmp_path: Path) -> None:
    run = validated(tmp_path, [1, 2])
    assert (run.returncode, run.stdout) == (3, b"")
    assert len(run.stderr.decode().strip().splitlines()) == 1


def test_an_unknown_node_has_the_package_that_comfyuis_manager_lists(tmp_path: Path) -> None:
    manager = tmp_path / "comfyui_manager"
    manager.mkdir()
    (manager / "__init__.py").touch()
    listed = {"https://github.com/ann/pack": [["Foreign"], {}]}
    (manager / "extension-node-map.json").write_text(json.dumps(listed), encoding="utf-8")
    run = validated(tmp_path, {"1": {"class_type": "Foreign", "inputs": {}}})
    (problem,) = json.loads(run.stdout)
    assert problem["fix"]["name"] == "ann/pack"
    assert problem["fix"]["address"] == "https://github.com/ann/pack"
