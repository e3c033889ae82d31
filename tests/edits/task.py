"""Tasks of workflow edits: what a user asks, the operations for it, and the same change by hand.

A task names an official template, the user's words, and the list of operations of `editWorkflow`
that a good model would send. `by_hand` makes the same change as a person does, in ComfyUI's stock
front end: JavaScript for the page, which sees the functions of `by_hand.js`. What the front end's
own `graphToPrompt` gives afterwards is the expected API prompt. No code of the assistant takes
part in it. `scripts/make_edit_tasks.py` makes all expected prompts and keeps them in
`data/prompts.json.gz`.

The tasks are in the modules of the folder `tasks`, each in a tuple named TASKS.
"""

import gzip
import importlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RECORDED = FOLDER / "data" / "prompts.json.gz"
KINDS = (
    "set",
    "swap model",
    "add lora",
    "add upscaling",
    "change size",
    "image to image",
    "controlnet",
    "bypass",
    "mute",
    "disconnect",
    "remove",
    "replace",
    "inside subgraph",
    "nested subgraph",
    "dynamic inputs",
    "wrap",
    "unwrap",
    "layout",
    "repair unknown value",
    "repair unknown node",
    "repair missing input",
    "repair dangling link",
    "repair wrong type",
    "repair not a choice",
    "repair out of range",
    "repair no output",
    "repair cycle",
    "repair missing model",
)
LAYOUT_KINDS = frozenset({"layout"})
"""Kinds whose tasks leave the prompt as it was."""
Operation = dict[str, Any]
Prompt = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One edit of one template.

    `by_hand` and `damage` are bodies of async JavaScript functions. `damage` makes the workflow
    that the user has, where it is not the template itself: it changes the open graph, or returns
    the workflow's JSON. The names that `by_hand` gives to nodes with `name` and `add` are recorded
    with their ids.
    """

    name: str
    kind: str
    template: str
    say: str
    operations: tuple[Operation, ...]
    by_hand: str
    damage: str = ""


@dataclass(frozen=True)
class Recorded:
    """What the front end made of one task.

    `names` are the ids in `expected` of the nodes that the task adds, by the names that the
    operations give them. `workflow` is the JSON of a damaged workflow, else None: then the workflow
    is the template. `noted` is what `by_hand` returned, e.g. facts of the layout.
    """

    before: Prompt
    expected: Prompt
    names: dict[str, str]
    workflow: dict[str, Any] | None = None
    noted: Any = None


@cache
def all_tasks() -> tuple[Task, ...]:
    """The tasks of all modules, in the order of the modules' names."""
    modules = sorted(path.stem for path in (FOLDER / "tasks").glob("*_*.py"))
    found: list[Task] = []
    for module in modules:
        found += importlib.import_module(f"plugin.tests.edits.tasks.{module}").TASKS
    return tuple(found)


@cache
def recorded_tasks() -> dict[str, Recorded]:
    """What `scripts/make_edit_tasks.py` recorded, by the names of the tasks."""
    text = json.loads(gzip.decompress(RECORDED.read_bytes()))
    return {name: Recorded(**fields) for name, fields in text["tasks"].items()}
