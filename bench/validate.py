"""The problems of a workflow, worst first, as JSON on stdout:

    python bench/validate.py --input W.json --object-info F

W is a UI workflow (0.4 or 1.0) or an API prompt, F what ComfyUI's `/object_info` answers, as JSON,
plain or gzipped. The answer is `[{"node", "input", "code", "message", "fix", "blocks_run"}]`. Exit
code 0 also with problems found, 3 for input that is no workflow, with one sentence on stderr.
"""

import runpy
import sys
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

from plugin.assistant.workflow.validation import validate  # noqa: E402
from plugin.bench.workflow_files import (  # noqa: E402
    read_definitions,
    read_graph,
    run,
    workflow_arguments,
    write_json,
)


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    given = workflow_arguments(description, definitions_required=True).parse_args()
    graph = read_graph(given.input)
    problems = validate(graph, read_definitions(given.object_info))
    write_json([problem.json() for problem in problems])
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
