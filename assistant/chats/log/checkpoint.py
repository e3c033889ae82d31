"""The answer in progress, saved while it streams, so that a crash loses little of it.

One row per chat in `running`, overwritten by each checkpoint and removed in the transaction that
adds the finished message to the log. One that is left by a process that died becomes a row of the
log, marked as cut. Functions over a connection, as in `log`.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from ...database import driver_of
from ...errors import Conflict
from ...messages.parts import Message
from .. import chat_rows, ownership
from ..attachments import decode_row, encode_row
from ..chat import ChatState, Parent
from ..ownership import Owner, owner_of
from . import chat_log
from .chat_log import Added
from .record import parse_time, time_text

logger = logging.getLogger("comfyui_assistant")

CUT = "cut"
"""`metadata.cut` of an answer that a crash ended; the others are the turn's to set."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was saved of an answer, and the row that it follows."""

    chat_id: str
    parent_row: int | None
    message: Message


def begin(
    connection: Connection,
    chat_id: str,
    message: Message,
    parent: Parent,
    owner: Owner,
    now: datetime,
) -> None:
    """The answer after `parent` begins; the path ends there, unless with an older version of it."""
    settle(connection, chat_id, owner, now)
    head = chat_rows.require(connection, chat_id).head_row
    row = chat_log.parent_row(connection, chat_id, head, parent)
    chat_log.check_fit(connection, chat_id, (message,), row)
    if not chat_log.is_version_of(connection, chat_id, head, message.id, row):
        chat_rows.set_head(connection, chat_id, row, 0, now)
    chat_rows.set_state(connection, chat_id, "generating")
    when = time_text(now)
    body = encode_row(connection, chat_id, message).text
    driver_of(connection).execute(
        "INSERT INTO running (chat_id, message_id, parent_row, started, body, owner, beat)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (chat_id, message.id, row, when, body, owner.to_text(), when),
    )


def save(connection: Connection, chat_id: str, message: Message, now: datetime) -> None:
    """Overwrite the checkpoint; does nothing when that answer is not in progress any more."""
    body = encode_row(connection, chat_id, message).text
    driver_of(connection).execute(
        "UPDATE running SET body = ?, beat = ? WHERE chat_id = ? AND message_id = ?",
        (body, time_text(now), chat_id, message.id),
    )


def finish(
    connection: Connection,
    chat_id: str,
    message: Message,
    state: ChatState,
    now: datetime,
    begun_here: bool = False,
) -> Added:
    """The answer becomes a row of the log. Raises Conflict when it is not in progress, unless it
    was `begun_here`: then what said so was lost with a damaged file."""
    driver = driver_of(connection)
    query = "SELECT message_id, parent_row FROM running WHERE chat_id = ?"
    found = driver.execute(query, (chat_id,)).fetchone()
    if found is None and begun_here:
        parent_row = _parent_row(connection, chat_id, message)
    elif found is None or found[0] != message.id:
        raise Conflict(f"No answer {message.id!r} is in progress in this chat.")
    else:
        parent_row = found[1]
    driver.execute("DELETE FROM running WHERE chat_id = ?", (chat_id,))
    chat_rows.set_state(connection, chat_id, state)
    return end_with(connection, chat_id, message, parent_row, now)


def take(connection: Connection, chat_id: str) -> Checkpoint | None:
    """Remove and return the chat's checkpoint."""
    driver = driver_of(connection)
    found = driver.execute(
        "SELECT parent_row, body FROM running WHERE chat_id = ?", (chat_id,)
    ).fetchone()
    if found is None:
        return None
    driver.execute("DELETE FROM running WHERE chat_id = ?", (chat_id,))
    return Checkpoint(chat_id, found[0], decode_row(connection, found[1])[0])


def check_here(connection: Connection, chat_id: str, owner: Owner, now: datetime) -> None:
    """Raises Conflict (`runs_elsewhere`) while another process gives the chat's answer."""
    other = _other_owner(connection, chat_id, owner, now)
    if other is not None:
        raise ownership.runs_elsewhere(other, chat_id)


def settle(connection: Connection, chat_id: str, owner: Owner, now: datetime) -> bool:
    """An answer that nobody is giving any more becomes a cut message; says whether there was one.
    Raises Conflict as `check_here` does."""
    query = "SELECT 1 FROM running WHERE chat_id = ?"
    if driver_of(connection).execute(query, (chat_id,)).fetchone() is None:
        return False
    check_here(connection, chat_id, owner, now)
    left = take(connection, chat_id)
    assert left is not None
    end_with(connection, chat_id, as_cut(left.message), left.parent_row, now)
    chat_rows.set_state(connection, chat_id, "idle")
    return True


def recover(
    connection: Connection, owner: Owner, now: datetime, answering: Collection[str] = ()
) -> tuple[str, ...]:
    """Settle what processes left that are not there any more; says in which chats. `answering` are
    those of this process that are in progress."""
    query = "SELECT chat_id FROM running ORDER BY chat_id"
    found = [chat_id for (chat_id,) in driver_of(connection).execute(query)]
    cut = tuple(
        chat_id
        for chat_id in found
        if chat_id not in answering and _other_owner(connection, chat_id, owner, now) is None
    )
    for chat_id in cut:
        settle(connection, chat_id, owner, now)
        chat_rows.set_unread(connection, chat_id, True)  # It ended while nobody could look.
    if cut:
        logger.info("Chats: %d answers were cut by a crash.", len(cut))
    chat_rows.end_active(connection)
    return cut


def end_with(
    connection: Connection, chat_id: str, message: Message, parent_row: int | None, now: datetime
) -> Added:
    """Add the answer; the current path ends with it, and it is kept even in a full chat."""
    added = chat_log.add_rows(connection, chat_id, (message,), parent_row, now)
    chat_rows.set_head(connection, chat_id, added.rows[-1], added.chars, now)
    return added


def _parent_row(connection: Connection, chat_id: str, message: Message) -> int | None:
    """The end of the current path, or what an older version of the message there follows."""
    head = chat_rows.require(connection, chat_id).head_row
    if head is None:
        return None
    before = chat_log.parent_of(connection, chat_id, head)
    return before if chat_log.is_version_of(connection, chat_id, head, message.id, before) else head


def as_cut(message: Message) -> Message:
    """The message, marked as ended by a crash."""
    return dataclasses.replace(message, metadata={**message.metadata, "cut": CUT})


def _other_owner(connection: Connection, chat_id: str, owner: Owner, now: datetime) -> Owner | None:
    """The other process that gives the chat's answer now."""
    found = (
        driver_of(connection)
        .execute("SELECT owner, beat FROM running WHERE chat_id = ?", (chat_id,))
        .fetchone()
    )
    other = owner_of(found[0]) if found is not None else None
    if other is None or ownership.is_same(other, owner):
        return None
    return other if ownership.is_alive(other, parse_time(found[1]), now) else None
