"""The edit tasks with operations as models get them wrong, for `edits.py`.

Each way to mangle (`edit_wrong_forms.py`) is applied to every task whose operations give occasion
for it, and then the batch is worked out by the product. It ends right where the prompt is the
expected one. Twice more, two and three ways at once are drawn for each task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random

from plugin.assistant.errors import ToolError
from plugin.assistant.tools.edit_tools import EDIT_TOOLS
from plugin.assistant.workflow.edits.apply import apply
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.tests.edits.same_prompt import prompt_differences
from plugin.tests.edits.task import Task, recorded_tasks
from plugin.tests.prompts import template_text
from plugin.tests.turn.edits.panels import DEFINITIONS

from .edit_outcomes import DIFFERENT, EXACT, REFUSED, Outcome
from .edit_snapshot import prompt_of, untitled
from .edit_wrong_forms import FORMS, SHAPES, WAYS, Json, Mangled, Mangler

TWO, THREE = "two at once", "three at once"
READ = EDIT_TOOLS[0].parameters


def outcomes(tasks: Sequence[Task], seed: int) -> Iterator[Outcome]:
    """One outcome for each task and way that fits; its kind is the way."""
    for task in tasks:
        recorded = recorded_tasks()[task.name]
        graph = recorded.workflow or json.loads(template_text(task.template))
        expected = untitled(recorded.expected)
        names = list(recorded.names.values())
        random = Random(f"{seed} {task.name}")
        ways = [(way, [way]) for way in WAYS]
        ways += [(TWO, drawn(random, 2)), (THREE, drawn(random, 3))]
        for kind, applied in ways:
            at = Mangler(task, graph, random)
            if not [way for way in applied if WAYS[way](at)]:
                continue
            end, faults = _ended(at.arguments, graph, expected, names)
            if end != EXACT and kind not in WAYS:
                faults = [" + ".join(applied), *faults]
            yield Outcome(task.name, kind, end, faults)


def drawn(random: Random, count: int) -> list[str]:
    """So many ways, at most one of them of the whole batch, in the order of `WAYS`."""
    found: list[str] = []
    for way in random.sample(list(WAYS), len(WAYS)):
        taken = [FORMS & {one} for one in found]
        if way in FORMS and any(taken):
            continue
        if way in SHAPES and SHAPES & set(found):
            continue
        found.append(way)
        if len(found) == count:
            break
    return sorted(found, key=list(WAYS).index)


def _ended(
    arguments: Mangled, graph: Json, expected: Json, names: list[str]
) -> tuple[str, list[str]]:
    try:
        batch = READ.parse(json.loads(json.dumps(arguments)))
        made = apply(graph, batch.operations, DEFINITIONS)
    except (EditRefused, ToolError) as refused:
        return REFUSED, [str(refused)]
    faults = prompt_differences(expected, prompt_of(made.content), names)
    return (DIFFERENT if faults else EXACT), faults
