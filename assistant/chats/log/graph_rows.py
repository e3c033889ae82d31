"""The graphs that the workflows of a chat had. Functions over a transaction, as in `chat_log`.

Kept of each workflow: the last 20 graphs, of those that came with a message the last 20, so that
twenty changes of the canvas between two messages do not take away what the model has seen, and the
last graph of each answer that edited. A graph that comes again keeps its row. Which graph came with
which message is noted apart, since one graph comes with many. An export has no graphs; a branch has
copies.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Table, bindparam, delete, func, insert, literal, select, type_coerce, update
from sqlalchemy.types import NullType

from ...database import Transaction
from ...errors import NotFound
from ..row_values import MOST, is_count
from ..schema import message_graphs, workflows
from . import paths
from .record import stored_time, time_text

MOST_GRAPHS: Final = 20
"""Graphs of one workflow; of those with a message, as many again at most."""
MOST_WORKFLOWS: Final = 50
"""Workflows of one chat; of the workflows used least recently nothing is kept."""

_PLAIN: Final = tuple(
    type_coerce(one, NullType()).label(one.name) for one in workflows.c if one.name != "graph"
)
"""All columns but the graph as they are in the file: a conversion may refuse a damaged value."""
_NEWEST_FIRST: Final = (
    select(*_PLAIN)
    .where(workflows.c.chat_id == bindparam("chat"))
    .order_by(workflows.c.number.desc())
)
_OF_CHAT: Final = _NEWEST_FIRST.limit(bindparam("most"))
_NEWEST_OF: Final = _NEWEST_FIRST.where(workflows.c.workflow_id == bindparam("workflow")).limit(1)


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """A graph that a workflow had. `message_id` is the user message that it came with last; None
    for a change of the canvas between two messages. `nodes` counts those of the canvas itself.
    `edited` is the answer whose edits made the graph, `made` says that no canvas has it."""

    workflow_id: str
    revision: str
    name: str
    message_id: str | None
    created: datetime
    nodes: int
    edited: str | None = None
    made: bool = False


def packed(graph: Mapping[str, Any]) -> str:
    """The graph's JSON as it is stored. Takes a tenth of a second for 5 MB: call it in a thread."""
    text = json.dumps(graph, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"))).decode("ascii")


def came_again(transaction: Transaction, chat_id: str, graph: KeptGraph) -> bool:
    """Note that a graph came again, which is the newest then; False where it is not kept."""
    number = _next_number(transaction, chat_id)
    values: dict[str, Any] = {"number": number, "name": graph.name, "made": graph.made}
    if graph.message_id is not None:
        values["message_id"] = graph.message_id
    if graph.edited is not None:
        values["edited"] = graph.edited
    own = (
        (workflows.c.chat_id == chat_id)
        & (workflows.c.workflow_id == graph.workflow_id)
        & (workflows.c.revision == graph.revision)
    )
    found = transaction.execute(update(workflows).where(own).values(values)).rowcount > 0
    if found:
        _note_messages(transaction, chat_id, graph)
    return found


def keep(transaction: Transaction, chat_id: str, graph: KeptGraph, content: str) -> None:
    """Add the graph with its `packed` content, or note that it came again, and remove what is kept
    no longer. An edit may change places alone, and the revision with it not: so the content of an
    edited graph that came again is the newer one."""
    if came_again(transaction, chat_id, graph):
        if graph.edited is not None:
            own = workflows.c.revision == graph.revision
            own &= workflows.c.workflow_id == graph.workflow_id
            own &= workflows.c.chat_id == chat_id
            transaction.execute(update(workflows).where(own).values(graph=content))
        return
    row = {
        "chat_id": chat_id,
        "workflow_id": graph.workflow_id,
        "revision": graph.revision,
        "number": _next_number(transaction, chat_id),
        "name": graph.name,
        "message_id": graph.message_id,
        "created": time_text(graph.created),
        "nodes": graph.nodes,
        "graph": content,
        "edited": graph.edited,
        "made": graph.made,
    }
    transaction.execute(insert(workflows), [row])
    _note_messages(transaction, chat_id, graph)
    _remove_older(transaction, chat_id)


def note_message(
    transaction: Transaction, chat_id: str, message_id: str, workflow_id: str, revision: str
) -> None:
    """Note which graph a workflow had at this message."""
    own = (message_graphs.c.chat_id == chat_id) & (message_graphs.c.message_id == message_id)
    transaction.execute(delete(message_graphs).where(own))
    row = {"chat_id": chat_id, "message_id": message_id}
    row.update(workflow_id=workflow_id, revision=revision)
    transaction.execute(insert(message_graphs), [row])


def _note_messages(transaction: Transaction, chat_id: str, graph: KeptGraph) -> None:
    if graph.message_id is not None and not _is_noted(transaction, chat_id, graph.message_id):
        # What changes on the canvas during the answer did not come with the message.
        note_message(transaction, chat_id, graph.message_id, graph.workflow_id, graph.revision)
    if graph.edited is not None:
        note_message(transaction, chat_id, graph.edited, graph.workflow_id, graph.revision)
        # One graph of each answer is kept: the last one that its edits made.
        older = (workflows.c.chat_id == chat_id) & (workflows.c.edited == graph.edited)
        older &= workflows.c.workflow_id == graph.workflow_id
        older &= workflows.c.revision != graph.revision
        transaction.execute(update(workflows).where(older).values(edited=None))


def _is_noted(transaction: Transaction, chat_id: str, message_id: str) -> bool:
    own = (message_graphs.c.chat_id == chat_id) & (message_graphs.c.message_id == message_id)
    found = transaction.execute(select(message_graphs.c.message_id).where(own)).first()
    return found is not None


def at_message(
    transaction: Transaction, chat_id: str, head_row: int | None, message_id: str | None
) -> KeptGraph | None:
    """The graph that a workflow had at a message of the path to `head_row` (None: at its end): the
    one noted last up to there. None where there is none, or it is not kept (any more). Raises
    NotFound for a message that is not on the path."""
    query = select(message_graphs).where(message_graphs.c.chat_id == chat_id)
    rows = transaction.execute(query).all()
    noted = {row.message_id: row for row in rows if isinstance(row.message_id, str)}
    asked = [] if message_id is None else [message_id]
    places = paths.rows_on_path(transaction, chat_id, head_row, [*noted, *asked])
    if message_id is not None and message_id not in places:
        raise NotFound(f"There is no message {message_id!r} on this chat's current path.")
    end = MOST if message_id is None else places[message_id]
    before = {row: one for one, row in places.items() if row <= end and one in noted}
    if not before:
        return None
    found = noted[before[max(before)]]
    return _find(transaction, chat_id, found.revision, found.workflow_id)


def _find(
    transaction: Transaction, chat_id: str, revision: str, workflow_id: str
) -> KeptGraph | None:
    """A graph of a workflow; None where it is not kept (any more)."""
    query = select(*_PLAIN).where(
        workflows.c.chat_id == chat_id,
        workflows.c.workflow_id == workflow_id,
        workflows.c.revision == revision,
    )
    row = transaction.execute(query).one_or_none()
    return None if row is None else _kept(row)


def listed(
    transaction: Transaction, chat_id: str, limit: int, before: str | None = None
) -> tuple[KeptGraph, ...]:
    """Up to `limit` graphs, the one that came last first; `before` is the last revision of the page
    before. Damaged rows are left out. Raises NotFound for an unknown `before`."""
    query = _OF_CHAT
    if before is not None:
        named = (workflows.c.chat_id == chat_id) & (workflows.c.revision == before)
        place = transaction.execute(select(func.min(workflows.c.number)).where(named)).scalar()
        if place is None:
            raise NotFound(f"This chat has no revision {before!r}.")
        query = query.where(workflows.c.number < place)
    rows = transaction.execute(query, {"chat": chat_id, "most": limit}).all()
    found = [_kept(row) for row in rows]
    return tuple(one for one in found if one is not None)


def newest_of(transaction: Transaction, chat_id: str, workflow_id: str) -> KeptGraph | None:
    """The graph of a workflow that came last; None where none is kept."""
    asked = {"chat": chat_id, "workflow": workflow_id}
    row = transaction.execute(_NEWEST_OF, asked).one_or_none()
    return None if row is None else _kept(row)


def read(
    transaction: Transaction, chat_id: str, revision: str, workflow_id: str | None = None
) -> dict[str, Any] | None:
    """A graph of the chat, or of one workflow of it; None where there is none of this revision, or
    it is damaged."""
    query = select(type_coerce(workflows.c.graph, NullType())).where(
        workflows.c.chat_id == chat_id, workflows.c.revision == revision
    )
    if workflow_id is not None:
        query = query.where(workflows.c.workflow_id == workflow_id)
    contents = transaction.execute(query.order_by(workflows.c.number.desc())).scalars()
    return next((graph for graph in map(unpacked, contents) if graph is not None), None)


def copy(transaction: Transaction, chat_id: str, target_id: str) -> None:
    """Copy the graphs of a chat into the chat `target_id`, which is new."""
    for table in (workflows, message_graphs):
        copy_rows(transaction, table, chat_id, target_id)


def copy_rows(transaction: Transaction, table: Table, chat_id: str, target_id: str) -> None:
    """Copy a chat's rows of a table into the chat `target_id`, which has none."""
    columns = [one for one in table.c if one.name != "chat_id"]
    rows = select(literal(target_id), *columns).where(table.c.chat_id == chat_id)
    names = ["chat_id", *(one.name for one in columns)]
    transaction.execute(insert(table).from_select(names, rows))


def _next_number(transaction: Transaction, chat_id: str) -> int:
    newest = select(func.max(workflows.c.number)).where(
        workflows.c.chat_id == chat_id, workflows.c.number.between(1, MOST)
    )
    return (transaction.execute(newest).scalar_one() or 0) + 1


def _remove_older(transaction: Transaction, chat_id: str) -> None:
    query = select(*_PLAIN).where(workflows.c.chat_id == chat_id)
    rows = transaction.execute(query.order_by(workflows.c.number.desc())).all()
    for row in _too_many(rows):
        gone = (
            (workflows.c.chat_id == chat_id)
            & (workflows.c.workflow_id == row.workflow_id)
            & (workflows.c.revision == row.revision)
        )
        transaction.execute(delete(workflows).where(gone))


def _too_many(rows: Iterable[Any]) -> list[Any]:
    """Of the rows, the newest first, those that are kept no longer."""
    gone = []
    every: Counter[object] = Counter()
    with_message: Counter[object] = Counter()
    for row in rows:
        known = row.workflow_id in every or len(every) < MOST_WORKFLOWS
        every[row.workflow_id] += 1
        with_message[row.workflow_id] += row.message_id is not None
        asked = row.message_id is not None and with_message[row.workflow_id] <= MOST_GRAPHS
        if row.edited is not None:
            continue
        if not known or (every[row.workflow_id] > MOST_GRAPHS and not asked):
            gone.append(row)
    return gone


def _kept(row: Any) -> KeptGraph | None:
    created = stored_time(row.created)
    texts = (row.workflow_id, row.revision, row.name)
    if created is None or not all(isinstance(text, str) for text in texts):
        return None
    message_id = row.message_id if isinstance(row.message_id, str) else None
    nodes = row.nodes if is_count(row.nodes) else 0
    edited = row.edited if isinstance(row.edited, str) else None
    made = row.made in (True, 1)
    return KeptGraph(
        row.workflow_id, row.revision, row.name, message_id, created, nodes, edited, made
    )


def unpacked(content: object) -> dict[str, Any] | None:
    """The graph; None for what this code cannot have written."""
    try:
        graph = json.loads(zlib.decompress(base64.b64decode(str(content), validate=True)))
        return graph if isinstance(graph, dict) else None
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None
