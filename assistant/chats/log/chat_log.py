"""The log of a chat: rows that are only ever added, and the paths through them.

Functions over a connection, to be called inside one transaction of `store`. A path is a tuple of
row numbers, root first. What a row's number, parent and run are: `schema`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, text

from ...database import driver_of
from ...errors import InvalidRequest, NotFound
from ...messages.parts import Message
from .. import attachments
from ..attachments import decode_row, encode_row
from ..chat import HEAD, Parent
from ..identity import message_id
from ..schema import messages
from .record import time_text

ROWS_PER_QUERY = 500
"""Well below SQLite's limit of bound values."""


# Constant SQL, since every message that is added has to do with these.
_INSERT: Final = (
    'INSERT INTO messages (chat_id, "row", parent_row, message_id, role, created, depth, run_start,'
    " run_parent, body) VALUES (:chat_id, :row, :parent_row, :message_id, :role, :created, :depth,"
    " :run_start, :run_parent, :body)"
)
_NEWEST: Final = 'SELECT max("row") FROM messages WHERE chat_id = ?'
_RUN_OF: Final = 'SELECT depth, run_start, run_parent FROM messages WHERE chat_id = ? AND "row" = ?'
_WITH_ID: Final = 'SELECT message_id, "row" FROM messages WHERE chat_id = ? AND message_id = ?'


@dataclass(frozen=True, slots=True)
class Run:
    """Rows `first` to `last`, each the parent of the next."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Added:
    """What became of messages: their rows, first to last, the length of their texts, and the row
    that the first of them follows."""

    rows: range
    chars: int
    parent_row: int | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as it was read, with the length of its text."""

    message: Message
    chars: int


def add_rows(
    connection: Connection,
    chat_id: str,
    added: Sequence[Message],
    parent_row: int | None,
    now: datetime,
) -> Added:
    """Add messages that follow each other, the first after `parent_row`.

    Raises InvalidRequest for an id that the path has already, and for a system message, which no
    log holds (R9). The caller's transaction is to be rolled back then."""
    check_fit(connection, chat_id, added, parent_row)
    return insert_rows(connection, chat_id, added, parent_row, now)


def insert_rows(
    connection: Connection,
    chat_id: str,
    added: Sequence[Message],
    parent_row: int | None,
    now: datetime,
) -> Added:
    """`add_rows` for messages that are known to fit."""
    first = _next_row(connection, chat_id)
    rows = range(first, first + len(added))
    if not added:
        return Added(rows, 0)
    depth, run_start, run_parent = _join(connection, chat_id, parent_row, first)
    encoded = [encode_row(connection, chat_id, message) for message in added]
    same = {
        "chat_id": chat_id,
        "created": time_text(now),
        "run_start": run_start,
        "run_parent": run_parent,
    }
    values = [
        {
            **same,
            "row": row,
            "parent_row": parent_row if row == first else row - 1,
            "message_id": message.id,
            "role": message.role,
            "depth": depth + row - first,
            "body": body.text,
        }
        for row, message, body in zip(rows, added, encoded, strict=True)
    ]
    driver_of(connection).executemany(_INSERT, values)
    return Added(rows, sum(body.chars for body in encoded), parent_row)


def copy_rows(
    connection: Connection,
    chat_id: str,
    runs: Sequence[Run],
    target_id: str,
    parent_row: int | None,
) -> Added:
    """Add the texts of these runs of a chat, as a path, to the log of a chat (the same or another),
    the first after `parent_row`. They must be known to fit there."""
    if chat_id != target_id:
        attachments.copy(connection, chat_id, target_id)
    first = _next_row(connection, target_id)
    depth, run_start, run_parent = _join(connection, target_id, parent_row, first)
    given = {
        "chat": chat_id,
        "target": target_id,
        "parent": parent_row,
        "first": first,
        "deeper": depth - first,
        "run_start": run_start,
        "run_parent": run_parent,
    }
    row = first
    for run in runs:
        bounds = {"from": run.first, "to": run.last, "shift": row - run.first}
        connection.execute(_COPY, {**given, **bounds})
        row += run.last - run.first + 1
    length = select(func.coalesce(func.sum(func.length(messages.c.body)), 0))
    where = (messages.c.chat_id == target_id) & (messages.c.row >= first)
    return Added(range(first, row), connection.execute(length.where(where)).scalar_one())


_COPY = text(
    """
    INSERT INTO messages (chat_id, "row", parent_row, message_id, role, created, depth, run_start,
        run_parent, body)
    SELECT :target, "row" + :shift,
        CASE WHEN "row" + :shift = :first THEN :parent ELSE "row" + :shift - 1 END,
        message_id, role, created, "row" + :shift + :deeper, :run_start, :run_parent, body
    FROM messages WHERE chat_id = :chat AND "row" BETWEEN :from AND :to
    """
)


