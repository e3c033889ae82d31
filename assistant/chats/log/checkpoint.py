"""The answer in progress, saved while it streams, so that a crash loses little of it.

A chat has at most one row in `running`. Each checkpoint overwrites it, and the transaction that
adds the finished message to the log removes it. The checkpoint of a process that died becomes a row
of the log, marked as cut. Functions over a transaction, as in `chat_log`.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import uuid4

from sqlalchemy import bindparam, delete, insert, select, update

from ...database import Statement, Transaction
from ...database.lease import Owner, other_owner
from ...errors import Conflict, InvalidRequest
from ...messages.parts import Message, ToolPart
from .. import chat_rows
from ..attachments import encode_row
from ..chat import ChatState, Parent
from ..row_values import UNKNOWN_TIME, is_row
from ..schema import messages, running
from . import chat_log, paths, salvage
from .chat_log import Added
from .record import stored_time, time_text
from .salvage import FIELD_DAMAGED, read_message

logger = logging.getLogger("comfyui_assistant")

CUT = "cut"
"""`metadata.cut` of an answer that a crash ended; `turn` sets the other values."""
ON_ITS_WAY = ("input-available", "approval-responded")
"""The states of a call that runs, or is about to run."""
CUT_OFF = "ComfyUI ended before there was a result."
"""The text does not say whether the tool had an effect, since that is unknown."""

_of_chat = running.c.chat_id == bindparam("chat")
_BEGIN: Final = Statement(insert(running))
_SAVE: Final = Statement(
    update(running)
    .where(_of_chat, running.c.message_id == bindparam("message"))
    .values(body=bindparam("text"), beat=bindparam("now"))
)
_ANSWER: Final = Statement(select(running.c.message_id, running.c.parent_row).where(_of_chat))
_CHECKPOINT: Final = Statement(
    select(running.c.parent_row, running.c.message_id, running.c.body).where(_of_chat)
)
_ROW: Final = Statement(
    select(messages.c.row).where(
        messages.c.chat_id == bindparam("chat"), messages.c.row == bindparam("at")
    )
)
_OWNER: Final = Statement(select(running.c.owner, running.c.beat).where(_of_chat))
_MOVE: Final = Statement(update(running).where(_of_chat).values(parent_row=bindparam("to")))
_DELETE: Final = Statement(delete(running).where(_of_chat))
_CHATS: Final = Statement(select(running.c.chat_id).order_by(running.c.chat_id))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An answer as it was saved last, and the row that it follows."""

    chat_id: str
    parent_row: int | None
    message: Message


def begin(
    transaction: Transaction,
    chat_id: str,
    message: Message,
    parent: Parent,
    owner: Owner,
    now: datetime,
) -> None:
    """Begin the answer after `parent` and the events that follow it. The path ends there then,
    unless it ends with an older version of the answer. The caller has settled an answer before."""
    head = chat_rows.require(transaction, chat_id).head_row
    parent_row = paths.parent_row(transaction, chat_id, head, parent)
    row = paths.after_events(transaction, chat_id, head, parent_row)
    chat_log.check_fit(transaction, chat_id, (message,), row)
    if not paths.is_version_of(transaction, chat_id, head, message.id, row):
        chat_rows.set_head(transaction, chat_id, row, 0, now)
    chat_rows.set_state(transaction, chat_id, "generating")
    when = time_text(now)
    body = encode_row(transaction, chat_id, message).text
    values = {
        "chat_id": chat_id,
        "message_id": message.id,
        "parent_row": row,
        "started": when,
        "body": body,
        "owner": owner.to_text(),
        "beat": when,
    }
    transaction.run(_BEGIN, **values)


def save(transaction: Transaction, chat_id: str, message: Message, now: datetime) -> None:
    """Overwrite the checkpoint; does nothing when that answer is not in progress any more."""
    body = encode_row(transaction, chat_id, message).text
    transaction.run(_SAVE, text=body, now=time_text(now), chat=chat_id, message=message.id)


def finish(
    transaction: Transaction,
    chat_id: str,
    message: Message,
    state: ChatState,
    now: datetime,
    begun_here: bool = False,
) -> Added:
    """The answer becomes a row of the log. Raises Conflict when it is not in progress, unless it
    was `begun_here`: then its row was lost with a damaged file."""
    found = transaction.row(_ANSWER, chat=chat_id)
    if found is None and begun_here:
        parent_row = _parent_row(transaction, chat_id, message)
    elif found is None or (found[0] != message.id and not begun_here):
        raise Conflict(f"No answer {message.id!r} is in progress in this chat.")
    elif found[0] == message.id and _is_parent(transaction, chat_id, found[1]):
        parent_row = found[1]
    else:
        _set_aside(transaction, chat_id, now)
        parent_row = _parent_row(transaction, chat_id, message)
    transaction.run(_DELETE, chat=chat_id)
    chat_rows.set_state(transaction, chat_id, state)
    return end_with(transaction, chat_id, message, parent_row, now)


@dataclass(frozen=True, slots=True)
class AnswerParent:
    """The row that the answer in progress follows, None at the beginning of the chat."""

    parent_row: int | None


def parent_of_answer(transaction: Transaction, chat_id: str) -> AnswerParent | None:
    """The row before the answer in progress; None while no answer is in progress."""
    found = transaction.row(_ANSWER, chat=chat_id)
    return None if found is None else AnswerParent(found[1])


def move_answer(transaction: Transaction, chat_id: str, parent_row: int) -> None:
    """The answer in progress follows this row."""
    transaction.run(_MOVE, to=parent_row, chat=chat_id)


