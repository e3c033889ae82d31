"""The command line `bench/edit_workflow.py`: JSON on stdout, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from plugin.tests.hosts import ROOT
from plugin.tests.workflow.workflows import node, socket, widget_socket, workflow

OBJECT_INFO = {
    "Source": {"input": {}, "output": ["IMAGE"], "output_name": ["IMAGE"]},
    "Saver": {
        "input": {"required": {"image": ["IMAGE"], "count": ["INT", {"min": 1, "max": 4}]}},
        "output": [],
        "output_node": True,
    },
}
WORKFLOW = workflow(
    node(1, "Source", outputs=[{"name": "IMAGE", "type": "IMAGE", "links": [1]}]),
    node(
        7,
        "Saver",
        inputs=[socket("image", "IMAGE", 1), widget_socket("count", "INT")],
        widgets_values=[2],
    ),
    links=[[1, 1, 0, 7, 0, "IMAGE"]],
)
PROMPT = {
    "1": {"class_type": "Source", "inputs": {}},
    "7": {"class_type": "Saver", "inputs": {"image": ["1", 0], "count": 2}},
}
SET = [{"op": "set", "node": "7", "values": {"count": 3}}]


def run(
    folder: Path, document: Any, operations: Any, *more: str
) -> "subprocess.CompletedProcess[bytes]":
    for name, content in (("w", document), ("ops", operations), ("info", OBJECT_INFO)):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, str(ROOT / "bench" / "edit_workflow.py"), "--input", "w"]
    command += ["--operations", "ops", "--object-info", "info", *more]
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, capture_output=True, cwd=folder, env=environ)


def test_the_edited_workflow_is_json_on_stdout(tmp_path: Path) -> None:
    done = run(tmp_path, WORKFLOW, SET)
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)
    assert answer.keys() == {"ids", "diff", "problems", "workflow"}
    assert answer["workflow"]["nodes"][1]["widgets_values"] == [3]
    assert "count=2 -> 3" in answer["diff"]


def test_the_prompt_is_printed_where_it_is_asked_for_or_was_given(tmp_path: Path) -> None:
    for document, more in ((WORKFLOW, ("--as", "prompt")), (PROMPT, ())):
        answer = json.loads(run(tmp_path, document, SET, *more).stdout)
        assert answer.keys() == {"ids", "diff", "problems", "prompt"}
        assert answer["prompt"]["7"]["inputs"] == {"image": ["1", 0], "count": 3}


def test_problems_are_no_failure(tmp_path: Path) -> None:
    done = run(tmp_path, WORKFLOW, [{"op": "remove", "node": "1"}])
    assert done.returncode == 0
    assert [one["code"] for one in json.loads(done.stdout)["problems"]] == ["missing_input"]


def test_a_refused_batch_is_exit_code_two(tmp_path: Path) -> None:
    wrong = {"op": "set", "node": "7", "values": {"count": 9}}
    for operations, number in (([*SET, wrong], 1), ("nonsense", 0)):
        done = run(tmp_path, WORKFLOW, operations)
        assert (done.returncode, done.stderr) == (2, b"")
        error = json.loads(done.stdout)["error"]
        assert error.keys() == {"operation", "code", "message"}
        assert error["operation"] == number


def test_no_workflow_is_exit_code_three_and_one_sentence(tmp_path: Path) -> None:
    done = run(tmp_path, [1, 2], SET)
    assert (done.returncode, done.stdout) == (3, b"")
    assert len(done.stderr.decode().strip().splitlines()) == 1
