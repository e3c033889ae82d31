"""The paths through a chat's log, as ranges of rows.

A path is a tuple of row numbers, root first. It consists of row ranges: rows that follow each other
by number and by parent. Each row says where its range starts and from which row the range grew
(`schema`), so a path is read with one look-up for each range.

Functions over a transaction, to be called inside one transaction of `store`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from sqlalchemy import bindparam, select

from ...database import Statement, Transaction
from ...errors import NotFound
from ...messages.origin import EVENT
from ..chat import HEAD, Parent
from ..row_values import is_row
from ..schema import messages

ROWS_PER_QUERY: Final = 500
"""Well below the number of values that any database binds in one statement."""


def _ranges_statement() -> Statement:
    columns = (messages.c.run_start, messages.c.row, messages.c.run_parent)
    in_chat = messages.c.chat_id == bindparam("chat")
    top = select(*columns).where(in_chat, messages.c.row == bindparam("end"))
    found: Any = top.cte("row_range", recursive=True)
    # An older row each time: a damaged row must not lead back to itself.
    before = (messages.c.row == found.c.run_parent) & (messages.c.row < found.c.row)
    found = found.union_all(select(*columns).where(in_chat, before))
    every = select(found.c.run_start, found.c.row, found.c.run_parent)
    return Statement(every.order_by(found.c.row.desc()))


_of_chat = messages.c.chat_id == bindparam("chat")
_RANGES: Final = _ranges_statement()
_WITH_ID: Final = Statement(
    select(messages.c.message_id, messages.c.row).where(
        _of_chat, messages.c.message_id == bindparam("message")
    )
)
_PARENTS: Final = Statement(
    select(messages.c.row, messages.c.parent_row)
    .where(_of_chat, messages.c.row.between(1, bindparam("end")))
    .order_by(messages.c.row.desc())
)
_IDENTITY: Final = Statement(
    select(messages.c.message_id, messages.c.parent_row).where(
        _of_chat, messages.c.row == bindparam("at")
    )
)


_EVENT: Final = Statement(
    select(messages.c.parent_row).where(
        _of_chat, messages.c.row == bindparam("at"), messages.c.role == EVENT
    )
)


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows `first` to `last`, each the parent of the next."""

    first: int
    last: int


def parent_row(
    transaction: Transaction, chat_id: str, head_row: int | None, parent: Parent
) -> int | None:
    """The row that `parent` means: on the current path, else the newest version of that message.

    Raises NotFound for an id that the chat does not have.
    """
    if parent is HEAD or parent is None:
        return head_row if parent is HEAD else None
    identity = str(parent)
    on_path = rows_on_path(transaction, chat_id, head_row, [identity])
    if identity in on_path:
        return on_path[identity]
    rows = [row for _, row in _rows_with_ids(transaction, chat_id, [identity])]
    if not rows:
        raise NotFound(f"There is no message {identity!r} in this chat.")
    return max(rows)


def has_message(transaction: Transaction, chat_id: str, message_id: str) -> bool:
    return bool(_rows_with_ids(transaction, chat_id, [message_id]))


def parent_of(transaction: Transaction, chat_id: str, row: int) -> int | None:
    """The row before `row`."""
    found = transaction.row(_IDENTITY, chat=chat_id, at=row)
    if found is not None and (found[1] is None or (is_row(found[1]) and found[1] < row)):
        parent: int | None = found[1]
        return parent
    # A damaged row: mostly a row follows the row before it.
    return row - 1 if row > 1 else None


def rows_of_message(transaction: Transaction, chat_id: str, message_id: str) -> tuple[int, ...]:
    """All rows of a message, on any path."""
    return tuple(row for _, row in _rows_with_ids(transaction, chat_id, [message_id]))


def is_version_of(
    transaction: Transaction, chat_id: str, row: int | None, message_id: str, parent_row: int | None
) -> bool:
    """Whether `row` holds a version of the message `message_id` after `parent_row`."""
    if row is None:
        return False
    return transaction.row(_IDENTITY, chat=chat_id, at=row) == (message_id, parent_row)


def ranges_after(
    transaction: Transaction, chat_id: str, head_row: int | None, row: int = 0
) -> tuple[RowRange, ...]:
    """The path to `head_row` after its row `row`, the oldest range first."""
    later = (one for one in _ranges(transaction, chat_id, head_row) if one.last > row)
    return tuple(reversed([RowRange(max(one.first, row + 1), one.last) for one in later]))


def begins_with(path: Sequence[RowRange], known: Sequence[RowRange]) -> bool:
    """Whether the rows of `path` begin with those of `known`; both have the oldest range first."""
    if not known:
        return True
    *whole, last = known
    at = len(whole)
    if len(path) <= at or list(path[:at]) != whole:
        return False
    return path[at].first == last.first and path[at].last >= last.last


def rows_of(path: Iterable[RowRange], after: int = 0) -> tuple[int, ...]:
    """The rows of the path after the row `after`; the oldest range is first."""
    rows: list[int] = []
    for one in path:
        rows.extend(range(max(one.first, after + 1), one.last + 1))
    return tuple(rows)


def after_events(
    transaction: Transaction, chat_id: str, head_row: int | None, row: int | None
) -> int | None:
    """`row`, or the last of the events that follow it at once on the path to `head_row`."""
    if row == head_row:
        return row
    for later in ranges_after(transaction, chat_id, head_row, row or 0):
        for number in range(later.first, later.last + 1):
            if transaction.row(_EVENT, chat=chat_id, at=number) is None:
                return row
            row = number
    return row


