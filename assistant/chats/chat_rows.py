"""The table `chats`: one row for each chat. Unlike the rows of the log, these rows change.

Functions over a transaction, to be called inside one transaction of `store`.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, get_args

from sqlalchemy import Select, bindparam, func, insert, select, update

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
from .log.record import canonical, parse_time, time_text
from .schema import chats, messages, running

_Found: Final = namedtuple("_Found", [*chats.c.keys(), "depth"])  # type: ignore[misc]
_head: Final = messages.alias("head")
_last: Final = chats.alias("last")
_FIND: Final = Statement(
    select(*chats.c, func.coalesce(_head.c.depth, 0))
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
# A chat that is the last changed already keeps its `activity`: otherwise each message would write
# another page of the file.
_SET_ACTIVITY: Final = Statement(
    update(chats)
    .where(
        chats.c.id == bindparam("chat"),
        chats.c.activity < select(func.max(_last.c.activity)).scalar_subquery(),
    )
    .values(activity=select(func.max(_last.c.activity) + 1).scalar_subquery())
)
_SET_STATE: Final = Statement(
    update(chats).where(chats.c.id == bindparam("chat")).values(state=bindparam("to"))
)
_SUMMARY = (
    chats.c.id,
    chats.c.title,
    chats.c.created,
    chats.c.updated,
    chats.c.state,
    chats.c.pinned,
    chats.c.unread,
    chats.c.workflow,
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
    transaction.execute(
        insert(chats).values(
            id=chat_id,
            title=title,
            title_source=source,
            created=time_text(now),
            updated=time_text(now),
            activity=next_activity(),
            state="idle",
            allowed_tools="[]",
            workflow=named,
            log_chars=0,
        )
    )


def is_taken(transaction: Transaction, chat_id: str) -> bool:
    """Whether a chat has this id, also a deleted chat."""
    found = transaction.execute(select(chats.c.id).where(chats.c.id == chat_id))
    return found.one_or_none() is not None


def find(transaction: Transaction, chat_id: str) -> Chat | None:
    """The chat; None where there is none, or it is deleted."""
    row = transaction.row(_FIND, chat=chat_id)
    if row is None:
        return None
    found: Any = _Found._make(row)
    return Chat(
        **_summary_fields(found),
        title_source=found.title_source,
        head_row=found.head_row,
        allowed_tools=_tools(found.allowed_tools),
        log_chars=found.log_chars,
        params=_params(found.params),
        draft=found.draft,
        branched_from=_branch_point(found.branched_from),
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
    query = _with_depth(*_SUMMARY).where(chats.c.deleted.is_(None))
    if only_pinned:
        query = query.where(chats.c.pinned.is_(True))
    if hidden:
        query = query.where(chats.c.id.not_in(sorted(hidden)))
    if before is not None:
        require(transaction, before)
        reached = select(chats.c.activity).where(chats.c.id == before).scalar_subquery()
        query = query.where(chats.c.activity < reached)
    found = transaction.execute(query.order_by(chats.c.activity.desc()).limit(limit))
    return tuple(ChatSummary(**_summary_fields(row)) for row in found)


def untouched_since(transaction: Transaction, moment: datetime) -> tuple[ChatSummary, ...]:
    """The chats that did not change since `moment`, last changed first; without pinned chats and
    chats that are being answered."""
    query = _with_depth(*_SUMMARY).where(
        chats.c.deleted.is_(None),
        chats.c.pinned.is_(False),
        chats.c.state.not_in(BUSY_STATES),
        chats.c.updated <= time_text(moment),
    )
    found = transaction.execute(query.order_by(chats.c.activity.desc()))
    return tuple(ChatSummary(**_summary_fields(row)) for row in found)


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


def set_unread(transaction: Transaction, chat_id: str, unread: bool) -> None:
    transaction.execute(update(chats).where(chats.c.id == chat_id).values(unread=unread))


def set_params(transaction: Transaction, chat_id: str, params: ChatParams) -> None:
    values = {"params": canonical(params.to_json())}
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


def _with_depth(*columns: Any) -> Select[Any]:
    """A chat's columns and the number of messages on its current path."""
    head = (messages.c.chat_id == chats.c.id) & (messages.c.row == chats.c.head_row)
    depth = func.coalesce(messages.c.depth, 0).label("depth")
    return select(*columns, depth).select_from(chats.outerjoin(messages, head))


def _summary_fields(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "created": parse_time(row.created),
        "updated": parse_time(row.updated),
        "messages": row.depth,
        "state": row.state,
        "pinned": bool(row.pinned),
        "unread": bool(row.unread),
        "workflow": _workflow(row.workflow),
    }


# Cached, since most chats have the same few texts.


@lru_cache
def _tools(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache
def _params(text: str) -> ChatParams:
    return ChatParams(**json.loads(text))


@lru_cache
def _workflow(text: str | None) -> WorkflowName | None:
    found = json.loads(text) if text else None
    return WorkflowName(found["id"], found["name"]) if found else None


@lru_cache
def _branch_point(text: str | None) -> BranchPoint | None:
    return BranchPoint(**json.loads(text)) if text else None


def next_activity() -> Any:
    """An expression for `activity`: the chat becomes the last changed chat."""
    counted = chats.alias()
    return select(func.coalesce(func.max(counted.c.activity), 0) + 1).scalar_subquery()
