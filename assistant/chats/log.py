"""The log of a chat: rows that are only ever added, and the paths through them.

Functions over a connection, to be called inside one transaction of `store`. A path is a tuple of
row numbers, root first. What a row's number, parent and run are: `schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, select

from ..errors import InvalidRequest, NotFound
from ..messages.parts import Message
from .chat import HEAD, Parent
from .identity import message_id
from .record import decode, encode, time_text
from .schema import messages

ROWS_PER_QUERY = 500
"""Well below SQLite's limit of bound values."""


@dataclass(frozen=True, slots=True)
class Run:
    """Rows `first` to `last`, each the parent of the next."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a message: its row and the length of its text."""

    row: int
    chars: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as it was read, with the length of its text."""

    message: Message
    chars: int


def add_row(
    connection: Connection, chat_id: str, message: Message, parent_row: int | None, now: datetime
) -> Added:
    """Add `message` after `parent_row`. Raises InvalidRequest for an id that the path has already,
    and for a system message, which no log holds (R9)."""
    check_fits(connection, chat_id, message, parent_row)
    newest = select(func.max(messages.c.row)).where(messages.c.chat_id == chat_id)
    row = (connection.execute(newest).scalar_one() or 0) + 1
    depth, run_start, run_parent = _join(connection, chat_id, parent_row, row)
    body = encode(message)
    connection.execute(
        insert(messages).values(
            chat_id=chat_id,
            row=row,
            parent_row=parent_row,
            message_id=message.id,
            role=message.role,
            created=time_text(now),
            depth=depth,
            run_start=run_start,
            run_parent=run_parent,
            body=body,
        )
    )
    return Added(row, len(body))


def check_fits(
    connection: Connection, chat_id: str, message: Message, parent_row: int | None
) -> None:
    """Raises InvalidRequest when `message` cannot follow `parent_row`, as `add_row` does."""
    message_id(message.id)
    if message.role == "system":
        raise InvalidRequest("a system message holds for its request and is not stored")
    if _row_on_path(connection, chat_id, parent_row, message.id) is not None:
        raise InvalidRequest(f"the id {message.id!r} is used by an earlier message", where="id")


def parent_row(
    connection: Connection, chat_id: str, head_row: int | None, parent: Parent
) -> int | None:
    """The row that `parent` means: on the current path, else the newest version of that message.

    Raises NotFound for an id that the chat does not have.
    """
    if parent is HEAD or parent is None:
        return head_row if parent is HEAD else None
    on_path = _row_on_path(connection, chat_id, head_row, str(parent))
    if on_path is not None:
        return on_path
    rows = _rows_with_id(connection, chat_id, str(parent))
    if not rows:
        raise NotFound(f"There is no message {parent!r} in this chat.")
    return max(rows)


def path(connection: Connection, chat_id: str, row: int | None) -> tuple[int, ...]:
    """All rows from the root to `row`."""
    return tuple(reversed(list(_downwards(_runs(connection, chat_id, row)))))


def page(
    connection: Connection, chat_id: str, head_row: int | None, before: str | None, limit: int
) -> tuple[tuple[int, ...], bool]:
    """The last `limit` rows of the path before the message `before` (None: from its end), and
    whether older ones are left. Raises NotFound when `before` is not on the path."""
    runs = _runs(connection, chat_id, head_row)
    rows = _downwards(runs)
    if before is not None:
        end = _row_on_path(connection, chat_id, head_row, before)
        if end is None:
            raise NotFound(f"There is no message {before!r} on this chat's current path.")
        rows = _downwards(_below(runs, end))
    found = [row for row, _ in zip(rows, range(limit + 1), strict=False)]
    return tuple(reversed(found[:limit])), len(found) > limit


def read_rows(connection: Connection, chat_id: str, rows: Sequence[int]) -> dict[int, Stored]:
    """The messages of `rows`. Raises StoreError for one that cannot be read."""
    wanted = (
        select(messages.c.row, messages.c.body)
        .where(messages.c.chat_id == chat_id)
        .where(messages.c.row.in_(bindparam("rows", expanding=True)))
    )
    found: dict[int, Stored] = {}
    for start in range(0, len(rows), ROWS_PER_QUERY):
        some = list(rows[start : start + ROWS_PER_QUERY])
        for row, body in connection.execute(wanted, {"rows": some}):
            found[row] = Stored(decode(body), len(body))
    return found


def is_version_of(
    connection: Connection, chat_id: str, row: int | None, message_id: str, parent_row: int | None
) -> bool:
    """Whether `row` holds a version of the message `message_id` after `parent_row`."""
    if row is None:
        return False
    columns = select(messages.c.message_id, messages.c.parent_row)
    where = (messages.c.chat_id == chat_id) & (messages.c.row == row)
    return tuple(connection.execute(columns.where(where)).one()) == (message_id, parent_row)


def _join(
    connection: Connection, chat_id: str, parent_row: int | None, row: int
) -> tuple[int, int, int | None]:
    """Depth, start of the run and parent of the run of a new `row` after `parent_row`."""
    if parent_row is None:
        return 1, row, None
    columns = select(messages.c.depth, messages.c.run_start, messages.c.run_parent)
    where = (messages.c.chat_id == chat_id) & (messages.c.row == parent_row)
    depth, run_start, run_parent = connection.execute(columns.where(where)).one()
    if parent_row == row - 1:
        return depth + 1, run_start, run_parent
    return depth + 1, row, parent_row


def _runs(connection: Connection, chat_id: str, row: int | None) -> tuple[Run, ...]:
    """The path to `row` as runs, the one with `row` first: as many look-ups as there are runs."""
    if row is None:
        return ()
    columns = (messages.c.run_start, messages.c.row, messages.c.run_parent)
    top = (messages.c.chat_id == chat_id) & (messages.c.row == row)
    run = select(*columns).where(top).cte("run", recursive=True)
    lower = (messages.c.chat_id == chat_id) & (messages.c.row == run.c.run_parent)
    run = run.union_all(select(*columns).where(lower))
    found = connection.execute(select(run.c.run_start, run.c.row).order_by(run.c.row.desc()))
    return tuple(Run(first, last) for first, last in found)


def _downwards(runs: Iterable[Run]) -> Iterator[int]:
    for run in runs:
        yield from range(run.last, run.first - 1, -1)


def _below(runs: Iterable[Run], row: int) -> Iterator[Run]:
    """What of `runs` lies before `row`."""
    for run in runs:
        if run.first < row:
            yield Run(run.first, min(run.last, row - 1))


def _rows_with_id(connection: Connection, chat_id: str, message_id: str) -> list[int]:
    where = (messages.c.chat_id == chat_id) & (messages.c.message_id == message_id)
    return list(connection.execute(select(messages.c.row).where(where)).scalars())


def _row_on_path(
    connection: Connection, chat_id: str, head_row: int | None, message_id: str
) -> int | None:
    rows = _rows_with_id(connection, chat_id, message_id)
    if not rows:
        return None
    runs = _runs(connection, chat_id, head_row)
    return next((r for r in rows if any(run.first <= r <= run.last for run in runs)), None)
