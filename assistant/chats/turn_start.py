"""What a turn writes when it begins, as one transaction: the request's messages and its answer.

A turn waits for this commit before it asks a model, so there is one of it. Either all of it is
stored or nothing: a chat never has a question whose answer nobody began, but for a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..database import Transaction
from ..database.lease import Owner
from ..messages.parts import Message
from . import chat_rows, queue
from .chat import HEAD, Chat, Parent, Versions, WorkflowName
from .log import checkpoint, versions
from .log.chat_log import Added

Add = Callable[[Transaction, Chat, Sequence[Message], Parent, datetime], Added]
"""Adds messages after a message; the path ends with them then (`store`)."""


@dataclass(frozen=True, slots=True)
class TurnStart:
    """`messages` follow the message `after`, and `answer` follows them; without messages it follows
    the message `parent`. `answer` has parts already when a suspended turn goes on.

    `new` makes the chat, with `title` and `workflow`; in a chat that exists, `title` replaces one
    of the same source. `from_queue` is the id of the entry that leaves the chat's queue.
    `question` is the id of the message that is answered, if it may have been answered before.
    """

    answer: Message
    messages: tuple[Message, ...] = ()
    after: Parent = HEAD
    parent: Parent = HEAD
    new: bool = False
    title: str | None = None
    workflow: WorkflowName | None = None
    from_queue: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """The chat after the begin of a turn, the versions of the messages that were added (without
    messages that have only one), and the ids of the earlier answers to the question."""

    chat: Chat
    versions: Mapping[str, Versions]
    answers: tuple[str, ...]
    added: Added | None


def begin(
    transaction: Transaction,
    chat_id: str,
    start: TurnStart,
    owner: Owner,
    now: datetime,
    add: Add,
) -> Begun:
    """Raises Conflict (`runs_elsewhere`, `chat_exists`, `chat_deleted`), NotFound for an unknown
    chat, message or queue entry, InvalidRequest for messages that do not fit the path, and the
    errors of `add`."""
    if start.new:
        chat_rows.insert_chat(transaction, chat_id, start.title or "", start.workflow, now)
    checkpoint.settle(transaction, chat_id, owner, now)
    chat = chat_rows.require(transaction, chat_id)
    if start.from_queue is not None:
        queue.take(transaction, chat_id, start.from_queue)
    added = None
    if start.messages:
        added = add(transaction, chat, start.messages, start.after, now)
    if start.title is not None and not start.new:
        chat_rows.retitle(transaction, chat_id, start.title, "rule")
    parent = HEAD if start.messages else start.parent
    checkpoint.begin(transaction, chat_id, start.answer, parent, owner, now)
    chat = chat_rows.require(transaction, chat_id)
    # The messages of a new chat have no other versions.
    ids = [] if start.new else [message.id for message in start.messages]
    return Begun(
        chat=chat,
        versions=versions.of_messages(transaction, chat_id, chat.head_row, ids) if ids else {},
        answers=()
        if start.question is None
        else versions.answers_to(transaction, chat_id, start.question),
        added=added,
    )
