"""The table `chats`: one row for each chat. Unlike the rows of the log, these rows change.

Functions over a transaction, to be called inside one transaction of `store`. Of a damaged row
(`row_values`) what can be read is returned, and the database notes it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, get_args

from sqlalchemy import bindparam, func, insert, select, type_coerce, update
from sqlalchemy.types import NullType

from ..database import Statement, Transaction
from ..errors import Conflict, NotFound
from .chat import (
    BUSY_STATES,
    BranchPoint,
    Chat,
    ChatParams,
    ChatState,
    ChatSummary,
    TitleSource,
    WorkflowName,
)
from .log.record import canonical, time_text
from .permissions import NEW, Permissions
from .row_values import APPROVAL, MOST, RowValues, is_count, is_row
from .schema import chats, messages, running

_Found: Final = namedtuple("_Found", [*chats.c.keys(), "depth"])  # type: ignore[misc]
_head: Final = messages.alias("head")
_last: Final = chats.alias("last")
_FIND: Final = Statement(
    select(*chats.c, _head.c.depth)
    .select_from(
        chats.outerjoin(_head, (_head.c.chat_id == chats.c.id) & (_head.c.row == chats.c.head_row))
    )
    .where(chats.c.id == bindparam("chat"), chats.c.deleted.is_(None))
)
_SET_HEAD: Final = Statement(
    update(chats)
    .where(chats.c.id == bindparam("chat"))
    .values(
        head_row=bindparam("head"),
        log_chars=chats.c.log_chars + bindparam("added"),
        updated=bindparam("now"),
    )
)
# Without damaged values, which are no numbers (any number is less than any text) or too large.
_NEWEST_ACTIVITY: Final = select(func.max(_last.c.activity)).where(_last.c.activity < MOST)
# A chat that is the last changed already keeps its `activity`: otherwise each message would write
# another page of the file.
_SET_ACTIVITY: Final = Statement(
    update(chats)
    .where(
        chats.c.id == bindparam("chat"),
        chats.c.activity != _NEWEST_ACTIVITY.scalar_subquery(),
    )
    .values(activity=_NEWEST_ACTIVITY.scalar_subquery() + 1)
)
_NEWEST_ROW: Final = Statement(
    select(messages.c.row, messages.c.depth)
    .where(messages.c.chat_id == bindparam("chat"), messages.c.row.between(1, MOST))
    .order_by(messages.c.row.desc())
    .limit(1)
)
_SET_STATE: Final = Statement(
    update(chats).where(chats.c.id == bindparam("chat")).values(state=bindparam("to"))
)


def next_activity() -> Any:
    """An expression for `activity`: the chat becomes the last changed chat."""
    counted = chats.alias()
    newest = select(func.coalesce(func.max(counted.c.activity), 0) + 1)
    return newest.where(counted.c.activity < MOST).scalar_subquery()


_INSERT: Final = Statement(
    insert(chats).values(
        id=bindparam("chat"),
        title=bindparam("title"),
        title_source=bindparam("source"),
        created=bindparam("now"),
        updated=bindparam("now"),
        activity=next_activity(),
        state="idle",
        allowed_tools="[]",
        workflow=bindparam("workflow"),
        log_chars=0,
    )
)
_SET_UNREAD: Final = Statement(
    update(chats).where(chats.c.id == bindparam("chat")).values(unread=bindparam("to"))
)
_WITH_ID: Final = Statement(select(chats.c.id).where(chats.c.id == bindparam("chat")))
_SUMMARY = (
    chats.c.id,
    chats.c.title,
    chats.c.created,
    chats.c.updated,
    chats.c.state,
    chats.c.pinned,
    chats.c.unread,
    chats.c.workflow,
    chats.c.head_row,
)


def insert_chat(
    transaction: Transaction,
    chat_id: str,
    title: str,
    workflow: WorkflowName | None,
    now: datetime,
    source: TitleSource = "rule",
) -> None:
    """Raises Conflict when the chat exists (`chat_exists`), or was deleted a moment ago
    (`chat_deleted`)."""
    if find(transaction, chat_id) is not None:
        raise Conflict(f"The chat {chat_id!r} exists already.", code="chat_exists")
    if is_taken(transaction, chat_id):
        raise Conflict(
            "This chat was deleted. Bring it back, or go on in a new chat.", code="chat_deleted"
        )
    named = None if workflow is None else canonical({"id": workflow.id, "name": workflow.name})
    transaction.run(
        _INSERT, chat=chat_id, title=title, source=source, now=time_text(now), workflow=named
    )


def is_taken(transaction: Transaction, chat_id: str) -> bool:
    """Whether a chat has this id, also a deleted chat."""
    return transaction.row(_WITH_ID, chat=chat_id) is not None


def find(transaction: Transaction, chat_id: str) -> Chat | None:
    """The chat; None where there is none, or it is deleted."""
    row = transaction.row(_FIND, chat=chat_id)
    if row is None:
        return None
    values = RowValues(found := _Found._make(row))
    fields = values.summary() | values.details()
    head, depth = _head_of(transaction, found, values)
    return Chat(
        **fields,
        messages=depth,
        head_row=head,
        damaged=_noted(transaction, chat_id, values),
    )


def require(transaction: Transaction, chat_id: str) -> Chat:
    """Raises NotFound when there is no such chat."""
    chat = find(transaction, chat_id)
    if chat is None:
        raise NotFound(f"There is no chat {chat_id!r}.")
    return chat


def newest(
    transaction: Transaction,
    limit: int,
    before: str | None,
    hidden: Collection[str] = (),
    only_pinned: bool = False,
) -> tuple[ChatSummary, ...]:
    """Chats by their last change, newest first, without the chats in `hidden`. Raises NotFound for
    an unknown `before`."""
    query = _with_depth().where(chats.c.deleted.is_(None))
    if only_pinned:
        query = query.where(chats.c.pinned.is_(True))
    if hidden:
        query = query.where(chats.c.id.not_in(sorted(hidden)))
    if before is not None:
        require(transaction, before)
        reached = select(chats.c.activity).where(chats.c.id == before).scalar_subquery()
        # Two rows have one `activity` only where one of them is damaged.
        query = query.where(
            chats.c.activity <= reached, (chats.c.activity < reached) | (chats.c.id < before)
        )
    found = transaction.execute(
        query.order_by(chats.c.activity.desc(), chats.c.id.desc()).limit(limit)
    )
    return _summaries(transaction, found.all())


def untouched_since(transaction: Transaction, moment: datetime) -> tuple[ChatSummary, ...]:
    """The chats that did not change since `moment`, last changed first; without pinned chats and
    chats that are being answered. A damaged chat is none of them: its times may be wrong."""
    query = _with_depth().where(
        chats.c.deleted.is_(None),
        chats.c.pinned.is_(False),
        chats.c.state.not_in(BUSY_STATES),
        chats.c.updated <= time_text(moment),
    )
    found = transaction.execute(query.order_by(chats.c.activity.desc()))
    return tuple(
        chat
        for chat in _summaries(transaction, found.all())
        if not chat.damaged and not chat.pinned and chat.state not in BUSY_STATES
    )


def set_head(
    transaction: Transaction, chat_id: str, row: int | None, added_chars: int, now: datetime
) -> None:
    """Let the current path end at `row`, and count `added_chars` more characters of the log."""
    transaction.run(_SET_HEAD, head=row, added=added_chars, now=time_text(now), chat=chat_id)
    transaction.run(_SET_ACTIVITY, chat=chat_id)


def set_state(transaction: Transaction, chat_id: str, state: ChatState) -> None:
    transaction.run(_SET_STATE, to=state, chat=chat_id)


def set_title(transaction: Transaction, chat_id: str, title: str, source: TitleSource) -> None:
    values = {"title": title, "title_source": source}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def retitle(transaction: Transaction, chat_id: str, title: str, source: TitleSource) -> bool:
    """`set_title`, unless the chat's title has a stronger source; returns whether it was set."""
    order = get_args(TitleSource)
    chat = require(transaction, chat_id)
    if order.index(chat.title_source) > order.index(source):
        return False
    set_title(transaction, chat_id, title, source)
    return True


