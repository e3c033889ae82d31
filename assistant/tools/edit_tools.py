"""Tools that edit workflows: a batch of operations, another workflow in a tab of its own, and
taking back what an answer edited.

What an edit does is worked out and carried out in `turn.edits`; here is what a model has to know.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from pydantic import Field

from ..errors import ToolError
from ..files import NOT_IN_NAMES, is_device_name
from ..messages.changes import Change
from ..messages.fences import quoted
from ..messages.prompt import ToolCall
from ..workflow.edits.operations import (
    Add,
    End,
    Insert,
    Replace,
    SetMode,
    SetTitle,
    SetValues,
)
from ..workflow.edits.reading import read_operations
from ..workflow.edits.refused import EditRefused
from ..workflow.graph import Graph
from .edit_changes import changes_of, opened, taken_back
from .parameters import Arguments, Parameters
from .ports import Edits, Outlook
from .tool import SMALL_WINDOW, Asking, Tool, ToolContext
from .workflow_library import WorkflowLibrary

EDIT_TOOL: Final = "editWorkflow"
OPEN_TOOL: Final = "openWorkflow"
UNDO_TOOL: Final = "undoEdits"
MOST_REMOVED: Final = 5
"""Of the user's nodes, that the edits of a turn may remove without a question."""
LONGEST_DIFF: Final = 20_000
"""Characters of a change that a person is shown before the decision."""
MOST_PROBLEMS: Final = 20
"""New problems that are shown with it."""
LONGEST_NAME: Final = 80
"""Characters of a new tab's name."""
UNNAMED: Final = "workflow"
NO_EDITS: Final = "Workflows cannot be edited here."
LISTS: Final = ("operations", "ops", "edits", "changes", "batch", "steps")
"""Names that models give the list of operations."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The arguments of `editWorkflow`: operations as a model sent them (`read_operations`)."""

    operations: object
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        note = {"note": self.note} if self.note else {}
        return {"operations": self.operations, **note}


_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "operations": {"type": "array", "items": {"type": "object"}},
        "note": {"type": "string", "description": "For the user, one line."},
    },
    "required": ["operations"],
}


def _batch(value: Any) -> Batch:
    """Reads what models send: the list may have another name, or be the operation itself."""
    if not isinstance(value, Mapping):
        return Batch(value)
    note = value.get("note")
    said = note if isinstance(note, str) else ""
    for name in LISTS:
        if name in value:
            return Batch(value[name], said)
    # What is no operation is refused with all others, where the right form is said only once.
    return Batch([value])


class Opened(Arguments):
    template: str = Field(default="", description="A template's id.")
    workflow: str = Field(default="", description="A saved workflow's name.")
    name: str = Field(default="", description="Of the new tab.")


class TakenBack(Arguments):
    turn: int = Field(default=1, ge=1, description="1: the last answer that edited.")


async def _asks_to_edit(batch: Batch, context: ToolContext) -> Asking | None:
    """Many of the user's nodes are not removed unasked, in however many batches."""
    outlook = await _edits(context).outlook(batch.operations)
    if outlook.removed and outlook.gone_in_turn > MOST_REMOVED:
        text = f"Removes {_counted(outlook.removed)} from the workflow"
        if outlook.gone_in_turn > outlook.removed:
            text += f", {outlook.gone_in_turn} in this answer"
        return Asking(f"{text}.", each_time=True, change=_foreseen(outlook))
    changed = len(_changed_nodes(batch.operations))
    done = (("adds", outlook.added), ("changes", changed), ("removes", outlook.removed))
    parts = [f"{verb} {_counted(number)}" for verb, number in done if number]
    text = f"Edits the workflow: {', '.join(parts) or 'changes its layout'}."
    return Asking(text, change=_foreseen(outlook))


async def _asks_to_open(opened: Opened, context: ToolContext) -> Asking | None:
    kind = "template" if opened.template else "saved workflow"
    return Asking(f"Opens the {kind} {quoted(opened.template or opened.workflow)} in a new tab.")


async def _asks_to_take_back(taken: TakenBack, context: ToolContext) -> Asking | None:
    outlook = await _edits(context).outlook_back(taken.turn)
    which = "the last answer" if taken.turn == 1 else f"an earlier answer, {taken.turn} back,"
    text = f"Takes back what {which} edited in the workflow."
    return Asking(text, change=_foreseen(outlook))


def _foreseen(outlook: Outlook) -> dict[str, Any]:
    """What an edit would change, for the person who decides: as its answer would say it."""
    answer = outlook.answer
    diff = str(answer.get("diff", ""))
    if len(diff) > LONGEST_DIFF:
        diff = diff[:LONGEST_DIFF].rpartition("\n")[0] + "\n…"
    problems = list(answer.get("problems") or ())[:MOST_PROBLEMS]
    said = {"problems": problems, "instances": answer.get("instances")}
    return {"diff": diff, **{name: one for name, one in said.items() if one}}


