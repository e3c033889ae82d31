"""The command line of the API prompt: what it prints, and its exit codes."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
OBJECT_INFO = {"Text": {"input": {"required": {"text": ["STRING"]}}}}
WORKFLOW = {"nodes": [{"id": 1, "type": "Text", "widgets_values": ["ä\u2028"]}]}


def run(folder: Path, content: bytes, object_info: bytes) -> subprocess.CompletedProcess[bytes]:
    (folder / "w.json").write_bytes(content)
    (folder / "o.json").write_bytes(object_info)
    arguments = ["--input", str(folder / "w.json"), "--object-info", str(folder / "o.json")]
    command = [sys.executable, str(ROOT / "bench" / "api_prompt.py"), *arguments]
    return subprocess.run(command, capture_output=True, check=False, cwd=folder)


@pytest.mark.parametrize("packed", [False, True])
def test_the_prompt_is_one_line_of_utf_8(tmp_path: Path, packed: bool) -> None:
    known = json.dumps(OBJECT_INFO).encode()
    done = run(tmp_path, json.dumps(WORKFLOW).encode(), gzip.compress(known) if packed else known)
    assert (done.returncode, done.stderr) == (0, b"")
    found: dict[str, Any] = json.loads(done.stdout.decode("utf-8"))
    assert found == {
        "1": {"inputs": {"text": "ä\u2028"}, "class_type": "Text", "_meta": {"title": "Text"}}
    }


@pytest.mark.parametrize(
    ("content", "object_info"),
    [
        (b"[]", b"{}"),
        (b"{", b"{}"),
        (b"\x1f\x8b", b"{}"),
        (json.dumps(WORKFLOW).encode(), b"[1]"),
    ],
)
def test_what_is_no_workflow_ends_with_3_and_one_sentence(
    tmp_path: Path, content: bytes, object_info: bytes
) -> None:
    done = run(tmp_path, content, object_info)
    assert (done.returncode, done.stdout) == (3, b"")
    said = done.stderr.decode("utf-8")
    assert said.strip().endswith(".") and len(said.splitlines()) == 1