def set_created(transaction: Transaction, chat_id: str, created: datetime) -> None:
    """Set the time of creation, which an imported chat brings."""
    values = {"created": time_text(created)}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_pinned(transaction: Transaction, chat_id: str, pinned: bool) -> None:
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(pinned=pinned))


def set_deleted(transaction: Transaction, chat_id: str, deleted: datetime | None) -> None:
    """Hide the chat, or show it again (None)."""
    values = {"deleted": None if deleted is None else time_text(deleted)}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_unread(transaction: Transaction, chat_id: str, unread: bool) -> None:
    transaction.run(_SET_UNREAD, to=unread, chat=chat_id)


def set_params(
    transaction: Transaction,
    chat_id: str,
    params: ChatParams,
    permissions: Permissions = NEW,
) -> None:
    approval = permissions.to_json()
    body = {**params.to_json(), **({APPROVAL: approval} if approval else {})}
    values = {"params": canonical(body)}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_draft(transaction: Transaction, chat_id: str, draft: str | None) -> None:
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(draft=draft))


def set_branched_from(transaction: Transaction, chat_id: str, point: BranchPoint) -> None:
    values = {"branched_from": canonical(asdict(point))}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_allowed_tools(transaction: Transaction, chat_id: str, tools: tuple[str, ...]) -> None:
    values = {"allowed_tools": canonical(sorted(set(tools)))}
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(values))