def check_fit(
    connection: Connection, chat_id: str, added: Sequence[Message], parent_row: int | None
) -> None:
    """Raises InvalidRequest when these messages cannot follow `parent_row`, as `add_rows` does."""
    seen: set[str] = set()
    for message in added:
        message_id(message.id)
        if message.role == "system":
            raise InvalidRequest("a system message holds for its request and is not stored")
        if message.id in seen:
            raise InvalidRequest(f"two messages have the id {message.id!r}", where="id")
        seen.add(message.id)
    used = rows_on_path(connection, chat_id, parent_row, [message.id for message in added])
    for identity in used:
        raise InvalidRequest(f"the id {identity!r} is used by an earlier message", where="id")


def parent_row(
    connection: Connection, chat_id: str, head_row: int | None, parent: Parent
) -> int | None:
    """The row that `parent` means: on the current path, else the newest version of that message.

    Raises NotFound for an id that the chat does not have.
    """
    if parent is HEAD or parent is None:
        return head_row if parent is HEAD else None
    identity = str(parent)
    on_path = rows_on_path(connection, chat_id, head_row, [identity])
    if identity in on_path:
        return on_path[identity]
    rows = [row for _, row in _rows_with_ids(connection, chat_id, [identity])]
    if not rows:
        raise NotFound(f"There is no message {identity!r} in this chat.")
    return max(rows)


def parent_of(connection: Connection, chat_id: str, row: int) -> int | None:
    """The row before `row`."""
    where = (messages.c.chat_id == chat_id) & (messages.c.row == row)
    found: int | None = connection.execute(select(messages.c.parent_row).where(where)).scalar_one()
    return found


def runs_after(
    connection: Connection, chat_id: str, head_row: int | None, row: int = 0
) -> tuple[Run, ...]:
    """The path to `head_row` behind its row `row`, as runs, the oldest first."""
    later = (run for run in _runs(connection, chat_id, head_row) if run.last > row)
    return tuple(reversed([Run(max(run.first, row + 1), run.last) for run in later]))


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
        found_before = rows_on_path(connection, chat_id, head_row, [before])
        if before not in found_before:
            raise NotFound(f"There is no message {before!r} on this chat's current path.")
        rows = _downwards(_below(runs, found_before[before]))
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
            found[row] = Stored(*decode_row(connection, body))
    return found


def every_row(connection: Connection, chat_id: str) -> list[tuple[int, int | None, Message]]:
    """The whole log: each row's number, parent and message. Raises StoreError as `read_rows`."""
    columns = select(messages.c.row, messages.c.parent_row, messages.c.body)
    found = connection.execute(columns.where(messages.c.chat_id == chat_id).order_by("row"))
    rows = [(row, parent_row, str(body)) for row, parent_row, body in found]
    return [(row, parent_row, decode_row(connection, body)[0]) for row, parent_row, body in rows]


def is_version_of(
    connection: Connection, chat_id: str, row: int | None, message_id: str, parent_row: int | None
) -> bool:
    """Whether `row` holds a version of the message `message_id` after `parent_row`."""
    if row is None:
        return False
    columns = select(messages.c.message_id, messages.c.parent_row)
    where = (messages.c.chat_id == chat_id) & (messages.c.row == row)
    return tuple(connection.execute(columns.where(where)).one()) == (message_id, parent_row)


def _next_row(connection: Connection, chat_id: str) -> int:
    found = driver_of(connection).execute(_NEWEST, (chat_id,)).fetchone()
    return int(found[0] or 0) + 1


def _join(
    connection: Connection, chat_id: str, parent_row: int | None, row: int
) -> tuple[int, int, int | None]:
    """Depth, start of the run and parent of the run of a new `row` after `parent_row`."""
    if parent_row is None:
        return 1, row, None
    found = driver_of(connection).execute(_RUN_OF, (chat_id, parent_row)).fetchone()
    depth, run_start, run_parent = found
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


def _rows_with_ids(
    connection: Connection, chat_id: str, message_ids: Sequence[str]
) -> list[tuple[str, int]]:
    """All versions of these messages, on whichever path."""
    if len(message_ids) == 1:
        return driver_of(connection).execute(_WITH_ID, (chat_id, message_ids[0])).fetchall()
    wanted = (
        select(messages.c.message_id, messages.c.row)
        .where(messages.c.chat_id == chat_id)
        .where(messages.c.message_id.in_(bindparam("ids", expanding=True)))
    )
    found: list[tuple[str, int]] = []
    for start in range(0, len(message_ids), ROWS_PER_QUERY):
        some = list(message_ids[start : start + ROWS_PER_QUERY])
        versions = connection.execute(wanted, {"ids": some})
        found.extend((version.message_id, version.row) for version in versions)
    return found


def rows_on_path(
    connection: Connection, chat_id: str, head_row: int | None, message_ids: Sequence[str]
) -> dict[str, int]:
    """Those of these messages that are on the path to `head_row`, each with its row there."""
    candidates = _rows_with_ids(connection, chat_id, message_ids)
    if not candidates:
        return {}
    runs = _runs(connection, chat_id, head_row)
    first_rows = [-run.first for run in runs]
    found: dict[str, int] = {}
    for identity, row in candidates:
        # Runs come newest first: the first one that does not begin after `row` is the only one
        # that can hold it.
        place = bisect_left(first_rows, -row)
        if place < len(runs) and row <= runs[place].last:
            found[identity] = row
    return found
