"""The versions of a message, and the way from a message to the end of its branch.

Two messages are versions of each other when both are the user's (or both answers) and ever followed
the same message. Events do not count: a message after an event counts as following the nearest
message before the event, and an event has no versions. A message is known by its id: rows with one
id are one message, of which the newest counts, so that rows that are added anew on another path
keep their versions. Functions over a transaction, as in `chat_log`; `schema` explains row ranges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import bindparam, func, select, text

from ...database import Statement, Transaction
from ...errors import NotFound
from ..chat import Versions
from ..row_values import MOST, is_row
from ..schema import messages
from . import paths

_FOLLOWERS: Final = """
    followers (place, wanted, "row", role, message_id) AS (
        SELECT place, wanted, c."row", c.role, c.message_id FROM parents CROSS JOIN messages c
            WHERE c.chat_id = :chat AND c."row" = parent + 1 AND c.parent_row = parent
            AND c.role IN (wanted, 'event')
        UNION ALL
        SELECT place, wanted, c."row", c.role, c.message_id FROM parents CROSS JOIN messages c
            WHERE c.chat_id = :chat AND c.run_parent = parent AND c."row" = c.run_start
            AND c.role IN (wanted, 'event')
        UNION ALL
        SELECT place, wanted, c."row", c.role, c.message_id FROM parents CROSS JOIN messages c
            WHERE c.chat_id = :chat AND c.run_parent IS NULL AND c."row" = c.run_start
            AND parent IS NULL AND c.role IN (wanted, 'event')
        UNION ALL
        SELECT e.place, e.wanted, c."row", c.role, c.message_id
            FROM followers e CROSS JOIN messages c
            WHERE e.role = 'event' AND c.role IN (e.wanted, 'event')
            AND c.chat_id = :chat AND c.parent_row = e."row" AND c."row" > e."row" AND c."row" IN (
                SELECT e."row" + 1
                UNION ALL
                SELECT f."row" FROM messages f
                    WHERE f.chat_id = :chat AND f.run_parent = e."row" AND f."row" = f.run_start
            )
    )
