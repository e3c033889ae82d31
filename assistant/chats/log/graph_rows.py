"""The graphs that the workflows of a chat had. Functions over a transaction, as in `chat_log`.

Kept of each workflow: the last 20 graphs, and of those that came with a message the last 20, so
that twenty changes of the canvas between two messages do not take away what the model has seen. A
graph that comes again keeps its row. An export has no graphs; a branch has copies.
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

from sqlalchemy import delete, func, insert, literal, select, type_coerce, update
from sqlalchemy.types import NullType

from ...database import Transaction
from ...errors import NotFound
from ..row_values import MOST, is_count
from ..schema import workflows
from .record import stored_time, time_text

MOST_GRAPHS: Final = 20
"""Graphs of one workflow; of those with a message, as many again at most."""
MOST_WORKFLOWS: Final = 50
"""Workflows of one chat; of the workflows used least recently nothing is kept."""

_PLAIN: Final = tuple(
    type_coerce(one, NullType()).label(one.name) for one in workflows.c if one.name != "graph"
)
"""All columns but the graph as they are in the file: a conversion may refuse a damaged value."""


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """A graph that a workflow had. `message_id` is the user message that it came with last; None
    for a change of the canvas between two messages. `nodes` counts those of the canvas itself."""

    workflow_id: str
    revision: str
    name: str
    message_id: str | None
    created: datetime
    nodes: int


def packed(graph: Mapping[str, Any]) -> str:
    """The graph's JSON as it is stored. Takes a tenth of a second for 5 MB: call it in a thread."""
    text = json.dumps(graph, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"))).decode("ascii")


def came_again(transaction: Transaction, chat_id: str, graph: KeptGraph) -> bool:
    """Note that a graph came again, which is the newest then; False where it is not kept."""
    values: dict[str, Any] = {"number": _next_number(transaction, chat_id), "name": graph.name}
    if graph.message_id is not None:
        values["message_id"] = graph.message_id
    own = (
        (workflows.c.chat_id == chat_id)
        & (workflows.c.workflow_id == graph.workflow_id)
        & (workflows.c.revision == graph.revision)
    )
    return transaction.execute(update(workflows).where(own).values(values)).rowcount > 0


def keep(transaction: Transaction, chat_id: str, graph: KeptGraph, content: str) -> None:
    """Add the graph with its `packed` content, or note that it came again, and remove what is kept
    no longer."""
    if came_again(transaction, chat_id, graph):
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
    }
    transaction.execute(insert(workflows), [row])
    _remove_older(transaction, chat_id)


def listed(
    transaction: Transaction, chat_id: str, limit: int, before: str | None = None
) -> tuple[KeptGraph, ...]:
    """Up to `limit` graphs, the one that came last first; `before` is the last revision of the page
    before. Damaged rows are left out. Raises NotFound for an unknown `before`."""
    query = select(*_PLAIN).where(workflows.c.chat_id == chat_id)
    if before is not None:
        named = (workflows.c.chat_id == chat_id) & (workflows.c.revision == before)
        place = transaction.execute(select(func.min(workflows.c.number)).where(named)).scalar()
        if place is None:
            raise NotFound(f"This chat has no revision {before!r}.")
        query = query.where(workflows.c.number < place)
    rows = transaction.execute(query.order_by(workflows.c.number.desc()).limit(limit)).all()
    found = [_kept(row) for row in rows]
    return tuple(one for one in found if one is not None)


def read(transaction: Transaction, chat_id: str, revision: str) -> bytes | None:
    """The JSON of a graph of the chat; None where there is none of this revision, or it is
    damaged."""
    query = select(type_coerce(workflows.c.graph, NullType())).where(
        workflows.c.chat_id == chat_id, workflows.c.revision == revision
    )
    contents = transaction.execute(query.order_by(workflows.c.number.desc())).scalars()
    return next((text for text in map(_unpacked, contents) if text is not None), None)


def copy(transaction: Transaction, chat_id: str, target_id: str) -> None:
    """Copy the graphs of a chat into the chat `target_id`, which is new."""
    columns = [one for one in workflows.c if one.name != "chat_id"]
    rows = select(literal(target_id), *columns).where(workflows.c.chat_id == chat_id)
    names = ["chat_id", *(one.name for one in columns)]
    transaction.execute(insert(workflows).from_select(names, rows))


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
    return KeptGraph(row.workflow_id, row.revision, row.name, message_id, created, nodes)


def _unpacked(content: object) -> bytes | None:
    """The JSON text; None for what this code cannot have written."""
    try:
        text = zlib.decompress(base64.b64decode(str(content), validate=True))
        return text if isinstance(json.loads(text), dict) else None
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None
