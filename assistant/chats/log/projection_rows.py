"""The projections of a chat: which messages its context leaves out, kept beside the log (R28).

Each cut is a row, and one row has the other projections, which are bounded: a chat with a thousand
cuts writes two rows for another cut. All projections can be made anew from the log, so unreadable
rows are not an error. Functions over a transaction, as in `chat_log`.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import delete, insert, select, update

from ...context.projection_json import from_json, to_json
from ...context.projections import Projections
from ...database import Transaction
from ..schema import cuts as cut_rows
from ..schema import projections as projection_rows
from .record import canonical


def keep(transaction: Transaction, chat_id: str, projections: Projections) -> None:
    """Replace the chat's projections by these; only the difference is written."""
    body = to_json(projections)
    cuts = body.pop("cuts")
    known = _cuts(transaction, chat_id)
    same = 0
    while same < min(len(known), len(cuts)) and known[same] == cuts[same]:
        same += 1
    if same < len(known):
        later = (cut_rows.c.chat_id == chat_id) & (cut_rows.c.number >= same)
        transaction.execute(delete(cut_rows).where(later))
    new = [
        {"chat_id": chat_id, "number": number, "first": first, "end": end, "digest": digest}
        for number, (first, end, digest) in enumerate(cuts[same:], start=same)
    ]
    if new:
        transaction.execute(insert(cut_rows), new)
    _keep_body(transaction, chat_id, canonical(body))


def copy_core(transaction: Transaction, chat_id: str, new_id: str) -> None:
    """Gives a branch the memories that its chat began with: its requests begin as those did."""
    core = read(transaction, chat_id).core
    if core is not None:
        keep(transaction, new_id, Projections(core=core))


def read(transaction: Transaction, chat_id: str) -> Projections:
    """The chat's projections; empty where there are none, or where they cannot be read."""
    chosen = select(projection_rows.c.body).where(projection_rows.c.chat_id == chat_id)
    text = transaction.execute(chosen).scalar_one_or_none()
    try:
        body = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return Projections()
    if not isinstance(body, dict):
        return Projections()
    return from_json({**body, "cuts": _cuts(transaction, chat_id)})


def _cuts(transaction: Transaction, chat_id: str) -> list[list[Any]]:
    """The chat's cuts in their order, as `to_json` has them."""
    chosen = select(cut_rows.c.first, cut_rows.c.end, cut_rows.c.digest)
    ordered = chosen.where(cut_rows.c.chat_id == chat_id).order_by(cut_rows.c.number)
    return [list(row) for row in transaction.execute(ordered)]


def _keep_body(transaction: Transaction, chat_id: str, body: str) -> None:
    where = projection_rows.c.chat_id == chat_id
    changed = transaction.execute(update(projection_rows).where(where).values(body=body))
    if changed.rowcount == 0:
        transaction.execute(insert(projection_rows).values(chat_id=chat_id, body=body))
