"""The API prompt of a workflow, as ComfyUI's front end would queue it, as JSON on stdout:

    python bench/api_prompt.py --input W.json --object-info F

W is a UI workflow (0.4 or 1.0) or an API prompt, F what ComfyUI's `/object_info` answers, as JSON,
plain or gzipped. Exit code 3 for input that is no workflow, with one sentence on stderr.
"""

import runpy
import sys
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

from plugin.assistant.workflow.api_prompt import api_prompt  # noqa: E402
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
    write_json(api_prompt(graph, read_definitions(given.object_info)))
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
