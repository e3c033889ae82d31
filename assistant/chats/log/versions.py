"""The versions of a message, and the way from a message to the end of its branch.

Two messages are versions of each other when both are the user's (or both answers) and ever followed
the same message. A message is known by its id: rows with one id are one message, of which the
newest counts, so that rows that are added anew on another path keep their versions. Functions over
a transaction, as in `chat_log`; `schema` explains row ranges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, func, select, text

from ...database import Transaction
from ...errors import NotFound
from ..chat import Versions
from ..schema import messages
from . import paths

_NEIGHBOURS: Final = text(
    """
    WITH place AS (
        SELECT m."row" AS place, m.role, p.message_id AS before
        FROM messages m LEFT JOIN messages p ON p.chat_id = m.chat_id AND p."row" = m.parent_row
        WHERE m.chat_id = :chat AND m."row" IN :rows
    ), parents AS (
        SELECT place.place, place.role, q."row" AS parent
        FROM place JOIN messages q ON q.chat_id = :chat AND q.message_id = place.before
    )
    SELECT place, c."row", c.message_id FROM parents JOIN messages c
        ON c.chat_id = :chat AND c."row" = parent + 1 AND c.parent_row = parent
        WHERE c.role = parents.role
    UNION ALL
    SELECT place, c."row", c.message_id FROM parents JOIN messages c
        ON c.chat_id = :chat AND c.run_parent = parent AND c."row" = c.run_start
        WHERE c.role = parents.role
    UNION ALL
    SELECT place, c."row", c.message_id FROM place JOIN messages c
        ON c.chat_id = :chat AND c.run_parent IS NULL AND c."row" = c.run_start
        WHERE place.before IS NULL AND c.role = place.role
    """
).bindparams(bindparam("rows", expanding=True))
"""The rows that follow the same message as a row of `:rows` (`place`). A row that follows
`parent` is the next row of its range, or the first row of a range that grew from it."""

_ANSWERS: Final = text(
    """
    SELECT c."row", c.message_id FROM messages q JOIN messages c
        ON c.chat_id = :chat AND c."row" = q."row" + 1 AND c.parent_row = q."row"
        WHERE q.chat_id = :chat AND q.message_id = :message AND c.role = 'assistant'
    UNION ALL
    SELECT c."row", c.message_id FROM messages q JOIN messages c
        ON c.chat_id = :chat AND c.run_parent = q."row" AND c."row" = c.run_start
        WHERE q.chat_id = :chat AND q.message_id = :message AND c.role = 'assistant'
    ORDER BY 1
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
        for place, row, identity in transaction.execute(
            _NEIGHBOURS, {"chat": chat_id, "rows": some}
        ):
            firsts = first_rows[by_row[place]]
            firsts[identity] = min(row, firsts.get(identity, row))
    found: dict[str, Versions] = {}
    for identity, firsts in first_rows.items():
        if len(firsts) > 1:
            ids = tuple(sorted(firsts, key=firsts.__getitem__))
            found[identity] = Versions(ids.index(identity), ids)
    return found


def row_of(transaction: Transaction, chat_id: str, head_row: int | None, message_id: str) -> int:
    """The row that a switch to this message means: the newest that follows a message of the path to
    `head_row`, else the newest of all. Raises NotFound for an id that the chat does not have."""
    before = messages.alias()
    joined = messages.outerjoin(
        before, (before.c.chat_id == messages.c.chat_id) & (before.c.row == messages.c.parent_row)
    )
    query = select(messages.c.row, before.c.message_id.label("before")).select_from(joined)
    where = (messages.c.chat_id == chat_id) & (messages.c.message_id == message_id)
    candidates = transaction.execute(query.where(where)).all()
    if not candidates:
        raise NotFound(f"There is no message {message_id!r} in this chat.")
    parents = [found.before for found in candidates if found.before is not None]
    on_path = paths.rows_on_path(transaction, chat_id, head_row, parents)
    rows: list[int] = [one.row for one in candidates]
    beside: list[int] = [
        one.row for one in candidates if one.before is None or one.before in on_path
    ]
    return max(beside or rows)


def newest_end(transaction: Transaction, chat_id: str, row: int) -> int:
    """The newest row whose path goes through `row`. The cost grows with the number of branches."""
    first_rows = (messages.c.chat_id == chat_id) & (messages.c.row == messages.c.run_start)
    ranges = select(messages.c.row, messages.c.run_parent).where(first_rows)
    found = transaction.execute(ranges.order_by(messages.c.row)).all()
    newest = select(func.max(messages.c.row)).where(messages.c.chat_id == chat_id)
    last: int = transaction.execute(newest).scalar_one()
    starts: list[int] = [start for start, _ in found]
    ends = [*(start - 1 for start in starts[1:]), last]
    # From which row on each range lies after `row`; a range grows from an older range only.
    own = bisect_right(starts, row) - 1
    behind = {own: row}
    for number, (start, parent) in enumerate(found):
        if parent is not None:
            grew_from = bisect_right(starts, parent) - 1
            if grew_from in behind and parent >= behind[grew_from]:
                behind[number] = start
    return max(ends[number] for number in behind)


def answers_to(transaction: Transaction, chat_id: str, message_id: str) -> tuple[str, ...]:
    """The answers that ever followed a message, in the order in which they came."""
    found = transaction.execute(_ANSWERS, {"chat": chat_id, "message": message_id})
    return tuple(dict.fromkeys(identity for _, identity in found))
