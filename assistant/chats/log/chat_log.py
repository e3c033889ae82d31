"""The log of a chat: rows that are only ever added.

Functions over a transaction, to be called inside one transaction of `store`. `schema` explains the
number and the parent of a row, `paths` how rows make a path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, String, bindparam, case, func, insert, select, update

from ...database import Statement, Transaction
from ...errors import InvalidRequest
from ...messages.origin import EVENT, role_in_log
from ...messages.parts import FilePart, Message, ReasoningPart, TextPart, ToolPart
from .. import attachments
from ..attachments import encode_row
from ..identity import message_id
from ..row_values import MOST, is_count, is_row
from ..schema import messages
from . import paths
from .paths import RowRange
from .record import believed, stored_time, time_text
from .salvage import read_message

_of_chat = messages.c.chat_id == bindparam("chat")
_INSERT: Final = Statement(insert(messages))
_CHANGE: Final = Statement(
    update(messages)
    .where(_of_chat, messages.c.row == bindparam("at"))
    .values(body=bindparam("text"))
)
_NEWEST: Final = Statement(
    # Without damaged numbers, which are no numbers or too large.
    select(func.max(messages.c.row)).where(_of_chat, messages.c.row.between(1, MOST))
)
_JOINED: Final = Statement(
    select(messages.c.depth, messages.c.run_start, messages.c.run_parent).where(
        _of_chat, messages.c.row == bindparam("at")
    )
)
_DEPTHS: Final = Statement(
    select(messages.c.depth, messages.c.role)
    .where(_of_chat, messages.c.row.in_([bindparam("first"), bindparam("last")]))
    .order_by(messages.c.row)
)
_ROWS: Final = select(messages.c.row, messages.c.body).where(
    _of_chat, messages.c.row.in_(bindparam("rows", expanding=True))
)
_LENGTH: Final = Statement(
    select(func.coalesce(func.sum(func.length(messages.c.body)), 0)).where(
        _of_chat, messages.c.row >= bindparam("first")
    )
)


def _copy_statement() -> Statement:
    """Copies the rows `from_row` to `to_row` of `from_chat`, each to the row `shift` higher."""
    source = messages.alias("source")
    row = source.c.row + bindparam("shift", type_=Integer)
    first, parent = bindparam("first_row", type_=Integer), bindparam("parent", type_=Integer)
    columns = {
        "chat_id": bindparam("to_chat", type_=String),
        "row": row,
        "parent_row": case((row == first, parent), else_=row - 1),
        "message_id": source.c.message_id,
        "role": source.c.role,
        "created": source.c.created,
        "depth": source.c.depth + bindparam("deeper", type_=Integer),
        "run_start": bindparam("range_start", type_=Integer),
        "run_parent": bindparam("range_parent", type_=Integer),
        "body": source.c.body,
    }
    rows = select(*columns.values()).where(
        source.c.chat_id == bindparam("from_chat"),
        source.c.row.between(bindparam("from_row"), bindparam("to_row")),
    )
    return Statement(insert(messages).from_select(list(columns), rows))


_COPY: Final = _copy_statement()


@dataclass(frozen=True, slots=True)
class Added:
    """The result of an insert: the new rows, the characters of their texts, and the row that the
    first new row follows."""

    rows: range
    chars: int
    parent_row: int | None = None


ROW_BYTES: Final = 200
"""The memory of a row's message beside its values."""
VALUE_BYTES: Final = 4
"""The memory of values of JSON for each character of their text. Measured: 2 to 4 for the metadata
of an answer, 7 for a list of nodes."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as it was read, with the length of its text. `held` is about its memory in
    bytes."""

    message: Message
    chars: int
    held: int = field(init=False)

    def __post_init__(self) -> None:
        texts = text_chars(self.message)
        held = ROW_BYTES + texts + VALUE_BYTES * max(0, self.chars - texts)
        object.__setattr__(self, "held", held)


