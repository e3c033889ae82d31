"""Events in the log: rows of the role `event`, each written at once (`origin`).

An event stands at the end of the current path, but before an answer that is not done: an answer
that is given now, or that waits for a decision or a result, goes on after it. So the answer stays
the last message, and a decision or a result that continues it need not pass over events.

Functions over a transaction, as in `chat_log`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ...database import Transaction
from ...messages.origin import EVENT_METADATA
from ...messages.parts import Message
from .. import chat_rows
from ..chat import Chat
from ..reconcile import state_after
from . import chat_log, checkpoint, paths
from .chat_log import Added


def as_event(message: Message) -> Message:
    """The message in the form in which an event is sent: a hidden user message."""
    return replace(message, role="user", metadata={**message.metadata, **EVENT_METADATA})


def add(
    transaction: Transaction, chat: Chat, event: Message, now: datetime
) -> tuple[tuple[Message, ...], Added]:
    """Add an event to the chat's path; returns the messages that were added, and their rows.
    Raises InvalidRequest for an id that is used earlier on the path."""
    answering = checkpoint.parent_of_answer(transaction, chat.id)
    if answering is not None:
        added = chat_log.add_rows(transaction, chat.id, (event,), answering.parent_row, now)
        checkpoint.move_answer(transaction, chat.id, added.rows[-1])
        new: tuple[Message, ...] = (event,)
    else:
        parent, waiting = chat.head_row, _waiting(transaction, chat)
        if waiting is not None:
            assert chat.head_row is not None, "its answer waits"
            parent = paths.parent_of(transaction, chat.id, chat.head_row)
        new = (event,) if waiting is None else (event, waiting)
        added = chat_log.add_rows(transaction, chat.id, new, parent, now)
    chat_rows.set_head(transaction, chat.id, added.rows[-1], added.chars, now)
    return new, added


def _waiting(transaction: Transaction, chat: Chat) -> Message | None:
    """The answer at the end of the path, if it waits for a decision or a result."""
    if chat.head_row is None:
        return None
    stored = chat_log.read_rows(transaction, chat.id, [chat.head_row])
    last = stored[chat.head_row].message
    return None if state_after(last) == "idle" else last
