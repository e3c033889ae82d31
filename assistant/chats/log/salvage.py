"""Messages of damaged rows: what can be read of them, in their place.

A text that is no message any more becomes a message that says so, with the words that are left. The
row itself stays as it is. A row that has to go, since its chat could not go on with it, is copied
into a table of its own first: nothing that a user wrote is deleted because it is damaged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from sqlalchemy import Column, MetaData, String, Table, Text, insert, select, update

from ...database import LongInteger, Transaction
from ...errors import StoreError
from ...messages.origin import EVENT, EVENT_METADATA, FIELD
from ...messages.parts import Message, Role, TextPart
from ..attachments import decode_row
from ..schema import chats, messages
from .record import stored_time, time_text

STAND_IN: Final = "[This message is damaged and could not be read.]"
STAND_IN_WITH: Final = "[This message is damaged. This much of it could be read:]\n\n{}"
FIELD_DAMAGED: Final = "damaged"
"""`metadata.damaged` is True for a message that stands for a damaged row."""
MOST_TEXTS: Final = 1_000
"""Texts that are looked for in one damaged row."""
_TEXT: Final = re.compile(r'"text"\s*:\s*("(?:[^"\\]|\\.)*")')
"""The field of a part that has the words of a user or of a model."""

kept_metadata: Final = MetaData()
kept_rows: Final = Table(
    "damaged_rows",
    kept_metadata,
    Column("number", LongInteger, primary_key=True),
    Column("chat_id", String, nullable=False),
    Column("of_table", String, nullable=False),
    Column("found", String, nullable=False),
    # The columns as JSON; bytes as {"hex": "..."}.
    Column("content", Text, nullable=False),
)
"""Copies of damaged rows that were removed from their tables. No code reads them."""


def read_message(
    transaction: Transaction, table: Table, chat_id: str, row: object, body: object
) -> tuple[Message, int]:
    """The message of a row's text, and its length as `decode_row` has it. Of a damaged row of the
    log, or of another table, the message that stands for it."""
    try:
        if isinstance(body, str):
            return decode_row(transaction, body)
    except (StoreError, TypeError, KeyError, AttributeError, ValueError, RecursionError):
        pass  # all of these: the text is no message that this code wrote
    transaction.damaged.note(table.name, chat_id, row)
    identity, role = _identity(transaction, chat_id, row) if table is messages else (None, None)
    return stand_in(identity or f"damaged-{row}", role, body), _length(body)


def stand_in(identity: str, role: object, body: object) -> Message:
    """The message that stands for a row with this text. Its words are not a person's for sure, so
    they do not count as such."""
    left = words_of(body)
    said = STAND_IN_WITH.format(left) if left else STAND_IN
    metadata: dict[str, Any] = {FIELD_DAMAGED: True}
    if role == EVENT:
        metadata |= EVENT_METADATA
    elif role == "user":
        metadata[FIELD] = "imported"
    speaker: Role = "user" if role in ("user", EVENT) else "assistant"
    return Message(identity, speaker, (TextPart(said),), metadata)


def words_of(body: object) -> str:
    """The words in the rest of a row's text; empty where there are none."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if not isinstance(text, str):
        return ""
    found = []
    for match in islice(_TEXT.finditer(text), MOST_TEXTS):
        try:
            found.append(json.loads(match[1], strict=False))
        except ValueError:
            continue
    return "\n\n".join(found)


def keep(
    transaction: Transaction, table: Table, chat_id: str, row: Mapping[str, Any], now: datetime
) -> None:
    """Copy a damaged row that is to be removed from its table."""
    transaction.damaged.note(table.name, chat_id)
    content = json.dumps({name: _plain(value) for name, value in row.items()})
    values = {"chat_id": chat_id, "of_table": table.name, "found": time_text(now)}
    transaction.execute(insert(kept_rows).values(**values, content=content))


def prepare(transaction: Transaction, now: datetime) -> None:
    """Make the table of copies, and show the chats that only a damaged value hides: a chat is
    deleted where its row says when it was."""
    transaction.create(kept_metadata)
    hidden = select(chats.c.id, chats.c.deleted).where(chats.c.deleted.is_not(None))
    for identity, since in transaction.execute(hidden).all():
        if stored_time(since) is None:
            keep(transaction, chats, str(identity), {"id": identity, "deleted": since}, now)
            transaction.execute(update(chats).where(chats.c.id == identity).values(deleted=None))


def _identity(transaction: Transaction, chat_id: str, row: object) -> tuple[str | None, object]:
    """The id and the role in the columns of a row of the log."""
    query = select(messages.c.message_id, messages.c.role).where(
        messages.c.chat_id == chat_id, messages.c.row == row
    )
    found = transaction.execute(query).first()
    if found is None:
        return None, None
    known = isinstance(found.message_id, str) and found.message_id.isprintable()
    return (found.message_id or None) if known else None, found.role


def _length(body: object) -> int:
    return len(body) if isinstance(body, str | bytes) else 0


def _plain(value: object) -> object:
    return {"hex": value.hex()} if isinstance(value, bytes) else value