"""
"""The rows of the role `wanted`, and the events, that follow a row of `parents` (NULL: the start of
the chat) or an event among them. A row that follows `parent` is the next row of its range, or the
first row of a range that grew from it. Each CROSS JOIN is for a database that keeps its order, so
that the rows of each parent are looked up: for a JOIN, or with OR in the place of IN, the whole
chat may be read. Each step goes on to a newer row, as each step upwards goes to an older row, so
that a damaged row does not lead back to itself."""

_NEIGHBOURS_SQL: Final = f"""
    WITH RECURSIVE above (place, wanted, at) AS (
        SELECT "row", role, parent_row FROM messages
            WHERE chat_id = :chat AND "row" IN :rows AND role <> 'event'
        UNION ALL
        SELECT place, wanted, p.parent_row FROM above CROSS JOIN messages p
            WHERE p.chat_id = :chat AND p."row" = at AND p.role = 'event'
            AND (p.parent_row IS NULL OR p.parent_row < p."row")
    ), parents (place, wanted, parent) AS (
        SELECT place, wanted, q."row" FROM above CROSS JOIN messages p CROSS JOIN messages q
            WHERE p.chat_id = :chat AND p."row" = at AND p.role <> 'event'
            AND q.chat_id = :chat AND q.message_id = p.message_id
        UNION ALL
        SELECT place, wanted, at FROM above WHERE at IS NULL
    ), {_FOLLOWERS}
    SELECT place, "row", message_id FROM followers WHERE role = wanted
    """
_NEIGHBOURS: Final = text(_NEIGHBOURS_SQL).bindparams(bindparam("rows", expanding=True))
_NEIGHBOURS_OF_ONE: Final = Statement(text(_NEIGHBOURS_SQL.replace(":rows", "(:at)")))
"""The rows that follow the same message as a row of `:rows` (`place`). `above` goes from each place
through the events before it."""

_ANSWERS: Final = text(
    f"""
    WITH RECURSIVE parents (place, wanted, parent) AS (
        SELECT "row", 'assistant', "row" FROM messages
            WHERE chat_id = :chat AND message_id = :message
    ), {_FOLLOWERS}
    SELECT "row", message_id FROM followers WHERE role = wanted ORDER BY 1
    """
)


def of_messages(
    transaction: Transaction, chat_id: str, head_row: int | None, message_ids: Sequence[str]
) -> dict[str, Versions]:
    """The versions of these messages of the path to `head_row`, without messages that have only one
    version."""
    on_path = paths.rows_on_path(transaction, chat_id, head_row, message_ids)
    by_row = {row: identity for identity, row in on_path.items()}
    first_rows: dict[str, dict[str, int]] = {identity: {} for identity in on_path}
    rows = list(by_row)
    for start in range(0, len(rows), paths.ROWS_PER_QUERY):
        some = rows[start : start + paths.ROWS_PER_QUERY]
        for place, row, identity in _neighbours(transaction, chat_id, some):
            firsts = first_rows[by_row[place]]
            if not (is_row(row) and isinstance(identity, str)):
                continue
            firsts[identity] = min(row, firsts.get(identity, row))
    found: dict[str, Versions] = {}
    for identity, firsts in first_rows.items():
        if len(firsts) > 1:
            ids = tuple(sorted(firsts, key=firsts.__getitem__))
            found[identity] = Versions(ids.index(identity), ids)
    return found


def _neighbours(
    transaction: Transaction, chat_id: str, rows: Sequence[int]
) -> Iterable[tuple[int, int, str]]:
    if len(rows) == 1:  # a turn's own message
        return transaction.rows(_NEIGHBOURS_OF_ONE, chat=chat_id, at=rows[0])
    return (
        (place, row, identity)
        for place, row, identity in transaction.execute(
            _NEIGHBOURS, {"chat": chat_id, "rows": rows}
        )
    )


def row_of(transaction: Transaction, chat_id: str, head_row: int | None, message_id: str) -> int:
    """The row that a switch to this message means: the newest that follows a message of the path to
    `head_row`, else the newest of all. Raises NotFound for an id that the chat does not have."""
    query = select(messages.c.row, messages.c.parent_row).where(
        messages.c.chat_id == chat_id, messages.c.message_id == message_id
    )
    candidates = [found for found in transaction.execute(query).all() if is_row(found.row)]
    if not candidates:
        raise NotFound(f"There is no message {message_id!r} in this chat.")
    before = {
        row: paths.before_events(transaction, chat_id, parent_row) for row, parent_row in candidates
    }
    ids = _ids(transaction, chat_id, [row for row in before.values() if row is not None])
    on_path = paths.rows_on_path(transaction, chat_id, head_row, list(ids.values()))
    rows: list[int] = list(before)
    beside = [row for row, parent in before.items() if parent is None or ids.get(parent) in on_path]
    return max(beside or rows)


def _ids(transaction: Transaction, chat_id: str, rows: Sequence[int]) -> dict[int, str]:
    """The ids of the messages of `rows`."""
    query = select(messages.c.row, messages.c.message_id).where(
        messages.c.chat_id == chat_id, messages.c.row.in_(bindparam("rows", expanding=True))
    )
    found: dict[int, str] = {}
    for start in range(0, len(rows), paths.ROWS_PER_QUERY):
        some = list(rows[start : start + paths.ROWS_PER_QUERY])
        found.update(
            (row, identity) for row, identity in transaction.execute(query, {"rows": some})
        )
    return found


def newest_end(transaction: Transaction, chat_id: str, row: int) -> int:
    """The newest row whose path goes through `row`. The cost grows with the number of branches."""
    in_chat = (messages.c.chat_id == chat_id) & messages.c.row.between(1, MOST)
    first_rows = in_chat & (messages.c.row == messages.c.run_start)
    ranges = select(messages.c.row, messages.c.run_parent).where(first_rows)
    found = transaction.execute(ranges.order_by(messages.c.row)).all()
    newest = select(func.max(messages.c.row)).where(in_chat)
    last: int = transaction.execute(newest).scalar_one()
    starts: list[int] = [start for start, _ in found]
    ends = [*(start - 1 for start in starts[1:]), last]
    # From which row on each range lies after `row`; a range grows from an older range only.
    own = bisect_right(starts, row) - 1
    behind = {own: row}
    for number, (start, parent) in enumerate(found):
        if is_row(parent):
            grew_from = bisect_right(starts, parent) - 1
            if grew_from in behind and parent >= behind[grew_from]:
                behind[number] = start
    return max(ends[number] for number in behind)


def answers_to(transaction: Transaction, chat_id: str, message_id: str) -> tuple[str, ...]:
    """The answers that ever followed a message, in the order in which they came."""
    found = transaction.execute(_ANSWERS, {"chat": chat_id, "message": message_id})
    return tuple(dict.fromkeys(identity for _, identity in found if isinstance(identity, str)))