def before_events(transaction: Transaction, chat_id: str, row: int | None) -> int | None:
    """`row`, or its nearest ancestor that is not an event; None where there is none."""
    while row is not None:
        event = transaction.row(_EVENT, chat=chat_id, at=row)
        if event is None:
            return row
        (parent,) = event
        row = parent if is_row(parent) and parent < row else None
    return None


def path(transaction: Transaction, chat_id: str, row: int | None) -> tuple[int, ...]:
    """All rows from the root to `row`."""
    return rows_of(reversed(_ranges(transaction, chat_id, row)))


def page(
    transaction: Transaction, chat_id: str, head_row: int | None, before: str | None, limit: int
) -> tuple[tuple[int, ...], bool]:
    """The last `limit` rows of the path before the message `before` (None: from its end), and
    whether older rows are left. Raises NotFound when `before` is not on the path."""
    ranges = _ranges(transaction, chat_id, head_row)
    rows = _downwards(ranges)
    if before is not None:
        found_before = rows_on_path(transaction, chat_id, head_row, [before])
        if before not in found_before:
            raise NotFound(f"There is no message {before!r} on this chat's current path.")
        rows = _downwards(_before(ranges, found_before[before]))
    found = [row for row, _ in zip(rows, range(limit + 1), strict=False)]
    return tuple(reversed(found[:limit])), len(found) > limit


def rows_on_path(
    transaction: Transaction, chat_id: str, head_row: int | None, message_ids: Sequence[str]
) -> dict[str, int]:
    """The row of each of these messages that is on the path to `head_row`."""
    candidates = _rows_with_ids(transaction, chat_id, message_ids)
    if not candidates:
        return {}
    ranges = _ranges(transaction, chat_id, head_row)
    first_rows = [-one.first for one in ranges]
    found: dict[str, int] = {}
    for identity, row in candidates:
        # The newest range comes first: only the first range that does not begin after `row` can
        # hold it.
        place = bisect_left(first_rows, -row)
        if place < len(ranges) and row <= ranges[place].last:
            found[identity] = row
    return found


def _ranges(transaction: Transaction, chat_id: str, row: int | None) -> tuple[RowRange, ...]:
    """The path to `row`, the range with `row` first. Where a row that says where its range starts
    is damaged, the path is followed from each row to its parent."""
    if row is None:
        return ()
    found = transaction.rows(_RANGES, chat=chat_id, end=row)
    if _fit(found):
        return tuple(RowRange(start, end) for start, end, _ in found)
    transaction.damaged.note(messages.name, chat_id, f"path to {row}")
    return _followed(transaction, chat_id, row)


def _fit(found: Sequence[tuple[Any, Any, Any]]) -> bool:
    """Whether these ranges (start, end, parent) follow each other down to the root."""
    for (start, end, parent), below in zip_longest(found, found[1:]):
        if not (is_row(start) and is_row(end) and start <= end):
            return False
        if parent != (None if below is None else below[1]) or (below and below[1] >= start):
            return False
    return True


def _followed(transaction: Transaction, chat_id: str, row: int) -> tuple[RowRange, ...]:
    """The path to `row` by the parents of its rows, the newest range first. A row whose parent is
    no older row of the chat follows the row before it."""
    parents = dict(transaction.rows(_PARENTS, chat=chat_id, end=row))
    rows = [one for one in parents if is_row(one)]
    older = dict(zip(rows, [*rows[1:], None], strict=True))
    ranges: list[RowRange] = []
    at: int | None = row if row in older else None
    while at is not None:
        if ranges and ranges[-1].first == at + 1:
            ranges[-1] = RowRange(at, ranges[-1].last)
        else:
            ranges.append(RowRange(at, at))
        parent = parents[at]
        fits = parent is None or (parent in older and parent < at)
        at = parent if fits else older[at]
    return tuple(ranges)


def _downwards(ranges: Iterable[RowRange]) -> Iterator[int]:
    for one in ranges:
        yield from range(one.last, one.first - 1, -1)


def _before(ranges: Iterable[RowRange], row: int) -> Iterator[RowRange]:
    """The part of the ranges that lies before `row`."""
    for one in ranges:
        if one.first < row:
            yield RowRange(one.first, min(one.last, row - 1))


def _rows_with_ids(
    transaction: Transaction, chat_id: str, message_ids: Sequence[str]
) -> list[tuple[str, int]]:
    """All versions of these messages, on any path."""
    found: list[tuple[str, int]] = []
    if len(message_ids) == 1:
        rows = transaction.rows(_WITH_ID, chat=chat_id, message=message_ids[0])
        found.extend((identity, row) for identity, row in rows if is_row(row))
        return found
    wanted = (
        select(messages.c.message_id, messages.c.row)
        .where(messages.c.chat_id == chat_id)
        .where(messages.c.message_id.in_(bindparam("ids", expanding=True)))
    )
    for start in range(0, len(message_ids), ROWS_PER_QUERY):
        some = list(message_ids[start : start + ROWS_PER_QUERY])
        versions = transaction.execute(wanted, {"ids": some})
        found.extend((one.message_id, one.row) for one in versions if is_row(one.row))
    return found
