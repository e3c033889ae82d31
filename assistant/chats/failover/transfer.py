"""Copies one chat from a database into another with the same tables: into memory while the file
fails, and back afterwards.

Functions over transactions. The log gets the rows that the other side lacks; the rest of a chat is
small and is replaced. `BESIDE` follows from the schema, so that a new table is transferred too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Boolean, Table, case, delete, func, insert, select, update

from ...database import Transaction
from ...messages.origin import is_event, role_in_log
from .. import chat_rows, titles
from ..attachments import let_go, refer
from ..log import chat_log
from ..log.chat_log import Stored
from ..log.record import encode, stored_time, time_text
from ..log.salvage import read_message
from ..row_values import UNKNOWN_TIME, is_count
from ..schema import attachments, chats, messages, metadata

BESIDE: Final = tuple(
    one
    for one in metadata.sorted_tables
    if one not in (messages, attachments) and "chat_id" in one.c
)
"""The tables whose rows of a chat are replaced: all but the log and the attachments."""
_NEW: Final = -1
"""Stands for a parent whose row number in the target database is not known."""


@dataclass(frozen=True, slots=True)
class Contents:
    """All rows of one chat. `chat` is None when there is none."""

    chat: Mapping[str, Any] | None
    rows: Sequence[Mapping[str, Any]] = ()
    beside: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    attachments: Sequence[str] = ()

    @property
    def chars(self) -> int:
        return sum(_length(row["body"]) for row in self.rows)


def read(transaction: Transaction, chat_id: str) -> Contents:
    """All rows of a chat, also of a deleted chat."""
    found = (
        transaction.execute(_as_it_is(chats).where(chats.c.id == chat_id)).mappings().one_or_none()
    )
    if found is None:
        return Contents(None)
    rows = (
        transaction.execute(_of_chat(messages, chat_id).order_by(messages.c.row)).mappings().all()
    )
    beside = {
        one.name: [dict(row) for row in transaction.execute(_of_chat(one, chat_id)).mappings()]
        for one in BESIDE
    }
    files = select(attachments.c.sha256).where(attachments.c.chat_id == chat_id)
    kept = transaction.execute(files).scalars().all()
    return Contents(dict(found), [dict(row) for row in rows], beside, kept)


def known(chat_id: str, path: Mapping[int, Stored], now: datetime) -> Contents:
    """A chat made of the rows of its current path in the cache, where the file cannot be read."""
    path = dict(path)  # The event loop may add rows meanwhile.
    if not path:
        return Contents(None)
    rows: list[dict[str, Any]] = []
    before: dict[str, Any] | None = None
    depth = 0
    for row, stored in path.items():
        follows = before is not None and before["row"] == row - 1
        depth += not is_event(stored.message)
        rows.append(
            {
                "chat_id": chat_id,
                "row": row,
                "parent_row": before["row"] if before else None,
                "message_id": stored.message.id,
                "role": role_in_log(stored.message),
                "created": time_text(now),
                "depth": depth,
                "run_start": before["run_start"] if before and follows else row,
                "run_parent": (before["run_parent"] if follows else before["row"])
                if before
                else None,
                "body": encode(stored.message),
            }
        )
        before = rows[-1]
    said = (one.message for one in path.values() if not is_event(one.message))
    asked = next((message for message in said if message.role == "user"), None)
    chat = {
        "id": chat_id,
        "title": titles.title_for(asked) if asked else titles.NEW_CHAT,
        "title_source": "rule",
        "created": time_text(now),
        "updated": time_text(now),
        "activity": 0,
        "head_row": rows[-1]["row"],
        "state": "idle",
        "allowed_tools": "[]",
        "log_chars": sum(len(row["body"]) for row in rows),
    }
    return Contents(chat, rows)


def put(transaction: Transaction, contents: Contents) -> None:
    """Add a chat that the database does not have, row by row as it is."""
    if contents.chat is None:
        return
    transaction.execute(insert(chats), [dict(contents.chat)])
    if contents.rows:
        transaction.execute(insert(messages), [dict(row) for row in contents.rows])
    if contents.attachments:
        refer(transaction, contents.chat["id"], contents.attachments)
    _put_beside(transaction, contents)


def bring_back(transaction: Transaction, chat_id: str, contents: Contents) -> bool:
    """Make the database's chat equal to `contents`. Rows that its log lacks are added, under other
    numbers where other rows have theirs; returns whether all rows kept their numbers."""
    if contents.chat is None:
        return True
    taken = transaction.execute(
        select(chats.c.log_chars).where(chats.c.id == chat_id)
    ).scalar_one_or_none()
    values = dict(contents.chat)
    values["activity"] = chat_rows.next_activity()
    if taken is None:
        transaction.execute(insert(chats).values(values))
    rows, chars = _add_missing(transaction, chat_id, contents.rows)
    values["head_row"] = rows.get(values["head_row"], values["head_row"])
    values["log_chars"] = (taken or 0) + chars
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))
    for one in BESIDE:
        transaction.execute(delete(one).where(one.c.chat_id == chat_id))
    refer(transaction, chat_id, contents.attachments)
    _put_beside(transaction, contents, rows)
    return all(before == after for before, after in rows.items())


def remove(transaction: Transaction, chat_id: str) -> None:
    """Remove all rows of the chat."""
    let_go(transaction, chat_id)
    for one in (*BESIDE, messages):
        transaction.execute(delete(one).where(one.c.chat_id == chat_id))
    transaction.execute(delete(chats).where(chats.c.id == chat_id))


def ids(transaction: Transaction) -> frozenset[str]:
    return frozenset(transaction.execute(select(chats.c.id)).scalars())


def chars(transaction: Transaction) -> int:
    """The characters of all logs together."""
    # Not summed by the database: a damaged number may be too large for that.
    lengths = transaction.execute(select(chats.c.log_chars)).scalars()
    return sum(length for length in lengths if is_count(length))


def _add_missing(
    transaction: Transaction, chat_id: str, rows: Sequence[Mapping[str, Any]]
) -> tuple[dict[int | None, int | None], int]:
    """The number that each row has here, and how many characters were added."""
    length = func.length(messages.c.body)
    query = select(messages.c.row, messages.c.message_id, messages.c.parent_row, length)
    found = transaction.execute(query.where(messages.c.chat_id == chat_id))
    mine = {row: tuple(rest) for row, *rest in found}
    same: dict[int | None, int | None] = {None: None}
    added = 0
    for row in rows:
        parent = same.get(row["parent_row"], _NEW)
        if mine.get(row["row"]) == (row["message_id"], parent, _length(row["body"])):
            same[row["row"]] = row["row"]
            continue
        when = stored_time(row["created"]) or UNKNOWN_TIME
        message, _ = read_message(transaction, messages, chat_id, row["row"], row["body"])
        new = chat_log.insert_rows(transaction, chat_id, [message], parent, when)
        same[row["row"]] = new.rows[-1]
        added += new.chars
    return same, added


def _put_beside(
    transaction: Transaction,
    contents: Contents,
    rows: Mapping[int | None, int | None] | None = None,
) -> None:
    for one in BESIDE:
        values = [dict(row) for row in contents.beside.get(one.name, ())]
        for value in values:
            if rows is not None and "parent_row" in value:
                value["parent_row"] = rows.get(value["parent_row"], value["parent_row"])
        if values:
            transaction.execute(insert(one), values)


def _of_chat(one: Table, chat_id: str) -> Any:
    return _as_it_is(one).where(one.c.chat_id == chat_id)


def _as_it_is(one: Table) -> Any:
    """All columns of a table; flags as numbers, since a conversion refuses a damaged flag."""
    columns = (
        case((column.in_((True, 1)), True), else_=False).label(column.name)
        if isinstance(column.type, Boolean)
        else column
        for column in one.c
    )
    return select(*columns)


def _length(body: object) -> int:
    return len(body) if isinstance(body, str | bytes) else 0
