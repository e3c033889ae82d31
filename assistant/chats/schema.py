"""The tables of the chats, and their version.

`messages` is the log: rows are added, never changed and never removed. A row's parent is an older
row of the same chat, so a path runs from a head downwards with falling row numbers, and a branch is
a row whose parent is not the newest row. A row with the message id of an older sibling is a newer
version of that message.

A path is stored as *row ranges*: rows that follow each other by number and by parent. Each row says
where its range starts (`run_start`) and from which row the range grew (`run_parent`), so a path is
read with one look-up for each branch, not for each message, and a page of a long chat costs what a
page of a short one does.
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    event,
)

from ..database import StoreTables, Transaction, migrate
from .migrations import VERSIONS

SCHEMA_VERSION = 6
"""Of these tables; `migrations` has a step to each version."""

metadata = MetaData()

chats = Table(
    "chats",
    metadata,
    Column("id", String, primary_key=True),
    Column("title", Text, nullable=False),
    Column("title_source", String, nullable=False),
    Column("created", String, nullable=False),
    Column("updated", String, nullable=False),
    # Grows by one with each change of any chat. It orders the list of chats, because a clock that
    # is set back would disturb an order by time.
    Column("activity", Integer, nullable=False),
    Column("head_row", Integer),
    Column("state", String, nullable=False),
    Column("allowed_tools", Text, nullable=False),
    Column("workflow", Text),
    Column("log_chars", Integer, nullable=False),
    Column("pinned", Boolean, nullable=False, server_default="0"),
    # An answer ended while no reader followed the chat.
    Column("unread", Boolean, nullable=False, server_default="0"),
    # The parameters of the chat, as JSON.
    Column("params", Text, nullable=False, server_default="{}"),
    # The text that the user typed and has not sent.
    Column("draft", Text),
    # The chat and the message that this chat was branched from, as JSON.
    Column("branched_from", Text),
    # When the user deleted the chat: it is hidden from then on, and removed a while later (trash).
    Column("deleted", String),
    Index("chats_by_activity", "activity"),
)

messages = Table(
    "messages",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("parent_row", Integer),
    Column("message_id", String, nullable=False),
    Column("role", String, nullable=False),
    Column("created", String, nullable=False),
    # Messages on the path from the root to this row.
    Column("depth", Integer, nullable=False),
    Column("run_start", Integer, nullable=False),
    Column("run_parent", Integer),
    Column("body", Text, nullable=False),
    Index("messages_by_id", "chat_id", "message_id"),
)
# The first row of each row range, by the row that the range grew from: an entry for each branch,
# not for each row. As DDL, since SQLAlchemy has another word for WHERE in each dialect.
event.listen(
    messages,
    "after_create",
    DDL(  # type: ignore[no-untyped-call]
        'CREATE INDEX messages_by_branch ON messages (chat_id, run_parent) WHERE "row" = run_start'
    ),
)

running = Table(
    "running",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    Column("message_id", String, nullable=False),
    Column("parent_row", Integer),
    Column("started", String, nullable=False),
    Column("body", Text, nullable=False),
    # The process that gives the answer, and when it last wrote: a lease.
    Column("owner", Text),
    Column("beat", String),
)
"""The checkpoint of each answer in progress; its rows are overwritten."""

queue = Table(
    "queue",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    Column("id", String, primary_key=True),
    # Grows by one within the chat: the oldest entry has the smallest number.
    Column("number", Integer, nullable=False),
    Column("type", String, nullable=False),
    Column("priority", Boolean, nullable=False),
    Column("created", String, nullable=False),
    Column("message", Text),
    Column("details", Text, nullable=False),
)
"""The messages that wait until the chat is free."""

attachments = Table(
    "attachments",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    Column("sha256", String, primary_key=True),
    Index("attachments_by_content", "sha256"),
)
"""Which files beside the database (`attachments`) the rows of a chat refer to."""

attachments_gone = Table("attachments_gone", metadata, Column("sha256", String, primary_key=True))
"""Files that no chat refers to any more and that are to be removed, at the latest at a start."""

cuts = Table(
    "cuts",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # Rows as the model reads them, counted along the path; not the rows of `messages`.
    Column("first", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("digest", String, nullable=False),
)
"""The ranges of messages that a chat does not send to a model any more, in their order."""

projections = Table(
    "projections",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    Column("body", Text, nullable=False),
)
"""The other projections of a chat's context; its rows are overwritten."""

workflows = Table(
    "workflows",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    # The panel's id of the workflow, and the revision of its graph (assistant/workflow/revision).
    Column("workflow_id", String, primary_key=True),
    Column("revision", String, primary_key=True),
    # Grows by one within the chat: the graph that came last has the largest number.
    Column("number", Integer, nullable=False),
    Column("name", Text, nullable=False),
    # The user message that the graph came with; null for a change of the canvas between two.
    Column("message_id", String),
    Column("created", String, nullable=False),
    Column("nodes", Integer, nullable=False),
    # The graph's JSON, compressed, as base64.
    Column("graph", Text, nullable=False),
    # The answer whose edits made the graph: it is kept.
    Column("edited", String),
    # The server made the graph, and no canvas has it.
    Column("made", Boolean, nullable=False, server_default="0"),
)
"""The graphs that the workflows of a chat had: the last ones of each."""

message_graphs = Table(
    "message_graphs",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    Column("message_id", String, primary_key=True),
    Column("workflow_id", String, nullable=False),
    Column("revision", String, nullable=False),
)
"""Which graph a workflow had with a user message, or after the edits of an answer."""

edits = Table(
    "edits",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    # Grows by one within the chat.
    Column("number", Integer, primary_key=True, autoincrement=False),
    # The answer that edited.
    Column("message_id", String, nullable=False),
    Column("workflow_id", String, nullable=False),
    Column("name", Text, nullable=False),
    # The graphs before and after, by their digests in `edit_graphs`.
    Column("before", String, nullable=False),
    Column("after", String, nullable=False),
    Column("created", String, nullable=False),
    # The edits of the answer are taken back.
    Column("undone", Boolean, nullable=False, server_default="0"),
    # The answer whose edits this one took back.
    Column("takes_back", String),
)
"""What the tools of each answer changed, so that it can be taken back and made again."""

edit_graphs = Table(
    "edit_graphs",
    metadata,
    Column("chat_id", String, ForeignKey("chats.id"), primary_key=True),
    Column("digest", String, primary_key=True),
    # The graph's JSON, compressed, as base64.
    Column("graph", Text, nullable=False),
)
"""The graphs that `edits` names, each once: one edit mostly begins where the one before ended."""


TABLES = StoreTables("chats", metadata, SCHEMA_VERSION, VERSIONS)


def prepare(transaction: Transaction) -> None:
    """Make the tables that are missing, and bring older tables up to date. Raises StoreError for
    tables of a newer version."""
    migrate(transaction, TABLES)
