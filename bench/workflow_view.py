"""A workflow as text for a model, on stdout:

    python bench/workflow_view.py --input W.json [--object-info F] [--level outline|normal|full]
                                  [--check]

W is a UI workflow (0.4 or 1.0) or an API prompt, F what ComfyUI's `/object_info` answers, as JSON,
plain or gzipped; without F, the definitions of the preview. `--check` reads the *full* view back:
exit code 1, and the first difference on stdout, where it is not the same graph. Exit code 3 for
input that is no workflow, with one sentence on stderr.
"""

import runpy
import sys
from pathlib import Path
from typing import get_args

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

from plugin.assistant.workflow.facts import facts, first_difference  # noqa: E402
from plugin.assistant.workflow.full_reading import read_full_view  # noqa: E402
from plugin.assistant.workflow.graph import Graph  # noqa: E402
from plugin.assistant.workflow.node_definitions import NodeDefinitions  # noqa: E402
from plugin.assistant.workflow.view import Level, view  # noqa: E402
from plugin.bench.workflow_files import (  # noqa: E402
    read_definitions,
    read_graph,
    run,
    workflow_arguments,
)
from plugin.preview.catalog import load_catalog  # noqa: E402

DIFFERS = 1


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    parser = workflow_arguments(description, definitions_required=False)
    parser.add_argument("--level", choices=get_args(Level), default="normal")
    parser.add_argument("--check", action="store_true", help="read the full view back")
    given = parser.parse_args()
    graph = read_graph(given.input)
    definitions = (
        read_definitions(given.object_info)
        if given.object_info is not None
        else NodeDefinitions(load_catalog().nodes)
    )
    differs = check(graph, view(graph, definitions, "full")) if given.check else None
    write_text(differs or view(graph, definitions, given.level))
    return DIFFERS if differs else 0


def check(graph: Graph, text: str) -> str | None:
    """The first difference between a graph and its full view; None where they are the same."""
    try:
        return first_difference(facts(graph), facts(read_full_view(text)))
    except ValueError as error:
        return str(error)


def write_text(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(run(main))
