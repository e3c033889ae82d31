"""A workflow with a batch of edits applied, as JSON on stdout:

    python bench/edit_workflow.py --input W.json --operations OPS.json --object-info F \
        [--as workflow|prompt]

W is a UI workflow (0.4 or 1.0) or an API prompt, OPS the list of operations, F what ComfyUI's
`/object_info` answers, as JSON, plain or gzipped. The answer is `{"ids", "diff", "problems",
"workflow" | "prompt"}`; of an API prompt it is the prompt. Exit code 0 also with problems found, 2
for a refused batch, with `{"error": {"operation", "code", "message"}}` on stdout, 3 for input that
is no workflow, with one sentence on stderr.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

from plugin.assistant.workflow.api_prompt import api_prompt  # noqa: E402
from plugin.assistant.workflow.edits.forecast import forecast  # noqa: E402
from plugin.assistant.workflow.edits.refused import EditRefused  # noqa: E402
from plugin.assistant.workflow.parse import parse_workflow  # noqa: E402
from plugin.bench.workflow_files import (  # noqa: E402
    REFUSED,
    read_definitions,
    read_graph,
    read_text,
    run,
    workflow_arguments,
    write_json,
)


def read_operations_file(path: Path) -> Any:
    """What a file says as JSON; a text that is none is refused as a batch."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    parser = workflow_arguments(description, definitions_required=True)
    parser.add_argument("--operations", type=Path, required=True, help="the list of operations")
    parser.add_argument("--as", dest="form", choices=("workflow", "prompt"), help="what to print")
    given = parser.parse_args()
    graph = read_graph(given.input)
    definitions = read_definitions(given.object_info)
    try:
        made = forecast(graph.root.raw, read_operations_file(given.operations), definitions)
    except EditRefused as refused:
        write_json({"error": refused.json()})
        return REFUSED
    said = made.json()
    answer = {key: said[key] for key in ("ids", "diff", "problems")}
    after = parse_workflow(made.content)
    if graph.format == "prompt" or given.form == "prompt":
        answer["prompt"] = api_prompt(after, definitions)
    else:
        answer["workflow"] = made.content
    write_json(answer)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
