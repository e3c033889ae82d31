"""What the graph model makes of all official templates:

    python bench/workflow.py [--object-info F] [--rows NAME ...] [--sample N] [--out FILE]

The templates are those of the package `comfyui-workflow-templates-json`. `--object-info` is what
ComfyUI's `/object_info` answers, as JSON, plain or gzipped; without it the preview's catalog is
taken. `--sample` takes every n-th template. The result goes to `.cache/bench/workflow.json` with
the figures of each row and what fell short by name, and as a short table to the terminal.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402
import sys  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.workflow.node_definitions import NodeDefinitions  # noqa: E402
from plugin.bench.workflow_cases import Case, Row, Site  # noqa: E402
from plugin.bench.workflow_files import read_definitions  # noqa: E402
from plugin.bench.workflow_rows import ROWS  # noqa: E402
from plugin.preview.catalog import load_catalog  # noqa: E402
from plugin.preview.templates import templates_folder  # noqa: E402

OUT = Path(__file__).resolve().parent.parent / ".cache" / "bench" / "workflow.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--object-info", type=Path)
    parser.add_argument("--rows", nargs="*", choices=[row.name for row in ROWS])
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    rows = [row for row in ROWS if not given.rows or row.name in given.rows]
    site = Site(load_templates(), definitions(given.object_info))
    results = [measure(row, site, given.sample) for row in rows]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")
    sys.stdout.write(table(results) + "\n")


def load_templates() -> dict[str, str]:
    """The texts of the official workflows by their ids; the package's index files are none."""
    found = {}
    for path in sorted(templates_folder().glob("*.json")):
        text = path.read_text(encoding="utf-8")
        value = json.loads(text)
        if isinstance(value, dict) and isinstance(value.get("nodes"), list):
            found[path.stem] = text
    return found


def definitions(path: Path | None) -> NodeDefinitions:
    return NodeDefinitions(load_catalog().nodes) if path is None else read_definitions(path)


def measure(row: Row, site: Site, sample: int) -> dict[str, Any]:
    """One row: what it measures, over how many templates, and its figures."""
    cases = [Case(name, site) for name in list(site.texts)[::sample]]
    return {"row": row.name, "goal": row.goal, **row.measure(cases)}


def table(results: Sequence[dict[str, Any]]) -> str:
    """The rows as Markdown, without the names of what fell short."""
    lines = ["| row | goal | measured |", "|---|---|---|"]
    for result in results:
        lines.append(f"| {result['row']} | {result['goal']} | {result['measured']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