def text_chars(message: Message) -> int:
    """The characters of a message's texts and attachments, without its other values."""
    found = 0
    for part in message.parts:
        if isinstance(part, TextPart | ReasoningPart):
            found += len(part.text)
        elif isinstance(part, FilePart):
            found += len(part.url)
        elif isinstance(part, ToolPart) and isinstance(part.output, str):
            found += len(part.output)
    return found


def add_rows(
    transaction: Transaction,
    chat_id: str,
    added: Sequence[Message],
    parent_row: int | None,
    now: datetime,
    times: Sequence[datetime | None] = (),
) -> Added:
    """Add messages that follow each other, the first after `parent_row`.

    `times` are those that a file gives for the messages (`record.believed`); without them each
    message is of `now`. Raises InvalidRequest for an id that the path has already, and for a system
    message, which no log holds (R9). The caller's transaction is to be rolled back then."""
    check_fit(transaction, chat_id, added, parent_row)
    return insert_rows(transaction, chat_id, added, parent_row, now, times)


def insert_rows(
    transaction: Transaction,
    chat_id: str,
    added: Sequence[Message],
    parent_row: int | None,
    now: datetime,
    times: Sequence[datetime | None] = (),
) -> Added:
    """`add_rows` for messages that are known to fit."""
    first = _next_row(transaction, chat_id)
    rows = range(first, first + len(added))
    if not added:
        return Added(rows, 0)
    depth, run_start, run_parent = _join(transaction, chat_id, parent_row, first)
    moments = [time_text(believed(moment, now)) for moment in times] or [time_text(now)] * len(rows)
    chars = 0
    values: list[dict[str, Any]] = []
    for row, message, created in zip(rows, added, moments, strict=True):
        body, role = encode_row(transaction, chat_id, message), role_in_log(message)
        depth += _counted(role)
        chars += body.chars
        values.append(
            {
                "chat_id": chat_id,
                "row": row,
                "parent_row": parent_row if row == first else row - 1,
                "message_id": message.id,
                "role": role,
                "created": created,
                "depth": depth,
                "run_start": run_start,
                "run_parent": run_parent,
                "body": body.text,
            }
        )
    transaction.run_each(_INSERT, values)
    return Added(rows, chars, parent_row)


def copy_rows(
    transaction: Transaction,
    chat_id: str,
    ranges: Sequence[RowRange],
    target_id: str,
    parent_row: int | None,
) -> Added:
    """Add the texts of these ranges of a chat, as a path, to the log of a chat (the same or
    another), the first after `parent_row`. They must be known to fit there."""
    if chat_id != target_id:
        attachments.copy(transaction, chat_id, target_id)
    first = _next_row(transaction, target_id)
    depth, range_start, range_parent = _join(transaction, target_id, parent_row, first)
    row = first
    for one in ranges:
        before, last = _depths(transaction, chat_id, one)
        transaction.run(
            _COPY,
            from_chat=chat_id,
            from_row=one.first,
            to_row=one.last,
            to_chat=target_id,
            shift=row - one.first,
            deeper=depth - before,
            first_row=first,
            parent=parent_row,
            range_start=range_start,
            range_parent=range_parent,
        )
        depth += last - before
        row += one.last - one.first + 1
    length = transaction.row(_LENGTH, chat=target_id, first=first)
    return Added(range(first, row), length[0] if length else 0)


def change_rows(
    transaction: Transaction, chat_id: str, words: str, change: Callable[[Message], Message]
) -> None:
    """Change the messages of a chat that is being made whose text has these words."""
    for row, old in read_containing(transaction, chat_id, words):
        if (new := change(old)) != old:
            transaction.run(
                _CHANGE, chat=chat_id, at=row, text=encode_row(transaction, chat_id, new).text
            )


