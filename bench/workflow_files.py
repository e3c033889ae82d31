"""What the command lines of workflows share: reading files, writing JSON, exit codes.

Exit codes: 0, 2 for a refused batch of edits, 3 for input that is no workflow, with one sentence on
stderr. JSON goes to stdout and nothing else does.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plugin.assistant.errors import NotAWorkflow
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import read_workflow

REFUSED, NO_WORKFLOW = 2, 3
_GZIP = b"\x1f\x8b"


def workflow_arguments(description: str, *, definitions_required: bool) -> argparse.ArgumentParser:
    """A parser with `--input` and `--object-info`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--input", type=Path, required=True, help="a workflow or an API prompt")
    parser.add_argument(
        "--object-info",
        type=Path,
        required=definitions_required,
        help="what ComfyUI's /object_info answers, as JSON, plain or gzipped",
    )
    return parser


def read_graph(path: Path) -> Graph:
    """The graph in a file. Raises `NotAWorkflow` and `OSError`."""
    return read_workflow(_bytes(path))


def read_definitions(path: Path) -> NodeDefinitions:
    """The definitions in a file. Raises `NotAWorkflow` where it is no such JSON, and `OSError`."""
    try:
        object_info = json.loads(_bytes(path))
    except (ValueError, EOFError, RecursionError):
        raise NotAWorkflow(f"{path.name} is no answer of /object_info: it is no JSON.") from None
    if not isinstance(object_info, dict):
        raise NotAWorkflow(f"{path.name} is no answer of /object_info: it is no JSON object.")
    return NodeDefinitions(object_info)


def read_text(path: Path) -> str:
    """The text of a file, plain or gzipped, whatever its bytes. Raises `OSError`."""
    return _bytes(path).decode("utf-8-sig", "replace")


def _bytes(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if content.startswith(_GZIP) else content


def write_json(value: Any) -> None:
    """The value as one line of UTF-8 to stdout, whatever encoding the terminal has."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        raise NotAWorkflow("This workflow has values that JSON cannot hold.") from None
    sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def run(command: Callable[[], int]) -> int:
    """Run a command; the exit code, with a sentence on stderr for input that is no workflow."""
    try:
        return command()
    except NotAWorkflow as error:
        _complain(error.message)
    except (OSError, EOFError) as error:
        _complain(f"The file cannot be read: {error}.")
    return NO_WORKFLOW


def _complain(sentence: str) -> None:
    sys.stderr.write(" ".join(sentence.split()) + "\n")