def end_active(transaction: Transaction) -> None:
    """Make chats idle whose turn a crash ended (R35): busy chats without a row in `running`."""
    here = select(running.c.chat_id)
    left = chats.c.state.in_(BUSY_STATES) & chats.c.id.not_in(here)
    transaction.execute(update(chats).where(left).values(state="idle"))


def _with_depth() -> Any:
    """A chat's columns and the number of messages on its current path."""
    head = (messages.c.chat_id == chats.c.id) & (messages.c.row == chats.c.head_row)
    # As they are in the file: a conversion may refuse a damaged value.
    columns = [type_coerce(column, NullType()).label(column.name) for column in _SUMMARY]
    joined = select(*columns, messages.c.depth.label("depth"))
    return joined.select_from(chats.outerjoin(messages, head))


def _summaries(transaction: Transaction, rows: Sequence[Any]) -> tuple[ChatSummary, ...]:
    """The chats of these rows; a row whose id is no text names no chat, and is only noted."""
    found = []
    for row in rows:
        if not isinstance(row.id, str):
            transaction.damaged.note(chats.name, row.id)
            continue
        values = RowValues(row)
        fields = values.summary()
        _, depth = _head_of(transaction, row, values)
        damaged = _noted(transaction, row.id, values)
        found.append(ChatSummary(**fields, messages=depth, damaged=damaged))
    return tuple(found)


def _head_of(transaction: Transaction, row: Any, values: RowValues) -> tuple[int | None, int]:
    """The row that ends the current path, and the number of messages on that path. Where the head
    is damaged, the path ends with the newest row."""
    head, depth = row.head_row, row.depth
    if head is None or (is_row(head) and is_count(depth)):
        return head, depth or 0
    values.damaged.append("head_row")
    if is_row(head) and depth is not None:
        return head, 0
    newest, depth = transaction.row(_NEWEST_ROW, chat=row.id) or (None, 0)
    return newest, depth if is_count(depth) else 0


def _noted(transaction: Transaction, chat_id: str, values: RowValues) -> tuple[str, ...]:
    if values.damaged:
        transaction.damaged.note(chats.name, chat_id)
    return tuple(values.damaged)
