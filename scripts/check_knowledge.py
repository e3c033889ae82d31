"""Finds statements in `system_context/` that ComfyUI's nodes and templates contradict.

Run: python scripts/check_knowledge.py [--catalog FILE] [--templates DIR]
`knowledge/checker.py` describes what is checked, and the notation.
"""

import argparse
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

from plugin.scripts.knowledge.checker import Checker, sections  # noqa: E402
from plugin.scripts.knowledge.node_definitions import load_definitions  # noqa: E402
from plugin.scripts.knowledge.template_facts import installed_templates  # noqa: E402

CATALOG = ROOT / "preview" / "catalog.json.gz"


def main() -> int:
    parser = argparse.ArgumentParser(description="Check system_context/ against ComfyUI's facts.")
    parser.add_argument("--catalog", type=Path, default=CATALOG, help="node definitions")
    parser.add_argument("--templates", type=Path, help="folder of workflow templates")
    options = parser.parse_args()
    checker = Checker(load_definitions(options.catalog), options.templates or installed_templates())
    problems = [
        problem
        for section in sections(ROOT / "system_context")
        for problem in checker.check(section)
    ]
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
