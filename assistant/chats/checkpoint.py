"""The answer in progress, saved while it streams, so that a crash loses little of it.

One row per chat in `running`, overwritten by each checkpoint and removed in the transaction that
adds the finished message to the log. One that is left by a process that died becomes a row of the
log, marked as cut. Functions over a connection, as in `log`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from ..messages.parts import Message
from .record import decode, encode, time_text
from .schema import running

CUT = "cut"
"""`metadata.cut` of an answer that a crash ended; the others are the turn's to set."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was saved of an answer, and the row that it follows."""

    chat_id: str
    parent_row: int | None
    message: Message


def begin(
    connection: Connection, chat_id: str, message: Message, parent_row: int | None, now: datetime
) -> None:
    connection.execute(
        insert(running).values(
            chat_id=chat_id,
            message_id=message.id,
            parent_row=parent_row,
            started=time_text(now),
            body=encode(message),
        )
    )


def save(connection: Connection, chat_id: str, message: Message) -> None:
    """Overwrite the checkpoint; does nothing when that answer is not in progress any more."""
    where = (running.c.chat_id == chat_id) & (running.c.message_id == message.id)
    connection.execute(update(running).where(where).values(body=encode(message)))


def take(connection: Connection, chat_id: str) -> Checkpoint | None:
    """Remove and return the chat's checkpoint."""
    found = connection.execute(
        select(running.c.parent_row, running.c.body).where(running.c.chat_id == chat_id)
    ).one_or_none()
    if found is None:
        return None
    connection.execute(delete(running).where(running.c.chat_id == chat_id))
    return Checkpoint(chat_id, found.parent_row, decode(found.body))


def chats_with_one(connection: Connection) -> tuple[str, ...]:
    query = select(running.c.chat_id).order_by(running.c.chat_id)
    return tuple(connection.execute(query).scalars())


def as_cut(message: Message) -> Message:
    """The message, marked as ended by a crash."""
    return dataclasses.replace(message, metadata={**message.metadata, "cut": CUT})