def take(transaction: Transaction, chat_id: str, now: datetime) -> Checkpoint | None:
    """Remove and return the chat's checkpoint; a damaged row is kept (`salvage`), and what can be
    read of it is returned."""
    found = transaction.row(_CHECKPOINT, chat=chat_id)
    if found is None:
        return None
    parent_row, identity, body = found
    message, _ = read_message(transaction, running, chat_id, "", body)
    if FIELD_DAMAGED in message.metadata or not _is_parent(transaction, chat_id, parent_row):
        _set_aside(transaction, chat_id, now)
        if isinstance(identity, str) and identity.isprintable() and identity:
            message = dataclasses.replace(message, id=identity)
        parent_row = chat_rows.require(transaction, chat_id).head_row
    transaction.run(_DELETE, chat=chat_id)
    return Checkpoint(chat_id, parent_row, message)


def _is_parent(transaction: Transaction, chat_id: str, row: object) -> bool:
    """Whether a message can follow `row`: a row of the chat, or None."""
    return row is None or (is_row(row) and transaction.row(_ROW, chat=chat_id, at=row) is not None)


def _set_aside(transaction: Transaction, chat_id: str, now: datetime) -> None:
    """Copy the chat's damaged row, which is to be removed."""
    found = transaction.execute(select(running).where(running.c.chat_id == chat_id)).mappings()
    for row in found.all():
        salvage.keep(transaction, running, chat_id, dict(row), now)


def check_here(transaction: Transaction, chat_id: str, owner: Owner, now: datetime) -> None:
    """Raises Conflict (`runs_elsewhere`) while another process gives the chat's answer."""
    other = _other_owner(transaction, chat_id, owner, now)
    if other is not None:
        raise _runs_elsewhere(other, chat_id)


def settle(transaction: Transaction, chat_id: str, owner: Owner, now: datetime) -> bool:
    """Make an answer whose process is gone a cut message; returns whether there was one. Raises
    NotFound, and Conflict as `check_here` does."""
    if transaction.row(_OWNER, chat=chat_id) is None:
        return False
    chat_rows.require(transaction, chat_id)
    check_here(transaction, chat_id, owner, now)
    left = take(transaction, chat_id, now)
    assert left is not None
    message = as_cut(left.message)
    try:
        chat_log.check_fit(transaction, chat_id, (message,), left.parent_row)
    except InvalidRequest:  # a damaged id
        message = dataclasses.replace(message, id=f"damaged-{uuid4().hex}")
    end_with(transaction, chat_id, message, left.parent_row, now)
    chat_rows.set_state(transaction, chat_id, "idle")
    return True


def recover(
    transaction: Transaction, owner: Owner, now: datetime, answering: Collection[str] = ()
) -> tuple[str, ...]:
    """Settle the answers of processes that are gone; returns the ids of their chats. The chats in
    `answering` have an answer in progress in this process."""
    found = [chat_id for (chat_id,) in transaction.rows(_CHATS)]
    cut = tuple(
        chat_id
        for chat_id in found
        if chat_id not in answering and _other_owner(transaction, chat_id, owner, now) is None
    )
    for chat_id in cut:
        # A damaged row may name no chat, or a chat that is deleted: no other chat waits for it.
        if isinstance(chat_id, str) and chat_rows.find(transaction, chat_id) is not None:
            settle(transaction, chat_id, owner, now)
            chat_rows.set_unread(transaction, chat_id, True)  # The answer ended unseen.
        else:
            transaction.damaged.note(running.name, chat_id)
    if cut:
        logger.info("Chats: %d answers were cut by a crash.", len(cut))
    chat_rows.end_active(transaction)
    return cut


def end_with(
    transaction: Transaction, chat_id: str, message: Message, parent_row: int | None, now: datetime
) -> Added:
    """Add the answer; the current path ends with it, and it is kept even in a full chat."""
    added = chat_log.add_rows(transaction, chat_id, (message,), parent_row, now)
    chat_rows.set_head(transaction, chat_id, added.rows[-1], added.chars, now)
    return added


def _parent_row(transaction: Transaction, chat_id: str, message: Message) -> int | None:
    """The end of the current path or, where an older version of the message ends it, the row
    before."""
    head = chat_rows.require(transaction, chat_id).head_row
    if head is None:
        return None
    before = paths.parent_of(transaction, chat_id, head)
    return before if paths.is_version_of(transaction, chat_id, head, message.id, before) else head


def as_cut(message: Message) -> Message:
    """The message, marked as ended by a crash. A call that was on its way may have run already, or
    was never asked about: it is settled, so that it does not run later."""
    parts = tuple(
        dataclasses.replace(part, state="output-error", error_text=CUT_OFF)
        if isinstance(part, ToolPart) and part.state in ON_ITS_WAY
        else part
        for part in message.parts
    )
    return dataclasses.replace(message, parts=parts, metadata={**message.metadata, "cut": CUT})


def _other_owner(
    transaction: Transaction, chat_id: str, owner: Owner, now: datetime
) -> Owner | None:
    """The other process that gives the chat's answer now."""
    found = transaction.row(_OWNER, chat=chat_id)
    if found is None or found[0] is None:
        return None
    return other_owner(found[0], stored_time(found[1]) or UNKNOWN_TIME, owner, now)


def _runs_elsewhere(owner: Owner, chat_id: str) -> Conflict:
    where = f" at {owner.address}" if owner.address else ""
    return Conflict(
        f"This chat is being answered by another ComfyUI{where} (process {owner.pid} on"
        f" {owner.host}); go on there, or wait until it is done.",
        code="runs_elsewhere",
        extra={"chat_id": chat_id, "pid": owner.pid, "address": owner.address},
    )
