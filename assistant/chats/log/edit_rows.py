"""What the tools of each answer changed in workflows: the graphs before and after. Functions over a
transaction, as in `chat_log`.

An answer has one row for each stretch of its edits between which nobody else changed the workflow,
so that taking them back leaves alone what others did. The graphs are stored once each, by a digest
of their JSON: a revision would not tell two layouts apart. A branch has copies, an export none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, insert, select, type_coerce, update
from sqlalchemy.types import NullType

from ...database import Transaction
from ..row_values import MOST
from ..schema import edit_graphs, edits
from . import graph_rows
from .record import time_text


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of an answer's edits of one workflow. `takes_back` is the answer whose edits it
    took back. `undone`: the edits of the answer are taken back. `before` and `after` are the
    digests of its graphs."""

    message_id: str
    workflow_id: str
    name: str
    takes_back: str | None = None
    undone: bool = False
    number: int = 0
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class PackedGraph:
    """A graph as it is stored."""

    digest: str
    content: str


_COLUMNS: Final = (
    edits.c.number,
    edits.c.message_id,
    edits.c.workflow_id,
    edits.c.name,
    edits.c.before,
    edits.c.after,
    edits.c.undone,
    edits.c.takes_back,
)
_PLAIN: Final = tuple(type_coerce(one, NullType()).label(one.name) for one in _COLUMNS)


def packed(graph: Mapping[str, Any]) -> PackedGraph:
    """Takes a tenth of a second for 5 MB: call it in a thread."""
    text = json.dumps(graph, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return PackedGraph(digest, graph_rows.packed(graph))


def add(
    transaction: Transaction,
    chat_id: str,
    edit: Edit,
    before: PackedGraph,
    after: PackedGraph,
    now: datetime,
) -> None:
    """Add an edit, whose number is given here. It continues the answer's last edit of the workflow
    where that ended with the same graph; what ends where it began is no edit."""
    last = next(
        (
            one
            for one in reversed(of_message(transaction, chat_id, edit.message_id))
            if (one.workflow_id, one.takes_back) == (edit.workflow_id, edit.takes_back)
        ),
        None,
    )
    number, start = _next_number(transaction, chat_id), before
    if last is not None and last.after == before.digest:
        number, start = last.number, PackedGraph(last.before, "")
        own = (edits.c.chat_id == chat_id) & (edits.c.number == last.number)
        transaction.execute(delete(edits).where(own))
    if start.digest != after.digest:
        for graph in (start, after):
            _put(transaction, chat_id, graph)
        row = {
            "chat_id": chat_id,
            "number": number,
            "message_id": edit.message_id,
            "workflow_id": edit.workflow_id,
            "name": edit.name,
            "before": start.digest,
            "after": after.digest,
            "created": time_text(now),
            "undone": False,
            "takes_back": edit.takes_back,
        }
        transaction.execute(insert(edits), [row])
    _remove_unused(transaction, chat_id)


def of_chat(transaction: Transaction, chat_id: str) -> tuple[Edit, ...]:
    """The edits of a chat, the oldest first. Damaged rows are left out."""
    query = select(*_PLAIN).where(edits.c.chat_id == chat_id).order_by(edits.c.number)
    found = (_edit(row) for row in transaction.execute(query).all())
    return tuple(one for one in found if one is not None)


def of_message(transaction: Transaction, chat_id: str, message_id: str) -> tuple[Edit, ...]:
    """The edits of an answer, the oldest first."""
    return tuple(one for one in of_chat(transaction, chat_id) if one.message_id == message_id)


def graph(transaction: Transaction, chat_id: str, digest: str) -> dict[str, Any] | None:
    """A graph; None where it is gone or damaged."""
    query = select(type_coerce(edit_graphs.c.graph, NullType())).where(
        edit_graphs.c.chat_id == chat_id, edit_graphs.c.digest == digest
    )
    return graph_rows.unpacked(transaction.execute(query).scalar())


def mark(
    transaction: Transaction,
    chat_id: str,
    message_id: str,
    undone: bool,
    workflow_id: str | None = None,
) -> None:
    """Note that the edits of an answer are taken back, or made again: those of one workflow, or
    all."""
    _mark(transaction, chat_id, edits.c.message_id == message_id, undone, workflow_id)


def mark_taking_back(
    transaction: Transaction, chat_id: str, message_id: str, workflow_id: str | None = None
) -> None:
    """Note as taken back the edits that took back those of an answer."""
    _mark(transaction, chat_id, edits.c.takes_back == message_id, True, workflow_id)


def copy(transaction: Transaction, chat_id: str, target_id: str) -> None:
    """Copy the edits of a chat into the chat `target_id`, which is new."""
    for table in (edits, edit_graphs):
        graph_rows.copy_rows(transaction, table, chat_id, target_id)


def _mark(
    transaction: Transaction,
    chat_id: str,
    which: ColumnElement[bool],
    undone: bool,
    workflow_id: str | None,
) -> None:
    own = (edits.c.chat_id == chat_id) & which
    if workflow_id is not None:
        own &= edits.c.workflow_id == workflow_id
    transaction.execute(update(edits).where(own).values(undone=undone))


def _put(transaction: Transaction, chat_id: str, graph: PackedGraph) -> None:
    own = (edit_graphs.c.chat_id == chat_id) & (edit_graphs.c.digest == graph.digest)
    if transaction.execute(select(edit_graphs.c.digest).where(own)).first() is None:
        row = {"chat_id": chat_id, "digest": graph.digest, "graph": graph.content}
        transaction.execute(insert(edit_graphs), [row])


def _remove_unused(transaction: Transaction, chat_id: str) -> None:
    named = select(edits.c.before).where(edits.c.chat_id == chat_id)
    named_after = select(edits.c.after).where(edits.c.chat_id == chat_id)
    unused = (edit_graphs.c.chat_id == chat_id) & edit_graphs.c.digest.not_in(
        named.union(named_after)
    )
    transaction.execute(delete(edit_graphs).where(unused))


def _next_number(transaction: Transaction, chat_id: str) -> int:
    newest = select(func.max(edits.c.number)).where(
        edits.c.chat_id == chat_id, edits.c.number.between(1, MOST)
    )
    return (transaction.execute(newest).scalar_one() or 0) + 1


def _edit(row: Any) -> Edit | None:
    texts = (row.message_id, row.workflow_id, row.name, row.before, row.after)
    if not isinstance(row.number, int) or not all(isinstance(text, str) for text in texts):
        return None
    return Edit(
        row.message_id,
        row.workflow_id,
        row.name,
        row.takes_back if isinstance(row.takes_back, str) else None,
        row.undone in (True, 1),
        row.number,
        row.before,
        row.after,
    )
