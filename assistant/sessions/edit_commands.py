"""The commands of people about edits of the workflow, as values and as they are read from JSON."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

# No `from __future__ import annotations` here: see `commands`.

Id = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class UndoEdits:
    """Take back all edits that the tools of this answer made in workflows, if nothing of what they
    edited was changed since."""

    message_id: Id
    type: Literal["undo_edits"] = "undo_edits"


@dataclass(frozen=True, slots=True)
class RedoEdits:
    """Make the edits of this answer again that were taken back."""

    message_id: Id
    type: Literal["redo_edits"] = "redo_edits"


@dataclass(frozen=True, slots=True)
class RestoreWorkflow:
    """The workflow becomes what it was at this message of the current path, or at its end."""

    message_id: Id | None = None
    type: Literal["restore_workflow"] = "restore_workflow"


TakingBack = UndoEdits | RedoEdits | RestoreWorkflow
