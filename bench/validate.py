"""The problems of a workflow, worst first, as JSON on stdout:

    python bench/validate.py --input W.json --object-info F

W is a UI workflow (0.4 or 1.0) or an API prompt, F what ComfyUI's `/object_info` answers, as JSON,
plain or gzipped. The answer is `[{"node", "input", "code", "message", "fix", "blocks_run"}]`. Exit
code 0 also with problems found, 3 for input that is no workflow, with one sentence on stderr.
"""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

from plugin.assistant.tools.known_packages import packages_in  # noqa: E402
from plugin.assistant.workflow.validation import validate  # noqa: E402
from plugin.bench.workflow_files import (  # noqa: E402
    read_definitions,
    read_graph,
    run,
    workflow_arguments,
    write_json,
)

NODE_MAP = "extension-node-map.json"


def installed_lists() -> list[Path]:
    """ComfyUI-Manager's list of packages, where it is installed as a Python package."""
    found = find_spec("comfyui_manager")
    folders = (found.submodule_search_locations or ()) if found is not None else ()
    return [path for folder in folders if (path := Path(folder) / NODE_MAP).is_file()]


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    given = workflow_arguments(description, definitions_required=True).parse_args()
    graph = read_graph(given.input)
    problems = validate(graph, read_definitions(given.object_info), packages_in(installed_lists()))
    write_json([problem.json() for problem in problems])
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