def _changed_nodes(operations: object) -> set[str]:
    """The nodes that a batch changes, of those that are there."""
    found: set[str] = set()
    added: set[str] = set()
    for one in read_operations(operations):
        if isinstance(one, (Add, Insert)):
            added.add(one.id)
        if isinstance(one, (SetValues, Replace, SetTitle, SetMode)):
            found.add(one.node)
        end = one.into if isinstance(one, Insert) else getattr(one, "target", None)
        if isinstance(end, End):
            found.add(end.node or str(end).partition(".")[0])
    return found - added


def _counted(number: int) -> str:
    return f"{number} {'node' if number == 1 else 'nodes'}"


async def _edit(batch: Batch, context: ToolContext) -> Any:
    return await _edits(context).edit(context.call_id, batch.to_json())


async def _open(opened: Opened, context: ToolContext) -> Any:
    edits, library = _edits(context), context.library
    if bool(opened.template) == bool(opened.workflow):
        raise ToolError("Give either template or workflow.")
    if library is None:
        raise ToolError("There are no workflows to open here.")
    asked = opened.template or opened.workflow
    name = _tab_name(opened.name) or _tab_name(asked) or UNNAMED
    graph = await asyncio.to_thread(_found, library, opened)
    arguments = opened.model_dump(exclude_defaults=True)
    return await edits.open(context.call_id, arguments, graph, name, library.has_saved)


def _tab_name(asked: str) -> str:
    """The last part of a name or path, as every system takes it for a file: the user may save the
    tab under it. Empty where nothing is left."""
    last = PurePosixPath(asked.replace("\\", "/")).name.removesuffix(".json")
    kept = "".join(character for character in last if character.isprintable())
    name = NOT_IN_NAMES.sub("", kept)[:LONGEST_NAME].strip(" .")
    return f"{UNNAMED} {name}" if is_device_name(name) else name


def _found(library: WorkflowLibrary, opened: Opened) -> Graph:
    if opened.template:
        found, kind, name = library.template(opened.template), "template", opened.template
    else:
        found, kind, name = library.saved(opened.workflow), "saved workflow", opened.workflow
    if found is None:
        near = ", ".join(repr(one) for one in library.nearest(name, 3))
        hint = f" Nearest names: {near}." if near else ""
        raise ToolError(f"There is no {kind} {name[:80]!r}.{hint}")
    return found


async def _take_back(taken: TakenBack, context: ToolContext) -> Any:
    return await _edits(context).take_back(context.call_id, taken.turn)


def _edits(context: ToolContext) -> Edits:
    if context.edits is None:
        raise ToolError(NO_EDITS)
    return context.edits


def _changes(call: ToolCall, value: Any) -> Iterator[Change]:
    """The changes that a batch made, by the real addresses of its nodes."""
    ids = value.get("ids") if isinstance(value, Mapping) else None
    if not isinstance(ids, Mapping):
        return
    try:
        operations = read_operations(_batch(json.loads(call.arguments)).operations)
    except (EditRefused, ToolError, ValueError, RecursionError):
        return
    for operation in operations:
        yield from changes_of(operation, ids)


def _digest(call: ToolCall, value: Any) -> Any:
    """What stays of an edit's answer where it is left out: the new nodes and the revision."""
    if not isinstance(value, Mapping) or "revision" not in value:
        return None
    ids = value.get("ids") or {}
    return {"revision": value["revision"], **({"ids": ids} if ids else {})}


EDIT_TOOLS = (
    Tool(
        name=EDIT_TOOL,
        title="Edited the workflow",
        description=(
            "Edits the open workflow: all operations in this order as one undo step, or none. Each "
            'is {"op", …}, what has a ? may be missing: add id type title? values? '
            "inputs?{input: output} inside? near?; remove node bridge?; replace node type values?; "
            "insert id type into values? inputs?; connect from to; disconnect to; set node "
            "values{widget: value}; title node title; mode node mode(run, mute, bypass); move node "
            "x y or near; arrange nodes?; group title nodes; ungroup group; wrap nodes title; "
            'unwrap node. Nodes by address ("8", "57:8") or the id that an add gave; outputs '
            '"8.LATENT", inputs "3.model".'
        ),
        kind="edits",
        parameters=Parameters(_SCHEMA, _batch),
        run=_edit,
        asks=_asks_to_edit,
        window=SMALL_WINDOW,
        group="edit",
        changes=_changes,
        digest=_digest,
    ),
    Tool(
        name=OPEN_TOOL,
        title="Opened a workflow",
        description="Opens a template or a saved workflow in a new tab; edits then go there.",
        kind="edits",
        run=_open,
        asks=_asks_to_open,
        group="edit",
        changes=opened,
    ),
    Tool(
        name=UNDO_TOOL,
        title="Took edits back",
        description="Takes back all edits of one answer, if nothing else has touched them.",
        kind="edits",
        run=_take_back,
        asks=_asks_to_take_back,
        group="edit",
        changes=taken_back,
        digest=_digest,
    ),
)
