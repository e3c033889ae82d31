"""Three forms of the *normal* view, measured on all official templates:

    python bench/workflow_formats.py

`lines` is the product's: one line a node. `code` writes each node as a call whose result has a
name, as ComfyScript does. `blocks` has a block per node with one line for each value and each link,
as in YAML. All have the same nodes, values, defaults left out and cuts, so that the form alone
differs. Shown are medians over the templates: share of the file's characters and of the minified
API prompt's, estimated tokens, and of 60 questions those whose answers the form holds.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import json  # noqa: E402  the package has its name only now
import re  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402

from plugin.assistant.context.tokens import text_tokens  # noqa: E402
from plugin.assistant.workflow.graph import Graph  # noqa: E402
from plugin.assistant.workflow.node_definitions import NodeDefinitions  # noqa: E402
from plugin.assistant.workflow.node_words import (  # noqa: E402
    NodeWords,
    ScopeWords,
    WorkflowWords,
    workflow_words,
)
from plugin.assistant.workflow.parse import parse_workflow  # noqa: E402
from plugin.assistant.workflow.view import (  # noqa: E402
    LONGEST_VALUE,
    Opened,
    group_lines,
    head_lines,
    note_lines,
    view,
)
from plugin.assistant.workflow.words import clamped, word  # noqa: E402
from plugin.bench.workflow_questions import score  # noqa: E402
from plugin.preview.catalog import load_catalog  # noqa: E402
from plugin.tests.prompts import recorded_prompts, template_ids, template_text  # noqa: E402

DEFINITIONS = NodeDefinitions(load_catalog().nodes)
Form = Callable[[Graph], str]


def lines(graph: Graph) -> str:
    return view(graph, DEFINITIONS)


def code(graph: Graph) -> str:
    """`n3 = KSampler(seed=42, model=n4.MODEL)  # "First pass", muted`; a subgraph is a function."""
    return _whole(graph, _function)


def blocks(graph: Graph) -> str:
    """`3 KSampler "First pass" muted:`, then a line for each value and each link."""
    return _whole(graph, _block)


def _whole(graph: Graph, scope_lines: Callable[[ScopeWords], Iterator[str]]) -> str:
    words: WorkflowWords = workflow_words(graph, DEFINITIONS)
    made = list(head_lines(words, Opened()))
    for scope in words.scopes.values():
        made.extend(scope_lines(scope))
    notes = list(note_lines(words))
    return "\n".join([*made, *(["notes:", *notes] if notes else [])])


def _function(scope: ScopeWords) -> Iterator[str]:
    indent = ""
    if scope.key:
        yield f"def {word(scope.name)}():  # {', '.join(scope.instances)}"
        indent = "  "
    for node in scope.nodes.values():
        if not node.is_note:
            given = [f"{word(name)}={value}" for name, value in _shown(node)]
            given += [f"{word(name)}={_variable(source)}" for name, source in node.sources.items()]
            about = node.head.partition(node.kind)[2].strip()
            remark = f"  # {about}" if about else ""
            yield f"{indent}n{node.id} = {node.kind}({', '.join(given)}){remark}"
    for name, source in scope.outputs.items():
        yield f"{indent}return {name}={_variable(source)}"
    yield from (f"{indent}# {line}" for line in group_lines(scope))


def _variable(source: str) -> str:
    return source if source.startswith("in.") else f"n{source}"


def _block(scope: ScopeWords) -> Iterator[str]:
    indent = ""
    if scope.key:
        yield f"subgraph {word(scope.name)} ({', '.join(scope.instances)}):"
        indent = "  "
    for node in scope.nodes.values():
        if not node.is_note:
            yield f"{indent}{node.head}:"
            yield from (f"{indent}  {word(name)}: {value}" for name, value in _shown(node))
            for name, source in node.sources.items():
                yield f"{indent}  {word(name)} <- {source}"
    for name, source in scope.outputs.items():
        yield f"{indent}out {name} <- {source}"
    yield from (f"{indent}{line}" for line in group_lines(scope))


def _shown(node: NodeWords) -> Iterator[tuple[str, str]]:
    for name, value in node.values.items():
        if name not in node.defaults and value not in ("", None):
            yield name, clamped(value, LONGEST_VALUE)


def answers(form: Form) -> int:
    """Of the questions those whose answers the form holds. `n3` counts as the address 3."""
    held, _ = score(
        lambda identity: json.loads(template_text(identity)),
        lambda workflow: re.sub(r"\bn(?=\d)", "", form(parse_workflow(workflow))),
    )
    return len(held)


def measure(form: Form) -> tuple[float, float, float, int]:
    shares, of_prompt, tokens = [], [], []
    for identity in template_ids():
        file = template_text(identity)
        text = form(parse_workflow(json.loads(file)))
        output = recorded_prompts()[identity]["output"]
        prompt = json.dumps(output, ensure_ascii=False, separators=(",", ":"))
        shares.append(len(text) / len(file))
        of_prompt.append(len(text) / len(prompt))
        tokens.append(text_tokens(text))
    return (
        statistics.median(shares),
        statistics.median(of_prompt),
        statistics.median(tokens),
        answers(form),
    )


def main() -> None:
    rows = [
        "| form | of the file | of the API prompt | tokens | answers of 60 |",
        "|---|---|---|---|---|",
    ]
    for form in (lines, code, blocks):
        share, of_prompt, tokens, held = measure(form)
        rows.append(f"| {form.__name__} | {share:.1%} | {of_prompt:.1%} | {tokens:.0f} | {held} |")
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