def check_fit(
    transaction: Transaction, chat_id: str, added: Sequence[Message], parent_row: int | None
) -> None:
    """Raises InvalidRequest when these messages cannot follow `parent_row` (`add_rows`)."""
    seen: set[str] = set()
    for message in added:
        message_id(message.id)
        if message.role == "system":
            raise InvalidRequest("a system message holds for its request and is not stored")
        if message.id in seen:
            raise InvalidRequest(f"two messages have the id {message.id!r}", where="id")
        seen.add(message.id)
    used = paths.rows_on_path(transaction, chat_id, parent_row, [message.id for message in added])
    for identity in used:
        raise InvalidRequest(f"the id {identity!r} is used by an earlier message", where="id")


def read_rows(transaction: Transaction, chat_id: str, rows: Sequence[int]) -> dict[int, Stored]:
    """The messages of `rows`, a stand-in for each that is damaged (`salvage`). A row that is not
    there any more is left out."""
    found: dict[int, Stored] = {}
    for start in range(0, len(rows), paths.ROWS_PER_QUERY):
        some = list(rows[start : start + paths.ROWS_PER_QUERY])
        for row, body in transaction.execute(_ROWS, {"chat": chat_id, "rows": some}):
            found[row] = Stored(*read_message(transaction, messages, chat_id, row, body))
    return found


def read_containing(
    transaction: Transaction, chat_id: str, words: str
) -> list[tuple[int, Message]]:
    """The rows of a chat, on any path, whose text has these words, and their messages."""
    found = transaction.execute(
        select(messages.c.row, messages.c.body).where(
            messages.c.chat_id == chat_id, messages.c.body.contains(words, autoescape=True)
        )
    )
    return [
        (row, read_message(transaction, messages, chat_id, row, str(body))[0])
        for row, body in found.all()
    ]


def every_row(
    transaction: Transaction, chat_id: str
) -> list[tuple[int, int | None, Message, datetime | None]]:
    """The whole log: each row's number, parent, message, as `read_rows` has them, and time. A row
    whose number is damaged is left out, and a row whose parent is follows the row before it; a time
    that is damaged is None."""
    columns = select(messages.c.row, messages.c.parent_row, messages.c.body, messages.c.created)
    found = transaction.execute(columns.where(messages.c.chat_id == chat_id).order_by("row"))
    rows: list[tuple[int, int | None, Message, datetime | None]] = []
    known: set[int] = set()
    for row, parent_row, body, created in found.all():
        if not is_row(row):
            transaction.damaged.note(messages.name, chat_id, row)
            continue
        parent = parent_row
        if parent is not None and parent not in known:
            parent = rows[-1][0] if rows else None
        message, _ = read_message(transaction, messages, chat_id, row, body)
        rows.append((row, parent, message, stored_time(created)))
        known.add(row)
    return rows


def _next_row(transaction: Transaction, chat_id: str) -> int:
    found = transaction.row(_NEWEST, chat=chat_id)
    return int((found and found[0]) or 0) + 1


def _join(
    transaction: Transaction, chat_id: str, parent_row: int | None, row: int
) -> tuple[int, int, int | None]:
    """The depth of `parent_row`, and the start and the parent of the row range that a new `row`
    after `parent_row` belongs to."""
    if parent_row is None:
        return 0, row, None
    found = transaction.row(_JOINED, chat=chat_id, at=parent_row)
    depth, run_start, run_parent = found or (0, None, None)
    depth = depth if is_count(depth) else 0
    goes_on = is_row(run_start) and run_start <= parent_row
    if parent_row == row - 1 and goes_on:
        return depth, run_start, run_parent
    return depth, row, parent_row


def _depths(transaction: Transaction, chat_id: str, one: RowRange) -> tuple[int, int]:
    """The depth before the first row of a range, and the depth of its last row."""
    found = transaction.rows(_DEPTHS, chat=chat_id, first=one.first, last=one.last)
    (first, role), (last, _) = (found[0], found[-1]) if found else ((None, ""), (None, ""))
    if not (is_count(first) and is_count(last)):
        return 0, one.last - one.first + 1
    return first - _counted(role), last


def _counted(role: str) -> int:
    """How much a row of this role adds to the number of messages: an event counts for nothing."""
    return 0 if role == EVENT else 1
